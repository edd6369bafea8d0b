# What a standby answers is what the primary answers: compared by asking for every key and for
# keys that were never added, not by sizes.  057_logical.pl has subscribers.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Cluster;

use BloomTest;

my $primary = new_node(
	'primary',
	allows_streaming => 1,
	conf => "max_wal_size = 4GB\nshared_buffers = 32MB\n");
$primary->safe_psql('postgres', <<'EOC');
CREATE TABLE filters (id int PRIMARY KEY, note text, f bloomfilter);
CREATE FUNCTION build(round int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_add_all(bloom_create(400000, 0.01, round), array(SELECT k * 3 + round FROM generate_series(1, 5000) AS k))';
INSERT INTO filters SELECT i, 'round 1', build(1) FROM generate_series(1, 3) AS i;
INSERT INTO filters VALUES (4, 'small', bloom_create(1));
EOC

# The answers of all filters, to compare: keys that are in and keys that are not.
my $answers = <<'EOC';
SELECT id, note, bloom_verify(f), md5(string_agg(bloom_contains(f, k)::int::text, '' ORDER BY k)),
	md5(f::bytea)
FROM filters, generate_series(1, 20000) AS k GROUP BY id ORDER BY id
EOC

# Keys of a round that a filter does not contain.
sub missing
{
	my ($session, $id, $round) = @_;
	return $session->query(
		"SELECT count(*) FROM filters, generate_series(1, 5000) AS k WHERE id = $id AND NOT bloom_contains(f, k * 3 + $round)"
	);
}

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf',
	"max_standby_streaming_delay = -1\nhot_standby_feedback = on\n");
$standby->start;
my $writer = session($primary);
my $reader = session($standby);

# A query that is running on the standby while the primary swaps and vacuums
# answers from its snapshot.
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$reader->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM filters');
foreach my $round (2 .. 5)
{
	$writer->query("UPDATE filters SET f = build($round), note = 'round $round' WHERE id < 3");
	$writer->query('VACUUM filters') if $round > 2;
	is(missing($reader, 1, 1), 0, "round $round: an open snapshot of the standby finds its keys");

	my $other = session($standby);
	my ($seen, $lost) = split /\|/, $other->query(<<'EOC');
SELECT min(note), count(*) FILTER (WHERE NOT bloom_contains(f, k * 3 + substr(note, 7)::int))
FROM filters, generate_series(1, 5000) AS k WHERE id = 1
EOC
	is($lost, 0, "round $round: a new snapshot of the standby, $seen, finds its own");
	$other->quit;
}
$reader->query('COMMIT');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is($reader->query($answers), $writer->query($answers), 'the standby answers as the primary does');

# The standby takes over.
my $before = $writer->query($answers);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$writer->quit;
$primary->stop;
$standby->promote;
is($reader->query($answers), $before, 'after promotion the standby answers as the primary did');
$reader->query('UPDATE filters SET f = build(9) WHERE id = 1');
is(missing($reader, 1, 9), 0, 'and takes new filters');
$reader->quit;

stayed_alive($_) foreach $primary, $standby;
$standby->stop;
done_testing();
