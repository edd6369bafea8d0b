# info.t
#	  bloomfilter info, and what is common to all subcommands: help, versions,
#	  options, hostile files.

use CommandLine;
use JSON::PP;
use List::Util qw(sum);

# The program itself
my ($status, $out, $err) = run('', '--version');
is($status, 0, '--version');
like($out, qr/\Abloomfilter \d+\.\d+\n\z/, '--version prints name and number');

foreach my $command ([], ['build'], ['pull'])
{
	($status, $out, $err) = run('', @$command, '--help');
	is("$status$err", '0', "help of @$command");
	my @lines = split /\n/, $out;
	cmp_ok(scalar @lines, '<=', "@$command" eq 'pull' ? 36 : 24, "help of @$command fits on a screen");
	is((grep { length > 80 } @lines), 0, "help of @$command fits in its width");
}
refuses(qr/no command given; see/, '');
refuses(qr/unknown command "nfo"/, '', 'nfo');
refuses(qr/unknown option "--verison"/, '', '--verison');
foreach my $command (qw(build contains info pull verify))
{
	refuses(qr/unknown option --nonsense; see "bloomfilter $command --help"/, '', $command, '--nonsense');
	refuses(qr/no |needed/, '', $command);
}
refuses(qr/unexpected argument "b"/, '', 'info', 'a', 'b');

# Golden filters of each kind of header: what the library reads of all is in test/lib/test_vectors.c.
my $json = JSON::PP->new->utf8;
foreach my $row (grep { $_->{name} =~ /^(?:empty|worked_example|row_of_six|part_65534_of_65535|most_n|all_bits_set)$/ } read_table('filters.tsv'))
{
	spew('golden', pack 'H*', $row->{filter_hex});
	($status, $out, $err) = run('', 'info', '--json', 'golden');
	is("$status$err", '0', "$row->{name}: info");
	my $info = $json->decode($out);
	my $signed = unpack 'q', pack 'Q', $row->{seed};
	is_deeply(
		[ @$info{qw(n hashes blocks part parts bits_set seed checksum format_version bytes block_bits)} ],
		[ @$row{qw(n k blocks part parts bits_set)}, "$signed", $row->{checksum_hex}, 1, length($row->{filter_hex}) / 2, 1 << $row->{log2_block_bits} ],
		"$row->{name}: fields");
	is(unpack('H*', pack 'd>', $info->{p}), $row->{p_hex}, "$row->{name}: p to the last bit");
	# Perl may read the last digit of a number differently
	my $fill = $row->{bits_set} / ($row->{blocks} << $row->{log2_block_bits});
	cmp_ok(abs($info->{fill} - $fill), '<=', 1e-15 * $fill, "$row->{name}: fill");
	ok($info->{fpr} <= 1 && ($info->{fpr} > 0) == ($fill > 0), "$row->{name}: fpr $info->{fpr} at fill $fill");
}

# Hostile files are refused; test/lib/test_vectors.c has each row with its rule.
run(join('', map { "$_\n" } 1 .. 100), 'build', 'sound');
my $sound = slurp('sound');
foreach my $try ([ 7, 'info' ], [ 8 * length($sound) - 1, 'contains' ])
{
	my ($bit, $command) = @$try;
	my $flipped = $sound;
	vec($flipped, $bit, 1) ^= 1;
	spew('flipped', $flipped);
	refuses(qr/flipped/, "1\n", $command, 'flipped');
}
is((run('', 'info', 'flipped'))[1] =~ s/flipped/sound/r, (run('', 'info', 'sound'))[1], 'info reads no bits where the header knows them');

# What is no file, or no filter: test/readers has more.
spew('empty', '');
mkdir 'folder';
refuses(qr/"?nowhere"?.*No such file/, '', 'info', 'nowhere');
refuses(qr/$_/, '', 'info', $_) foreach 'empty', 'folder', '/dev/null';

# Sets: all together and one by one
run(join('', map { "$_\n" } 1 .. 3000), 'build', '-n', '3000', '--parts', '3', '-s', '-7', 'set');
($status, $out, $err) = run('', 'info', '--json', 'set');
is("$status$err", '0', 'info of a set');
my $info = $json->decode($out);
is_deeply([ map { $_->{part} } @{ $info->{set} } ], [ 0, 1, 2 ], 'each part');
is($info->{bytes}, sum(map { $_->{bytes} } @{ $info->{set} }), 'bytes of all parts');
($status, $out) = run('', 'info', 'set');
like($out, qr/^parts +3$/m, 'table of a set');
unlike($out, qr/bits_set|fill|cardinality|fpr|over_capacity|checksum/, 'whose bits are not read');
($status, $out) = run('', 'info', '--count', 'set');
is(() = $out =~ /^  checksum/mg, 3, 'table of each part, with bits that were counted');
like($out, qr/^cardinality +(29|30)\d\d$/m, 'and all together');

# Look-ups don't wait for the libraries of export and pull.
SKIP:
{
	my $libraries = `ldd '@{[ program() ]}' 2>&1`;
	skip 'no ldd', 1 if $libraries !~ /libc\b/;
	unlike($libraries, qr/libcurl|libpq|libsodium|libssl/, 'nothing is loaded that is of pull and export alone');
}

# Names that JSON must escape
foreach my $name ("a\"b\\c\td\ne", "gr\xc3\xb6\xc3\x9fe\xf0\x9f\x98\x80")
{
	spew($name, $sound);
	($status, $out) = run('', 'info', '--json', $name);
	my $decoded = $json->decode($out)->{file};
	utf8::encode($decoded);
	is($decoded, $name, 'JSON: name of a file');
}
spew("bad\xff", $sound);
($status, $out) = run('', 'info', '--json', "bad\xff");
is($json->decode($out)->{file}, "bad\x{fffd}", 'JSON: a name that is not UTF-8');

# Nothing is lost on a full disk.
SKIP:
{
	skip 'no /dev/full', 1 if !-c '/dev/full';
	my $errors = `@{[ program() ]} info --json sound 2>&1 >/dev/full`;
	is(($? >> 8) . $errors, "2bloomfilter: cannot write to standard output: No space left on device\n", 'full disk');
}

done_testing();
