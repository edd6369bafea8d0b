# export_inplace.t
#	  An index whose file stays while its content becomes another one: TRUNCATE after SET
#	  TABLESPACE in one transaction, with the same n and with another one, while a host follows.

use strict;
use warnings;

use Cluster;
use CommandLine;
use Hosts;
use Server;
use Test::More;

server_dsn();
my $url = begin_nginx(free_port());
my $server = Cluster->new('inplace');
mkdir 'hosts';
my $elsewhere = $server->folder . '/elsewhere';
mkdir $elsewhere;
chown +(stat $server->folder)[ 4, 5 ], $elsewhere;
$server->make_index(20000);
$server->sql('INSERT INTO users SELECT generate_series(1, 500)');
system('psql', '-XAtq', '-d', $server->dsn, '-c', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'") == 0 or die 'no tablespace';

begin('exporter', program(), 'export', '--dsn', $server->dsn, '--index', 'users_filter', '--to', 'www/users', '--follow', '--every', '0.1', '--poll', '1', '--heartbeat', '1', '--quiet');
ok(wait_for(30, sub { -e 'www/users/manifest' }), 'an exporter follows');
begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
is(promised('users', 'hosts/u.bloom', $server->now, 1 .. 500), 0, 'and a host');

my $next = 1000;
my @spaces = ('elsewhere', 'pg_default');
foreach my $n (20000, 20000, 3000, 50000)
{
	my $epoch = manifest('users')->{epoch}[0];
	my ($first, $last) = ($next, $next + 299);
	$next += 1000;
	my $space = shift @spaces;
	push @spaces, $space;
	$server->sql("ALTER INDEX users_filter SET (n = $n)");
	$server->sql("BEGIN; ALTER TABLE users SET TABLESPACE $space; ALTER INDEX users_filter SET TABLESPACE $space; TRUNCATE users; INSERT INTO users SELECT generate_series($first, $last); COMMIT");
	is(promised('users', 'hosts/u.bloom', $server->now, $first .. $last), 0, "n = $n: all keys are there");
	cmp_ok(manifest('users')->{epoch}[0], '>', $epoch, "n = $n: in a new epoch");
	$server->sql("INSERT INTO users SELECT generate_series($last + 1, $last + 100)");
	is(promised('users', 'hosts/u.bloom', $server->now, $first .. $last + 100), 0, "n = $n: and those that come then");
}

done_testing();
