# build.t
#	  bloomfilter build: the same keys and parameters, the same bytes.

use CommandLine;
use List::Util qw(shuffle);

sub lines { return join '', map { "$_\n" } @_; }

sub built
{
	my ($stdin, @options) = @_;
	my ($status, $out, $err) = run($stdin, 'build', @options, 'built');
	is("$status$out$err", '0', "build @options");
	return slurp('built');
}

# Order and repetition
srand 17;
my @keys = map { "key $_" } 1 .. 20_000;
foreach my $options ([], [ '-n', '20000', '-p', '1e-4', '-s', '-1' ])
{
	run(lines(@keys), 'build', @$options, 'first');
	run(lines(shuffle(@keys, @keys)), 'build', @$options, 'second');
	ok(slurp('first') eq slurp('second'), "any order, with repetitions: @$options");
}
my $rest = lines(@keys);
chomp $rest;
ok(built($rest, '-n', '20000') eq built(lines(@keys), '-n', '20000'), 'a last line without its end');
ok(built(join('', map { "$_\0" } @keys), '-0', '-n', '20000') eq slurp('built'), 'keys that end with a zero byte');

# The number of keys is the number of different ones.
ok(built(lines(@keys)) eq built(lines(@keys, @keys), '-n', '20000'), 'without -n they are counted');
ok(built(lines(1 .. 9), '-s', '-1') eq built(lines(1 .. 9), '-s', '18446744073709551615'), 'a seed, signed or not');

# What came more than was planned
my ($status, $out, $err) = run(lines(@keys), 'build', '-n', '5', 'small');
is($status, 0, 'too many keys are no error');
like($err, qr/\Abloomfilter: warning: more than \d+ different keys came, more than -n; the false-positive rate is /, 'but a warning');
is((run(lines(@keys), 'contains', '-v', 'small'))[0], 1, 'and no key is lost');

# No keys: a filter only if it was asked for
refuses(qr/no keys on standard input; if it is to be empty, add --allow-empty and -n$/, '', 'build', 'none');
refuses(qr/no keys on standard input; if it is to be empty, add --allow-empty$/, '', 'build', '-n', '1', 'none');
ok(!-e 'none', 'no file');
refuses(qr/an empty filter needs -n/, '', 'build', '--allow-empty', 'none');
is((run('', 'build', '-n', '1', '--allow-empty', 'none'))[0], 0, 'an empty filter that was asked for');

# Bad parameters
refuses(qr/--capacity must be/, '', 'build', '-n', $_, 'x') foreach qw(0 9223372036854775808), '';
refuses(qr/--rate must be/, '', 'build', '-p', $_, 'x') foreach qw(0 1 nan x);
refuses(qr/--seed must be/, '', 'build', '-s', $_, 'x') foreach qw(x 18446744073709551616);
refuses(qr/--parts must be/, '', 'build', '-n', '1', '--parts', $_, 'x') foreach qw(-1 65536);
refuses(qr/--parts needs -n/, '', 'build', '--parts', '2', 'x');
refuses(qr/build a set with --parts 0/, '', 'build', '-n', '1000000000000', 'x');
refuses(qr/rate/, '', 'build', '-n', '1000000', '-p', '1e-300', 'x');

# Replaced in one step, or not at all
spew('kept', 'precious');
refuses(qr/line 2/, "1\nx\n", 'build', '-t', 'integer', 'kept');
is(slurp('kept'), 'precious', 'a failure leaves the file as it was');
refuses(qr/nowhere/, "1\n", 'build', 'nowhere/x');
is_deeply([ grep { !/^\.std/ } glob '.*[a-z]* *.tmp' ], [], 'no temporary file is left');

# Sets
run(lines(1 .. 10_000), 'build', '-n', '10000', '-t', 'integer', '--parts', '3', 'set');
is_deeply([ glob 'set*' ], ['set'], 'a set is one file');
run(lines(5 .. 10_000), 'build', '-n', '10000', '-t', 'integer', '--parts', '2', 'set');
is((run(lines(5 .. 10_000), 'contains', '-c', 'set'))[1], "9996\n", 'the new set is whole');

# What is no regular file is told of before the keys are read; test/lib/test_write.c has links, pipes and modes.
refuses(qr/null: is no regular file/, "x\n\xff\n", 'build', '-n', '20000', '/dev/null');

# What COPY prints: its escapes, NULL, several columns
my $copied = "CORP\\\\alice\nC:\\\\new\\\\temp\na\\tb\n\\N\n\\x41\\101\\q\\b\\f\\n\\r\\v\n\n";
my @meant = ('CORP\\alice', 'C:\\new\\temp', "a\tb", "AAq\b\f\n\r\x0b", '');
my ($told, undef, $nulls) = run($copied, 'build', '--copy', 'copied');
is($told, 0, 'rows of COPY');
is($nulls, "bloomfilter: 1 of 6 rows have a NULL, and are no keys\n", 'of which one is NULL');
ok(slurp('copied') eq built(join('', map { "$_\0" } @meant), '-0'), 'are the keys that SQL has');
is((run("$copied\\\\N\nnone\n", 'contains', '--copy', 'copied'))[1], $copied =~ s/^\\N\n//mr, 'and are asked and printed so');
is((run("$copied", 'verify', '--copy', '--keys', '-', 'copied'))[0], 0, 'and verified');
run("7\tx y\n8\t\\N\n9\ta\\tb\n", 'build', '--copy', '-t', 'integer,text', 'rows');
like((run('', 'info', 'rows'))[1], qr/^key_type +row\(integer, text\)$/m, 'two columns are a row');
is((run("7\tx y\n9\ta\\tb\n9\tz\n8\t\\N\n", 'contains', '--copy', 'rows'))[1], "7\tx y\n9\ta\\tb\n", 'whose columns are asked');
refuses(qr/line 1: "7" has 1 columns, not 2/, "7\n", 'contains', '--copy', 'rows');
refuses(qr/read from what COPY prints: --copy/, "7\n", 'contains', 'rows');
refuses(qr/line 1: ".*" has 2 columns, not 1/, "7\tx\n", 'build', '--copy', 'unmade');

# Marks of files that are part of a text, and that nobody means
like((run("\xef\xbb\xbfa\r\nb\r\n", 'build', 'marked'))[2], qr/begins with a byte order mark.*\n.*all keys end with a carriage return/, 'a warning of both');
like((run("a\n\\N\n", 'build', 'marked'))[2], qr/1 keys are \\N, as COPY prints NULL.*--copy/, 'and of what COPY prints');

# An exact filter of two files of keys
spew('members', lines(1 .. 1000));
spew('others', lines(1001 .. 20_000));
my @exact = ('build', '-t', 'integer', '--members', 'members', '--others', 'others');
is((run('', @exact, 'exact'))[0], 0, 'an exact filter is built');
is((run(lines(1 .. 20_000), 'contains', 'exact'))[1], lines(1 .. 1000), 'its answers are right for all keys of both files');
like((run('', 'info', 'exact'))[1], qr/^exact +true\nothers +19000\nformat_version +2$/m, 'info tells that it is exact');
like((run('', 'explain', 'exact', '5'))[1], qr/^answer +true$/m, 'explain shows its levels');
refuses(qr/members and others at once/, '', 'build', '--members', 'members', '--others', 'members', 'unmade');
refuses(qr/go together/, '', 'build', '--members', 'members', 'unmade');
refuses(qr/leave -n and --parts out/, '', @exact, '-n', '5', 'unmade');
ok(!-e 'unmade', 'no file is made then');

done_testing();
