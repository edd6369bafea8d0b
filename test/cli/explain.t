# explain.t
#	  bloomfilter explain: the lines of a look-up, as section 16 of doc/FORMAT.md has them.

use CommandLine;

# The worked example of section 13, and its lines.
my ($example) = grep { $_->{name} eq 'worked_example' } read_table('filters.tsv');
spew('example', pack 'H*', $example->{filter_hex});
foreach my $row ([ '42', 'key_explained', 0 ], [ '1000000', 'absent_explained', 1 ])
{
	my ($key, $column, $wanted) = @$row;
	(my $lines = $example->{$column} . "\n") =~ tr/|/\n/;
	my ($status, $out, $err) = run('', 'explain', 'example', $key);
	is($status, $wanted, "$key: exit status");
	is($out, $lines, "$key: lines");
	is($err, '', "$key: nothing else");
}
my ($status, $out);

# Every key of a filter, and others: the answer is that of contains.
run(join('', map { "$_ \n" } 'ab', 'x y', "gr\xc3\xbc\xc3\x9fe", ''), 'build', '-n', '4', '-p', '1e-9', 'texts');
foreach my $key ('ab   ', "gr\xc3\xbc\xc3\x9fe", '', ' ab', 'y' x 65)
{
	my $shown = length $key > 64 ? ('79' x 64) . '...' : unpack('H*', $key =~ s/ +$//r) || '-';
	my ($found) = run('', 'contains', '-q', 'texts', $key);
	($status, $out) = run('', 'explain', 'texts', $key);
	is($status, $found, "\"$key\": as contains");
	like($out, qr/^bytes     \Q$shown\E$/m, "\"$key\": bytes");
	is(!!($out =~ /=0/), $status == 1, "\"$key\": probes") if $status < 2;
}

# A type of text that is no key type, keys that begin with a minus, sets and their parts.
run("0.1\n", 'build', '-n', '1', '-p', '1e-9', '-t', 'real', 'reals');
is((run('', 'explain', '-t', 'real', 'reals', '0.1'))[0], 0, 'a real is read as one');
is((run('', 'explain', 'reals', '0.1'))[0], 1, 'and the double of its text is another key');
run(join('', map { "-$_\n" } 1 .. 1000), 'build', '-t', 'integer', '-n', '1000', '--parts', '3', 'set');
is((run('', 'explain', '--', 'set', '-7'))[0], 0, 'a set is one filter');

# By the type and the bytes that another program has of a key: the same as its text says.
foreach my $row ([ 'texts', 'ab', 'text', '616220' ], [ 'texts', '', 'text', '-' ], [ 'set', '-7', 'integer', 'f9ffffffffffffff' ])
{
	my ($file, $key, $type, $hex) = @$row;
	is_deeply([ run('', 'explain', $file, '--bytes', $type, $hex) ], [ run('', 'explain', '--', $file, $key) ], "bytes $hex of $type");
}
run("7\tx\n", 'build', '-n', '9', '--copy', '-t', 'integer,text', 'rows');
is((run('', 'explain', 'rows', '--bytes', 'row', '01080000000700000000000000020100000078'))[1],
	(run('', 'explain', '--copy', '-t', 'integer,text', 'rows', "7\tx"))[1], 'bytes of a row');
refuses(qr/unknown key type "real"/, '', 'explain', 'reals', '--bytes', 'real', '00');
refuses(qr/"$_" is not bytes in hexadecimal/, '', 'explain', 'example', '--bytes', 'integer', $_) foreach '2a0', '2A';
refuses(qr/no key of type integer has these bytes/, '', 'explain', 'example', '--bytes', 'integer', '2a');
refuses(qr/keys of another type/, '', 'explain', 'example', '--bytes', 'text', '61');
refuses(qr/--type and --copy are for texts/, '', 'explain', '-t', 'text', 'example', '--bytes', 'text', '61');

# Errors
refuses(qr/a filter and one key are needed/, '', 'explain', @$_) foreach ['example'], [ 'example', '1', '2' ];
refuses(qr/"x" is not a key of type integer/, '', 'explain', 'example', 'x');
refuses(qr/not valid UTF-8/, '', 'explain', 'texts', "\xff");

done_testing();
