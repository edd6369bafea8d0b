# list.t
#	  bloomfilter pull --list, against a server, and bloomfilter status.
#
# The extension is in a schema that is on no search path, as it may be.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_list');
my $database = qr/dbname=bloomfilter_cli_list/;

sub pull { return run('', 'pull', '--dsn', $dsn, @_); }

sub pull_list
{
	my ($name, @options) = @_;
	return pull('--list', $name, '--out', 'out', @options);
}

# How many of a range are said to be in the file
sub holds
{
	my ($first, $last, $file) = @_;
	my (undef, $count) = run(join('', map { "$_\n" } $first .. $last), 'contains', '-c', $file // 'out');
	return $count + 0;
}

sub files { return sort grep { !/^\.(?:std|sql|\.?$)/ } glob('* .*'); }

# One filter
publish('account', 1, 1, 5000);
my ($status, $out, $err) = pull_list('account');
is("$status$err", '0', 'a list of one filter');
like($out, qr/\Aout: serial \d{16}, pulled [\d.]+ KiB in [\d.]+ s, checksum [0-9a-f]{16}\n\z/, 'what it says');
is(holds(1, 5000), 5000, 'has all keys');
is(join(' ', files()), 'out out.status', 'in one file, with its status beside it');
is_deeply([ pull_list('account') ], [ 0, "out: unchanged\n", '' ], 'the same generation again');
publish('account', 1, 100, 5100);
like((pull_list('account'))[1], qr/\Aout: serial \d{16}, pulled /, 'the next one comes whole');
is(holds(100, 5100), 5001, 'and has all keys');

# A damaged file is replaced
publish('account', 1, 1, 5005);
my $damaged = slurp('out');
substr($damaged, 100, 1) ^= "\1";
spew('out', $damaged);
like((pull_list('account'))[1], qr/\Aout: serial \d{16}, pulled /, 'a damaged file is replaced');
is((run('', 'verify', 'out'))[0], 0, 'by a sound one');

# Sets
publish('account', 3, 1, 20000);
like((pull_list('account'))[1], qr/\Aout: serial \d{16}, pulled 3 parts, /, 'a list that became a set');
is(holds(1, 20000), 20000, 'has all keys');
like(slurp('out'), qr/\Abloomfilter-set 1\n# list account\n# identity [0-9a-f-]{36}\n# serial \d{16}\n# built 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\nout\.00000-of-00003\./, 'its manifest says of which build');
is(scalar(() = files()), 5, 'in a manifest, three parts and the status');
publish('account', 3, 50, 20050);
like((pull_list('account'))[1], qr/\Aout: serial \d{16}, pulled 3 parts, /, 'the next one comes whole');
is(holds(50, 20050), 20001, 'and has all keys');
publish('account', 1, 1, 5000);
is((pull_list('account'))[0], 0, 'a set that became one filter');
is(join(' ', files()), 'out out.status', 'leaves no parts');
is((pull('--list', 'account', '--out', '-'))[1], slurp('out'), '--out - prints the filter and nothing else');
publish('account', 2, 1, 5000);
refuses(qr/a set of parts can't be written to standard output/, '', 'pull', '--dsn', $dsn, '--list', 'account', '--out', '-');
is((pull_list('account'))[0], 0, 'a set again');

# A part of another generation is not of the set, whatever wrote it
my ($part) = glob 'out.00000-of-00002.*.bloom';
publish('other', 2, 1, 4000);
is((pull('--list', 'other', '--out', 'other'))[0], 0, 'another list');
my ($foreign) = glob 'other.00000-of-00002.*.bloom';
my $own = slurp($part);
spew($part, slurp($foreign));
refuses(qr/is another filter than its name says/, "1\n", 'contains', 'out');
is((pull_list('account'))[0], 0, 'the next pull');
ok(slurp($part) eq $own, 'puts it right');

# What is no file is not waited for
SKIP:
{
	require POSIX;
	skip 'no pipe', 1 if !POSIX::mkfifo('pipe', 0600);
	refuses(qr/pipe: is no regular file/, '', 'pull', '--dsn', $dsn, '--list', 'account', '--out', 'pipe', '--follow');
	unlink 'pipe';
}

# Whose name is what
refuses(qr/there is no published list "acount"/, '', 'pull', '--dsn', $dsn, '--list', 'acount', '--out', 'x');
publish(q{it''s "1"}, 1, 1, 10);
is((pull('--list', q{it's "1"}, '--out', 'quoted'))[0], 0, 'a name with quotes');
is((pull('--query', "SELECT filter, name AS bloomfilter, 1 AS f, 2 AS o, 3 AS q, 4 AS g FROM ext.bloom_list_part WHERE name = 'other' AND part = 0",
	'--out', 'columns'))[0], 0, 'names of columns mean nothing, and neither does the search path');
is((run('', 'pull', '--dsn', "$dsn user=nobody", '--list', 'account', '--out', 'x'))[0], 2, 'who may not connect');
sql("DROP ROLE IF EXISTS bloomfilter_cli_puller");
sql("CREATE ROLE bloomfilter_cli_puller LOGIN; GRANT USAGE ON SCHEMA ext TO bloomfilter_cli_puller;"
	  . "GRANT SELECT ON ext.bloom_list, ext.bloom_list_part TO bloomfilter_cli_puller");
publish('account', 2, 5, 5005);
($status, $out, $err) = run('', 'pull', '--dsn', $dsn =~ s/user=\S+/user=bloomfilter_cli_puller/r, '--list', 'account', '--out', 'out');
is("$status$err", '0', 'who may read the lists');
like($out, qr/pulled 2 parts/, 'fetches all');
sql('DROP OWNED BY bloomfilter_cli_puller; DROP ROLE bloomfilter_cli_puller');

# Notices are lines like others, and obey --quiet
sql(q{CREATE FUNCTION loud() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'so loud'; RETURN true; END $$});
my @loud = ('--query', "SELECT filter FROM ext.bloom_list_part WHERE name = 'other' AND part = 0 AND loud()");
like((pull(@loud, '--out', 'loud'))[2], qr/\A(?:bloomfilter: the server says: WARNING:  so loud\n)+\z/, 'a notice');
is((pull(@loud, '--out', 'loud2', '--quiet'))[2], '', 'is not shown with --quiet');

# A log that is full
my $pid = fork() // die;
if ($pid == 0)
{
	open STDOUT, '>', '/dev/full' or die;
	open STDERR, '>', '.stderr' or die;
	exec program(), 'pull', '--dsn', $dsn, '--list', 'other', '--out', 'full';
}
waitpid $pid, 0;
is($?, 0, 'a line that cannot be written is no failure');
like(slurp('.stderr'), qr/\Abloomfilter: cannot write to standard output: No space left on device\n\z/, 'but is told');
is(holds(1, 4000, 'full'), 4000, 'and the file is there');

# A disk that is full, and a process that is killed
my @before = files();
my $set = slurp('full');
publish('other', 2, 1, 4100);
system 'bash', '-c', 'trap "" XFSZ; ulimit -f 8; exec "$@" >.stdout 2>.stderr', 'bash', program(), 'pull', '--dsn', $dsn, '--list', 'other', '--out', 'full';
is($? >> 8, 2, 'a disk that is full');
like(slurp('.stderr'), qr/\Abloomfilter: full: could not write: [^\n]+\n\z/, 'is an error');
is_deeply([ files() ], \@before, 'leaves no file');
ok(slurp('full') eq $set && holds(1, 4000, 'full') == 4000, 'and all as it was');
system 'bash', '-c', 'ulimit -c 0; ulimit -f 8; exec "$@" >.stdout 2>.stderr', 'bash', program(), 'pull', '--dsn', $dsn, '--list', 'other', '--out', 'full';
my ($left) = glob '.full.*.tmp';
ok(defined $left, 'who is killed leaves a file');
is(holds(1, 4000, 'full'), 4000, 'and the set as it was');
publish('other', 2, 1, 4200);
is((pull('--list', 'other', '--out', 'full'))[0], 0, 'the next one');
ok(!-e $left, 'deletes it');

# Two at once
publish('other', 2, 1, 4300);
my @pids = map
{
	my $child = fork() // die;
	exec program(), 'pull', '--dsn', $dsn, '--list', 'other', '--out', 'full', '--quiet' if $child == 0;
	$child;
} 1 .. 4;
my $failed = 0;
foreach my $child (@pids)
{
	waitpid $child, 0;
	$failed += $? != 0;
}
is($failed, 0, 'four pulls of one file at once');
is(holds(1, 4300, 'full'), 4300, 'make one whole set');
is(scalar(grep { /^\.?full\./ } files()), 3, 'of two parts and a status');

# Status
sub status { return run('', 'status', @_); }
($status, $out, $err) = status('out');
is("$status$err", '0', 'status');
like($out, qr/\Alist        account
identity    [0-9a-f-]{36}
serial      \d{16}
built       20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
built_age   -?\d+ s
server      host=\S+ port=\d+ $database
checksum    [0-9a-f]{16}
changed     20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
looked      20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
looked_age  \d+ s
failures    0\n\z/, 'what it prints');
is_deeply([ status('-q', '--max-age', '1000', '--max-built-age', '1000', 'out') ], [ 0, '', '' ], 'fresh enough');
my $note = slurp('out.status');
spew('out.status', $note =~ s/^looked 20/looked 19/mr);
is_deeply([ (status('-q', '--max-age', '1000', 'out'))[ 0, 1 ] ], [ 1, '' ], 'too old');
like((status('--max-age', '1000', 'out'))[2], qr/last looked at \d{10} s ago/, 'says how old');
is((status('out'))[0], 0, 'no age is too old without --max-age');
spew('out.status', $note =~ s/^looked 20/looked 21/mr);
($status, $out, $err) = status('out');
is($status, 1, 'a look in the future is never fresh');
like($err, qr/the last look is \d{10} s in the future/, 'and is told');
like($out, qr/^wrong       clock$/m, 'in a word, too');
is((pull_list('account'))[0], 0, 'a look');
my ($changed) = slurp('out.status') =~ /^(changed .*)$/m;
like($note, qr/^\Q$changed\E$/m, 'that changes nothing keeps the time of the change');
is((status('--max-age', '1000', 'out'))[0], 0, 'and is fresh');

# A list that nobody builds any more
publish('lone', 1, 1, 100);
sql("UPDATE ext.bloom_generation SET built_at = now() - interval '10 days' WHERE name = 'lone'");
is((pull('--list', 'lone', '--out', 'lone'))[0], 0, 'an old build');
is((status('--max-age', '1000', 'lone'))[0], 0, 'looked at now');
($status, $out, $err) = status('-q', '--max-built-age', '90000', 'lone');
is($status, 1, 'is too old by the time of its build');
like($err, qr/its list was built 864\d\d\d s ago/, 'and says so');

# For programs
my @known = status('--json', '--max-built-age', '90000', 'lone');
is($known[0], 1, '--json has the same status');
require JSON::PP;
my $json = JSON::PP::decode_json($known[1]);
is_deeply([ @{$json}{qw(file known list wrong failures)}, !!$json->{healthy} ], [ 'lone', JSON::PP::true(), 'lone', ['built'], 0, '' ], 'and its values');
like($json->{serial}, qr/^\d{16}$/, 'its serial as text');
cmp_ok($json->{built_age}, '>', 863_000, 'its age as a number');
($status, $out) = status('--prometheus', 'lone', 'out');
is($status, 0, '--prometheus of two files');
like($out, qr/^bloomfilter_healthy\{file="lone",list="lone"\} 1\nbloomfilter_healthy\{file="out",list="account"\} 1$/m, 'has each under its metric');
is(scalar(() = $out =~ /^# TYPE bloomfilter_healthy gauge$/mg), 1, 'whose type is told once');
is(scalar(grep { !/^(?:# (?:HELP|TYPE) bloomfilter_\w+ .+|bloomfilter_\w+\{(?:\w+="[^"]*",?)+\} \d+)$/ } split /\n/, $out), 0, 'in the form of Prometheus');
($status, $out) = status('--prometheus', 'nothing');
is($status, 2, 'an unknown file');
like($out, qr/^bloomfilter_healthy\{file="nothing",list=""\} 0$/m, 'is not healthy');

# What went wrong is known
is((run('', 'pull', '--dsn', "$dsn host=/nowhere", '--list', 'lone', '--out', 'lone'))[0], 2, 'no server');
is((run('', 'pull', '--dsn', "$dsn host=/nowhere", '--list', 'lone', '--out', 'lone'))[0], 2, 'again');
($status, $out) = status('lone');
like($out, qr/^failures    2\nfailed      20\S+Z\nerror       \S.*$/m, 'failures are counted, and the last one is told');
is((run('', 'pull', '--dsn', "$dsn host=/nowhere", '--list', 'lone', '--out', 'never'))[0], 2, 'from the start');
($status, $out, $err) = status('never');
is($status, 1, 'of a file that never came');
like($err, qr/never: the server was never looked at with success/, 'that is told');
is((pull('--list', 'lone', '--out', 'lone'))[0], 0, 'the server is back');
unlike(slurp('lone.status'), qr/^(?:failures|failed|error) /m, 'and the failures are over');

# Back, another list, another identity: kept, and status says so
sub serial { return sql("SELECT serial FROM ext.bloom_list WHERE name = 'lone'") + 0; }
sub kept
{
	my ($word, $text, @options) = @_;
	my $before = slurp('lone');
	my ($rc, undef, $errors) = pull('--list', 'lone', '--out', 'lone', @options);
	is($rc, 1, "$word: pull");
	like($errors, $text, "$word: says why");
	ok(slurp('lone') eq $before, "$word: the file is kept");
	my ($status_rc, $printed) = status('--max-age', '1000', 'lone');
	is($status_rc, 1, "$word: status");
	like($printed, qr/^wrong       $word$/m, "$word: in a word");
	return;
}
sub taken
{
	my ($what, @options) = @_;
	is((pull('--list', 'lone', '--out', 'lone', @options))[0], 0, "$what: taken");
	is((status('--max-age', '1000', 'lone'))[0], 0, "$what: all is well");
	return;
}
my $old = serial();
publish('lone', 1, 1, 200);
taken('a newer one');
my $new = serial();
cmp_ok($new, '>', $old, 'a serial grows');
publish('lone', 1, 1, 210);
spew('lone.status', slurp('lone.status') =~ s/^serial .*/serial 9000000000000000/mr);
kept('back', qr/the server has serial \d{16}, older than 9000000000000000 of the file; --allow-older/);
taken('an older one', '--allow-older');
my $backup = slurp('lone');
unlink 'lone.status';
publish('lone', 1, 1, 300);
is((pull('--list', 'lone', '--out', 'lone'))[0], 1, 'without FILE.status it is not known what would be replaced');
ok(slurp('lone') eq $backup, 'and the file is kept');
taken('told to', '--replace');
unlink 'lone.status';
taken('the same content is known by itself');
my $identity = sql("SELECT identity FROM ext.bloom_list WHERE name = 'lone'");
chomp $identity;
sql("SELECT ext.bloom_drop('lone')");
publish('lone', 1, 1, 300);
kept('identity', qr/the file's has \Q$identity\E: it was made anew/);
sql("SELECT ext.bloom_set_identity('lone', '$identity')");
taken('the identity that the host knows');
sql("SELECT ext.bloom_set_identity('lone', gen_random_uuid())");
kept('identity', qr/--new-identity/);
taken('another identity', '--new-identity');
is((pull('--list', 'account', '--out', 'lone'))[0], 1, 'another list');
like(slurp('.stderr'), qr/it is of the list "lone", and not of the list "account"; --replace/, 'is told');
is((pull('--query', "SELECT filter FROM ext.bloom_list_part WHERE name = 'lone'", '--out', 'lone'))[0], 1, 'a query, too');
taken('the right one');
publish('lone', 1, 1, 310);
my $serial = serial();
spew('lone.status', slurp('lone.status') =~ s/^serial .*/serial $serial/mr);
kept('forked', qr/another filter of the same serial $serial/);
taken('told to', '--replace');
spew('precious.txt', "precious\n");
is((pull('--list', 'lone', '--out', 'precious.txt'))[0], 1, 'a file that is no filter');
is(slurp('precious.txt'), "precious\n", 'is kept');
spew('precious.txt', '');
is((pull('--list', 'lone', '--out', 'precious.txt'))[0], 0, 'an empty one is not');

# A set tells it by itself
publish('lone', 2, 1, 400);
taken('a set');
unlink 'lone.status';
spew('lone', slurp('lone') =~ s/^# serial .*/# serial 9000000000000000/mr);
publish('lone', 2, 1, 410);
like((pull('--list', 'lone', '--out', 'lone'))[2], qr/older than 9000000000000000 of the file/, 'a manifest knows its serial without FILE.status');
taken('told to', '--allow-older');

# Killed between FILE.status and the file, either way round
publish('lone', 1, 1, 500);
taken('one filter');
my ($before, $before_status) = (slurp('lone'), slurp('lone.status'));
publish('lone', 1, 1, 600);
taken('the next');
my ($after, $after_status) = (slurp('lone'), slurp('lone.status'));
my $next = join '', map { "next_$_\n" } grep { /^(?:checksum|list|identity|serial|built) / } split /\n/, $after_status;
foreach my $case ([ 'the old file', $before, serial_of($before_status) ], [ 'the new file', $after, serial_of($after_status) ])
{
	my ($what, $bytes, $known) = @$case;
	spew('lone', $bytes);
	spew('lone.status', "$before_status$next");
	like((status('lone'))[1], qr/^serial      $known$/m, "$what: its serial is known");
}
sub serial_of { my ($found) = $_[0] =~ /^serial (\d+)$/m; return $found; }

refuses(qr/--list is given twice/, '', 'pull', '--dsn', $dsn, '--list', 'a', '--list', 'b', '--out', 'x');
spew('out', slurp('columns'));
($status, undef, $err) = run('', 'status', 'out');
is($status, 1, 'another filter in its place');
like($err, qr/another filter than the one that was pulled/, 'is told');
refuses(qr/cannot read "columns\.nothing\.status": No such file/, '', 'status', 'columns.nothing');
spew('x.status', "something\n");
refuses(qr/not what bloomfilter pull writes/, '', 'status', 'x');

$dsn = server_dsn();
refuses(qr/the extension bloomfilter is not in this database/, '', 'pull', '--dsn', $dsn =~ s/dbname=\S+/dbname=template1/r, '--list', 'a', '--out', 'x');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_list');
done_testing();
