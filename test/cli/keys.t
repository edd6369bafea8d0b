# keys.t
#	  How keys of each type are written.

use CommandLine;

# Type and seed stand in the file; test/core has all of keys.tsv, test/cross what SQL says of each type.
is((run("42\n", 'build', '-n', '100', '-t', 'integer', '-s', '-7', 'typed'))[0], 0, 'a key of a type');
like((run('', 'info', 'typed'))[1], qr/^seed +-7\nkey_type +integer$/m, 'which the file has, and the seed');

# Of texts.tsv one text of each type that is taken, and one that is not: test/lib/test_texts.c has all.
my (%taken, %refused);
foreach my $row (grep { $_->{text} !~ /^hex:/ && $_->{text} ne '' } read_table('texts.tsv'))
{
	($row->{key_hex} eq '-' ? \%refused : \%taken)->{ $row->{type} } //= $row->{text};
}
foreach my $type (sort keys %taken)
{
	is((run("$taken{$type}\n", 'build', '-n', '1000', '-t', $type, "taken-$type"))[0], 0, "$type: a text is taken");
	is((run("$taken{$type}\n", 'contains', '-c', '-t', $type, "taken-$type"))[1], "1\n", "$type: and is in it");
	next if !defined $refused{$type};
	refuses(qr/standard input, line 2: ".*" is not a key of type $type: /, "$taken{$type}\n$refused{$type}\n", 'build', '-n', '10', '-t', $type, 'refused');
}
refuses(qr/standard input, line 2: ".*" is not a key of type text: /, "a\n\xff\n", 'build', '-n', '10', '-t', 'text', 'refused');
ok(!-e 'refused', 'a refused line leaves no file');

# Keys of a column of type real are floats, but not those of the same digits.
is((run("0.1\n0.2\n", 'build', '-n', '2', '-p', '1e-9', '-t', 'real', 'reals'))[0], 0, 'real');
is((run('', 'contains', '-t', 'real', 'reals', '0.1', '0.3'))[1], "0.1\n", 'asked as real');
is((run('', 'contains', 'reals', '0.10000000149011612', '0.1'))[1], "0.10000000149011612\n", 'asked as float');
is((run("0.1\n0.2\n", 'verify', 'reals', '--keys', '-', '-t', 'real'))[0], 0, 'verified as real');

# A carriage return is part of a text, and no part of anything else.
refuses(qr/line 1: .*carriage return/, "42\r\n", 'build', '-n', '10', '-t', 'integer', 'refused');

# Many long numerics, more than fit in a batch.
my $many = join '', map { "1e$_\n" } 1 .. 700;
is((run($many, 'build', '-t', 'numeric', 'long'))[0], 0, 'long numerics');
is_deeply([ run($many, 'contains', '-c', 'long') ], [ 0, "700\n", '' ], 'long numerics are found');

done_testing();
