# README.md: each SQL block runs as it stands, in order, in a fresh database; and so
# does the way from there to an application server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest;
use BloomTest::Pull;
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
	my $where = "line $block->{line}, $block->{section}";
	my ($out, $err) = doc::shown($node, 'postgres', $block->{sql});

	is($err, '', "$where: neither errors nor warnings");
	is($out, $block->{output} // '', "$where: shows what the page shows");
}
is($node->safe_psql('postgres', q{
select count(*) filter (where not bloom_lookup('users', id)) + count(*) filter (where not filter @> id)
from users, whitelist where name = 'users' and id <= 100000}),
	'0', 'the list and the filter contain all its users');

# So do those of the reference.
$node->safe_psql('postgres', 'CREATE DATABASE reference');
foreach my $block (doc::sql_blocks('doc/REFERENCE.md'))
{
	my ($out, $err) = doc::shown($node, 'reference', $block->{sql});

	is("$err$out", $block->{output} // '', "doc/REFERENCE.md, line $block->{line}: shows what the page shows");
}

# The commands of "Ship it to hosts", by a shell, in a folder of their own.
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
	skip 'no command line bloomfilter', 1 if !defined $program;

	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my ($block) = doc::sql_blocks('README.md', 'sh');
	my @commands = split /\n/, $block->{sql};
	my ($publish) = grep { /bloom_publish/ } @commands;
	my ($contains) = grep { /^bloomfilter contains/ } @commands;
	$program =~ s{/[^/]*$}{};
	local $ENV{PATH} = "$program:$ENV{PATH}";
	local @ENV{qw(PGHOST PGPORT PGDATABASE DSN)} = ($node->host, $node->port, 'postgres', $node->connstr('postgres'));
	my @running;
	foreach my $command (@commands)
	{
		my $background = $command =~ s/ &$//;
		my @shell = ('sh', '-c', "cd '$dir' && " . ($background ? 'exec ' : '') . $command);
		if ($background)
		{
			push @running, IPC::Run::start(\@shell, '<', \undef, '>', \my $out, '2>', \my $err);
			eventually(sub { -e "$dir/users.bloom" }, 'the file is there');
		}
		else
		{
			command_ok(\@shell, $command);
		}
	}
	ok(@running, 'a follower runs');
	my $ask = sub {
		my ($key) = @_;
		(my $command = $contains) =~ s/ 42$/ $key/;
		return system("cd '$dir' && $command >/dev/null") == 0;
	};
	my ($absent) = grep { !$ask->($_) } 300_000 .. 300_100;
	$node->safe_psql('postgres', "INSERT INTO users VALUES ($absent, 'new')");
	command_ok([ 'sh', '-c', $publish ], 'the list is published again');
	eventually(sub { $ask->($absent) }, 'and the host follows');
	$_->signal('TERM'), $_->finish foreach @running;
}

$node->stop;
done_testing();
