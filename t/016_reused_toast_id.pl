# A stored value whose identifier is given to another value: what a session
# remembers of the first must not answer for the second.
#
# Identifiers come from a counter of 32 bits and are not given out while a row, dead
# ones included, has them.  The counter goes round after four billion objects; here
# a function sets it back, so that a filter that is deleted and vacuumed leaves its
# very TOAST pointer to the next one, of the same size but with another seed and other
# keys, while a session goes on that has asked the first.  So do filters of a savepoint that is
# rolled back and vacuumed, and TRUNCATE, within the transaction that has asked.
use BloomTest;

my $library = build_library('next_oid');
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

# Ways to ask: a look-up, many keys at once, a scan that copies the filter, several
# call sites that share a copy, an expression of PL/pgSQL, whose state lives as long as
# the transaction, and statements of it, whose copy does.
my %ways = (
	lookup => 'SELECT bloom_contains(f, first) FROM %s',
	array => 'SELECT true = ALL (bloom_contains_each(f, array(SELECT generate_series(first, first + 1999)))) FROM %s',
	scan => 'SELECT bool_and(bloom_contains(f, k)) FROM %s, generate_series(first, first + 1999) AS k',
	shared => 'SELECT bool_and(bloom_contains(f, k) AND f @> k AND k <@ f) FROM %s, generate_series(first, first + 1999) AS k',
	statements => 'BEGIN
			FOR k IN first .. first + 1999 LOOP
				IF NOT (SELECT bloom_contains(f, k) FROM %s) THEN RETURN false; END IF;
			END LOOP;
			RETURN true;
		END',
	variable => 'DECLARE v bloomfilter := f FROM %s; BEGIN RETURN bloom_contains(v, first); END',
	loop => 'DECLARE v bloomfilter := f FROM %s;
		BEGIN
			FOR k IN first .. first + 1999 LOOP
				IF NOT bloom_contains(v, k) THEN RETURN false; END IF;
			END LOOP;
			RETURN true;
		END');

my $node = new_node('reused_toast_id');
my $writer = session($node);
$writer->query("CREATE FUNCTION set_next_oid(bigint) RETURNS void AS '$library' LANGUAGE C");
$writer->query(<<'EOC');
CREATE FUNCTION toast(relation text, OUT toast text) LANGUAGE sql AS
'SELECT reltoastrelid::regclass FROM pg_class WHERE oid = relation::regclass';
CREATE FUNCTION identifiers(relation text, OUT id text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT string_agg(DISTINCT chunk_id::text, '','') FROM ' || toast(relation) INTO id;
END $$;
CREATE PROCEDURE fill(relation text, first int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT bloom_agg(k, 200000, 0.01, %s) FROM generate_series(%2$s, %2$s + 1999) AS k', relation, first);
END $$;
EOC

# Each way has a table of its own, with one reader without a transaction, one in a
# transaction, and one in a transaction that keeps a cursor.
my @readers;
foreach my $way (sort keys %ways)
{
	foreach my $mode ('in_two', 'in_one', 'with_cursor')
	{
		my $table = "${way}_$mode";
		my $language = $ways{$way} =~ /^SELECT/ ? 'sql' : 'plpgsql';
		my $body = sprintf $ways{$way}, $table;
		$writer->query(<<"EOC");
CREATE TABLE $table (f bloomfilter);
CREATE FUNCTION ask_$table(first int) RETURNS boolean LANGUAGE $language AS \$\$$body\$\$;
EOC
		push @readers, { table => $table, mode => $mode };
	}
}
my @holders = grep { $_->{mode} eq 'with_cursor' } @readers;

# Opens a cursor in the statement that has asked, but with a younger snapshot: of a
# moment when the filters are deleted, which the test lets come by a lock.  Of the
# two snapshots only the cursor's is left when the statement ends.  A table that was
# not looked at before lets the session take notice of changes to the catalog.
$writer->query(<<'EOC');
CREATE TABLE other (i int);
CREATE FUNCTION hold() RETURNS text LANGUAGE plpgsql AS $$
DECLARE held refcursor := 'held';
BEGIN
	PERFORM pg_advisory_lock_shared(1);
	OPEN held FOR SELECT i FROM other;
	RETURN 'held';
END $$;
EOC

# In this order the filters take one identifier after the other, and again later.
sub fill_all
{
	my ($first) = @_;
	$writer->query("CALL fill('$_->{table}', $first)") foreach @readers;
	return map { $writer->query("SELECT identifiers('$_->{table}')") } @readers;
}

sub asks
{
	my ($reader, $first) = @_;
	return $reader->{session}->query("SELECT ask_$reader->{table}($first)");
}

my @identifiers = fill_all(1);
$writer->query("SELECT set_next_oid($identifiers[0])");

$writer->query('SELECT pg_advisory_lock(1)');
foreach my $reader (@readers)
{
	$reader->{session} = session($node);
	$reader->{session}->query('BEGIN') if $reader->{mode} ne 'in_two';
	if ($reader->{mode} eq 'with_cursor')
	{
		$reader->{session}->start("SELECT ask_$reader->{table}(1), hold()");
		next;
	}
	is(asks($reader, 1), 't', "$reader->{table}: a filter is asked");
}
my $waiting = @holders;
$node->poll_query_until('postgres',
	"SELECT count(*) = $waiting FROM pg_stat_activity WHERE wait_event = 'advisory'")
  or die 'the readers with a cursor do not wait';
$writer->query("DELETE FROM $_->{table}") foreach @readers;
# A change of the catalog, or a session's view of that would hold its oldest snapshot.
$writer->query('ALTER TABLE other SET (fillfactor = 90)');
$writer->query('SELECT pg_advisory_unlock(1)');
is(($_->{session}->finish)[0], 't|held', "$_->{table}: a filter is asked, then a cursor opened")
  foreach @holders;
# Not cut short: that would wait for the readers.
$writer->query("VACUUM (TRUNCATE off) $_->{table}") foreach @readers;
is_deeply([ fill_all(100_001) ], \@identifiers, 'others take their identifiers');
forget_pointers();
is(asks($_, 100_001), 't', "$_->{table}: the other one answers, not what was remembered")
  foreach @readers;

$_->{session}->quit foreach @readers;
$writer->quit;

# Within the transaction that has asked.  TRUNCATE replaces the file, or empties one of this
# transaction in place.
my $asker = session($node);
my $cleaner = session($node);
$asker->query(<<'EOC');
CREATE TABLE held (f bloomfilter);
CREATE FUNCTION fill(first int) RETURNS void LANGUAGE sql AS
'INSERT INTO held SELECT bloom_agg(k, 200000, 0.01, first) FROM generate_series(first, first + 1999) AS k';
EOC

# Ways to ask that outlive a statement, and one that copies; each counts keys.
my %own_ways = (
	scan => 'SELECT count(*) FROM held, generate_series(%d, %1$d + 1999) AS k WHERE f @> k',
	array => 'SELECT count(*) FROM unnest((SELECT bloom_contains_each(f, array(SELECT generate_series(%d, %1$d + 1999))) FROM held)) AS found WHERE found',
	loop => 'SELECT loop(%d)');
$asker->query(<<'EOC');
CREATE FUNCTION loop(first int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	filter bloomfilter := f FROM held;
	found int := 0;
BEGIN
	FOR k IN first .. first + 1999 LOOP
		IF filter @> k THEN found := found + 1; END IF;
	END LOOP;
	RETURN found;
END $$;
EOC

my @ends = (
	[ 'ROLLBACK TO before', 'a savepoint rolled back' ],
	[ 'TRUNCATE held', 'TRUNCATE' ],
	[ 'TRUNCATE held', 'TRUNCATE in place' ]);
foreach my $way (sort keys %own_ways)
{
	my $first = 1;
	my $ask = sub { return $asker->query(sprintf $own_ways{$way}, $first) };
	$asker->query('BEGIN');
	foreach my $end (@ends)
	{
		my ($statement, $name) = @$end;
		if ($statement =~ /^ROLLBACK/)
		{
			$asker->query("SAVEPOINT before");
			$asker->query("SELECT fill($first)");
		}
		my $id = $asker->query(q{SELECT identifiers('held')});
		is($ask->(), 2000, "$way: asked before $name");
		$asker->query($statement);
		$cleaner->query('VACUUM (TRUNCATE off) held') if $statement =~ /^ROLLBACK/;
		$first += 100_000;
		$asker->query("SELECT set_next_oid($id)");
		$asker->query("SELECT fill($first)");
		is($asker->query(q{SELECT identifiers('held')}), $id, "$way: another filter has the identifier");
		forget_pointers();
		is($ask->(), 2000, "$way: and is asked itself after $name");
	}
	$asker->query('ROLLBACK');
	$cleaner->query('VACUUM held');
}

finish($node);
