# A disk that is full: a swap fails and the old filter goes on, a pull fails and the
# old file goes on; when there is space again, both work.
use BloomTest;
use BloomTest::Pull;
use BloomTest::SmallDisk;

use constant MEGABYTE => 1024 * 1024;

my $disk = BloomTest::SmallDisk->new(24 * MEGABYTE);
plan skip_all => 'no user namespaces here, in which to mount a small disk' if !defined $disk;

my $node = new_node('full_disk');
my $session = session($node);
my $reader = session($node);

# A tablespace on the small disk, with a filter of 1.2 MB for 1 .. 2000.
my $space = $disk->make_folder('space');
$session->query("CREATE TABLESPACE small LOCATION '$space'");
$session->query(<<'EOC');
CREATE FUNCTION build(first int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_agg(k, 1000000) FROM generate_series(first, first + 1999) AS k';
CREATE TABLE filters (f bloomfilter) TABLESPACE small;
INSERT INTO filters VALUES (build(1));
CREATE TABLE elsewhere AS SELECT f FROM filters;
VACUUM filters;
EOC

sub asked
{
	my ($first) = @_;
	return $reader->query("SELECT bool_and(bloom_contains(f, k)) FROM filters, generate_series($first, $first + 1999) AS k");
}

# What writes a filter, or something as large, to the small disk.
my %writes = (
	'a swap' => 'UPDATE filters SET f = build(5001)',
	'adding keys' => 'UPDATE filters SET f = bloom_add(f, 5001)',
	'a new row' => 'INSERT INTO filters VALUES (build(5001))',
	'a new table' => 'CREATE TABLE fresh TABLESPACE small AS SELECT build(5001)',
	'a rewritten table' => 'VACUUM FULL filters',
	'a build of sorted keys' =>
	  "SET temp_tablespaces = small; SET work_mem = '64kB'; SELECT bloom_verify(bloom_agg(k)) FROM (SELECT k FROM generate_series(1, 100000) AS k ORDER BY -k) AS q");

my $tries = 0;
foreach my $free (0, 100_000, MEGABYTE)
{
	foreach my $what (sort keys %writes)
	{
		$session->query('RESET ALL; VACUUM filters');
		$disk->fill($free);
		is($session->state_of($writes{$what}), '53100', "$what with $free bytes free: the disk is full");
		is(asked(1), 't', "$what with $free bytes free: the old filter is asked");
		is($reader->query('SELECT bloom_verify(a.f), a.f = b.f FROM filters AS a, elsewhere AS b'),
			't|t', "$what with $free bytes free: and is as it was");
		$disk->give_back;
		$tries++;
	}
}
note "$tries writes failed";

# What failed leaves nothing that a vacuum does not take away.
$session->query('RESET ALL; VACUUM filters; CHECKPOINT');
is($session->query("SELECT pg_total_relation_size('filters') <= pg_total_relation_size('elsewhere') * 2"),
	't', 'the failed writes have left no space taken');
is($session->query("SELECT count(*) FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'small'))"),
	0, 'and no temporary file');
foreach my $what (sort keys %writes)
{
	is($session->state_of($writes{$what}), '', "$what works when there is space again");
}
is($session->query('SELECT bool_and(bloom_verify(f)), count(*) FROM filters'), 't|2', 'what it wrote is whole');
is(asked(5001), 't', 'and is asked');

# Pulls to the small disk.
SKIP:
{
	$session->query(<<'EOC');
RESET ALL;
DROP TABLE filters, fresh;
CREATE TABLE day AS SELECT build(1) AS old, build(5001) AS new;
EOC
	my $pull = BloomTest::Pull->new($node, $disk->make_folder('files'));
	skip 'the command line bloomfilter can\'t be built (libpq-dev, libcurl4-openssl-dev, libsodium-dev)', 1 if !$pull->runs;

	$session->query("SELECT bloom_publish_filter('day', old) FROM day");
	is($pull->run('day'), '', 'a list is pulled');
	my $files = $pull->files;
	$session->query("SELECT bloom_publish_filter('day', new) FROM day");
	foreach my $free (0, 4096, 100_000)
	{
		$disk->fill($free);
		$pull->start('day');
		$pull->fails('No space left on device', $files, "a new epoch, $free bytes free");
		$disk->give_back;
	}
	is($pull->run('day'), '', 'with space again it is pulled');
	isnt(BloomTest::Pull::differences($pull->files, $files), '', 'and is the new one');
}

finish($node);
