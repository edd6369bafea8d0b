# README.md: each SQL block runs as it stands, in order, in a fresh database; and so
# does the way from there to an application server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest;
use BloomTest::Pull;
use IO::Socket::UNIX;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init;
$node->start;

my @blocks = doc::sql_blocks('README.md');
ok(@blocks >= 6, 'README.md has examples');
foreach my $block (@blocks)
{
	my ($status, $out, $err) = $node->psql('postgres', $block->{sql}, on_error_stop => 1);

	is($status, 0, "line $block->{line}, $block->{section}: runs") or diag $err;
	unlike($err, qr/WARNING/, "line $block->{line}, $block->{section}: does not warn");
}
is($node->safe_psql('postgres', q{
select count(*) from users, whitelist where name = 'users' and not filter @> id}),
	'0', 'the filter of the 60 seconds contains all its users');
is($node->safe_psql('postgres', q{select count(*) filter (where not bloom_lookup('users', id)) from users}),
	'0', 'and so does the list');

# The five commands of "Ship", by a shell, in a folder of their own.
sub eventually
{
	my ($condition, $name) = @_;
	foreach (1 .. 600)
	{
		return pass($name) if $condition->();
		sleep(0.1);
	}
	return fail($name);
}

SKIP:
{
	my $program = BloomTest::Pull::program();
	my $python = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
	my $root = doc::root();
	local $ENV{PYTHONPATH} = "$root/clients/python/src";
	local $ENV{PYTHONDONTWRITEBYTECODE} = 1;
	local $ENV{BLOOMFILTER_PURE} = 1;
	skip 'no command line bloomfilter, or no python3 with its module', 1
	  if !defined $program || system("$python -c 'import sys; sys.path.pop(0); import bloomfilter' 2>/dev/null") != 0;

	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my ($block) = doc::sql_blocks('README.md', 'sh');
	my @commands = split /\n/, $block->{sql};
	cmp_ok(scalar(@commands), '<=', 6, 'at most six commands');
	my ($cron) = map { /^echo "30 2 \* \* \* (.*)" \| crontab -$/ ? $1 =~ s/\\"/"/gr : () } @commands;
	$program =~ s{/[^/]*$}{};
	local $ENV{PATH} = "$program:$ENV{PATH}";
	local @ENV{qw(PGHOST PGPORT PGDATABASE DSN)} = ($node->host, $node->port, 'postgres', $node->connstr('postgres'));
	symlink "$root/examples", "$dir/examples" or die $!;
	my @running;
	foreach my $command (grep { !/crontab/ } @commands)
	{
		my $background = $command =~ s/ &$//;
		my @shell = ('sh', '-c', "cd '$dir' && " . ($background ? 'exec ' : '') . $command);
		if ($background)
		{
			eventually(sub { -e "$dir/users.bloom" }, 'the file is there') if $command =~ /server/;
			push @running, IPC::Run::start(\@shell, '<', \undef, '>', \my $out, '2>', \my $err);
		}
		else
		{
			command_ok(\@shell, $command);
		}
	}
	my $ask = sub {
		my ($key) = @_;
		my $socket = IO::Socket::UNIX->new(Peer => "$dir/users.sock") or return '';
		print $socket "$key\n";
		return <$socket> // '';
	};
	eventually(sub { $ask->(42) eq "1\n" }, 'the application server answers');
	my ($absent) = grep { $ask->($_) eq "0\n" } 300_000 .. 300_100;
	$node->safe_psql('postgres', "INSERT INTO users VALUES ($absent, 'new')");
	command_ok([ 'sh', '-c', $cron ], 'the line of cron');
	eventually(sub { $ask->($absent) eq "1\n" }, 'and follows the next night');
	# A second list is the second command again.
	my ($publish) = grep { /bloom_publish/ && !/crontab/ } @commands;
	(my $second = $publish) =~ s/bloom_publish\('users'/bloom_publish('others'/;
	isnt($second, $publish, 'another name');
	command_ok([ 'sh', '-c', $second ], 'a second list is one more command');
	is($node->safe_psql('postgres', "SELECT bloom_lookup('others', 42), count(*) filter (where not bloom_lookup('others', id)) FROM users"), 't|0',
		'and is asked');
	$_->signal('TERM'), $_->finish foreach @running;
}

$node->stop;
done_testing();
