# Publishing a list: whatever ends it, in whichever of its phases, readers keep what
# they had, nothing is left behind, and the next run publishes.  Publishers of one
# list don't mix.
use BloomTest;
use BloomTest::Pull;
use BloomTest::SmallDisk;

my $node = new_node('publish', conf => <<'EOC');
restart_after_crash = on
max_wal_size = 100MB
EOC

# The night waits for a lock that the test holds: in its build, in its check, and when
# it writes.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE account AS SELECT g::bigint AS id FROM generate_series(1, 20000) g;
ANALYZE account;
CREATE SEQUENCE pass;
CREATE FUNCTION held(k bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	IF k = 19999 THEN
		PERFORM pg_advisory_xact_lock(CASE nextval('pass') WHEN 1 THEN 1 ELSE 2 END);
	END IF;
	RETURN k;
END $$;
CREATE FUNCTION held_write(back smallint, part int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	IF back = 0 AND part = 1 THEN PERFORM pg_advisory_xact_lock(3); END IF;
	RETURN true;
END $$;
ALTER TABLE bloom_generation_part ADD CONSTRAINT held CHECK (held_write(back, part));
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 10000', parts => 3);
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 15000', parts => 3);
EOC
my $night = "CALL bloom_publish('account', 'SELECT held(id) FROM account', parts => 3)";
my %lock = (build => 1, check => 2, write => 3);

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# What readers must find until the next night ends, and nothing else in the tables.
sub state_of_list
{
	return value(<<'EOC');
SET lock_timeout = '10s';
SELECT (SELECT string_agg(rows || ' ' || back || ' ' || parts, ', ' ORDER BY back) FROM bloom_generation),
	(SELECT string_agg(back || '.' || part, ' ' ORDER BY back, part) FROM bloom_generation_part),
	(SELECT serial FROM bloom_list),
	(SELECT count(*) FROM account WHERE id <= 15000 AND NOT bloom_lookup('account', id))
EOC
}

# A night that has come to a phase and waits there; the session that holds it there too.
sub night_at
{
	my ($phase) = @_;
	my $holder = session($node);
	my $session = session($node);
	my $pid = $session->pid;

	value("SELECT setval('pass', 1, false)");
	$holder->query("SELECT pg_advisory_lock($lock{$phase})");
	$session->start($night);
	$node->poll_query_until('postgres',
		"SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $pid")
	  or die "the night does not come to its $phase";
	return ($session, $holder);
}

my $before = state_of_list();
like($before, qr/^15000 0 3, 10000 1 3\|0.0 0.1 0.2 1.0 1.1 1.2\|\d+\|0$/, 'two generations are published');

# How the last run went, as others see it.
sub told
{
	my ($list) = @_;
	return value("SELECT concat_ws(' ', run, run_error) FROM bloom_published WHERE name = '$list'");
}

is(told('account'), 'ended', 'a run that has ended is told');
foreach my $phase (qw(build write check))
{
	my ($session, $holder) = night_at($phase);
	is(told('account'), 'running', "the $phase is part of a run");
	is(state_of_list(), $before, "readers do not wait for the $phase, and see the list as it was");
	value('SELECT pg_cancel_backend(' . $session->pid . ')');
	is(($session->finish)[1], '57014', "the $phase is cancelled");
	$_->quit foreach $session, $holder;
	is(state_of_list(), $before, "a night cancelled in its $phase leaves nothing");
	is(told('account'), 'failed canceling statement due to user request', 'but its error');
	is(value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0, 'and no lock');
}

# Backends that die, with and without the others: the postmaster first, then what it leaves behind.
sub kill_server
{
	my @pids = split /\n/, value('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
	$node->kill9;
	kill 'KILL', @pids;
	wait_until_gone(@pids);
	# One that nobody has waited for yet is still there to those who start a server.
	eventually(sub { !kill 0, $postmaster }, 'the server is gone');
	return;
}

foreach my $phase (qw(build write check))
{
	my ($session, $holder) = night_at($phase);
	value('SELECT pg_terminate_backend(' . $session->pid . ')');
	$_->abandon foreach $session, $holder;
	is(state_of_list(), $before, "a night terminated in its $phase leaves nothing");
	is(told('account'), 'died', 'but a start without an end');

	($session, $holder) = night_at($phase);
	kill 'KILL', $session->pid;
	wait_until_gone($holder->pid);
	$_->abandon foreach $session, $holder;
	wait_until_up($node);
	is(state_of_list(), $before, "a night killed in its $phase leaves nothing");

	($session, $holder) = night_at($phase);
	kill_server();
	$_->abandon foreach $session, $holder;
	$node->start;
	is(state_of_list(), $before, "after a crash of the server in its $phase as well");
	is(told('account'), 'died', 'and the same of its run');
}

# Two publishers: the second one waits outside of a block, and is refused in one.
{
	my ($first, $holder) = night_at('build');
	my $second = session($node);
	my $pid = $second->pid;
	foreach my $publish ("CALL bloom_publish('account', 'SELECT 1')", "SELECT bloom_publish_filter('account', bloom_agg(1))")
	{
		is($second->state_of("BEGIN ISOLATION LEVEL REPEATABLE READ; $publish"), '55P03', "in a block a second publisher is refused: $publish");
		$second->query('ROLLBACK');
	}
	$second->start("CALL bloom_publish('account', 'SELECT id FROM account', parts => 2)");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the second publisher does not wait';
	is(value("CALL bloom_publish('other', 'SELECT id FROM account'); CALL bloom_drop('other')"), '',
		'another list is published meanwhile');
	$holder->query('SELECT pg_advisory_unlock_all()');
	is(($first->finish)[1], '', 'the first one publishes');
	is(($second->finish)[1], '', 'then the second one');
	$_->quit foreach $first, $second, $holder;
	is(value("SELECT string_agg(rows || ' ' || back || ' ' || parts, ', ' ORDER BY back) FROM bloom_generation WHERE name = 'account'"),
		'20000 0 2, 20000 1 3', 'one after the other');
	is(value("SELECT string_agg(back || '.' || part, ' ' ORDER BY back, part) FROM bloom_generation_part"),
		'0.0 0.1 1.0 1.1 1.2', 'and no mixture');
}

value('ALTER TABLE bloom_generation_part DROP CONSTRAINT held');
my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC:|TRAP:/, 'no process crashed by itself');
is(scalar(() = $log =~ /was terminated by signal/g), 3, 'nor ended by a signal but those that were sent one');

# A full disk, after a night that filled it and before one that finds room.
SKIP:
{
	my $disk = BloomTest::SmallDisk->new(24 * 1024 * 1024);
	skip 'no user namespaces here, in which to mount a small disk', 12 if !defined $disk;
	my $space = $disk->make_folder('space');
	my $session = session($node);
	$session->query("CREATE TABLESPACE small LOCATION '$space'");
	$session->query('ALTER TABLE bloom_generation_part SET TABLESPACE small');
	my $large = "CALL bloom_publish('account', 'SELECT id FROM account', n => 2000000)";
	$session->query($large);
	my $kept = state_of_list();
	my $serial = value("SELECT serial FROM bloom_list WHERE name = 'account'");
	foreach my $free (8192, 500_000, 1000_000)
	{
		$session->query('VACUUM bloom_generation_part');
		$disk->fill($free);
		is($session->state_of($large), '53100', "a night with $free bytes free: the disk is full");
		is(state_of_list(), $kept, 'readers keep what they had');
		$disk->give_back;
	}
	$session->query('VACUUM bloom_generation_part');
	is($session->state_of($large), '', 'the next night has room and publishes');
	cmp_ok(value("SELECT serial FROM bloom_list WHERE name = 'account'"), '>', $serial, 'another generation');

	# A disk that gets full in the midst of a write: the hint names the statement that takes away what was written.
	my $size = 'SELECT pg_total_relation_size(\'bloom_generation_part\')';
	value('VACUUM (TRUNCATE) bloom_generation_part');
	my $before_write = value($size);
	value('ALTER TABLE bloom_generation_part ADD CONSTRAINT held CHECK (held_write(back, part)) NOT VALID');
	my $holder = session($node);
	my $pid = $session->pid;
	$holder->query('SELECT pg_advisory_lock(3)');
	my $from = -s $node->logfile;
	$session->start("CALL bloom_publish('account', 'SELECT id FROM account', n => 6000000, parts => 2)");
	$node->poll_query_until('postgres', "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the publisher does not come to its second part';
	$disk->fill(8192);
	$holder->query('SELECT pg_advisory_unlock_all()');
	is(($session->finish)[1], '53100', 'a disk that gets full meanwhile is an error');
	like(slurp_file($node->logfile, $from), qr/HINT:  VACUUM \(TRUNCATE\) public\.bloom_generation_part, by a superuser or the database's owner, gives back/, 'whose hint names a statement');
	cmp_ok(value($size), '>', $before_write + 1_000_000, 'what was written takes room');
	value('VACUUM (TRUNCATE) public.bloom_generation_part');
	cmp_ok(value($size), '<', $before_write + 200_000, 'that the statement gives back, on the full disk');
	$disk->give_back;
	value('ALTER TABLE bloom_generation_part DROP CONSTRAINT held');

	# Six nights on a volume of 3.2 lists, vacuumed in between.
	value("CALL bloom_drop('account')");
	value(q{CALL bloom_publish('list', 'SELECT 1', n => 5000000)});
	my $volume = BloomTest::SmallDisk->new(int(3.2 * value('SELECT bytes FROM bloom_published')));
	my $folder = $volume->make_folder('space');
	value(q{CALL bloom_drop('list')});
	value("CREATE TABLESPACE volume LOCATION '$folder'");
	value('VACUUM (TRUNCATE) bloom_generation_part; ALTER TABLE bloom_generation_part SET TABLESPACE volume');
	foreach my $number (1 .. 6)
	{
		is($session->state_of("CALL bloom_publish('list', 'SELECT $number', n => 5000000)"), '', "night $number is published");
		is(value("SELECT bloom_lookup('list', $number)"), 't', 'and asked');
		value('VACUUM bloom_generation_part');
	}

	# A pull to that disk leaves the file that there is.
	my $pull = BloomTest::Pull->new($node, $disk->make_folder('files'));
	skip 'the command line bloomfilter can\'t be built (libpq-dev, libcurl4-openssl-dev, libsodium-dev)', 1 if !$pull->runs;
	value("CALL bloom_publish('pulled', 'SELECT id FROM account', n => 1000000)");
	is($pull->run('pulled'), '', 'a list is pulled');
	my $files = $pull->files;
	value("CALL bloom_publish('pulled', 'SELECT -id FROM account', n => 1000000)");
	foreach my $free (0, 4096, 100_000)
	{
		$disk->fill($free);
		$pull->start('pulled');
		$pull->fails('No space left on device', $files, "the next night, $free bytes free");
		$disk->give_back;
	}
	is($pull->run('pulled'), '', 'with space again it is pulled');
	isnt(BloomTest::Pull::differences($pull->files, $files), '', 'and is the new one');
}

done_testing();
