# The last run of a list is told, however it ended, also of a list that was never published.
use BloomTest;

my $node = new_node('runs', conf => "wal_level = replica\nmax_replication_slots = 1\n");
my $session = session($node);

sub told
{
	my ($list) = @_;
	return $session->query(<<"EOC");
SELECT concat_ws('|', run, run_error, CASE WHEN serial IS NULL THEN 'never' ELSE 'published' END,
	CASE WHEN run_ended_at >= run_started_at THEN 'in order' END)
FROM bloom_published WHERE name = '$list'
EOC
}

sub runs
{
	my ($sql, $state, $list, $told, $name) = @_;
	is($session->state_of($sql), $state, "$name: $sql");
	is(told($list), $told, "$name: is told");
	return;
}

my $waits = q{SELECT g FROM generate_series(1, 10) g WHERE (SELECT pg_advisory_xact_lock(7)) IS NOT NULL};

# The session that runs a list and waits in its query; the one that it waits for.
sub waiting
{
	my ($list) = @_;
	my $holder = session($node);
	$holder->query('SELECT pg_advisory_lock(7)');
	my $runner = session($node);
	my $pid = $runner->pid;
	$runner->start("CALL bloom_publish('$list', '$waits')");
	$node->poll_query_until('postgres', "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the run does not come to its query';
	return ($runner, $holder);
}

# Who waits for another run holds back no vacuum and nobody who alters a table; and what somebody does
# to a list that is there stands in the server's log.
{
	my ($runner, $holder) = waiting('waited for');
	my $waiter = session($node);
	my $pid = $waiter->pid;
	$waiter->start("CALL bloom_publish('waited for', 'SELECT 1')");
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND NOT granted AND locktype = 'advisory'"), 'a second run waits');
	is($session->query("SELECT backend_xmin IS NULL AND backend_xid IS NULL FROM pg_stat_activity WHERE pid = $pid"), 't', 'without a snapshot');
	is($session->query("SELECT count(*) FROM pg_locks WHERE pid = $pid AND locktype = 'relation'"), '0', 'and without a lock of a table');
	$holder->query('SELECT pg_advisory_unlock(7)');
	$runner->finish;
	$waiter->finish;
	my $user = $session->query('SELECT current_user');
	my $log = -s $node->logfile;
	$session->query("CALL bloom_publish('waited for', 'SELECT 2')");
	$session->query("CALL bloom_rollback('waited for')");
	$session->query("CALL bloom_drop('waited for')");
	my @told = slurp_file($node->logfile, $log) =~ /LOG:  (list "waited for" is .*)/g;
	is_deeply(\@told, [map { qq(list "waited for" is $_ by role "$user") } 'replaced', 'rolled back', 'dropped'], 'the log has who did what');
	$_->quit foreach $runner, $holder, $waiter;
}

# A list that isn't there yet.
runs(q{CALL bloom_publish('new', 'SELECT 1/0')}, '22012', 'new', 'failed|division by zero|never|in order', 'its query fails');
runs(q{CALL bloom_publish('new', 'SELECT nothing')}, '42703', 'new', 'failed|column "nothing" does not exist|never|in order', 'it is no query');
runs(q{CALL bloom_publish('new', 'SELECT 1 WHERE false')}, 'P0002', 'new', 'failed|the query of list "new" returns no keys|never|in order', 'it has no keys');
runs(q{CALL bloom_refresh('new')}, '42704', 'new', 'failed|the query of list "new" returns no keys|never|in order', 'there is nothing to refresh');
my ($runner, $holder) = waiting('new');
is(told('new'), 'running|never', 'a run is told while it goes on');
is($session->query(q{SELECT rtrim(query, E'\n;') FROM pg_stat_activity WHERE pid = } . $runner->pid), "CALL bloom_publish('new', '$waits')", 'and pg_stat_activity has the statement as it was sent');
is($session->query(q{SELECT run_started_at <= now() FROM bloom_published WHERE name = 'new'}), 't', 'and since when');
$session->query('SELECT pg_terminate_backend(' . $runner->pid . ')');
$_->abandon foreach $runner, $holder;
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'}) or die;
is(told('new'), 'died|never', 'a run whose process was terminated has died');
runs(q{CALL bloom_drop('new')}, '', 'new', '', 'dropping forgets it');
is($session->state_of(q{CALL bloom_drop('new')}), '42704', 'once');

# A list that is there.
runs(q{CALL bloom_publish('list', 'SELECT generate_series(1, 10)')}, '', 'list', 'ended|published|in order', 'it is published');

# In a block only the end can be told.
$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($session->state_of(q{CALL bloom_publish('list', 'SELECT 1/0')}), '22012', 'an error in a block');
$session->query('ROLLBACK');
is(told('list'), 'ended|published|in order', 'is not told');
runs(q{CALL bloom_publish('list', 'SELECT 1/0')}, '22012', 'list', 'failed|division by zero|published|in order', 'an error outside');
runs(q{SELECT bloom_publish_filter('list', bloom_agg(g)) FROM generate_series(1, 10) g}, '', 'list', 'ended|published|in order', 'a filter that is published');

# The error is the caller's, with all that it says, and long ones are cut off where they are kept.
my ($out, $err) = ('', '');
$node->psql('postgres', q{CALL bloom_publish('list', 'SELECT ''x''::int')}, stderr => \$err);
like($err, qr/ERROR:  invalid input syntax for type integer: "x"\nLINE 1: SELECT 'x'::int.*CONTEXT:  query of list "list"/s, 'the caller gets the error');
$session->query(q{CREATE FUNCTION shout() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE '%', repeat('x', 100000); END $$});
is($session->state_of(q{CALL bloom_publish('list', 'SELECT shout()')}), 'P0001', 'a long error');
is($session->query(q{SELECT length(run_error) FROM bloom_published WHERE name = 'list'}), 1000, 'is kept in part');

# What the query left open goes: a function that publishes, and one that has its own SPI.
$session->query(q{CREATE FUNCTION nested() RETURNS int LANGUAGE plpgsql AS $$
BEGIN PERFORM bloom_publish_filter('inner', bloom_agg(1)); PERFORM 1/0; END $$});
runs(q{CALL bloom_publish('list', 'SELECT nested()')}, '22012', 'list', 'failed|division by zero|published|in order', 'an error in a function');
is(told('inner'), '', 'whose own publish is undone');

# The role that failed may not be the one that looks; a standby can't see locks.
$session->query('CREATE ROLE nobody; CREATE ROLE publisher; GRANT EXECUTE ON PROCEDURE bloom_publish TO publisher');
is($session->state_of(q{SET ROLE nobody; CALL bloom_publish('list', 'SELECT 1')}), '42501', 'who has no rights');
$session->query('RESET ROLE');
is(told('list'), 'failed|division by zero|published|in order', 'writes nothing');
$session->query(q{CALL bloom_publish('list', 'SELECT generate_series(1, 10)')});
is($session->state_of(q{SET ROLE publisher; CALL bloom_refresh('list')}), '42501', 'another role does not refresh it');
$session->query('RESET ROLE');
is($session->state_of(q{SET ROLE publisher; CALL bloom_publish('list', 'SELECT 1')}), '42501', 'nor publish in its place');
$session->query('RESET ROLE');
is(told('list'), 'ended|published|in order', 'nor write how its run went');
$session->state_of(q{CALL bloom_publish('list', 'SELECT 1/0')});
$session->state_of(q{CALL bloom_refresh('never')});
is(told('never'), '', 'a name that never was is not kept');

# examples/alerts: what postgres_exporter asks runs as a role that only watches, and the rules over it
# ask for metrics that come of it.
$session->query($_) foreach (
	'CREATE TABLE account AS SELECT generate_series(1, 1000) AS id',
	'CREATE INDEX account_live ON account USING bloomfilter (id)',
	q{CALL bloom_publish('good', 'SELECT id FROM account')},
	q{SELECT pg_create_physical_replication_slot('dead', true)},
	'CREATE ROLE watcher; GRANT SELECT ON bloom_published, bloom_live, account TO watcher');
$session->query('SET ROLE watcher');
my $folder = "$FindBin::RealBin/../examples/alerts";

# {metric{labels} => value}, as the exporter makes them: a label is a column of its own.
my %metric;
my $queries = slurp_file("$folder/postgres_exporter.yml");
while ($queries =~ /^(\w+):\n  query: \|\n(.*?)  metrics:\n((?:    - [^\n]*\n)+)/msg)
{
	my ($prefix, $query, $columns) = ($1, $2, $3);
	my %usage = $columns =~ /^    - (\w+): \{usage: (\w+), description: [^:{}]+\}$/mg;
	my @labels = grep { $usage{$_} eq 'LABEL' } sort keys %usage;
	foreach my $column (grep { $usage{$_} eq 'GAUGE' } sort keys %usage)
	{
		my $rows = $session->query("SELECT $labels[0], ${column}::float8 FROM ($query) q");
		$metric{"${prefix}_$column"} = { map { split /\|/, $_, 2 } split /\n/, $rows };
	}
}
is(scalar(keys %metric), 12, 'twelve metrics are asked for');
my @asked = slurp_file("$folder/database.yml") =~ /\b(bloomfilter_[a-z_]+)/g;
cmp_ok(scalar(@asked), '>=', 8, 'and rules ask for metrics');
is(join(' ', grep { !$metric{$_} } @asked), '', 'that there are');
is("$metric{bloomfilter_list_failed}{list} $metric{bloomfilter_list_failed}{good}", '1 0', 'a run that failed is told');
is($metric{bloomfilter_slot_active}{dead}, 0, 'so is a slot that nobody reads');
is($metric{bloomfilter_index_ok}{account_live}, 1, 'and a live index');

# A name is stored with zeros behind it.
is($node->safe_psql('postgres', q{
	CREATE EXTENSION pageinspect;
	SELECT bool_and(rtrim(t_attrs[(SELECT attnum FROM pg_attribute WHERE attrelid = c AND attname ~ '_by$' AND atttypid = 'name'::regtype)], '\x00')
		= convert_to(current_user, 'UTF8')) FROM unnest(ARRAY['bloom_run', 'bloom_generation']::regclass[]) c,
		heap_page_item_attrs(get_raw_page(c::text, 0), c) WHERE t_attrs IS NOT NULL}), 't', 'names of roles have nothing behind them');

finish($node);
