# pull.t
#	  bloomfilter pull, against a server.
#
# BLOOMFILTER_TEST_DSN is the connection string of a scratch database whose role
# may create objects.  What needs a damaged or a slow server uses a bloom_chunk of
# bytea, made here; what needs the extension is skipped where there is none.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Server;
use Test::More;
use Time::HiRes qw(time);

server_dsn();

my $schema = 'bloomfilter_cli_test';
my $scoped = scope_to($schema);

sub pull
{
	my ($query, @options) = @_;
	return run('', 'pull', '--dsn', $scoped, '--query', $query, '--out', 'out', @options);
}

# Fails for this reason, and leaves everything as it was.
sub keeps
{
	my ($pattern, $query, @options) = @_;
	my $before = slurp('out');
	my @files = files();
	my ($status, $out, $err) = pull($query, @options);
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	ok($status eq '2' && $out eq '' && $err =~ /\Abloomfilter: [^\n]*\n\z/ && $err =~ $pattern, "refused: $pattern")
	  || diag("status $status, output \"$out\", errors \"$err\"");
	ok($before eq slurp('out'), 'the file is as before');
	is_deeply([ files() ], \@files, 'no other file is left');
	return;
}

# All but the status, which tests of its own are about.
sub files { return sort grep { !/^\.(?:std|sql|\.?$)|\.status$/ } map { m{([^/]*)$} } glob('* .*'); }

sql(qq{
DROP SCHEMA IF EXISTS $schema CASCADE;
CREATE SCHEMA $schema;
CREATE FUNCTION bloom_chunk(filter bytea, "offset" bigint, length int) RETURNS bytea
	LANGUAGE sql IMMUTABLE AS 'SELECT substr(filter, ("offset" + 1)::int, length)';
CREATE TABLE filters (name text, f bytea);
ALTER TABLE filters ALTER f SET STORAGE external;
});
my $extension = eval { sql('CREATE EXTENSION IF NOT EXISTS bloomfilter SCHEMA public'); 1 }
  && sql("SELECT to_regprocedure('public.bloom_chunk(public.bloomfilter, bigint, int)') IS NOT NULL") eq 't';
note($extension ? 'with the extension' : 'without the extension');

# More than one chunk, the last one short
my @keys = (1 .. 1_100_000);
build('old', [ 2 .. 1_100_000 ], '-n', '1100000');
build('new', \@keys, '-n', '1100000');
sql("INSERT INTO filters VALUES ('day', " . bytea('old') . '), (\'null\', NULL)');
my $day = "SELECT f FROM filters WHERE name = 'day'";

# Once
my ($status, $out, $err) = pull($day);
is("$status$err", '0', 'pull') || diag($err);
like($out, qr/\Aout: pulled 1\.\d+ MiB in [\d.]+ s, checksum [0-9a-f]{16}\n\z/, 'what it says');
ok(slurp('out') eq slurp('old'), 'the same bytes');
is_deeply([ files() ], [qw(new old out)], 'no other file');
is((stat 'out')[2] & 07777, 0666 & ~umask, 'permissions of any file');
my $inode = (stat 'out')[1];
is_deeply([ pull("$day ;\n") ], [ 0, "out: unchanged\n", '' ], 'the same filter again');
is((stat 'out')[1], $inode, 'is not written again');
sql("UPDATE filters SET f = " . bytea('new') . " WHERE name = 'day'");
is_deeply([ pull("$day -- of today", '--quiet') ], [ 0, '', '' ], 'a new filter, quietly');
ok(slurp('out') eq slurp('new'), 'the new bytes');

# Failures
keeps(qr/no row/, "SELECT f FROM filters WHERE name = 'none'");
keeps(qr/more than one row; for a set of parts add --parts/, 'SELECT f FROM filters');
keeps(qr/NULL/, "SELECT f FROM filters WHERE name = 'null'");
keeps(qr/relation "nowhere" does not exist/, 'SELECT f FROM nowhere');
keeps(qr/syntax error/, 'SELEC');
keeps(qr/not valid: .*BLMF/, "SELECT repeat('x', 64)::bytea");
keeps(qr/not valid: .*64-byte/, "SELECT 'x'::bytea");
keeps(qr/bloom_chunk\(integer, bigint, integer\) does not exist; is the first column of the query a bloomfilter\?|; the extension bloomfilter is not in this database/, 'SELECT 1');
sql('CREATE SEQUENCE counter');
keeps(qr/read-only transaction/, "SELECT nextval('counter')::text::bytea");
spew('out', slurp('old'));
keeps(qr/sent \d+ bytes/, "SELECT substr(f, 1, 100000) FROM filters WHERE name = 'day'");
keeps(qr/no filter: .*checksum|no filter: .*bits/, "SELECT set_bit(f, 900000, 1 - get_bit(f, 900000)) FROM filters WHERE name = 'day'");
keeps(qr/twice|two rows|parts of one set/, "SELECT f FROM filters, generate_series(1, 2) WHERE name = 'day'", '--parts');
keeps(qr/division by zero/, "SELECT CASE WHEN 1 / (length(f) - length(f)) > 0 THEN f END FROM filters WHERE name = 'day'");
refuses(qr/cannot connect: .*nowhere/, '', 'pull', '--dsn', 'host=/nowhere', '--query', $day, '--out', 'out');
refuses(qr/bad connection string in --dsn: invalid connection option "hots"/, '', 'pull', '--dsn', 'hots=x', '--query', $day, '--out', 'out');
refuses(qr/nowhere/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', 'nowhere/out');
refuses(qr/--dsn and --out are needed/, '', 'pull', '--dsn', $scoped, '--query', $day);
refuses(qr/one of --list and --query is needed/, '', 'pull', '--dsn', $scoped, '--out', 'x');
refuses(qr/one of --list and --query is needed/, '', 'pull', '--dsn', $scoped, '--out', 'x', '--list', 'a', '--query', $day);
refuses(qr/--list knows by itself/, '', 'pull', '--dsn', $scoped, '--out', 'x', '--list', 'a', '--parts');
refuses(qr/--parts excludes/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', 'x', '--parts', '--delta-query', 'x');
refuses(qr/--every needs --follow/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', 'x', '--every', '5');
refuses(qr/--every must be a whole number/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', 'x', '--follow', '--every', '0');
refuses(qr/--out - excludes --follow/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', '-', '--follow');
mkdir 'folder';
refuses(qr/folder/, '', 'pull', '--dsn', $scoped, '--query', $day, '--out', 'folder');
rmdir 'folder';
spew('out', 'precious');
is((pull($day))[0], 1, 'what is no filter is not replaced');
is(slurp('out'), 'precious', 'by itself');
spew('out', substr(slurp('new'), 0, 5000));
is((pull($day))[0], 0, 'a damaged old file is replaced');
ok(slurp('out') eq slurp('new'), 'by the new one');

# A slow server: one snapshot, and a clean end. Chunks of slow take time, and wait for the
# gate, a sequence: its value is seen whatever snapshot one has.
sql(q{
CREATE DOMAIN slow AS bytea;
CREATE SEQUENCE gate;
CREATE TABLE slow_filters (f slow);
CREATE FUNCTION bloom_chunk(filter slow, "offset" bigint, length int) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
	WHILE "offset" > 0 AND (SELECT last_value FROM gate) = 2 LOOP PERFORM pg_sleep(0.1); END LOOP;
	IF "offset" > 0 THEN PERFORM pg_sleep(1.5); END IF;
	RETURN substr(filter::bytea, ("offset" + 1)::int, length);
END $$;
});
sql('INSERT INTO slow_filters VALUES (' . bytea('old') . ')');
sub gate { my ($what) = @_; sql("SELECT setval('gate', " . ($what eq 'closed' ? 2 : 1) . ') IS NULL'); return; }

# Whether the server sleeps over a chunk
sub is_sent
{
	return sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bloomfilter pull' AND wait_event = 'PgSleep'") > 0;
}
unlink 'out';
gate('closed');
my $pid = fork();
exec program(), 'pull', '--dsn', $scoped, '--query', 'SELECT f FROM slow_filters', '--out', 'out', '--quiet' if $pid == 0;
ok(wait_for(30, \&is_sent), 'it has begun');
sql('UPDATE slow_filters SET f = ' . bytea('new'));
gate('open');
waitpid $pid, 0;
is($?, 0, 'a filter that is changed while it is pulled');
ok(slurp('out') eq slurp('old'), 'is pulled as it was');
gate('closed');
$pid = fork();
exec program(), 'pull', '--dsn', $scoped, '--query', 'SELECT f FROM slow_filters', '--out', 'out' if $pid == 0;
wait_for(30, \&is_sent);
my $begin = time;
kill 'TERM', $pid;
waitpid $pid, 0;
is($? & 127, 15, 'SIGTERM ends it');
cmp_ok(time - $begin, '<', 1, 'at once');
is_deeply([ files() ], [qw(new old out)], 'without a temporary file');
ok(slurp('out') eq slurp('old'), 'and the file is as before');
$pid = fork();
if ($pid == 0)
{
	open STDERR, '>', '.stderr2';
	exec program(), 'pull', '--dsn', $scoped, '--query', 'SELECT f FROM slow_filters', '--out', 'out';
}
wait_for(30, \&is_sent);
sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'bloomfilter pull'");
waitpid $pid, 0;
is($? >> 8, 2, 'a connection that breaks is an error');
gate('open');
like(slurp('.stderr2'), qr/\Abloomfilter: [^\n]+\n\z/, 'of one line');
unlink '.stderr2';
is_deeply([ files() ], [qw(new old out)], 'without a temporary file');

# Progress is for terminals.
SKIP:
{
	my @slowly = ('pull', '--dsn', $scoped, '--query', 'SELECT f FROM slow_filters', '--out', 'drawn');
	my $drawn = on_terminal(@slowly);
	skip 'no script(1)', 5 if !defined $drawn;
	my $said = qr/drawn: pulled 1\.\d+ MiB in [\d.]+ s, checksum [0-9a-f]{16}\r\n/;
	like($drawn, qr/\A\rpull \[=+> *\]  \d\d %  1\.00 MiB  [\d.]+ [KMG]iB\/s\e\[K/, 'a bar on a terminal');
	like($drawn, qr/\r\e\[K$said\z/, 'is gone when it says what it did');
	ok(slurp('drawn') eq slurp('new'), 'and has pulled');
	unlink 'drawn';
	like(on_terminal(@slowly, '--no-progress'), qr/\A$said\z/, 'no bar with --no-progress');
	unlink 'drawn';
	is(on_terminal(@slowly, '--quiet'), '', 'nothing with --quiet');
	unlink 'drawn';
}

# Sets
sub insert_parts
{
	my ($count, @set_keys) = @_;
	build('set', \@set_keys, '-n', '3000', '--parts', $count);
	sql('TRUNCATE parts; INSERT INTO parts VALUES ' . join ', ', map { '(' . bytea($_) . ')' } reverse sort glob 'set.0*');
	my @bytes = map { slurp($_) } sort glob 'set.0*';
	unlink 'set', glob 'set.0*';
	return join '', @bytes;
}
sql('CREATE TABLE parts (f bytea)');
unlink 'out';
my $bytes = insert_parts(3, 1 .. 3000);
($status, $out, $err) = pull('SELECT f FROM parts', '--parts');
is("$status$err", '0', 'a set');
like($out, qr/\Aout: pulled 3 parts, [\d.]+ KiB, in/, 'what it says');
my @first = sort glob 'out.0*';
is(join('', map { slurp($_) } @first), $bytes, 'all parts');
is((run(join('', map { "$_\n" } 1 .. 3000), 'contains', '-c', 'out'))[1], "3000\n", 'is asked as one');
is((pull('SELECT f FROM parts', '--parts'))[1], "out: unchanged\n", 'the same set again');
keeps(qr/add --parts/, 'SELECT f FROM parts');
keeps(qr/2 rows that are not the 3 parts/, 'SELECT f FROM parts LIMIT 2', '--parts');
$bytes = insert_parts(2, 5 .. 3000);
is((pull('SELECT f FROM parts', '--parts'))[0], 0, 'a new set');
is(join('', map { slurp($_) } sort glob 'out.0*'), $bytes, 'its parts, and no others');
is((grep { -e } @first), 0, 'old parts are removed');
unlink glob 'out*';

# Deltas that don't fit
spew('out', slurp('old'));
sql('CREATE TABLE deltas (d bytea)');
my @delta = ('--delta-query', 'SELECT d FROM deltas');
($status, $out, $err) = pull($day, @delta);
is("$status$err", '0', 'no delta');
like($out, qr/\Aout: no delta, since the query gives none: fetching the whole filter\nout: pulled /, 'says so, and pulls');
spew('out', slurp('old'));
sql("INSERT INTO deltas VALUES ('garbage')");
($status, $out, $err) = pull($day, @delta);
is("$status$err", '0', 'a delta that is none');
like($out, qr/\Aout: no delta, since .*delta.*: fetching the whole filter\nout: pulled /, 'says so, and pulls');
spew('out', slurp('old'));
($status, $out, $err) = pull($day, '--delta-query', 'SELECT nothing');
is($status, 0, 'a query for a delta that fails');
like($err, qr/\Abloomfilter: the server refused: column "nothing" does not exist\n\z/, 'says so');
ok(slurp('out') eq slurp('new'), 'and pulls');
unlink 'out';
like((pull($day, @delta))[1], qr/no delta, since there is no old filter/, 'no old filter');

# LISTEN
sub listener
{
	my ($log) = @_;
	my $child = fork();
	if ($child == 0)
	{
		open STDOUT, '>', $log or die;
		open STDERR, '>&', \*STDOUT or die;
		exec program(), 'pull', '--dsn', $scoped, '--query', $day, '--out', 'out', '--listen', 'new "day"';
	}
	return $child;
}
sub logged { my ($count) = @_; return sub { my @lines = split /\n/, slurp('.stdlog'); @lines >= $count } }
unlink 'out';
spew('.stdlog', '');
unlink 'out.status';
$pid = listener('.stdlog');
ok(wait_for(30, logged(1)), 'listening begins with a pull');
ok(slurp('out') eq slurp('new'), 'of the filter');
sql("UPDATE filters SET f = " . bytea('old') . " WHERE name = 'day'; NOTIFY \"new \"\"day\"\"\"");
ok(wait_for(30, logged(2)), 'a notification');
ok(slurp('out') eq slurp('old'), 'pulls again');
sql('NOTIFY "new ""day"""');
ok(wait_for(30, logged(3)), 'another one');
like((split /\n/, slurp('.stdlog'))[2], qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ out: unchanged\z/, 'does not, if nothing changed');
my $terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'bloomfilter pull'";
is(sql($terminate), 1, 'a connection that breaks');
sql("UPDATE filters SET f = " . bytea('new') . " WHERE name = 'day'; NOTIFY \"new \"\"day\"\"\"");
ok(wait_for(30, sub { slurp('out') eq slurp('new') }), 'is made again, and nothing is missed');
ok(wait_for(30, logged(5)), 'says so');
sql('ALTER TABLE filters RENAME TO away; NOTIFY "new ""day"""');
ok(wait_for(30, logged(6)), 'a query that fails');
sql('ALTER TABLE away RENAME TO filters');
ok(wait_for(30, sub { slurp('.stdlog') =~ /does not exist.*unchanged/s }), 'is tried again');
$begin = time;
kill 'TERM', $pid;
waitpid $pid, 0;
is($?, 0, 'SIGTERM ends it cleanly');
cmp_ok(time - $begin, '<', 1, 'at once');
is_deeply([ files() ], [qw(new old out)], 'without a temporary file') || diag(slurp('.stdlog'));

# With the extension: what it builds, what it sends, what differs
SKIP:
{
	skip 'the extension is not installed', 1 if !$extension;
	sql('CREATE TABLE typed (name text, f public.bloomfilter)');
	my $query = "SELECT f FROM typed WHERE name = 'day'";

	build('built', [ 1 .. 200_000 ], '-n', '200000', '-p', '1e-3', '-s', '-5');
	sql("INSERT INTO typed SELECT 'day', public.bloom_agg(g, 200000, 1e-3, -5) FROM generate_series(1, 200000) g");
	is((pull($query))[0], 0, 'pull what SQL built');
	ok(slurp('out') eq slurp('built'), 'build makes the bytes that SQL makes');
	build('counted', [ 1 .. 70_000 ]);
	sql("INSERT INTO typed SELECT 'counted', public.bloom_agg(g) FROM generate_series(1, 70000) g");
	is((pull("SELECT f FROM typed WHERE name = 'counted'"))[0], 0, 'pull one without n');
	ok(slurp('out') eq slurp('counted'), 'build without -n, too');
	is((pull('SELECT public.bloom_agg(g, 1000000, 0.01) FROM generate_series(1, 1000000) g'))[0], 0, 'a filter made by the query');
	is((run(join('', map { "$_\n" } 1 .. 1_000_000), 'contains', '-c', 'out'))[1], "1000000\n", 'has all keys');

	# Every column of bloom_stats.  Both write doubles with as few digits as keep them.
	my $columns = sql(q{SELECT string_agg(name, ', ' ORDER BY n) FROM pg_proc,
unnest(proargnames, proargmodes) WITH ORDINALITY AS a(name, mode, n)
WHERE oid = 'public.bloom_stats'::regproc AND mode = 'o'});
	my @columns = split /, /, $columns;
	is(scalar(grep { /\A(?:p|fill|fpr)\z/ } @columns), 3, 'bloom_stats has fill and rates');
	foreach my $name ('day', 'counted')
	{
		my $stats = sql("SELECT concat_ws(' ', $columns) FROM typed, public.bloom_stats(f) WHERE name = '$name'");
		my $file = $name eq 'day' ? 'built' : $name;
		my %table = (run('', 'info', $file))[1] =~ /^(\w+) +(\S+)$/mg;
		my %json = (run('', 'info', '--json', $file))[1] =~ /^  "(\w+)": "?(.*?)"?,?$/mg;
		is(join(' ', @table{@columns}), $stats, "info says what bloom_stats says of $name");
		is(join(' ', @json{@columns}), $stats, "info --json says what bloom_stats says of $name");
	}
}

sql("DROP SCHEMA $schema CASCADE");
done_testing();
