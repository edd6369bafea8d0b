# verify.t
#	  bloomfilter verify.

use CommandLine;

sub lines { return join '', map { "$_\n" } @_; }

run(lines(1 .. 10_000), 'build', '-n', '10000', '-p', '1e-3', '-t', 'integer', 'filter');
my ($status, $out, $err) = run('', 'verify', 'filter');
is("$status$err", '0', 'a sound filter');
like($out, qr/\Asound: checksum [0-9a-f]{16}, \d+ of \d+ bits set\nholds about \d+ integer keys of 10000, /, 'what it says');

# Flipped bits are found, and that is an answer: status 1.
my $sound = slurp('filter');
my $flipped = $sound;
vec($flipped, 8 * length($sound) - 1, 1) ^= 1;
spew('flipped', $flipped);
($status, $out, $err) = run('', 'verify', 'flipped');
ok($status eq '1' && $out eq '' && $err =~ /\Abloomfilter: .*flipped.*\n\z/, 'a bit that was flipped is found');
spew('cut', substr $sound, 0, length($sound) - 1);
is((run('', 'verify', 'cut'))[0], 1, 'and a byte that is cut off');
refuses(qr/nowhere/, '', 'verify', 'nowhere');
refuses(qr/--copy excludes --null/, "1\n", 'contains', '--copy', '--null', 'filter');

# Key files
spew('keys', lines(1 .. 10_000));
is_deeply([ (run('', 'verify', 'filter', '-k', 'keys'))[0, 2] ], [ 0, '' ], 'all keys are there');
like((run(lines(1 .. 10), 'verify', 'filter', '--keys', '-'))[1], qr/^keys: 10, none missing$/m, 'keys of standard input');
($status, $out) = run(lines(1 .. 2000, 20_000_000 .. 20_000_999, 5), 'verify', 'filter', '-k', '-');
is($status, 1, 'missing keys');
my ($missing, $first) = $out =~ /^keys: 3001, (\d+) MISSING, the first in line (\d+)$/m;
cmp_ok($missing, '>=', 980, 'number of missing keys');
ok($first > 2000 && $first < 2010, 'line of the first one');
($status, $out, $err) = run("1\nx\n", 'verify', 'filter', '-k', '-');
is($status, 2, 'a line that is no key');
like($err, qr/line 2: "x" is not a key of type integer/, 'names its line');
is((run("1\0002\0", 'verify', 'filter', '-0', '-k', '-'))[0], 0, 'keys that end with a zero byte');
($status, $out, $err) = run("1\n", 'verify', 'filter', '-t', 'text', '-k', '-');
is("$status $err", "2 bloomfilter: bloomfilter holds integer keys, not text\n", 'keys of another type');

# Too many keys are no damage.
run(lines(1 .. 100_000), 'build', '-n', '1000', '-t', 'integer', 'full');
($status, $out) = run('', 'verify', 'full');
is($status, 0, 'a full filter is sound');
like($out, qr/: over capacity$/m, 'and said to be full');

# Sets and parts
run(lines(1 .. 5000), 'build', '-n', '5000', '--parts', '2', 'set');
($status, $out) = run(lines(1 .. 5000), 'verify', 'set', '-k', '-');
is($status, 0, 'a set');
like($out, qr/, 2 parts$/m, 'its parts');
my $set = slurp('set');
substr($set, -1, 1) = chr(1 ^ ord substr $set, -1);
spew('set', $set);
is((run('', 'verify', 'set'))[0], 1, 'a set with another bit');

# No keys are no proof
is((run("1\n", 'build', '-t', 'integer', '-n', '10', 'proof'))[0], 0, 'a filter');
($status, undef, $err) = run('', 'verify', 'proof', '--keys', '-');
is($status, 2, 'no keys');
like($err, qr/no keys in standard input; if it is as it should be, add --allow-empty/, 'are refused');
is((run('', 'verify', 'proof', '--keys', '-', '--allow-empty'))[0], 0, 'unless they are allowed');

# A later version, of a filter or of a set's part, can't be told
for my $of ([ proof => 4 ], [ set => 4096 + 4 ])
{
	my $later = slurp($of->[0]);
	substr($later, $of->[1], 1) = "\3";
	spew('later', $later);
	($status, undef, $err) = run('', 'verify', 'later');
	ok($status == 2 && $err =~ /unsupported format version 3/, "a $of->[0] of a later version is no damage");
}

done_testing();
