# keys.t
#	  How keys of each type are written, against the golden vectors.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Test::More;

my @types = qw(none integer text bytea uuid numeric float date timestamp timestamptz inet macaddr);

# The text that stands for an SQL expression on our side, undef where none does.
sub text_of_sql
{
	my ($type, $sql) = @_;

	return $1 if $type eq 'integer' && $sql =~ /^\(?(-?\d+)\)?::(?:smallint|integer|bigint)$/;
	# a named zone needs a server; real is written with the digits of double precision
	return if $sql !~ /^'((?:[^']|'')*)'::(\w[\w ]*)(?:\([\d, ]+\))?$/;
	my ($text, $sql_type) = ($1, $2);
	return if $sql_type =~ /^(?:real|char|character|bpchar|name)$/ || $text =~ /Europe/;
	$text =~ s/''/'/g;
	return $text;
}

# All keys of one type and seed in one filter: its bits must be those of the hashes.
my %groups;
my %skipped;
foreach my $row (read_table('keys.tsv'))
{
	# rows have no text
	my $type = $types[$row->{key_type}] // next;
	my $text = text_of_sql($type, $row->{sql});
	if (defined $text)
	{
		push @{ $groups{"$type\t$row->{seed}"} }, [ $text, $row->{hash_hex} ];
	}
	else
	{
		$skipped{$type}++;
	}
}

my %tested;
foreach my $group (sort keys %groups)
{
	my ($type, $seed) = split /\t/, $group;
	my @keys = map { $_->[0] } @{ $groups{$group} };
	my @hashes = map { $_->[1] } @{ $groups{$group} };

	my ($status, undef, $err) = run(join('', map { "$_\0" } @keys), 'build', '-0', '-n', '1000',
		'-p', '1e-6', '-t', $type, '-s', $seed, 'filter');
	is($status, 0, "$type, seed $seed: all " . @keys . ' keys are taken') || diag($err);
	my $file = slurp('filter');
	is(unpack('x7C', $file), (grep { $types[$_] eq $type } 0 .. $#types)[0], "$type: key type");
	ok(substr($file, 64) eq expected_blocks($file, @hashes), "$type, seed $seed: bits of the vectors");
	$tested{$type} += @keys;
}
is(scalar(keys %tested), $#types, 'every key type has vectors');
note("$_: $tested{$_} vectors, " . ($skipped{$_} // 0) . ' without a text of ours')
  foreach sort keys %tested;

# Other spellings of a key.
my @same = (
	[ 'text', 'ab', 'ab ', 'ab        ' ],
	[ 'text', '', ' ', '    ' ],
	[ 'integer', '42', '+42', '042', '0000000000000000000000000042' ],
	[ 'integer', '0', '-0', '+0' ],
	[ 'integer', '-9223372036854775808', '-09223372036854775808' ],
	[ 'numeric', '1', '1.', '1.0', '+1', '01', '1e0', '10e-1', '0.1E+1', '.1e1' ],
	[ 'numeric', '0', '-0', '0e5', '0e-5', '.0', '0.', '-0.00e3' ],
	[ 'numeric', '-0.05', '-.05', '-5e-2', '-0.050', '-00.05', '-0.5e-1' ],
	[ 'numeric', '1200', '1.2e3', '12e2', '1200.00', '0.0012e6' ],
	[ 'numeric', 'NaN', 'nan', 'NAN' ],
	[ 'numeric', 'Infinity', 'inf', '+Infinity', 'INFINITY' ],
	[ 'numeric', '-Infinity', '-inf' ],
	[ 'numeric', '1' . '0' x 131071, '1e131071' ],
	[ 'numeric', '0.' . '0' x 16382 . '1', '1e-16383' ],
	[ 'float', '0', '-0', '0.0', '0e10', '-.0' ],
	[ 'float', '0.1', '.1', '1e-1', '0.1000000000000000055511151231257827' ],
	[ 'float', 'Infinity', 'inf', '+inf' ],
	[ 'float', '100', '1e2', '1E+2', '100.' ],
	[ 'bytea', '\xdeadBEEF', '\xDEADbeef' ],
	[ 'uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc999c0b4ef8bb6d6bb9bd380a11',
		'{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11' ],
	[ 'date', 'infinity', 'Infinity' ],
	[ 'timestamp', '2024-02-29 12:34:56', '2024-02-29T12:34:56', '2024-02-29 12:34:56.000' ],
	[ 'timestamp', '2024-03-01 00:00:00', '2024-02-29 24:00:00' ],
	[ 'timestamptz', '2024-02-29 12:34:56+00', '2024-02-29T12:34:56Z', '2024-02-29 13:34:56+01:00',
		'2024-02-29 07:04:56-05:30', '2024-02-29 07:04:56-0530', '2024-03-01 04:34:55+15:59:59', '2024-02-29 12:34:56.0+00' ],
	[ 'inet', '10.0.0.1', '10.0.0.1/32' ],
	[ 'inet', '2001:db8::1', '2001:0DB8:0:0::0.0.0.1', '2001:db8::1/128' ],
	[ 'macaddr', '08:00:2b:01:02:03', '08-00-2B-01-02-03', '0800.2b01.0203', '08002b:010203',
		'08002b010203', '08:00:2b:ff:fe:01:02:03' ],
);
foreach my $row (@same)
{
	my ($type, @texts) = @$row;
	my @files = map
	{
		my ($status, undef, $err) = run("$_\n", 'build', '-n', '1', '-p', '1e-9', '-t', $type, 'filter');
		diag($err) if $status;
		$status ? $status : slurp('filter');
	} @texts;
	ok(!(grep { $_ ne $files[0] } @files), "$type: spellings of " . substr($texts[0], 0, 30));
}

# What is no key of its type, however much it looks like one.
my %refused = (
	integer => [ '', ' 1', '1 ', '1.0', '1e3', '0x10', '1_000', '--1', '+', '-', 'one', '9223372036854775808',
		'-9223372036854775809', '99999999999999999999' ],
	bytea => [ '', 'abc', '\x1', '\xgg', '\\', '\X00', '\x 00', '\\000' ],
	uuid => [ '', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111',
		'a0-eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11',
		'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-', 'x' x 32 ],
	numeric => [ '', '.', '-', 'e5', '1e', '1e+', '1,5', '0x1', '1.2.3', 'Inf1', '-NaN', '1e131072', '1e-16384',
		'1e99999999999999999999', '1e-99999999999999999999', '0.' . '0' x 16383 . '1' ],
	float => [ '', '.', '1e400', '-1e400', '1e-400', '0x1p3', 'nan(1)', '1f', ' 1', '1,5', 'infinit' ],
	date => [ '', '2024-02-30', '2023-02-29', '1900-02-29', '2024-13-01', '2024-00-01', '2024-01-00', '0000-01-01',
		'24-01-01', '2024-1-1', '2024/01/01', '01.02.2024', 'today', '2024-01-01 00:00:00', '2024-01-01BC',
		'5874898-01-01', '4714-11-23 BC', '99999999-01-01', '+infinity', '20240101' ],
	timestamp => [ '', '2024-01-01', '2024-01-01 12:00', '2024-01-01 25:00:00', '2024-01-01 24:00:01',
		'2024-01-01 12:60:00', '2024-01-01 12:00:60', '2024-01-01 12:00:00.1234567', '2024-01-01 12:00:00.',
		'2024-01-01 12:00:00+00', '2024-01-01 12:00:00Z', '294277-01-01 00:00:00', '4714-11-23 23:59:59 BC',
		'9999999-01-01 00:00:00', '9999999-01-01 00:00:00 BC', 'now' ],
	timestamptz => [ '', '2024-01-01 12:00:00', '2024-01-01 12:00:00+1', '2024-01-01 12:00:00+16',
		'2024-01-01 12:00:00+01:60', '2024-01-01 12:00:00+01:', '2024-01-01 12:00:00 Europe/Berlin',
		'2024-01-01 12:00:00 UTC', '294276-12-31 23:59:59.999999-01', '2024-01-01 12:00:00+010' ],
	inet => [ '', '10', '10.0.0', '10/8', '10.0.0.256', '10.0.0.1/33', '10.0.0.1/', '10.0.0.1/08', '010.0.0.1',
		'1.2.3.4.5', '::1/129', ':::1', 'fe80::1%eth0', '::1/-1', 'localhost', '1' x 60, "10.0.0.1\0", "10.0.0.1/8\0" ],
	macaddr => [ '', '08:00:2b:01:02', '08:00:2b:01:02:03:04', '08:00-2b:01:02:03', '8:0:2b:1:2:3',
		'08:00:2b:01:02:0g', '08:00:2b:01:02:03:', '08::00:2b:01:02:03', '08:00:2b:01:02:03:04:05:06' ],
	text => [ "\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82" ],
);
foreach my $type (sort keys %refused)
{
	my $good = (grep { $_->[0] eq $type } @same)[0];
	my $first = $good ? $good->[1] : 'text';
	refuses(qr/standard input, line 2: ".*" is not a key of type $type: /, "$first\n$_\n", 'build', '-n', '10', '-t', $type,
		'refused')
	  foreach @{ $refused{$type} };
}
ok(!-e 'refused', 'a refused line leaves no file');

# All of texts.tsv: what a line can hold is taken or refused as the row says.
my (%taken, @others);
foreach my $row (read_table('texts.tsv'))
{
	my $text = $row->{text} =~ /^hex:(.*)/ ? pack('H*', $1) : $row->{text};
	next if $text =~ /\0/;
	if ($row->{key_hex} eq '-') { push @others, [ $row->{type}, $text ] }
	else { push @{ $taken{ $row->{type} } }, $text }
}
foreach my $type (sort keys %taken)
{
	my $lines = join '', map { "$_\0" } @{ $taken{$type} };
	is((run($lines, 'build', '-0', '-n', '1000', '-t', $type, "taken-$type"))[0], 0, "$type: all texts of texts.tsv are taken");
	is((run($lines, 'contains', '-0', '-c', '-t', $type, "taken-$type"))[1], @{ $taken{$type} } . "\n", "$type: and are in it");
}
foreach my $other (grep { $_->[0] ne 'text' } @others)
{
	my ($type, $text) = @$other;
	my ($status, $out, $err) = run("$text\0", 'contains', '-0', '-t', $type, "taken-$type");
	ok($status == 2 && $out eq '' && $err =~ /is not a key of type $type: /, "$type: refused: " . unpack('H*', $text));
}

# Keys of a column of type real are floats, but not those of the same digits.
is((run("0.1\n0.2\n", 'build', '-n', '2', '-p', '1e-9', '-t', 'real', 'reals'))[0], 0, 'real');
is((run('', 'contains', '-t', 'real', 'reals', '0.1', '0.3'))[1], "0.1\n", 'asked as real');
is((run('', 'contains', 'reals', '0.10000000149011612', '0.1'))[1], "0.10000000149011612\n", 'asked as float');
is((run("0.1\n0.2\n", 'verify', 'reals', '--keys', '-', '-t', 'real'))[0], 0, 'verified as real');
is((run('', 'verify', 'reals', '-t', 'real', '--sample', '1000'))[0], 0, 'a sample of real');
refuses(qr/bloomfilter holds float keys, not date/, '', 'contains', '-t', 'date', 'reals', '2024-01-01');

# A carriage return is part of a text, and no part of anything else.
refuses(qr/line 1: .*carriage return/, "42\r\n", 'build', '-n', '10', '-t', 'integer', 'refused');
refuses(qr/line 1: .*white space/, "42 \n", 'build', '-n', '10', '-t', 'integer', 'refused');

# Many long numerics, more than fit in a batch.
my $many = join '', map { "1e$_\n" } 1 .. 700;
is((run($many, 'build', '-t', 'numeric', 'long'))[0], 0, 'long numerics');
is_deeply([ run($many, 'contains', '-c', 'long') ], [ 0, "700\n", '' ], 'long numerics are found');

done_testing();
