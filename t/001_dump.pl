# A filter that is dumped and restored, or copied, is the same filter: the same bytes, and every
# key is found.
use BloomTest;

my $node = new_node('dump');
my $dir = PostgreSQL::Test::Utils::tempdir;
my $session = session($node);

$session->query(<<'EOC');
CREATE TYPE labelled AS (label text, f bloomfilter);
CREATE TABLE filters (id serial PRIMARY KEY, keys int, f bloomfilter, list bloomfilter[], row labelled);
-- From 64 bytes of blocks to 4 MB, whose text is more than the 4 MiB that are read at once, in every shape of header.
INSERT INTO filters (keys, f)
SELECT least(m / 16, 20000), bloom_add_all(bloom_create_sized(m, k, seed), array(SELECT generate_series(1, least(m / 16, 20000))))
FROM (VALUES (512, 1, 0), (1000, 7, -1), (16384, 32, 9223372036854775807), (131072, 20, -9223372036854775808),
	(10000000, 7, 42), (32000000, 6, 43)) AS v (m, k, seed);
INSERT INTO filters (keys, f) SELECT 0, bloom_create(n, 1e-7) FROM (VALUES (1), (1000)) AS v (n);
INSERT INTO filters (keys, f) VALUES (0, NULL);
UPDATE filters SET list = ARRAY[f, NULL, f], row = ROW('a"b,c', f) WHERE id <= 4;
-- Parts of a set.
INSERT INTO filters (keys, f)
SELECT 0, bloom_part_agg(k, 3, 1000, 0.01) FROM generate_series(1, 1000) AS k GROUP BY bloom_part(k, 3);
CREATE MATERIALIZED VIEW built AS SELECT bloom_agg(k) AS f FROM generate_series(1, 1000) AS k;
EOC

my $content = <<'EOC';
SELECT id, md5(f::bytea), list::text = ARRAY[f, NULL, f]::text, (row).label, md5((row).f::bytea)
FROM filters ORDER BY id
EOC
my $built = 'SELECT md5(f::bytea), bloom_verify(f) FROM built';
my $missing = <<'EOC';
SELECT count(*) FROM filters, generate_series(1, keys) AS k WHERE NOT bloom_contains(f, k)
EOC
my $original = $session->query($content);
my $original_built = $session->query($built);
is($session->query($missing), 0, 'every key is found before the dump');

# Checks that a database holds what the first one does.
sub same_filters
{
	my ($dbname, $name) = @_;
	my $restored = session($node, dbname => $dbname);
	is($restored->query($content), $original, "$name: same bytes");
	is($restored->query($built), $original_built, "$name: same materialized view");
	is($restored->query($missing), 0, "$name: every key is found");
	$restored->quit;
	return;
}

# Dumps with some options and restores into a new database.
my $databases = 0;
sub dump_and_restore
{
	my ($name, $dump, $restore) = @_;
	my $dbname = 'restored' . ++$databases;
	my $file = "$dir/$dbname";
	$node->safe_psql('postgres', "CREATE DATABASE $dbname TEMPLATE template0");
	$node->command_ok([ 'pg_dump', '-f', $file, @$dump, 'postgres' ], "$name: dump");
	$node->command_ok(
		[ @$restore, '-d', $dbname, $restore->[0] eq 'psql' ? ('-f', $file) : $file ],
		"$name: restore");
	same_filters($dbname, $name);
	$node->safe_psql('postgres', "DROP DATABASE $dbname");
	return;
}

my @psql = ('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1');
my @plain = ('plain', [], \@psql);
my @custom = ('custom', ['-Fc'], ['pg_restore', '-e']);
dump_and_restore(@plain);
dump_and_restore(@custom);
dump_and_restore('inserts', [ '--inserts', '--rows-per-insert=2' ], \@psql);

# COPY, in both its forms.
foreach my $format ('text', 'csv', 'binary')
{
	$session->query(<<"EOC");
CREATE TABLE copied (LIKE filters);
COPY filters TO '$dir/filters.$format' (FORMAT $format);
COPY copied FROM '$dir/filters.$format' (FORMAT $format);
EOC
	is($session->query($content =~ s/FROM filters/FROM copied/r),
		$original, "COPY in format $format: same bytes");
	$session->query('DROP TABLE copied');
}

# The largest filter of all.
SKIP:
{
	skip 'the largest filter only with BLOOMFILTER_LONG', 1 unless rounds(0, 1);
	my $bits = BloomTest::MAX_BITS;
	$session->query('DROP TABLE filters CASCADE; DROP MATERIALIZED VIEW built');
	$session->query(<<"EOC");
CREATE TABLE filters (id int, keys int, f bloomfilter);
CREATE VIEW built AS SELECT f FROM filters;
INSERT INTO filters SELECT 1, 20000, bloom_add_all(bloom_create_sized($bits, 7), array(SELECT generate_series(1, 20000)));
EOC
	# An array of two of them would be more than a value can be.
	$content = 'SELECT id, md5(f::bytea) FROM filters ORDER BY id';
	$original = $session->query($content);
	$original_built = $session->query($built);
	dump_and_restore(@plain);
	dump_and_restore(@custom);
	$session->query(<<"EOC");
CREATE TABLE copied (LIKE filters);
COPY filters TO '$dir/filters' (FORMAT binary);
COPY copied FROM '$dir/filters' (FORMAT binary);
EOC
	is($session->query('SELECT c.f = o.f FROM copied AS c, filters AS o'), 't', 'COPY BINARY gives the same bytes');
}

finish($node);
