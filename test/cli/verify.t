# verify.t
#	  bloomfilter verify.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Test::More;

sub lines { return join '', map { "$_\n" } @_; }

run(lines(1 .. 10_000), 'build', '-n', '10000', '-p', '1e-3', '-t', 'integer', 'filter');
my ($status, $out, $err) = run('', 'verify', 'filter');
is("$status$err", '0', 'a sound filter');
like($out, qr/\Asound: checksum [0-9a-f]{16}, \d+ of \d+ bits set\nholds about \d+ integer keys of 10000, /, 'what it says');

# Each flipped bit is found, and that is an answer: status 1.
my $sound = slurp('filter');
my ($found, $tried) = (0, 0);
for (my $bit = 3; $bit < 8 * length $sound; $bit += 1009)
{
	my $flipped = $sound;
	vec($flipped, $bit, 1) ^= 1;
	spew('flipped', $flipped);
	($status, $out, $err) = run('', 'verify', 'flipped');
	$tried++;
	$found++ if $status eq '1' && $out eq '' && $err =~ /\Abloomfilter: .*flipped.*\n\z/;
}
is($found, $tried, "$tried flipped bits are found");
foreach my $length (0, 63, 64, length($sound) - 1)
{
	spew('cut', substr $sound, 0, $length);
	is((run('', 'verify', 'cut'))[0], 1, "cut off at $length");
}
refuses(qr/nowhere/, '', 'verify', 'nowhere');

# Key files
spew('keys', lines(1 .. 10_000));
is_deeply([ (run('', 'verify', 'filter', '-k', 'keys'))[0, 2] ], [ 0, '' ], 'all keys are there');
like((run(lines(1 .. 10), 'verify', 'filter', '--keys', '-'))[1], qr/^keys: 10, none missing$/m, 'keys of standard input');
($status, $out) = run(lines(1 .. 2000, 20_000_000 .. 20_000_999, 5), 'verify', 'filter', '-k', '-');
is($status, 1, 'missing keys');
my ($missing, $first) = $out =~ /^keys: 3001, (\d+) MISSING, the first in line (\d+)$/m;
cmp_ok($missing, '>=', 980, 'number of missing keys');
cmp_ok($first, '>', 2000, 'line of the first one');
cmp_ok($first, '<', 2010, 'line of the first one');
($status, $out, $err) = run("1\nx\n", 'verify', 'filter', '-k', '-');
is($status, 2, 'a line that is no key');
like($err, qr/line 2: "x" is not a key of type integer/, 'names its line');
($status, $out, $err) = run('', 'verify', 'filter', '-k', 'nowhere');
is($status . ($err =~ /nowhere/), 21, 'no key file');
is((run("1\0002\0", 'verify', 'filter', '-0', '-k', '-'))[0], 0, 'keys that end with a zero byte');
($status, $out, $err) = run("1\n", 'verify', 'filter', '-t', 'text', '-k', '-');
is("$status $err", "2 bloomfilter: bloomfilter holds integer keys, not text\n", 'keys of another type');

# Progress is for terminals: of the key file, and of the sample.
SKIP:
{
	skip 'no script(1)', 7 if !defined on_terminal('--version');
	my @both = ('verify', 'filter', '-k', 'keys', '--sample', '500000');
	my $report = (run('', @both))[1] =~ s/\n/\r\n/gr;
	is((run('', @both))[2], '', 'nothing is drawn where there is no terminal');
	my $drawn = on_terminal(@both);
	like($drawn, qr/\rverify \[=*>? *\] +\d+ %  [\d.]+ ?k? keys  [\d.]+ ?[kMG]?\/s\e\[K/, 'a bar for the key file');
	like($drawn, qr/\rsample \[=*>? *\] +\d+ %  [\d.]+ ?k? keys  [\d.]+ ?[kMG]?\/s\e\[K/, 'a bar for the sample');
	unlike($drawn, qr/\r(?:verify|sample) [^\r\n]{73}/, 'neither is wider than a terminal');
	is($drawn =~ s/\r(?:verify|sample) [^\r\n]*//gr =~ s/\r\e\[K//gr, $report, 'they are gone at the end, and the report is there');
	is(on_terminal(@both, '--no-progress'), $report, 'no bar with --no-progress');
	spew('wrong', lines(1 .. 60_000, 'x'));
	like(on_terminal('verify', 'filter', '-k', 'wrong'), qr/\rverify [^\r\n]*\r\e\[Kbloomfilter: wrong, line 60001: "x"/,
		'a message clears the bar first');
}

# The false-positive rate, for each type of keys
my %keys = (
	integer => [ 1 .. 500 ],
	text => [ map { "t$_" } 1 .. 500 ],
	bytea => [ map { sprintf '\x%04x', $_ } 1 .. 500 ],
	uuid => [ map { sprintf '%032x', $_ } 1 .. 500 ],
	numeric => [ map { "$_.5" } 1 .. 500 ],
	float => [ map { "$_.5" } 1 .. 500 ],
	date => [ map { sprintf '%04d-01-01', $_ } 1 .. 500 ],
	timestamp => [ map { sprintf '%04d-01-01 00:00:00', $_ } 1 .. 500 ],
	timestamptz => [ map { sprintf '%04d-01-01 00:00:00Z', $_ } 1 .. 500 ],
	inet => [ map { '10.0.' . int($_ / 256) . '.' . $_ % 256 } 1 .. 500 ],
	macaddr => [ map { sprintf '%012x', $_ } 1 .. 500 ],
);
foreach my $type (sort keys %keys)
{
	run(lines(@{ $keys{$type} }), 'build', '-n', '500', '-p', '0.01', '-t', $type, 'typed');
	($status, $out, $err) = run('', 'verify', 'typed', '--sample', '100000');
	is("$status$err", '0', "$type: rate");
	my ($hits, $asked, $rate) = $out =~ /^sample: (\d+) of (\d+) random keys found: rate (\S+), expected /m;
	ok($asked >= 100_000 && abs($rate - $hits / $asked) < 1e-5 && $rate > 0.005 && $rate < 0.015,
		"$type: $rate is near 0.01");
}
my @runs = map { (run('', 'verify', 'typed', '--sample', '10000', '--sample-seed', $_))[1] } 1, 1, 2;
is($runs[0], $runs[1], 'the same keys are drawn each time');
isnt($runs[0], $runs[2], 'others with another seed');
is((run('', 'verify', 'typed', '--sample', '10000'))[1], $runs[0], 'the seed is 1 by default');

# A rate beyond what the filter's fill lets expect: here the random keys are in it.
my $state = 1;
my @random = map
{
	my ($mixed, $shifted);
	{ use integer; $state = $mixed = $state - 7046029254386353131; }
	$shifted = ($mixed & ~0) >> 30;
	{ use integer; $mixed = ($mixed ^ $shifted) * -4658895280553007687; }
	$shifted = ($mixed & ~0) >> 27;
	{ use integer; $mixed = ($mixed ^ $shifted) * -7723592293110705685; }
	$shifted = ($mixed & ~0) >> 31;
	{ use integer; $mixed = $mixed ^ $shifted; }
} 1 .. 1024;
run(lines(@random), 'build', '-t', 'integer', 'random');
($status, $out) = run('', 'verify', 'random', '--sample', '1024');
is($status, 1, 'a rate that is too high');
like($out, qr/^sample: 1024 of 1024 random keys found: .* TOO HIGH, unless/m, 'what it says of it');

# Too many keys are no damage.
run(lines(1 .. 100_000), 'build', '-n', '1000', '-t', 'integer', 'full');
($status, $out) = run('', 'verify', 'full', '--sample', '10000');
is($status, 0, 'a full filter is as bad as expected');
like($out, qr/: over capacity$/m, 'and said to be full');

# Sets and parts
run(lines(1 .. 5000), 'build', '-n', '5000', '--parts', '2', 'set');
($status, $out) = run(lines(1 .. 5000), 'verify', 'set', '-k', '-', '--sample', '100000');
is($status, 0, 'a set');
like($out, qr/, 2 parts$/m, 'its parts');
my $set = slurp('set');
spew('set', substr $set, 0, length($set) - 100);
is((run('', 'verify', 'set'))[0], 1, 'a set that was cut');
substr($set, -1, 1) = chr(1 ^ ord substr $set, -1);
spew('set', $set);
is((run('', 'verify', 'set'))[0], 1, 'a set with another bit');

# No keys are no proof
is((run("1\n", 'build', '-t', 'integer', '-n', '10', 'proof'))[0], 0, 'a filter');
($status, undef, $err) = run('', 'verify', 'proof', '--keys', '-');
is($status, 2, 'no keys');
like($err, qr/no keys in standard input; if it is as it should be, add --allow-empty/, 'are refused');
spew('nothing', '');
like((run('', 'verify', 'proof', '--keys', 'nothing'))[2], qr/no keys in nothing;/, 'from a file, too');
is((run('', 'verify', 'proof', '--keys', '-', '--allow-empty'))[0], 0, 'unless they are allowed');

# A later version can't be told; standard input can be a filter
my $later = slurp('proof');
substr($later, 4, 1) = "\3";
spew('later', $later);
is((run('', 'verify', 'later'))[0], 2, 'a later version is no damage');
is((run(slurp('proof'), 'verify', '-'))[0], 0, 'a filter on standard input');
is((run(substr(slurp('proof'), 0, 100), 'verify', '-'))[0], 1, 'damaged on standard input');
refuses(qr/can't both come from standard input/, '', 'verify', '-', '--keys', '-');

done_testing();
