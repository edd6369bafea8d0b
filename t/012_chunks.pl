# Chunks of a filter make the filter, within one snapshot also while it is swapped.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use BloomTest;

my $node = new_node('chunks', conf => "max_parallel_workers_per_gather = 0\n");
my $reader = session($node);
my $writer = session($node);

$writer->query(<<'EOC');
CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter);
INSERT INTO filters SELECT n, bloom_add_all(bloom_create(n), array(SELECT generate_series(1, least(n, 1000))))
FROM unnest('{1, 100, 3000, 1000000}'::int[]) AS n;
CREATE FUNCTION in_chunks(filter bloomfilter, size int) RETURNS bytea LANGUAGE sql AS
'SELECT string_agg(bloom_chunk(filter, at, size), '''' ORDER BY at)
FROM generate_series(0, (bloom_stats(filter)).bytes, size) AS at';
EOC

foreach my $size (1, 64, 1996, 1_000_003, 536_870_912, 2_147_483_647)
{
	next if $size == 1 && !rounds(0, 1);
	my $small = $size < 64 ? 'AND id < 3000' : '';
	is( $reader->query("SELECT count(*) FROM filters WHERE in_chunks(f, $size) <> f::bytea $small"),
		0, "chunks of $size bytes make the filter");
}
is( $reader->query(
		"SELECT bool_and(bloom_chunk(f, bytes, 10) = '' AND bloom_chunk(f, bytes - 3, 10) = substr(f::bytea, bytes::int - 2) AND bloom_chunk(f, 9223372036854775807, 2147483647) = '') FROM filters, LATERAL (SELECT (bloom_stats(f)).bytes) AS s"
	),
	't', 'a chunk at the end is short and one behind it empty');
is($reader->state_of("SELECT bloom_chunk(f, $_) FROM filters"),
	'22023', "offset and length $_ are refused")
  foreach '-1, 10', '0, -1', '(-9223372036854775808), -2147483648';

# A reader that fetches chunk by chunk, as application servers do, while another
# session swaps and vacuums.
my ($bytes, $expected) = split /\|/,
  $reader->query(
	'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT length(f::bytea), md5(f::bytea) FROM filters WHERE id = 1000000'
  );
my $fetched = '';
for (my $at = 0; $at < $bytes; $at += 100_000)
{
	$fetched .= $reader->query(
		"SELECT encode(bloom_chunk(f, $at, 100000), 'hex') FROM filters WHERE id = 1000000");
	$writer->query(
		"UPDATE filters SET f = bloom_add_all(bloom_create(1000000, 0.02, $at), '{5}'::int[]) WHERE id = 1000000");
	$writer->query('VACUUM filters');
}
is($reader->query("SELECT md5(decode('$fetched', 'hex'))"),
	$expected, 'chunks of one snapshot fit together while others swap');
is( $reader->query("SELECT decode('$fetched', 'hex')::bloomfilter = f FROM filters WHERE id = 1000000"),
	't', 'and are the filter of that snapshot');
$reader->query('COMMIT');
is($reader->query('SELECT f @> 5 FROM filters WHERE id = 1000000'), 't', 'the next sees the last one');

$_->quit foreach $reader, $writer;
stayed_alive($node);
$node->stop;
done_testing();
