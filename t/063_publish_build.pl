# How bloom_publish builds: once, in shared memory, by functions that are found by their
# OIDs; and apart, where there is too little of such memory or another server aggregates.
# The bytes are those of bloom_agg, whatever the way.
use BloomTest;
use BloomTest::SmallDisk;

use constant MEGABYTE => 1024 * 1024;

my $parallel = <<'EOC';
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0;
EOC

my %keys = (bigint => 'id', text => 'email', row => 'ROW(id, email)', untyped => 'email::bloom_key');

# A query whose processes wait, in the first row, for as long as somebody has the lock.
my $waits = 'id > 1 OR held()';
my $held = <<'EOC';
CREATE FUNCTION held() RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND objid = 1) LOOP
		PERFORM pg_sleep(0.05);
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
	RETURN true;
END $$;
EOC

# Lists of all kinds have the bytes that bloom_agg gives them.
sub same_bytes
{
	my ($session, $name, @settings) = @_;

	foreach my $settings (@settings)
	{
		foreach my $type (sort keys %keys)
		{
			foreach my $parts (1, 3)
			{
				next if $type eq 'untyped' && $parts > 1;
				is($session->query(qq{
$settings
CALL bloom_publish('all $type', 'SELECT $keys{$type} FROM account -- all;', n => 40000, p => 0.02, seed => 7, parts => $parts);
SELECT count(*), bool_and(l.filter = e.filter) FROM bloom_list_part l JOIN expected e USING (part)
WHERE l.name = 'all $type' AND e.type = '$type' AND e.parts = $parts}), "$parts|t", "$name: $type in $parts");
			}
		}
	}
	return;
}

my $node = new_node('build', conf => <<'EOC');
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.track = all
restart_after_crash = on
EOC
# Keys of several types with the filters that bloom_agg makes of them; then functions that
# a role plants where the extension is, and that would be taken for keys of text.
my $preparing = session($node);
$preparing->query(<<'EOC');
CREATE TABLE account AS SELECT g::bigint AS id, 'user ' || g AS email FROM generate_series(1, 30000) g;
ANALYZE account;
CREATE TABLE expected (type text, parts int, part int, filter bloomfilter);
EOC
foreach my $type (sort keys %keys)
{
	$preparing->query("INSERT INTO expected SELECT '$type', 1, 0, bloom_agg($keys{$type}, 40000, 0.02, 7) FROM account");
	$preparing->query(qq{INSERT INTO expected SELECT '$type', 3, bloom_part($keys{$type}, 3, 7),
		bloom_part_agg($keys{$type}, 3, 40000, 0.02, 7) FROM account GROUP BY 3}) if $type ne 'untyped';
}
$preparing->query(<<'EOC');
CREATE ROLE planter;
GRANT CREATE ON SCHEMA public TO planter;
SET ROLE planter;
CREATE FUNCTION public.planted() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'planted, run by %', current_user; END $$;
CREATE FUNCTION public.planted_state(bloomfilter, text, bigint, float8, bigint) RETURNS bloomfilter LANGUAGE sql AS 'SELECT $1 WHERE planted()';
CREATE FUNCTION public.planted_part_state(bloomfilter, text, int, bigint, float8, bigint) RETURNS bloomfilter LANGUAGE sql AS 'SELECT $1 WHERE planted()';
CREATE FUNCTION public.planted_pass(bigint[], bytea, text, boolean) RETURNS bigint[] LANGUAGE sql AS 'SELECT $1 WHERE planted()';
CREATE AGGREGATE public.bloom_agg(text, bigint, float8, bigint) (SFUNC = planted_state, STYPE = bloomfilter);
CREATE AGGREGATE public.bloom_part_agg(text, int, bigint, float8, bigint) (SFUNC = planted_part_state, STYPE = bloomfilter);
CREATE AGGREGATE public.bloom_publish_agg(bytea, text, boolean) (SFUNC = planted_pass, STYPE = bigint[]);
CREATE FUNCTION public.bloom_part(text, int, bigint) RETURNS int LANGUAGE sql AS 'SELECT 0 WHERE planted()';
CREATE FUNCTION public.bloom_contains(bloomfilter, text) RETURNS boolean LANGUAGE sql AS 'SELECT planted()';
EOC

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

sub error_of
{
	my ($sql) = @_;
	my $err = '';
	$node->psql('postgres', $sql, stderr => \$err);
	return $err;
}

# Segments of this server's dynamic shared memory; all servers' lie in one folder.
sub segments
{
	my %mine;
	foreach my $pid (split /\n/, value('SELECT pid FROM pg_stat_activity'))
	{
		open(my $maps, '<', "/proc/$pid/maps") or next;
		/\/dev\/shm\/PostgreSQL\.(\d+)/ && ($mine{$1} = 1) while <$maps>;
	}
	return sort keys %mine;
}

$preparing->query("RESET ROLE");
same_bytes($preparing, 'in shared memory', 'SET max_parallel_workers_per_gather = 0;', $parallel);
$preparing->quit;
unlike(slurp_file($node->logfile), qr/own memory/, 'all of these were built there');
like(error_of("SELECT bloom_agg(email, 10, 0.01, 0) FROM account"), qr/planted, run by/, 'a planted function would run where names are looked up');

# The check finds the rows that its leader has written.  Tuples have their usual price: were they free, it
# would be cheaper to ship these few rows than the states of 200 groups, as many as PostgreSQL expects of
# them.  From 16 on there is a line of parameters.
foreach my $query ('SELECT id FROM account', 'SELECT id, id % 5 = 0 FROM account')
{
	like(error_of(<<"EOC"), qr/(Query Text: \Q$query\E\n(?:Query Parameters:.*?\n)?\s*Finalize Aggregate.*Partial Aggregate.*){2}/s, "a set is built and checked by workers: $query");
$parallel LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;
SET auto_explain.log_nested_statements = on; CALL bloom_publish('x', '$query', parts => 5, allow_type_change => true);
EOC
}

# Those of an exact list make the bytes that one process makes; n was far too small.
my $digest = "SELECT md5(string_agg(bloomfilter_send(filter)::text, '' ORDER BY part)) FROM bloom_list_part WHERE name = 'exact'";
foreach my $parts (1, 16)
{
	my @digests = map { value("$_ CALL bloom_publish('exact', 'SELECT id, id % 5 = 0 FROM account', parts => $parts, seed => 7, n => 100); $digest; CALL bloom_drop('exact')") }
	  'SET max_parallel_workers_per_gather = 0;', $parallel;
	is($digests[1], $digests[0], "an exact list of workers, in $parts parts");
}
value("CALL bloom_drop('x')");

# The text of the user is counted, and none of ours.
value("SELECT pg_stat_statements_reset()") if value("CREATE EXTENSION pg_stat_statements; SELECT 1");
value("CALL bloom_publish('x', 'SELECT id FROM account WHERE id > 5')");
is(value(q{SELECT query, calls FROM pg_stat_statements WHERE query ~ '^SELECT .*FROM account'}),
	'SELECT id FROM account WHERE id > $1|2', 'pg_stat_statements counts the query, for its build and its check');

# Errors are about the text of the user, and the seed is nobody's business.
my $err = error_of("CALL bloom_publish('x', 'SELECT 1 / (id - 5) FROM account', seed => 987654321987)");
like($err, qr/^psql:<stdin>:1: ERROR:  division by zero\nCONTEXT:  query of list "x", run as role "[^"]+"$/, 'an error of the query');
like(error_of("CALL bloom_publish('x', 'SELECT id FROM acount')"),
	qr/relation "acount" does not exist\nLINE 1: SELECT id FROM acount\n +\^\nQUERY:  SELECT id FROM acount\nCONTEXT:  query of list "x", run as role "[^"]+"$/,
	'a position is one in the query');
unlike(slurp_file($node->logfile), qr/(?<!seed => )987654321987/, 'no seed is in the log');
like(error_of("CALL bloom_publish('x', 'SELECT id FROM account ORDER BY email')"), qr/^$/, 'a column to sort by is none of the keys');

# A limit comes before the work.
like(error_of("SET bloomfilter.publish_memory = '1MB'; CALL bloom_publish('x', 'SELECT planted()::text', n => 10000000)"),
	qr/list "x" needs 12 MB of memory to be built, and bloomfilter.publish_memory is 1 MB/, 'a limit on memory');

# A list that the query itself publishes.
value(<<'EOC');
CREATE FUNCTION publishes(k bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	IF k % 10000 = 0 THEN CALL bloom_publish('inner', format('SELECT g FROM generate_series(1, %s) g', k), n => 100000, allow_shrink => true); END IF;
	RETURN k;
END $$;
CALL bloom_publish('outer', 'SELECT publishes(id) FROM account', n => 40000);
EOC
is(value("SELECT count(*) FILTER (WHERE NOT bloom_lookup('outer', id)), count(*) FILTER (WHERE NOT bloom_lookup('inner', id)) FROM account"),
	'0|0', 'a query may publish another list');

# Citus would split the aggregate among nodes, which have no part in this memory: it is told not to.
is(value(<<'EOC'), "30000\non", 'a setting of Citus is off while the query runs, and as it was afterwards');
SET citus.allow_aggregate_worker_combine_on_internal_types = on;
CALL bloom_publish('x', $$SELECT id FROM account WHERE current_setting('citus.allow_aggregate_worker_combine_on_internal_types') = 'off'$$);
SELECT rows FROM bloom_list WHERE name = 'x';
SHOW citus.allow_aggregate_worker_combine_on_internal_types;
EOC

# Nobody gets at the memory by hand.
{
	my %others = map { $_ => 1 } segments();
	my $holder = session($node);
	my $builder = session($node);
	my $stranger = session($node);
	my $worker = session($node);
	$worker->query("$parallel SET parallel_leader_participation = off");
	my $pid = $builder->pid;
	my $own = $stranger->pid;
	$holder->query($held);
	$holder->query('SELECT pg_advisory_lock(1)');
	$builder->start("$parallel CALL bloom_publish('held', 'SELECT id FROM account WHERE id < 20000 AND ($waits)', n => 40000)");
	$node->poll_query_until('postgres', "SELECT bool_or(wait_event = 'PgSleep') FROM pg_stat_activity WHERE $pid IN (pid, leader_pid)")
	  or die 'the build does not wait';
	my %handles = map { $_ => 1 } segments();
	my @new = grep { !$others{$_} } keys %handles;
	my @before = split /\n/, `grep -o PostgreSQL.* /proc/$own/maps`;
	cmp_ok(scalar(@new), '>=', 2, 'the segments of a build and of its workers are there');
	foreach my $handle (sort keys %handles)
	{
		my $ticket = '\x73' . unpack('H*', pack('L', $handle)) . '00' x 16;
		is($stranger->state_of("SELECT bloom_publish_agg('$ticket', id, true) FROM account"), '22023', "segment $handle is refused");
		is($worker->state_of("SELECT bloom_publish_agg('$ticket', id, true) FROM account"), '22023', 'to a worker, too');
	}
	is_deeply([ split /\n/, `grep -o PostgreSQL.* /proc/$own/maps` ], \@before, 'and stays mapped nowhere');
	$holder->query('SELECT pg_advisory_unlock_all()');
	is(($builder->finish)[1], '', 'the build ends well');
	$_->quit foreach $holder, $builder, $stranger, $worker;
	is(value("SELECT count(*) FROM account WHERE id < 20000 AND NOT bloom_lookup('held', id)"), 0, 'with all keys');
	is_deeply([ segments() ], [ sort keys %others ], 'its memory is gone');
}

# A worker that ends, by an order and by a signal.
value("CREATE FUNCTION slow(k bigint) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS \$\$ BEGIN IF k % 100 = 0 THEN PERFORM pg_sleep(1); END IF; RETURN k; END \$\$");
foreach my $how (qw(terminated killed))
{
	my $kept = value("SELECT md5(bloomfilter_send(filter)) FROM bloom_list_part WHERE name = 'held'");
	my $builder = session($node);
	my $pid = $builder->pid;
	$builder->start("$parallel CALL bloom_publish('held', 'SELECT slow(id) FROM account', n => 40000)");
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE leader_pid = $pid") or die 'no worker';
	my $worker = value("SELECT min(pid) FROM pg_stat_activity WHERE leader_pid = $pid");
	if ($how eq 'killed')
	{
		kill 'KILL', $worker;
		$builder->abandon;
		wait_until_gone($pid);
		wait_until_up($node);
	}
	else
	{
		value("SELECT pg_terminate_backend($worker)");
		is(($builder->finish)[1], '57P01', 'a build whose worker is terminated fails');
		$builder->quit;
	}
	is(value("SELECT md5(bloomfilter_send(filter)) FROM bloom_list_part WHERE name = 'held'"), $kept, "a worker is $how: the list stays");
	is(value("$parallel CALL bloom_publish('x', 'SELECT id FROM account', n => 40000); SELECT count(*) FROM account WHERE NOT bloom_lookup('x', id)"),
		0, 'the next run publishes');
}

# A foreign server that aggregates builds the filters, and again for the check.
{
	my $host = $node->host;
	my $port = $node->port;
	value(<<"EOC");
CREATE EXTENSION postgres_fdw;
CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'bloomfilter');
CREATE USER MAPPING FOR CURRENT_USER SERVER loop;
CREATE FOREIGN TABLE far (id bigint) SERVER loop OPTIONS (table_name 'account');
SET client_min_messages = warning;
CALL bloom_publish('far', 'SELECT id FROM far', n => 40000);
CALL bloom_publish('near', 'SELECT id FROM account', n => 40000);
EOC
	is(value("SELECT a.filter = b.filter FROM bloom_list_part a, bloom_list_part b WHERE a.name = 'far' AND b.name = 'near'"),
		't', 'a foreign table is published');
	is(value("SELECT p.bytes = s.bytes FROM bloom_published p JOIN bloom_list_part l USING (name), bloom_stats(l.filter) s WHERE name = 'far'"),
		't', 'its size is told');
	my $plans = error_of(<<'EOC');
LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;
SET auto_explain.log_nested_statements = on; SET auto_explain.log_verbose = on;
CALL bloom_publish('far', 'SELECT id FROM far', n => 40000);
EOC
	is(scalar(() = $plans =~ /Remote SQL: SELECT 0, public\.bloom_publish_apart\(public\.bloom_publish_key\(id/g), 2,
		'it builds twice, and no row travels, nor a filter to it');
	unlike($plans, qr/bloom_publish_agg/, 'nothing of the shared memory is sent');
	foreach my $key ('id::text::bloom_key', 'id')
	{
		value("CALL bloom_publish('far', 'SELECT $key FROM far', n => 40000, parts => 3, allow_type_change => true)");
		is(value("SELECT count(*) FROM account WHERE NOT bloom_lookup('far', $key)"), 0, "in parts, too, of $key");
	}
	# From 16 on auto_explain logs parameters, of any kind of build.
	foreach my $table ('far', 'account')
	{
		value(<<"EOC");
LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
CALL bloom_publish('$table', 'SELECT id FROM $table', n => 40000, seed => 123454321);
EOC
		# The foreign server is told the seed, and logs what it is told.
		my @log = grep { !/ postgres_fdw (LOG|DETAIL): / } split /\n/, slurp_file($node->logfile);
		ok(scalar(grep { /Query Text: SELECT id FROM $table/ } @log), "the query of $table is logged");
		is(join("\n", grep { /(?<!seed => )123454321|71c35b0700000000/ } @log), '', 'its seed is not');
	}
	value("CALL bloom_publish('none', 'SELECT id FROM far WHERE id < 0', allow_empty => true)");
	# Rows that are others each time: so are the two builds.
	value(<<'EOC');
CREATE SEQUENCE shift;
CREATE VIEW moving AS SELECT id * 40000 + nextval('shift') AS id FROM account;
CREATE FOREIGN TABLE moved (id bigint) SERVER loop OPTIONS (table_name 'moving');
EOC
	foreach my $parts (1, 3)
	{
		like(error_of("CALL bloom_publish('moved', 'SELECT id FROM moved', n => 40000, parts => $parts)"),
			qr/its query gave two builds different keys\nDETAIL:  The first read 30000 keys, the second 30000\.\nHINT:  The query must return the same keys/,
			"what was built in $parts parts is compared");
	}
	# The key 2 sets as many bits as 1 by this seed.
	value("ALTER SEQUENCE shift RESTART; CREATE VIEW moving_one AS SELECT nextval('shift') AS id; CREATE FOREIGN TABLE moved_one (id bigint) SERVER loop OPTIONS (table_name 'moving_one')");
	like(error_of("CALL bloom_publish('moved', 'SELECT id FROM moved_one', n => 1000, seed => 0)"),
		qr/two builds different keys\nDETAIL:  The first read 1 keys, the second 1\./, 'to the byte');

	# The other server's list of the same name is not what is looked up, and its answers are not believed.
	$node->safe_psql('postgres', 'CREATE DATABASE other');
	$node->safe_psql('other', <<'EOC');
CREATE EXTENSION bloomfilter;
CREATE TABLE account AS SELECT g AS id FROM generate_series(1, 40000) g;
ALTER TABLE account ALTER id TYPE bigint;
EOC
	value(<<"EOC");
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'other', extensions 'bloomfilter');
CREATE USER MAPPING FOR CURRENT_USER SERVER other;
CREATE FOREIGN TABLE away (id bigint) SERVER other OPTIONS (table_name 'account');
EOC
	my $publish = "CALL bloom_publish('away', 'SELECT id FROM away', n => 40000, parts => 3)";
	value($publish);
	is(value('SELECT count(*) FROM away WHERE NOT bloom_lookup(\'away\', id)'), 0, 'a list that the other server has not');
	$node->safe_psql('other', <<'EOC');
ALTER EXTENSION bloomfilter DROP FUNCTION bloom_publish_part(bytea);
CREATE OR REPLACE FUNCTION bloom_publish_part(key bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1000000000';
EOC
	like(error_of($publish), qr/key belongs to part \d of 3, not to part \d/, 'keys of several parts in one');
	$node->safe_psql('other', <<'EOC');
CREATE FUNCTION another(bloomfilter, bytea) RETURNS bloomfilter
	LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, public.bloom_add(public.bloom_create(40000, 0.01), 1::bigint))';
ALTER EXTENSION bloomfilter DROP AGGREGATE bloom_publish_apart(bytea);
DROP AGGREGATE bloom_publish_apart(bytea);
CREATE AGGREGATE bloom_publish_apart(bytea) (SFUNC = another, STYPE = bloomfilter);
EOC
	like(error_of($publish), qr/Part 1000000000 of 3 came/, 'a part that is none');
	$node->safe_psql('other',
		"CREATE OR REPLACE FUNCTION bloom_publish_part(key bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'");
	like(error_of($publish), qr/Part 1 has not the geometry, the seed or the keys/, 'a filter of another kind');
	is(value('SELECT count(*) FROM away WHERE NOT bloom_lookup(\'away\', id)'), 0, 'the list stays as it was');
}
# Memory of other kinds: such that isn't empty at first, and files, also on a disk that is full.  The server
# is the same, and what it logs of each is read from where it started.
my $logged;
sub with_memory
{
	my ($conf, $disk) = @_;
	my $folder = $node->data_dir . '/pg_dynshmem';
	$node->append_conf('postgresql.conf', "min_dynamic_shared_memory = 0\n$conf\n");
	$node->stop;
	if (defined $disk)
	{
		-l $folder ? unlink $folder : rmdir $folder or die $!;
		symlink($disk->make_folder('dynshmem'), $folder) or die $!;
	}
	$logged = -s $node->logfile;
	$node->start;
	return;
}

with_memory('min_dynamic_shared_memory = 64MB');
is(value(<<'EOC'), '1', 'memory that was used before is emptied');
CALL bloom_publish('many', 'SELECT g FROM generate_series(1, 100000) g', n => 100000);
CALL bloom_publish('one', 'SELECT 1', n => 100000);
SELECT s.cardinality FROM bloom_list_part, bloom_stats(filter) s WHERE name = 'one';
EOC
my $exact = "CALL bloom_publish('exact', 'SELECT id, id % 5 = 0 FROM account', parts => 3, seed => 7, n => 5000000)";
foreach my $kind (qw(sysv mmap))
{
	with_memory("dynamic_shared_memory_type = $kind");
	is(value($parallel . <<'EOC'), '0', "dynamic_shared_memory_type = $kind");
CALL bloom_publish('kind', 'SELECT id FROM account');
SELECT count(*) FROM account WHERE NOT bloom_lookup('kind', id);
EOC
	value("$parallel $exact");
	unlike(slurp_file($node->logfile, $logged), qr/own memory/, 'is enough');
}
SKIP:
{
	my $disk = BloomTest::SmallDisk->new(4 * MEGABYTE);
	skip 'no user namespaces here, in which to mount a small disk', 1 if !defined $disk;
	with_memory('dynamic_shared_memory_type = mmap', $disk);
	my $large = "CALL bloom_publish('large', 'SELECT email FROM account', n => 10000000)";
	is(value("$parallel $large; SELECT count(*) FROM account WHERE NOT bloom_lookup('large', email)"), 0,
		'a list that shared memory has no room for is published');
	my $log = slurp_file($node->logfile, $logged);
	like($log, qr/LOG:  list "large" is built by one process in its own memory, as there is too little that is shared\n.*DETAIL:  Its 11\.8 MB, and as much for other queries but at least 64 MB, are more than the \d\.\d MB that are free in pg_dynshmem\.\n.*HINT:  Enlarge \/dev\/shm/,
		'the log says why');
	unlike($log, qr/shared memory leak/, 'what could not be made is not left behind');
	my $session = session($node);
	same_bytes($session, 'in its own memory', $parallel);
	$session->query("SET max_parallel_workers_per_gather = 0; CALL bloom_publish('x', 'SELECT id FROM account')");
	$session->quit;
	cmp_ok(scalar(() = slurp_file($node->logfile, $logged) =~ /own memory/g), '==', 1 + 7, 'all of these that would have workers, for lack of shared memory');

	my $in_shared_memory = value($digest);
	value("CALL bloom_drop('exact'); $parallel $exact");
	like(slurp_file($node->logfile, $logged), qr/list "exact" is built by one process in its own memory/, 'an exact list, too');
	is(value($digest), $in_shared_memory, 'has the same bytes');
	is(value("SELECT count(*) FROM account WHERE bloom_lookup('exact', id) <> (id % 5 = 0)"), 0, 'and no wrong answer');

	# Shared memory that a list would just fit in is what other queries live on.
	my $tight = BloomTest::SmallDisk->new(13 * MEGABYTE);
	with_memory('', $tight);
	my ($publisher, $holder, $other) = map { session($node) } 1 .. 3;
	my $pid = $publisher->pid;
	$other->query('CREATE TABLE other AS SELECT g AS id FROM generate_series(1, 100000) g; ANALYZE other');
	$holder->query('SELECT pg_advisory_lock(1)');
	$publisher->start("$parallel CALL bloom_publish('large', 'SELECT id FROM other WHERE $waits', n => 10000000, allow_type_change => true)");
	$node->poll_query_until('postgres', "SELECT bool_or(wait_event = 'PgSleep') FROM pg_stat_activity WHERE $pid IN (pid, leader_pid)")
	  or die 'the build does not come to its query';
	is($other->query(<<"EOC"), 100000, 'another session\'s parallel query has memory while a list is built');
$parallel SET work_mem = '32MB'; SET enable_mergejoin = off; SET enable_nestloop = off; SET parallel_tuple_cost = 0;
SELECT count(*) FROM other a JOIN other b USING (id)
EOC
	$holder->query('SELECT pg_advisory_unlock_all()');
	is(($publisher->finish)[1], '', 'and the list is published');
	$_->quit foreach $publisher, $holder, $other;
	$node->stop;
}

done_testing();
