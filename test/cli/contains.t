# contains.t
#	  bloomfilter contains.

use CommandLine;
use XXH64;

sub lines { return join '', map { "$_\n" } @_; }

run(lines(1 .. 1000), 'build', '-p', '1e-9', '-t', 'integer', 'numbers');
run("apple\nb c\n\nwith\rreturn\nend\r\n", 'build', '-p', '1e-9', 'texts');

# The options, alone and together
my @table = (
	# stdin, arguments, status, output
	[ lines(1, 5000, 2), [], 0, lines(1, 2) ],
	[ lines(5000, 6000), [], 1, '' ],
	[ lines(1, 5000, 2), ['-v'], 0, lines(5000) ],
	[ lines(1, 5000, 2), ['-c'], 0, "2\n" ],
	[ lines(1, 5000, 6000), [ '-c', '-v' ], 0, "2\n" ],
	[ lines(1), ['-q'], 0, '' ],
	[ lines(5000), [ '-q', '-v' ], 0, '' ],
	[ "1\0" . "5000\0", ['-0'], 0, "1\0" ],
	[ lines(1, 5000, 2) . '3', [], 0, lines(1 .. 3) ],
	[ '', [], 1, '' ],
	[ lines('+0007'), [], 0, lines('+0007') ],
);
foreach my $row (@table)
{
	my ($stdin, $options, $status, $output) = @$row;
	is_deeply([ run($stdin, 'contains', @$options, 'numbers') ], [ $status, $output, '' ],
		"contains @$options");
}

# Keys as arguments; options may follow the file.
is_deeply([ run(lines(5), 'contains', 'numbers', '1', '5000', '2') ], [ 0, lines(1, 2), '' ], 'arguments, not stdin');
is_deeply([ run('', 'contains', '-v', 'numbers', '--', '-5', '1') ], [ 0, lines(-5), '' ], 'a negative key after --');
is_deeply([ run('', 'contains', 'numbers', '1', '5000', '-c') ], [ 0, "1\n", '' ], 'option after keys');
is_deeply([ run('', 'contains', '-0', 'numbers', '1', '2') ], [ 0, "1\0002\0", '' ], 'arguments and -0');
refuses(qr/key 1: "5\?1" is not/, '', 'contains', 'numbers', "5\n1");
refuses(qr/unknown option -5; put -- before/, '', 'contains', 'numbers', '-5');

# Only of the list that is insisted on.
refuses(qr/"numbers" is the list "" of identity none, not 0f8fad5b/, '', 'contains', '--identity', '0f8fad5b-d9cb-469f-a165-70867728950e', 'numbers', '1');

# Lines are taken as they are.
is((run("apple\n", 'contains', 'texts'))[0], 0, 'text');
is((run("apple\r\n", 'contains', 'texts'))[0], 1, 'a carriage return belongs to a text');
is((run("end\r\n", 'contains', 'texts'))[1], "end\r\n", 'and is printed with it');
is_deeply([ run("with\rreturn\0b c\0\0", 'contains', '-0', '-c', 'texts') ], [ 0, "3\n", '' ], 'keys that end with a zero byte');
is((run('', 'contains', 'texts', ''))[0], 0, 'an empty argument is a key');

# Lines longer than the buffer, and a long one in many short ones
my $long = 'x' x 3_000_000;
run("$long\n", 'build', '-p', '1e-9', 'long');
is((run("short\n$long\nshort\n$long", 'contains', 'long'))[1], "$long\n$long\n", 'lines longer than the buffer');

# Errors: what is no key ends it, after what came before was answered.
my ($status, $out, $err) = run(lines(1, 2, "3\0", 3), 'contains', 'numbers');
is("$status$out", '2' . lines(1, 2), 'answers before an error are given');
is($err, "bloomfilter: standard input, line 3: \"3?\" is not a key of type integer: it must be a whole number\n", 'line of the error');
($status, $out, $err) = run(lines(1 .. 100_000, 'x'), 'contains', '-c', 'numbers');
like($err, qr/line 100001: /, 'line number after many batches');
is("$status$out", '2', 'no count after an error');
($status, $out, $err) = run("ok\nbad\xff\n", 'contains', 'texts');
like($err, qr/line 2: .*not valid UTF-8/, 'invalid UTF-8');
($status, $out, $err) = run("\e[31m" . 'y' x 100 . "\n", 'contains', 'numbers');
like($err, qr/line 1: "\?\[31my{35}\.\.\."/, 'a message shows no control characters, and not too much');

refuses(qr/bloomfilter holds integer keys, not text/, '', 'contains', '-t', 'text', 'numbers', '1');
refuses(qr/unknown key type "int"; one of integer, text/, '', 'contains', '-t', 'int', 'numbers', '1');

# A filter without keys denies keys of all types.
run('', 'build', '-n', '10', '--allow-empty', 'empty');
is_deeply([ run(lines('a'), 'contains', 'empty') ], [ 1, '', '' ], 'empty filter, text by default');

# A set answers for all keys.
run(lines(1 .. 5000), 'build', '-n', '5000', '-p', '1e-6', '-t', 'integer', '--parts', '4', 'set');
is_deeply([ run(lines(1 .. 5000), 'contains', '-c', 'set') ], [ 0, "5000\n", '' ], 'a set has all keys');
is((run(lines(1_000_000 .. 1_010_000), 'contains', '-c', 'set'))[1] < 5, 1, 'a set denies others');

# Of keys that are arguments no more is read than their answers take, however large the file is: a
# filter, a set, an exact filter, and a file that is followed.
SKIP:
{
	my $numbers = lines(1 .. 1000);
	my $bytes = sub { return `fincore -bnr -o RES $_[0] 2>/dev/null` =~ /(\d+)/ ? $1 : -1; };
	my $forget = sub { system("dd of=$_[0] oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null"); return $bytes->($_[0]); };

	run($numbers, 'build', '-n', '10000000', '-t', 'integer', 'big');
	skip 'what is in memory of a file is not told, or stays there', 10 if $forget->('big') != 0;
	run($numbers, 'build', '-n', '10000000', '-t', 'integer', '--parts', '3', 'large');
	spew('others', lines(3_000_001 .. 3_400_000));
	spew('members', lines(1 .. 400_000));
	run('', 'build', '-t', 'integer', '--members', 'members', '--others', 'others', 'exact');
	system('cp large followed') == 0 or die 'cp';
	my @stat = stat 'followed';
	my $who = substr slurp('large'), 0, 504;
	substr($who, 48, 32) = pack('H32 Q< Q<', slurp('/proc/sys/kernel/random/boot_id') =~ tr/0-9a-f//cdr, @stat[0, 1]);
	open my $file, '+<:raw', 'followed' or die "followed: $!";
	print $file $who, pack('Q<', xxh64($who)) or die "followed: $!";
	close $file or die "followed: $!";
	like((run('', 'status', 'followed'))[1], qr/^place +here$/m, 'a file that is followed');
	foreach my $name ('big', 'large', 'exact', 'followed')
	{
		$forget->($name);
		is((run('', 'contains', $name, '17'))[1], "17\n", "$name: a key");
		cmp_ok($bytes->($name), '<=', 150_000, "$name: of its bytes few are read");
	}
	$forget->('big');
	run(lines(17), 'contains', 'big');
	cmp_ok($bytes->('big'), '>', 10_000_000, 'for keys of an input all of it is read, once, and checked');
}

# Outputs that can't be written, inputs that can't be read
my $command = program() . ' contains numbers';
SKIP:
{
	skip 'no /dev/full', 1 if !-c '/dev/full';
	my $errors = `seq 1 1000 | $command 2>&1 >/dev/full; echo \$?`;
	is($errors, "bloomfilter: cannot write to standard output: No space left on device\n2\n", 'full disk');
}
{
	my $statuses = `bash -c 'yes 1 | $command | head -n 1 >/dev/null; echo \${PIPESTATUS[1]}' 2>&1`;
	is($statuses, "141\n", 'a closed pipe ends it as it ends cat');
}
is(`$command 2>&1 <.; echo \$?`, "bloomfilter: cannot read standard input: Is a directory\n2\n", 'input that is a folder');

# Answers don't wait for more questions.
{
	local $SIG{ALRM} = sub { die "no answer\n" };
	require IPC::Open2;
	my $pid = IPC::Open2::open2(my $answers, my $questions, program(), 'contains', 'numbers');
	$questions->autoflush(1);
	alarm 20;
	print $questions "17\n";
	is(scalar <$answers>, "17\n", 'an answer while the input stays open');
	print $questions "18\n";
	is(scalar <$answers>, "18\n", 'and the next one');
	alarm 0;
	close $questions;
	waitpid $pid, 0;
	is($? >> 8, 0, 'its end');
}

done_testing();
