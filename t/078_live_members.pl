# No member is denied: while pages leave their buffers, while others insert, and whatever a
# function of the query or its transaction does to the table.
use BloomTest;

# 128 buffers for more pages than that.
my $node = new_node('live_members', conf => "shared_buffers = 1MB\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE many AS SELECT generate_series(1, 200000) AS id;
CREATE INDEX many_id ON many USING bloomfilter (id) WITH (n = 1000000);
CREATE TABLE snapshot AS SELECT bloom_snapshot('many_id') AS filter;
EOC

sub ask_beside_reading
{
	my ($asker, $reader) = (session($node), session($node));
	my $asked = "array(SELECT g * 13 FROM generate_series(1, 500) g)";
	my ($right, $rounds) = (0, rounds(40, 2000));
	$asker->query("SELECT bloom_index_contains('many_id', 1)");
	foreach my $i (1 .. $rounds)
	{
		# Half of these are in the table.
		my $key = $i * 19 * 500;
		$right += $asker->query("SELECT bloom_index_contains('many_id', $key) = bloom_contains(filter, $key) FROM snapshot") eq 't';
		$right += $asker->query("SELECT bloom_index_contains('many_id', $key % 200000 + 1)") eq 't';
		$right += $asker->query("SELECT bool_and(a) FROM unnest(bloom_index_contains_each('many_id', $asked)) a") eq 't';
		$reader->query('SELECT count(*) FROM many') if $i % 10 == 0;
	}
	is($right, 3 * $rounds, 'the same answers while other pages are read');
	$_->quit foreach $asker, $reader;
	return;
}
ask_beside_reading();

# From here on with enough buffers.
$node->append_conf('postgresql.conf', "shared_buffers = 64MB\n");
$node->restart;
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys AS SELECT generate_series(1, 8000) AS id;
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 8000);

-- All keys by a snapshot of its own, in a subtransaction.
CREATE FUNCTION all_there() RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	ASSERT NOT EXISTS (SELECT FROM keys WHERE NOT bloom_index_contains('keys_id', id));
	RETURN 1;
EXCEPTION WHEN division_by_zero THEN
	RETURN 1;
END $$;

-- Asked in the middle of a command, too.
CREATE FUNCTION before_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM all_there(); RETURN NULL; END $$;
CREATE TRIGGER before_truncate BEFORE TRUNCATE ON keys EXECUTE FUNCTION before_truncate();

CREATE FUNCTION run(command text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; RETURN 1; END $$;
EOC

my $denied = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys_id', id)) FROM keys";
my ($asker, $other) = (session($node), session($node));

# Others' keys, committed meanwhile, until most pages have overflowed.
$asker->query('BEGIN');
foreach my $round (1 .. 5)
{
	$other->query("INSERT INTO keys SELECT generate_series($round * 8000 + 1, $round * 8000 + 8000)");
	is($asker->query($denied), 0, "round $round of insertions: no key is denied");
}
$asker->query('COMMIT');

# What functions of a query and later commands of its transaction do to the file.  New files
# are truncated in place.
my $again = 'INSERT INTO keys SELECT generate_series(1, 8000)';
foreach my $change (
	"TRUNCATE keys; $again",
	"TRUNCATE keys; $again; TRUNCATE keys; $again",
	'REINDEX INDEX keys_id',
	'DROP INDEX keys_id; CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 8000)',
	'ALTER INDEX keys_id SET TABLESPACE elsewhere',
	'ALTER TABLE keys SET TABLESPACE elsewhere',
	"ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys; $again",
	"ALTER INDEX keys_id SET (n = 200000); TRUNCATE keys; $again",
	'ALTER TABLE keys ALTER id TYPE bigint')
{
	# By name, as some give it another OID.
	my $asks = "bloom_index_contains('keys_id'::text::regclass, k)";
	my $of_series = "SELECT count(*) FILTER (WHERE NOT $asks) FROM generate_series(1, 8000) AS k";
	my $inside = "SELECT count(*) FILTER (WHERE NOT CASE WHEN k = 1000 AND run('$change') = 0 THEN true ELSE $asks END) FROM generate_series(1, 8000) AS k";
	my @steps = split /; /, $change;
	# What a rollback leaves of a file that was truncated in place is asked below.
	foreach my $end ($change =~ /TABLE keys SET TABLESPACE.*TRUNCATE/ ? 'COMMIT' : ('ROLLBACK', 'COMMIT'))
	{
		$node->safe_psql('postgres', "ALTER INDEX keys_id SET (n = 8000); ALTER TABLE keys SET TABLESPACE pg_default; TRUNCATE keys; $again");
		is($asker->query("BEGIN; $of_series"), 0, "$change: no key is denied before");
		foreach my $step (@steps)
		{
			$asker->query($step);
			next if $asker->query("SELECT to_regclass('keys_id') IS NULL OR NOT EXISTS (SELECT FROM keys)") eq 't';
			is($asker->query($of_series), 0, "nor after $step");
		}
		$asker->query($end);
		is($other->query($denied), 0, "nor after $end");
		is($asker->query("BEGIN; $inside; $of_series"), "0\n0", 'nor where a function of the query does it');
		$asker->query($end);
		is($other->query($denied), 0, "nor after $end");
	}
}

# TRUNCATE may empty the index's old file in place, which a rollback does not bring back: after
# it each look-up, insertion and verification is an error, in each session.
my $others = session($node);
foreach my $options ('WITH (n = 8000)', '')
{
	foreach my $before ('', 'SAVEPOINT first; REINDEX INDEX keys_id; RELEASE first; SAVEPOINT second; ')
	{
		$other->query("ALTER TABLE keys ALTER id TYPE int; TRUNCATE keys; $again; DROP INDEX keys_id; CREATE INDEX keys_id ON keys USING bloomfilter (id) $options");
		$other->query('ALTER INDEX keys_id SET (n = 60000)') if $options;
		is($_->query($denied), 0, "$options $before: another session knows the layout") foreach $other, $others;
		is($asker->query("BEGIN; ${before}ALTER TABLE keys SET TABLESPACE elsewhere; ALTER TABLE keys SET TABLESPACE pg_default; TRUNCATE keys; SELECT bloom_index_contains('keys_id', 1)"), 'f', 'emptied in place');
		is($asker->query("INSERT INTO keys VALUES (1); $denied"), 0, 'it takes keys');
		$asker->query($before eq '' ? 'ROLLBACK' : 'ROLLBACK TO second; COMMIT');
		my $fresh = session($node);
		foreach my $session ($asker, $other, $fresh)
		{
			my (undef, $state, $said) = $session->try($denied);
			is($state, 'XX001', 'rolled back: an error');
			like($said, qr/is empty.*HINT: .*REINDEX|could not read block/s, 'that says so');
			is($session->state_of("SELECT bloom_index_contains('keys_id', 1)"), 'XX001', 'for each key');
			is($session->state_of("SELECT bloom_index_contains_each('keys_id', array[1, 2])"), 'XX001', 'and arrays of keys');
		}
		is($others->state_of('INSERT INTO keys VALUES (1000000)'), 'XX001', 'who knew the index cannot insert');
		is($fresh->state_of('INSERT INTO keys VALUES (1000000)'), 'XX001', 'nor can a new session');
		is($fresh->state_of("SELECT bloom_index_verify('keys_id')"), 'XX001', 'verification fails');
		is($fresh->state_of("SELECT bloom_snapshot('keys_id')"), 'XX001', 'and so does a snapshot');
		is($fresh->state_of('VACUUM keys'), '', 'its table can be vacuumed');
		is($fresh->query("REINDEX INDEX keys_id; $denied; SELECT bloom_index_contains('keys_id', -1)"), "0\nf", 'REINDEX mends it');
		is($others->query("INSERT INTO keys VALUES (1000000); $denied; DELETE FROM keys WHERE id = 1000000"), 0, 'for all');
		$fresh->quit;
	}
}
$others->quit;

# And after a crash.
$asker->query('BEGIN; ALTER TABLE keys SET TABLESPACE elsewhere; TRUNCATE keys; ROLLBACK');
$_->quit foreach $asker, $other;
$node->stop('immediate');
$node->start;
($asker, $other) = (session($node), session($node));
is($asker->state_of($denied), 'XX001', 'an error after a crash as well');
is($asker->query("REINDEX INDEX keys_id; $denied; SELECT count(*) FROM keys"), "0\n8000", 'until it is rebuilt');

# Questions of a function outlive the portal that has taken the locks for them.
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION ask(k int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN bloom_index_contains('keys_id', k); END $$;
CREATE FUNCTION fail(k int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 / (1001 - k); RETURN ask(k); END $$;
EOC
$asker->query('BEGIN; DECLARE c CURSOR FOR SELECT fail(k) FROM generate_series(1, 2000) AS k; MOVE 1000 FROM c');
is($asker->state_of('SAVEPOINT s; MOVE ALL FROM c'), '22012', 'a portal fails');
my $locks = "SELECT count(*) FROM pg_locks WHERE relation = 'keys_id'::regclass AND pid = " . $asker->pid;
$asker->query('ROLLBACK TO s; RELEASE s');
is($other->query($locks), 0, 'and its locks are gone');
is($asker->query('SELECT bool_and(ask(k)) FROM generate_series(1, 2000) AS k'), 't', 'the function asks again');
is($other->query($locks), 1, 'with a lock');
$asker->query('COMMIT');

$_->quit foreach $asker, $other;
unlike(slurp_file($node->logfile), qr/leak|still referenced|is pinned/, 'nothing was left to the transaction to release');

finish($node);
