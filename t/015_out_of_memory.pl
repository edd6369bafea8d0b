# A backend that gets no memory: whatever it does with a large filter ends with "out
# of memory", the session lives on and has lost nothing, and with memory it works.
use BloomTest;

use constant MEGABYTE => 1024 * 1024;

# All that is as large as a filter here goes back to the system, as what is freed is told by its absence:
# malloc by itself keeps up to 32 MB.
$ENV{MALLOC_MMAP_THRESHOLD_} = MEGABYTE;

my $node = new_node('out_of_memory',
	conf => "max_parallel_workers_per_gather = 0\nlog_min_error_statement = panic\n");
my $session = session($node);
my $pid = $session->pid;

# The limit of a backend's address space, above what it has now; undef for none.
sub limit
{
	my ($bytes) = @_;
	my $limit = 'unlimited';
	if (defined $bytes)
	{
		open(my $statm, '<', "/proc/$pid/statm") or die $!;
		my ($pages) = split / /, <$statm>;
		$limit = $pages * 4096 + $bytes;
	}
	return system('prlimit', '--pid', $pid, "--as=$limit:unlimited") == 0;
}

plan skip_all => 'no prlimit, or no /proc'
  if !-r "/proc/$pid/statm" || !eval { limit(undef) };

# A filter of 6 MB, and another one with the same parameters.
my $n = 5_000_000;
$session->query(<<"EOC");
SET bloomfilter.cache_size = '128MB';
CREATE TABLE large AS SELECT bloom_add(bloom_create($n), 1) AS f;
INSERT INTO large SELECT bloom_add(f, 2) FROM large;
CREATE TABLE bytes AS SELECT f::bytea AS b FROM large WHERE f @> 1 LIMIT 1;
ALTER TABLE bytes ALTER b SET STORAGE external;
EOC

# What takes memory of this size, and its answer.
my %statements = (
	'create' => [ "SELECT bloom_cardinality(bloom_create($n))", 0 ],
	'build, n known' => [ "SELECT bloom_cardinality(bloom_agg(k, $n)) FROM generate_series(1, 2000) AS k WHERE bloom_verify(bloom_create($n))", 2000 ],
	'build, n not known' => [ 'SELECT bloom_agg(k) @> 1 FROM (SELECT generate_series(1, 420000) AS k) AS q', 't' ],
	'add' => [ 'SELECT bloom_cardinality(bloom_add(f, 3)) FROM large WHERE f @> 2', 3 ],
	'union' => [ 'SELECT bloom_cardinality(a.f | b.f) FROM large AS a, large AS b WHERE a.ctid < b.ctid', 2 ],
	'intersection' => [ 'SELECT bloom_cardinality(a.f & b.f) FROM large AS a, large AS b WHERE a.ctid < b.ctid', 1 ],
	'union of all' => [ 'SELECT bloom_cardinality(bloom_union_agg(f)) FROM large', 2 ],
	'intersection of all' => [ 'SELECT bloom_cardinality(bloom_intersection_agg(f)) FROM large', 1 ],
	'shrink' => [ 'SELECT bloom_cardinality(bloom_shrink(f)) FROM large WHERE f @> 2', 2 ],
	'reset' => [ 'SELECT bloom_cardinality(bloom_reset(f)) FROM large WHERE f @> 2', 0 ],
	'verify' => [ 'SELECT bool_and(bloom_verify(f)) FROM large', 't' ],
	'compare' => [ 'SELECT a.f = b.f FROM large AS a, large AS b WHERE a.ctid < b.ctid', 'f' ],
	'scan' => [ 'SELECT count(*) FROM generate_series(1, 12500) AS k WHERE (SELECT f FROM large WHERE f @> 2) @> k', 2 ],
	'output' => [ 'SELECT length(f::text) > 5800000 FROM large WHERE f @> 2', 't' ],
	'input' => [ 'SELECT bloom_cardinality(f::text::bloomfilter) FROM large WHERE f @> 2', 2 ],
	'from bytea' => [ 'SELECT bloom_cardinality(b::bloomfilter) FROM bytes', 1 ],
	'to bytea' => [ 'SELECT length(f::bytea) > 5800000 FROM large WHERE f @> 2', 't' ],
	'write' => [ 'INSERT INTO large SELECT bloom_add(f, 3) FROM large WHERE f @> 2 RETURNING f @> 3', 't' ],
	'variable' => [ 'SELECT kept()', 't' ],
	'send' => [ "COPY (SELECT f FROM large WHERE f @> 2) TO '/dev/null' (FORMAT binary)", '' ]);
$session->query(<<'EOC');
CREATE FUNCTION kept() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v bloomfilter := bloom_add(f, 3) FROM large WHERE f @> 2;
BEGIN
	v := bloom_add(v, 4);
	RETURN v @> 2 AND v @> 3 AND v @> 4;
END $$;
EOC
# Bytes that the session's memory contexts have.
my $contexts = 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';

# Once with memory: nothing is loaded or cached for the first time later.
foreach my $name (sort keys %statements)
{
	my ($sql, $answer) = @{ $statements{$name} };
	is(($session->try("BEGIN; $sql"))[0], $answer, "$name: with memory");
	$session->query('ROLLBACK');
}
$session->query("$contexts; $contexts");
my $bytes = $session->query($contexts);

# Less and less is missing: each time it is an error, or the right answer.  Not even
# the stack could grow if nothing at all were to be had.
my $errors = 0;
my $step = rounds(8, 1);
foreach my $name (sort keys %statements)
{
	my ($sql, $answer) = @{ $statements{$name} };
	my @wrong;
	my $refused = 0;
	foreach my $free (map { $_ * $step + 1 - $step } 1 .. 64 / $step)
	{
		limit($free * MEGABYTE);
		my ($out, $state) = $session->try("BEGIN; $sql");
		limit(undef);
		$session->query('ROLLBACK');
		push @wrong, "$free MB: $state" if $state !~ /^(53200)?$/;
		push @wrong, "$free MB: $out" if $state eq '' && $out ne $answer;
		$refused++ if $state eq '53200';
		last if $state eq '';
	}
	is(join(', ', @wrong), '', "$name: out of memory, or the right answer");
	cmp_ok($refused, '>', 0, "$name: out of memory $refused times");
	$errors += $refused;
}
note "$errors statements had no memory";

is($session->query('SELECT pg_backend_pid()'), $pid, 'the session lives on');
cmp_ok($session->query($contexts), '<=', $bytes + 64 * 1024, 'its memory contexts have not grown');
is($session->query('SELECT bool_and(bloom_verify(f)), count(*) FROM large'), 't|2', 'the filters are whole');

# A published list: with less and less missing, in its build, its check and its writing,
# what is asked is the generation before it until one is published whole.
$session->query(<<'EOC');
CREATE TABLE account AS SELECT g::bigint AS id FROM generate_series(1, 3000) g;
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 2000', n => 2000000);
EOC
my ($published, $unpublished, @mixed) = (0, 0);
foreach my $free (1 .. 13)
{
	my $before = $session->query("SELECT serial FROM bloom_list WHERE name = 'account'");
	limit($free * MEGABYTE);
	my ($out, $state) = $session->try("CALL bloom_publish('account', 'SELECT id FROM account', n => 2000000)");
	limit(undef);
	my $after = $session->query("SELECT serial FROM bloom_list WHERE name = 'account'");
	my $denied = $session->query(
		'SELECT count(*) FROM account WHERE NOT bloom_lookup(\'account\', id) AND id <= '
		  . ($published + ($state eq '') > 0 ? 3000 : 2000));
	push @mixed, "$free MB: '$state', serial $before then $after, $denied denied"
	  if $state !~ /^(53200)?$/ || ($after > $before) != ($state eq '') || $denied != 0;
	$state eq '' ? $published++ : $unpublished++;
}
is(join('; ', @mixed), '', 'a list is published whole, or is the one before');
cmp_ok($unpublished, '>', 0, "no memory to publish $unpublished times");
cmp_ok($published, '>', 0, "and enough $published times");
is($session->query('SELECT pg_backend_pid()'), $pid, 'the session lives on');

finish($node);
