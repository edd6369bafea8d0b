# export_crash.t
#	  PostgreSQL crashes, and an index gets another content in the file that it has, while an
#	  exporter and a host follow: no key that was committed is denied after the serial that the
#	  host tells.
#
# The crash loses write-ahead log of which the exporter has told keys, and positions of it
# are used again by other keys.

use Cluster;
use CommandLine;
use Hosts;
use Server;

server_dsn();
my $url = begin_nginx(free_port());
my $server = Cluster->new('crash', 'wal_writer_delay = 10s', 'wal_writer_flush_after = 1GB', 'restart_after_crash = on');
mkdir 'hosts';
$server->make_index(100000);
$server->sql('CHECKPOINT');

begin('exporter', program(), 'export', '--dsn', $server->dsn, '--index', 'users_filter', '--to', 'www/users', '--follow', '--every', '0.1', '--poll', '1', '--heartbeat', '1', '--quiet');
ok(wait_for(30, sub { -e 'www/users/manifest' }), 'an exporter follows');
begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
ok(wait_for(30, sub { -e 'hosts/u.bloom' }), 'and a host');

my @committed;

# Told, and not flushed: a crash takes them back.  In export_pool.t one process is killed.
$server->stop_walwriter;
my @lost = $server->insert(200, 'SET synchronous_commit = off; ');
ok(wait_for(30, sub { has('hosts/u.bloom', @lost) }) && $server->sql('SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()') eq 't',
	'the host has keys that were not flushed');
my $reads = exporter_says('users', 'full_reads');
$server->stop('immediate');
$server->start;
is($server->sql("SELECT count(*) FROM users WHERE id BETWEEN $lost[0] AND $lost[-1]"), 0, 'which the crash took back');
push @committed, $server->insert(1) foreach 1 .. 5;
push @committed, $server->insert(300);
is(promised('users', 'hosts/u.bloom', $server->now, @committed), 0, 'and none that was committed since is denied');
ok(wait_for(30, sub { exporter_says('users', 'full_reads') > $reads }), 'the exporter has read all of the index anew');
ok(wait_for(30, sub { exporter_says('users', 'ahead_since') ne '' }), 'and says that it has more than the server');
is(exporter_says('users', 'full_files_rebuild'), 0, 'no crash made hosts fetch the whole');
$server->sql('REINDEX INDEX users_filter');
ok(wait_for(30, sub { exporter_says('users', 'full_files_rebuild') == 1 }), 'a rebuild does');
ok(wait_for(30, sub { exporter_says('users', 'ahead_since') eq '' }), 'after which the exporter has what the server has');
push @committed, $server->insert(10);
is(promised('users', 'hosts/u.bloom', $server->now, @committed), 0, 'and no key is denied');

# ------------------------------------------------------------------------
# Another content in the same file
# ------------------------------------------------------------------------

# TRUNCATE after SET TABLESPACE in one transaction, with the same n and with another one.
my $elsewhere = $server->folder . '/elsewhere';
mkdir $elsewhere;
chown +(stat $server->folder)[ 4, 5 ], $elsewhere;
$server->sql("CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
foreach my $try ([ 100000, 'elsewhere' ], [ 3000, 'pg_default' ])
{
	my ($n, $space) = @$try;
	my $epoch = manifest('users')->{epoch}[0];
	my ($first, $last) = (10 * $n, 10 * $n + 299);
	$server->sql("ALTER INDEX users_filter SET (n = $n)");
	$server->sql("BEGIN; ALTER TABLE users SET TABLESPACE $space; ALTER INDEX users_filter SET TABLESPACE $space; TRUNCATE users; INSERT INTO users SELECT generate_series($first, $last); COMMIT");
	is(promised('users', 'hosts/u.bloom', $server->now, $first .. $last), 0, "n = $n: all keys are there");
	cmp_ok(manifest('users')->{epoch}[0], '>', $epoch, "n = $n: in a new epoch");
	$server->sql("INSERT INTO users SELECT generate_series($last + 1, $last + 100)");
	is(promised('users', 'hosts/u.bloom', $server->now, $first .. $last + 100), 0, "n = $n: and those that come then");
}

done_testing();
