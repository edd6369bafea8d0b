# A stored value whose identifier is given to another value within the transaction that
# has asked, and copied, the first one: after a savepoint is rolled back and vacuumed,
# and after TRUNCATE, which replaces the file, or empties one of this transaction in
# place.  016_reused_toast_id.pl has what other transactions do.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use BloomTest;

my $library = build_library('next_oid');
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

my $node = new_node('reused_in_transaction');
my $asker = session($node);
my $cleaner = session($node);
$asker->query(<<"EOC");
CREATE FUNCTION set_next_oid(bigint) RETURNS void AS '$library' LANGUAGE C;
CREATE TABLE held (f bloomfilter);
CREATE FUNCTION fill(first int) RETURNS void LANGUAGE sql AS
'INSERT INTO held SELECT bloom_agg(k, 200000, 0.01, first) FROM generate_series(first, first + 1999) AS k';
CREATE FUNCTION identifiers() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	ids text;
BEGIN
	EXECUTE (SELECT format('SELECT string_agg(DISTINCT chunk_id::text, '','') FROM %s', reltoastrelid::regclass)
		FROM pg_class WHERE oid = 'held'::regclass) INTO ids;
	RETURN ids;
END \$\$;
EOC

# Ways to ask that outlive a statement, and one that copies; each counts keys.
my %ways = (
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
foreach my $way (sort keys %ways)
{
	my $first = 1;
	my $ask = sub { return $asker->query(sprintf $ways{$way}, $first) };
	$asker->query('BEGIN');
	foreach my $end (@ends)
	{
		my ($statement, $name) = @$end;
		if ($statement =~ /^ROLLBACK/)
		{
			$asker->query("SAVEPOINT before");
			$asker->query("SELECT fill($first)");
		}
		my $id = $asker->query('SELECT identifiers()');
		is($ask->(), 2000, "$way: asked before $name");
		$asker->query($statement);
		$cleaner->query('VACUUM (TRUNCATE off) held') if $statement =~ /^ROLLBACK/;
		$first += 100_000;
		$asker->query("SELECT set_next_oid($id)");
		$asker->query("SELECT fill($first)");
		is($asker->query('SELECT identifiers()'), $id, "$way: another filter has the identifier");
		forget_pointers();
		is($ask->(), 2000, "$way: and is asked itself after $name");
	}
	$asker->query('ROLLBACK');
	$cleaner->query('VACUUM held');
}

$_->quit foreach $asker, $cleaner;
stayed_alive($node);
done_testing();
