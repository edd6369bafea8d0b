# Writers, askers and a rebuilder at once, then a crash, and again: whatever an asker's
# snapshot sees is found, and what is left in the end is what bloom_agg makes of the
# keys.  BLOOMFILTER_LONG=1 makes minutes of it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

use constant WRITERS => 4;
use constant ASKERS => 3;

my $node = new_node('live_stress', conf => "max_connections = 50\n");

# Few pages, so that many meet on one and all overflow.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint, code text, kind int) PARTITION BY LIST (kind);
CREATE TABLE keys_0 PARTITION OF keys FOR VALUES IN (0) WITH (fillfactor = 70);
CREATE TABLE keys_1 PARTITION OF keys FOR VALUES IN (1) WITH (fillfactor = 70);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
CREATE INDEX keys_code ON keys USING bloomfilter (lower(code)) WITH (n = 20000) WHERE code IS NOT NULL;
CREATE SEQUENCE next;
CREATE SEQUENCE asked;
CREATE TABLE denied (snapshot text, id bigint, code text);

-- Inserts, updates (of the key, of nothing), deletes, savepoints and rollbacks.
CREATE PROCEDURE write(seconds float8) LANGUAGE plpgsql AS $$
DECLARE
	last timestamptz := clock_timestamp() + seconds * interval '1 second';
	k bigint;
BEGIN
	WHILE clock_timestamp() < last LOOP
		k := nextval('next');
		INSERT INTO keys SELECT k * 100 + i, 'Code ' || k * 100 + i, i % 2 FROM generate_series(0, 19) i;
		IF k % 3 = 0 THEN
			UPDATE keys SET id = -id, code = code || ' anew' WHERE id = k * 100 + 7;
		END IF;
		BEGIN
			INSERT INTO keys VALUES (k * 100 + 50, 'saved', 0), (k * 100 + 51, NULL, 1);
			IF k % 2 = 0 THEN RAISE division_by_zero; END IF;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
		PERFORM pg_sleep(0.002);
		IF k % 5 = 0 THEN DELETE FROM keys WHERE id = k * 100 + 3; END IF;
		IF k % 7 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
	END LOOP;
END $$;

-- Each statement has a snapshot, and notes what it sees and is denied.
CREATE PROCEDURE ask(seconds float8) LANGUAGE plpgsql AS $$
DECLARE last timestamptz := clock_timestamp() + seconds * interval '1 second';
BEGIN
	WHILE clock_timestamp() < last LOOP
		INSERT INTO denied SELECT pg_current_snapshot()::text, id, code FROM keys
			WHERE NOT bloom_index_contains('keys', 'id', id)
				OR NOT bloom_index_contains('keys_code'::text::regclass, lower(code));
		INSERT INTO denied SELECT 'array', id, NULL
			FROM (SELECT array_agg(id) AS ids FROM (SELECT id FROM keys ORDER BY random() LIMIT 500) AS several) AS all_ids,
				unnest(ids, bloom_index_contains_each('keys', 'id', ids)) AS answer (id, may) WHERE NOT may;
		PERFORM nextval('asked');
		COMMIT;
	END LOOP;
END $$;
EOC
# REINDEX CONCURRENTLY of partitions by their own indexes, in a loop of its own.
my $rebuild = join '', map { "REINDEX TABLE CONCURRENTLY keys_$_;\nVACUUM keys_$_;\n" } 0, 1;
my $parents = "REINDEX INDEX keys_0_id_idx;\n";

my $denied = q{SELECT count(*), min(id), min(code) FROM denied};
my $seconds = rounds(3, 60);
foreach my $round (1 .. rounds(2, 20))
{
	my @sessions = map { session($node) } 1 .. WRITERS + ASKERS;
	my $crash = $round % 2;

	$_->query('SET bloomfilter.overflow = ignore') foreach @sessions;
	my $time = $crash ? 1000 : $seconds;
	$sessions[$_]->start("CALL write($time)") foreach 0 .. WRITERS - 1;
	$sessions[$_]->start("CALL ask($time)") foreach WRITERS .. $#sessions;
	my $rebuilder = session($node);
	my $rebuilt = 0;
	my $end = time + $seconds;
	while (time < $end)
	{
		my ($out, $state, $err) = $rebuilder->try($rebuild . $parents);
		# An asker's lock and the rebuild's may be in a circle, which PostgreSQL ends.
		is($state, '', "round $round: rebuilt") or diag $err if $state !~ /^(|40P01)$/;
		$rebuilt++;
	}
	note "rebuilt $rebuilt times";
	if ($crash)
	{
		$node->stop('immediate');
		$_->abandon foreach @sessions, $rebuilder;
		$node->start;
	}
	else
	{
		is(($_->finish)[1], '', "round $round: a session ends well") foreach @sessions;
		$_->quit foreach @sessions, $rebuilder;
	}
	is($node->safe_psql('postgres', $denied), '0||', "round $round: no snapshot saw a key that was denied");
	is($node->safe_psql('postgres', <<'EOC'), 't|0|0', "round $round: nor is one denied now");
SELECT count(*) > 1000, count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'id', id)),
	count(*) FILTER (WHERE NOT bloom_index_contains('keys_code', lower(code))) FROM keys
EOC
	is($node->safe_psql('postgres', "SELECT bool_and(bloom_index_verify(indexrelid)) FROM bloom_live WHERE valid"),
		't', "round $round: all filters are whole");
}

cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM asked'), '>', 20, 'askers have asked');

# Built anew, a filter has the keys and nothing else.
is($node->safe_psql('postgres', <<'EOC'), 't', 'rebuilt, the bytes are those of bloom_agg');
SET bloomfilter.overflow = ignore;
REINDEX TABLE keys_0;
SELECT bloom_snapshot('keys_0_id_idx') = (SELECT bloom_agg(id, (SELECT n FROM bloom_index_stats('keys_0_id_idx'))) FROM keys_0);
EOC
stayed_alive($node);
$node->stop;
done_testing();
