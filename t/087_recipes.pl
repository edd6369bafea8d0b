# doc/RECIPES.md: each block runs as it stands, in order, and shows what the page shows.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest::Pull;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $program = BloomTest::Pull::program();
plan skip_all => 'no command line bloomfilter' if !defined $program;

my $node = PostgreSQL::Test::Cluster->new('recipes');
$node->init;
$node->start;
$node->safe_psql('postgres', 'create extension bloomfilter');

# Where the page's files lie, for psql, too.
chdir PostgreSQL::Test::Utils::tempdir_short() or die;
my ($programs) = $program =~ m{^(.*)/};
$ENV{PATH} = "$programs:$ENV{PATH}";

my $ran = 0;
foreach my $block (doc::blocks('doc/RECIPES.md'))
{
	my $where = "line $block->{line}, $block->{section}";
	my ($out, $err) = ('', '');
	if ($block->{mark} eq 'sql')
	{
		($out, $err) = doc::shown($node, 'postgres', $block->{sql});
	}
	else
	{
		is($block->{mark}, 'sh', "$where: a block of the shell");
		ok(IPC::Run::run([ 'bash', '-e', '-o', 'pipefail', '-c', $block->{sql} ], '<', \undef, '>', \$out, '2>', \$err), "$where: runs");
	}
	is($err, '', "$where: neither errors nor warnings");
	is($out, $block->{output} // '', "$where: shows what the page shows");
	$ran++;
}
cmp_ok($ran, '>=', 9, 'RECIPES.md has recipes');
is($node->safe_psql('postgres', q{
select count(*) filter (where not is_blocked(host(net)::inet)) from blocked}), '0', 'the first address of each blocked network is blocked');
done_testing();
