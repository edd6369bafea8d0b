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
like($out, qr/\Aout: generation \d{16}, pulled [\d.]+ KiB in [\d.]+ s, checksum [0-9a-f]{16}\n\z/, 'what it says');
is(holds(1, 5000), 5000, 'has all keys');
is(join(' ', files()), 'out out.status', 'in one file, with its status beside it');
is_deeply([ pull_list('account') ], [ 0, "out: unchanged\n", '' ], 'the same generation again');
publish('account', 1, 100, 5100);
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, updated by a delta of [\d.]+ \w+, checksum [0-9a-f]{16}\n\z/, 'the next one comes by a delta');
is(holds(100, 5100), 5001, 'and has all keys');
publish('account', 1, 200, 5200) for 1 .. 2;
publish('account', 1, 300, 5300);
like((pull_list('account'))[1], qr/\Aout: no delta, since .* another old filter .*\nout: generation \d{16}, pulled /, 'two generations later it comes whole');
is(holds(300, 5300), 5001, 'and has all keys');
sql("DELETE FROM ext.bloom_list_delta") ;
publish('account', 1, 1, 5000);
sql('TRUNCATE ext.bloom_list_delta');
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, pulled /, 'without a delta it comes whole, and nothing is said of it');

# A damaged file is of no use for a delta
publish('account', 1, 1, 5005);
my $damaged = slurp('out');
substr($damaged, 100, 1) ^= "\1";
spew('out', $damaged);
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, pulled /, 'a damaged file is replaced');
is((run('', 'verify', 'out'))[0], 0, 'by a sound one');

# Sets
publish('account', 3, 1, 20000);
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, pulled 3 parts, /, 'a list that became a set');
is(holds(1, 20000), 20000, 'has all keys');
like(slurp('out'), qr/\Abloomfilter-set 1\n# generation \d{16}\n# built 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\nout\.00000-of-00003\./, 'its manifest says of which build');
is(scalar(() = files()), 5, 'in a manifest, three parts and the status');
publish('account', 3, 50, 20050);
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, updated 3 of 3 parts by deltas of /, 'the next one comes by deltas');
is(holds(50, 20050), 20001, 'and has all keys');
publish('account', 3, 60, 20060);
sql('DELETE FROM ext.bloom_list_delta WHERE part = 1');
like((pull_list('account'))[1], qr/\Aout: generation \d{16}, updated 2 of 3 parts by deltas of /, 'where one is missing the part comes whole');
is(holds(60, 20060), 20001, 'and has all keys');
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
is($status, 0, 'who may read the lists but not the deltas');
like($err, qr/permission denied for \w+ bloom_list_delta/, 'is told');
like($out, qr/pulled 2 parts/, 'and fetches all');
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
is((pull('--list', 'other', '--out', 'full'))[0], 0, 'the next one');
ok(-e $left, 'leaves it alone while it may be in use');
utime time - 90000, time - 90000, $left;
publish('other', 2, 1, 4200);
is((pull('--list', 'other', '--out', 'full'))[0], 0, 'a day later');
ok(!-e $left, 'it is gone');

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
($status, $out, $err) = run('', 'status', 'out');
is("$status$err", '0', 'status');
like($out, qr/\Alist        account
generation  \d{16}
built       20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
server      host=\S+ port=\d+ $database
checksum    [0-9a-f]{16}
changed     20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
looked      20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ
age         \d+ s\n\z/, 'what it prints');
is_deeply([ run('', 'status', '-q', '--max-age', '1000', 'out') ], [ 0, '', '' ], 'fresh enough');
my $note = slurp('out.status');
spew('out.status', $note =~ s/^looked 20/looked 19/mr);
is_deeply([ (run('', 'status', '-q', '--max-age', '1000', 'out'))[ 0, 1 ] ], [ 1, '' ], 'too old');
like((run('', 'status', '--max-age', '1000', 'out'))[2], qr/last looked at \d{10} s ago/, 'says how old');
is((run('', 'status', 'out'))[0], 0, 'no age is too old without --max-age');
is((pull_list('account'))[0], 0, 'a look');
my ($changed) = slurp('out.status') =~ /^(changed .*)$/m;
like($note, qr/^\Q$changed\E$/m, 'that changes nothing keeps the time of the change');
is((run('', 'status', '--max-age', '1000', 'out'))[0], 0, 'and is fresh');
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
