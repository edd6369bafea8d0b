# A published list whose stored bytes were damaged: it is published again, taken back or
# dropped, as RUNBOOK says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Config;
use Test::More;

use BloomTest;
use BloomTest::Damage;

plan skip_all => 'damages files as a little-endian server writes them'
  if $Config{byteorder} !~ /^1234/;

my $node = new_node('damaged_list', initdb => BloomTest::Damage->initdb);
my $session = session($node);

# In the order of their filters.
my @lists = qw(block header header_drop header_identity gone gone_back);
$session->query("CALL bloom_publish('$_', 'SELECT generate_series(1, 20000)')") foreach @lists;
my $starts = BloomTest::Damage->locate_starts($session, 'bloom_generation_part');
is($starts->count, scalar(@lists), 'each list has its filter in chunks');
$session->query("CALL bloom_publish('gone_back', 'SELECT generate_series(1, 20000)')");
my $current = BloomTest::Damage->locate_starts($session, 'bloom_generation_part');

$session->quit;
$node->stop;
$starts->flip($node, 0, 1000, 0x10);
$starts->flip($node, $_, 20, 0x02) foreach 1 .. 3;
$starts->remove($node, 4);
$current->remove($node, $#lists + 1);
$node->start;
$session = session($node);

sub all_found
{
	my ($list) = @_;
	is($session->query("SELECT count(*) FROM generate_series(1, 20000) k WHERE NOT bloom_lookup('$list', k)"),
		0, "$list: every key is found");
	is($session->query("SELECT bool_and(bloom_verify(filter)) FROM bloom_list_part WHERE name = '$list'"),
		't', "$list: its filter is whole");
	return;
}

sub publish
{
	my ($list) = @_;
	my (undef, $state, $told) = $session->try("CALL bloom_publish('$list', 'SELECT generate_series(1, 20000)')");
	is($state, '', "$list: is published again");
	return $told;
}

# A bit of a block, which a look-up can't see.
is($session->query("SELECT bloom_verify(filter) FROM bloom_list_part WHERE name = 'block'"), 'f', 'block: damaged');
unlike(publish('block'), qr/damaged/, 'block: nothing hinders');
all_found('block');

# The header: nothing can be said of the keys before.
foreach my $list (grep { /^header/ } @lists)
{
	is($session->state_of("SELECT bloom_lookup('$list', 1)"), 'XX001', "$list: damaged");
}
like(publish('header'), qr/list "header" was damaged, so that its keys can't be compared/, 'header: a warning');
all_found('header');
is($session->state_of(q{SELECT bloom_set_identity('header_identity', gen_random_uuid())}), '', 'header_identity: gets another identity');
is($session->state_of(q{SELECT bloom_drop('header_drop')}), '', 'header_drop: is dropped');

# No first chunk: PostgreSQL's own error, and yet the ways out.
is($session->state_of("SELECT bloom_lookup('gone', 1)"), 'XX001', 'gone: damaged');
is($session->state_of("SELECT bloom_lookup('gone_back', 1)"), 'XX001', 'gone_back: damaged');
is($session->state_of(q{SELECT bloom_rollback('gone_back')}), '', 'gone_back: back to the generation before');
all_found('gone_back');
is($session->state_of(q{SELECT bloom_drop('gone')}), '', 'gone: is dropped');
publish('gone');
all_found('gone');

# A filter is not published damaged.
$session->query('CREATE TABLE kept AS SELECT bloom_agg(k, 20000) AS f FROM generate_series(1, 20000) k');
my $kept = BloomTest::Damage->locate($session, 'kept');
$session->quit;
$node->stop;
$kept->flip($node, 3, 500, 0x04);
$node->start;
$session = session($node);
is($session->state_of("SELECT bloom_publish('kept', f) FROM kept"), 'XX001', 'a damaged filter is not published');
is($session->query("SELECT count(*) FROM bloom_published WHERE name = 'kept'"), 0, 'in fact');

$session->quit;
$node->stop;
done_testing();
