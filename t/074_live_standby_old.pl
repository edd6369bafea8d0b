# A live filter that is rebuilt on the primary, while a standby that does not tell of its
# snapshots has some from before: they see rows that nobody sees on the primary, so
# that the rebuilt filter has not got their keys.  Such snapshots are told "perhaps".
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use BloomTest;

my $primary = new_node('live_old_primary', allows_streaming => 1);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('live_old_standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\nhot_standby_feedback = off\n");
$standby->start;
my $writer = session($primary);

sub catch_up
{
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
	return;
}

my @readers = map { session($standby) } 1 .. 2;
foreach my $rebuild ('REINDEX INDEX old_id', 'REINDEX TABLE old')
{
	$writer->query('DROP TABLE IF EXISTS old; CREATE TABLE old (id int) WITH (fillfactor = 50)');
	$writer->query('CREATE INDEX old_id ON old USING bloomfilter (id); INSERT INTO old SELECT generate_series(1, 100)');
	catch_up();
	$_->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1') foreach @readers;
	$writer->query('DELETE FROM old WHERE id <= 50; UPDATE old SET id = id + 1000 WHERE id > 80');
	$writer->query($rebuild);
	catch_up();
	my $ask = "SELECT count(*), count(*) FILTER (WHERE NOT bloom_index_contains('old', 'id', id)) FROM old";
	is($readers[0]->query($ask), '100|0', "$rebuild: an older snapshot is not denied what it sees");
	is($readers[1]->query("SELECT count(*) FROM (SELECT array_agg(id) AS ids FROM old) AS s, unnest(ids, bloom_index_contains_each('old_id', ids)) AS answer (id, may) WHERE NOT may"),
		'0', "$rebuild: nor by an array");
	$_->query('COMMIT') foreach @readers;
	is($readers[0]->query("$ask; SELECT bloom_index_contains('old', 'id', -1)"), "50|0\nf", "$rebuild: a later one is told what is there");
}

# The same after its promotion, in a transaction from before, which has newer snapshots, too.
$writer->query(<<'EOC');
CREATE FUNCTION is_lost(k int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM FROM old WHERE id = k;
	-- An expression that is evaluated by itself remembers what it asks.
	RETURN CASE WHEN found THEN NOT bloom_index_contains('old', 'id', k) ELSE false END;
END $$
EOC
catch_up();
$readers[0]->query('BEGIN; DECLARE seen CURSOR FOR SELECT count(*) FILTER (WHERE is_lost(k)) FROM generate_series(1, 200) AS k');
$writer->query('DELETE FROM old WHERE id <= 60');
$writer->query('REINDEX INDEX old_id');
catch_up();
$writer->quit;
$primary->stop;
$standby->promote;
is($readers[0]->query('SELECT is_lost(70)'), 'f', 'promoted, a new snapshot is told what is there');
is($readers[0]->query('FETCH seen'), '0', 'and an older cursor of the same transaction "perhaps"');
$readers[0]->query('COMMIT');
is($readers[0]->query("SELECT count(*), count(*) FILTER (WHERE is_lost(id)), bloom_index_contains('old', 'id', 1) FROM old"),
	'40|0|f', 'until it ends');
$_->quit foreach @readers;

stayed_alive($_) foreach $primary, $standby;
$standby->stop;
done_testing();
