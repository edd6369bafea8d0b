# Single questions, which lock their index alone: while pages leave their buffers, and while
# the index gets another file in transactions that also insert.  Every key that was committed
# before a question is found by it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

# 128 buffers for more pages than that.
my $node = new_node('live_single', conf => "shared_buffers = 1MB\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE many AS SELECT generate_series(1, 1000000) AS id;
CREATE INDEX many_id ON many USING bloomfilter (id);
CREATE TABLE snapshot AS SELECT bloom_snapshot('many_id') AS filter;
EOC

sub ask_beside_reading
{
	my ($asker, $reader) = (session($node), session($node));
	my $asked = "array(SELECT g * 13 FROM generate_series(1, 500) g)";
	my ($right, $rounds) = (0, rounds(100, 2000));
	$asker->query("SELECT bloom_index_contains('many_id', 1)");
	foreach my $i (1 .. $rounds)
	{
		# Half of these are in the table.
		my $key = $i * 19 * 1000;
		$right += $asker->query("SELECT bloom_index_contains('many_id', $key) = bloom_contains(filter, $key) FROM snapshot") eq 't';
		$right += $asker->query("SELECT bloom_index_contains('many_id', $key % 1000000 + 1)") eq 't';
		$right += $asker->query("SELECT bool_and(a) FROM unnest(bloom_index_contains_each('many_id', $asked)) a") eq 't';
		$reader->query('SELECT count(*) FROM many') if $i % 10 == 0;
	}
	is($right, 3 * $rounds, 'the same answers while other pages are read');
	$_->quit foreach $asker, $reader;
	return;
}
ask_beside_reading();

$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint PRIMARY KEY);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 10000);
CREATE SEQUENCE asked;
CREATE TABLE latest (k bigint) WITH (fillfactor = 10);
INSERT INTO latest VALUES (0);

-- Commits the next key in the transaction that replaces the file, which keeps all others.
CREATE PROCEDURE replace(statement text, seconds float8) LANGUAGE plpgsql AS $$
DECLARE
	last timestamptz := clock_timestamp() + seconds * interval '1 second';
	next bigint;
BEGIN
	WHILE clock_timestamp() < last LOOP
		next := k + 1 FROM latest;
		EXECUTE statement;
		IF statement LIKE 'TRUNCATE%' THEN
			INSERT INTO keys SELECT generate_series(1, next);
		ELSE
			INSERT INTO keys VALUES (next);
		END IF;
		UPDATE latest SET k = next;
		COMMIT;
	END LOOP;
END $$;

-- A question a transaction: of the last key that its snapshot sees.  What a cursor runs is a
-- statement of its own, as if a client had sent it, but comes sooner after the last.
CREATE PROCEDURE ask(seconds float8) LANGUAGE plpgsql AS $$
DECLARE
	last timestamptz := clock_timestamp() + seconds * interval '1 second';
	question refcursor;
	found bool;
	at bigint;
BEGIN
	WHILE clock_timestamp() < last LOOP
		OPEN question FOR SELECT bloom_index_contains('keys_id', latest.k), latest.k FROM latest WHERE latest.k > 0;
		FETCH question INTO found, at;
		CLOSE question;
		IF NOT found THEN RAISE 'key % was denied', at; END IF;
		PERFORM nextval('asked');
		COMMIT;
	END LOOP;
END $$;
EOC

# What gives the index another file, and lets it keep its OID.
foreach my $statement (
	'TRUNCATE keys',
	'REINDEX INDEX keys_id',
	'CLUSTER keys USING keys_pkey',
	'ALTER TABLE keys SET UNLOGGED; ALTER TABLE keys SET LOGGED',
	'ALTER INDEX keys_id SET TABLESPACE elsewhere; ALTER INDEX keys_id SET TABLESPACE pg_default')
{
	my ($replacer, @askers) = map { session($node) } 1 .. 3;
	my $seconds = rounds(1, 60);
	my ($from, $asked) = split /\|/, $node->safe_psql('postgres', 'SELECT k, last_value FROM latest, asked');
	$_->start("CALL ask($seconds)") foreach @askers;
	my (undef, $state, $error) = $replacer->try("CALL replace('$statement', $seconds)");
	is($state, '', "$statement: all files were replaced") or diag $error;
	foreach my $asker (@askers)
	{
		(undef, $state, $error) = $asker->finish;
		is($state, '', "$statement: no key was denied") or diag $error;
	}
	my ($files, $questions) = split /\|/, $node->safe_psql('postgres', "SELECT k - $from, last_value - $asked FROM latest, asked");
	ok($files > 0 && $questions > 0, "$statement: files were replaced and questions asked");
	note "$files files, $questions questions";
	$_->quit foreach $replacer, @askers;
}

stayed_alive($node);
$node->stop;
done_testing();
