# Whatever takes long can be cancelled: the statement ends with query_canceled before
# its function has returned, and the same backend answers the next one.
use BloomTest;
use List::Util qw(max);
use POSIX ();
use Time::HiRes qw(sleep time);

# Seconds of processor time of a statement that must be caught before it returns: a shorter one
# may end before a cancel has come to it.
use constant TAKES_LONG => 0.05;

my $node = new_node('cancel', conf => "log_min_duration_statement = -1\n");
my $session = session($node);

# The largest filter, or one of 16 MB that shows the same code in less time.
my $bits = rounds(16 * 1024 * 1024 * 8, BloomTest::MAX_BITS);

$session->query(<<"EOC");
CREATE TABLE known AS SELECT generate_series(1, 40000) AS k;
CREATE TABLE big (id int PRIMARY KEY, f bloomfilter);
INSERT INTO big SELECT i, bloom_add_all(bloom_create_sized($bits, 7), array(SELECT k + i FROM known))
FROM generate_series(1, 2) AS i;
CREATE TABLE as_bytes (bytes bytea);
CREATE TABLE as_text (text text);
CREATE TABLE sink (f bloomfilter);
ALTER TABLE as_bytes ALTER bytes SET STORAGE external;
ALTER TABLE as_text ALTER text SET STORAGE external;
INSERT INTO as_bytes SELECT f::bytea FROM big WHERE id = 1;
INSERT INTO as_text SELECT f::text FROM big WHERE id = 1;
-- Raises the cancel in the middle of a statement, whichever is running.
CREATE FUNCTION cancel(int) RETURNS boolean LANGUAGE internal STRICT AS 'pg_cancel_backend';
-- A sequence remembers, whatever becomes of the transaction.
CREATE SEQUENCE returned;
EOC

# The filters of the table, read once for a statement.
my $f = '(SELECT f FROM big WHERE id = 1)';
my $g = '(SELECT f FROM big WHERE id = 2)';

# The same number as a parameter, so that the planner does not call the function.
my $m = "(SELECT $bits\::bigint OFFSET 0)";

# A statement that tells a sequence when what it computes has been computed.
sub telling
{
	my ($expression, $from) = @_;
	return "SELECT CASE WHEN ($expression) IS NULL THEN 0 ELSE nextval('returned') END "
	  . ($from // '');
}

# What can take long: loops over rows and pieces.  test/core/test_tick.c counts the ticks of
# the core's loops, and below each function is cancelled when it begins.
my $rows = rounds(250_000, 2_000_000);
my $series = "FROM generate_series(1, $rows) AS k";
my @long = (
	[ 'bloom_create, flattened', telling("bloom_create_sized($m, 7)::bytea") ],
	[ 'bloom_union', telling("bloom_union($f, $g)") ],
	[ 'text out', telling("bloomfilter_out($f)") ],
	[ 'text in', telling('text::bloomfilter', 'FROM as_text') ],
	[ 'cast from bytea', telling('bytes::bloomfilter', 'FROM as_bytes') ],
	[ 'bloom_agg, list', telling("bloom_agg(k, $bits / 10)", $series) ],
	[ 'bloom_agg, sized at the end', telling('bloom_agg(k)', $series) ],
	[ 'bloom_part_agg', telling("bloom_part_agg(k, 1, $rows, 0.01)", $series) ],
	[ 'bloom_union_agg', telling('bloom_union_agg(f)', 'FROM big, generate_series(1, 2)') ],
	[
		'bloom_contains_each, by slices',
		'SET bloomfilter.cache_size = 0; '
		  . telling("bloom_contains_each($f, array(SELECT generate_series(1, $rows / 5)))")
	],
	[
		'storing what was made',
		"INSERT INTO sink SELECT bloom_add(f, 5) FROM big WHERE id = 1 RETURNING nextval('returned')"
	],
);

# Whether a statement has told the sequence, since the last time that this was asked.
sub has_returned
{
	my $called = $session->query('SELECT is_called FROM returned');
	$session->query("SELECT setval('returned', 1, false)");
	return $called eq 't';
}

# Processor time that the backend has used; where there is no /proc, time.
my $proc = '/proc/' . $session->pid . '/stat';
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());

sub used_seconds
{
	open(my $stat, '<', $proc) or return time;
	my @fields = split / /, <$stat> =~ s/.*\) //r;
	return ($fields[11] + $fields[12]) / $ticks;
}

# Runs a statement and sends its backend a cancel after some seconds.  Returns how it
# ended and for how long its backend was running after that.  The clock is read when
# the signal has been sent: this process may be kept waiting between the two.
sub cancel_after
{
	my ($sql, $seconds) = @_;
	$session->start($sql);
	sleep($seconds);
	kill 'INT', $session->pid;
	my $begin = used_seconds();
	my (undef, $state) = $session->finish;
	return ($state, used_seconds() - $begin);
}

# Cancels at fractions of the time that a statement takes.  One that takes long is
# tried again at other fractions where the cancel came too late, as on a busy machine
# it may, or where most of the time goes by after it has returned.
my $caught_statements = 0;
foreach my $case (@long)
{
	my ($name, $sql) = @$case;
	my $begin = used_seconds();
	is($session->state_of($sql), '', "$name works") or next;
	my $full = used_seconds() - $begin;
	ok(has_returned(), "$name returns");

	my $timeout = int($full * 50) || 1;
	my @states =
	  $session->state_of("BEGIN; SET LOCAL statement_timeout = $timeout; $sql; COMMIT");
	has_returned();
	my (@used, $caught);
	foreach my $fraction (0.3, 0.6, 0.9, map { $_ / 40 } 1 .. 20)
	{
		last if @used >= 3 && ($caught || $full < TAKES_LONG);
		my ($state, $seconds) = cancel_after($sql, $full * $fraction);
		my $returned = has_returned();
		push @states, $state;
		push @used, $state eq '57014' ? $seconds : 0;
		$caught = 1 if $state eq '57014' && !$returned;
	}
	is(scalar(grep { $_ ne '' && $_ ne '57014' } @states), 0,
		"$name is cancelled or ends, and nothing else");
	if ($full >= TAKES_LONG)
	{
		ok($caught, "$name is cancelled before it returns");
		$caught_statements++ if $caught;
	}
	$session->query('RESET ALL; TRUNCATE sink');
	is($session->query('SELECT bloom_contains(f, 7) FROM big WHERE id = 1'),
		't', "$name: the backend answers after it was cancelled");
	note sprintf('%-32s takes %6.0f ms, runs %4.0f ms after the cancel',
		$name, $full * 1000, max(@used) * 1000);
}
cmp_ok($caught_statements, '>', 0, "$caught_statements statements took long enough to be caught in the middle");

# A cancel that is already there when the function begins its work: an argument
# raises it, and nothing between that and the function looks.  An aggregate's next
# argument is computed when the row was added to the one before.
my $cancel = 'CASE WHEN cancel(pg_backend_pid()) THEN';
my $stored = 'FROM big, as_bytes, as_text WHERE id = 1';
my @begun = (
	[ 'bloom_create', "bloom_create_sized($cancel $bits END, 7)" ],
	[ 'bloom_add', "bloom_add(f, $cancel 5 END)" ],
	[ 'bloom_add_all', "bloom_add_all(f, $cancel '{1,2}'::int[] END)" ],
	[ 'bloom_union', "bloom_union(f, $cancel f END)" ],
	[ 'bloom_intersection', "bloom_intersection(f, $cancel f END)" ],
	[ 'bloom_shrink', "bloom_shrink(f, $cancel 0.5 END)" ],
	[ 'bloom_reset', "bloom_reset($cancel f END)" ],
	[ 'text out', "bloomfilter_out($cancel f END)" ],
	[ 'text in', "($cancel text END)::bloomfilter" ],
	[ 'cast to bytea', "($cancel f END)::bytea" ],
	[ 'send', "bloomfilter_send($cancel f END)" ],
	[ 'cast from bytea', "($cancel bytes END)::bloomfilter" ],
	[ 'equality', "f = $cancel f END" ],
	[ 'bloom_verify', "bloom_verify($cancel f END)" ],
	[ 'bloom_contains_each', "bloom_contains_each(f, $cancel '{1,2}'::int[] END)" ],
);
$_->[1] = telling($_->[1], $stored) foreach @begun;
push @begun,
  map { [ $_, "SELECT $_($cancel f END), count(nextval('returned')) $stored" ] }
  'bloom_union_agg', 'bloom_intersection_agg';
push @begun, [ 'storing', "INSERT INTO sink SELECT $cancel f END $stored RETURNING nextval('returned')" ];
foreach my $case (@begun)
{
	my ($name, $sql) = @$case;

	is($session->state_of($sql), '57014', "$name: a cancel that is there already is raised");
	ok(!has_returned(), "$name notices it while it works");
	is($session->query('SELECT 1'), 1, "$name: the backend answers the next statement");
}

# A cancelled copy leaves nothing that answers for it.
is( $session->state_of(<<'EOC'), '', 'a cancel caught in the middle of a scan does no harm');
CREATE FUNCTION scan(victim int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN count(*) FROM big, known
	WHERE id = 1 AND bloom_contains(f, CASE WHEN k = victim AND cancel(pg_backend_pid()) THEN k ELSE k + 1 END);
EXCEPTION WHEN query_canceled THEN
	RETURN -1;
END $$;
EOC
is($session->query('SELECT scan(k) FROM generate_series(1, 39001, 2000) AS k WHERE scan(k) <> -1'),
	'', 'a cancel at any row of a scan is raised');
is($session->query('SELECT scan(-1)'), 40000, 'and the next scan finds every key');

finish($node);
