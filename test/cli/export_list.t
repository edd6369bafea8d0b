# export_list.t
#	  From a published list to hosts: bloomfilter export --list, a stock web server, and
#	  bloomfilter pull by --url and by --dsn, which must agree.
#
# Needs a server with the extension and nginx.  Everything listens on loopback.  Each wait
# is for a condition.

use CommandLine;
use Hosts;
use Server;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_export_list');
my $url = begin_nginx(free_port());
mkdir 'hosts';

sub export { my ($list, @options) = @_; return run('', 'export', '--dsn', $dsn, '--list', $list, '--to', "www/$list", '--poll', '1', @options); }
sub by_dsn { my ($list, $file, @options) = @_; return run('', 'pull', '--dsn', $dsn, '--list', $list, '--out', $file, @options); }
sub of_list { my ($column, $list) = @_; return sql("SELECT $column FROM ext.bloom_list WHERE name = '$list'"); }
# Which list and serial a file tells.
sub which { my ($file) = @_; return join ' ', map { $_ // '' } @{ told($file) }{ 'list', 'identity', 'serial' }; }
# A file's content without what it knows of itself.
sub bits { my ($file) = @_; unlink 'copy.bloom'; run('', 'copy', $file, 'copy.bloom'); return slurp('copy.bloom'); }
sub wholes_fetched { my ($list) = @_; return scalar(() = slurp('access.log') =~ m{GET /$list/\w+\.bloom }g); }

# The folder, a host that pulls by URL and one that pulls by DSN have the same.
sub agree
{
	my ($name, $list) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @ended = map { join ' ', @$_[ 0, 2 ] } [ export($list) ], [ by_url($list, "$list.url") ], [ by_dsn($list, "$list.dsn") ];
	is(join('|', @ended), '0 |0 |0 ', "$name: exported and pulled");
	my $of = of_list("concat_ws(' ', name, identity, serial)", $list);
	is(join('|', map { which($_) } "www/$list", "$list.url", "$list.dsn"), "$of|$of|$of", "$name: status tells the server's serial and identity of all");
	ok(bits("$list.url") eq bits("$list.dsn"), "$name: the same bytes");
	return;
}

# ------------------------------------------------------------------------
# One filter
# ------------------------------------------------------------------------

publish('one', 1, 1, 5000);
agree('the first one', 'one');
is((run('', 'status', '--quiet', '--max-age', '1000', 'one.url'))[0], 0, 'with which status is content');
my $epoch = manifest('one')->{epoch}[0];
is($epoch, of_list('serial', 'one'), 'the epoch begins with the serial');
publish('one', 1, 1, 5100);
agree('keys that came', 'one');
is(manifest('one')->{epoch}[0], $epoch, 'are no new epoch');
is(scalar @{ manifest('one')->{patch} }, 1, 'but a patch');
is(wholes_fetched('one'), 1, 'the whole was not fetched again');
is(lacks('one.url', 1 .. 5100), 0, 'no key is missing');
publish('one', 1, 1, 5100);
agree('the same keys again', 'one');
is(manifest('one')->{epoch}[0], $epoch, 'are no new epoch either');
publish('one', 1, 3000, 6000);
agree('keys that went', 'one');
cmp_ok(manifest('one')->{epoch}[0], '>', $epoch, 'which keys that go are');
is(wholes_fetched('one'), 1, 'by a flip, not by the whole file');
is(lacks('one.url', 3000 .. 6000), 0, 'no key is missing');
cmp_ok(lacks('one.url', 1 .. 2000), '>', 1800, 'and what went is gone');
sql('ALTER DATABASE bloomfilter_cli_export_list SET search_path = public');
sql("CREATE ROLE bloomfilter_cli_exporter LOGIN; GRANT USAGE ON SCHEMA ext TO bloomfilter_cli_exporter; GRANT SELECT ON ext.bloom_list, ext.bloom_list_part TO bloomfilter_cli_exporter");
my ($status, undef, $err) = run('', 'export', '--dsn', $dsn =~ s/user=\S+/user=bloomfilter_cli_exporter/r, '--list', 'one', '--to', 'www/role');
is("$status$err", '0', 'a role needs nothing but to read the list');
sql('DROP OWNED BY bloomfilter_cli_exporter; DROP ROLE bloomfilter_cli_exporter');

# ------------------------------------------------------------------------
# A set of parts
# ------------------------------------------------------------------------

publish('set', 3, 1, 9000);
agree('a set', 'set');
is(lacks('set.url', 1 .. 9000), 0, 'all parts are there');
is(manifest('set')->{parts}[0], 3, 'as parts of one manifest');
publish('set', 3, 1, 9001);
agree('a key that came to a set', 'set');
is(scalar @{ manifest('set')->{patch} }, 1, 'is a patch');
is(lacks('set.url', 1 .. 9001), 0, 'no key is missing');
publish('set', 2, 1, 9000);
agree('another number of parts', 'set');
is(manifest('set')->{parts}[0], 2, 'is another epoch');
is(lacks('set.url', 1 .. 9000), 0, 'no key is missing');

# A host that follows a set: its parts lie in one file.
begin('set', program(), 'pull', '--url', "$url/set", '--allow-http', '--out', 'hosts/set.bloom', '--follow', '--every', '1');
ok(wait_for(30, sub { has('hosts/set.bloom', 1 .. 9000) }), 'a host follows the set');
publish('set', 2, 1, 9200);
export('set');
ok(wait_for(30, sub { has('hosts/set.bloom', 1 .. 9200) }), 'and gets patches of both parts');
publish('set', 3, 1, 9300);
export('set');
my $parts = of_list('serial', 'set');
ok(wait_for(30, sub { told('hosts/set.bloom')->{serial} eq $parts }), 'and another number of parts');
is(lacks('hosts/set.bloom', 1 .. 9300), 0, 'with all keys');
is(finish('set', 'TERM'), 0, 'the host ends');
agree('both agree', 'set');
foreach my $try ([ 1, 'another part' ], [ 0, 'there is none' ])
{
	sql("DELETE FROM ext.bloom_generation_part WHERE name = 'set' AND back = 0 AND part >= $try->[0]");
	is(join(' ', map { $_->[0] . (() = $_->[2] =~ /part 0 .* is not valid: $try->[1]$/m) } [ export('set') ], [ by_dsn('set', 'set.dsn') ]), '21 21',
		'a list that lost parts is damaged, and no other one');
}

# ------------------------------------------------------------------------
# One host, by DSN and by URL
# ------------------------------------------------------------------------

is((by_dsn('one', 'host.bloom'))[0], 0, 'a host by DSN');
($status, undef, $err) = by_url('one', 'host.bloom');
is("$status$err", '0', 'goes over to the URL') || diag((run('', 'status', 'host.bloom'))[1]);
publish('one', 1, 1, 5200);
export('one');
is((by_url('one', 'host.bloom'))[0], 0, 'pulls by it');
($status, undef, $err) = by_dsn('one', 'host.bloom');
is("$status$err", '0', 'and goes back to the DSN');
system('cp', '-r', 'www/one', 'www/older');
publish('one', 1, 1, 5300);
is((by_dsn('one', 'host.bloom'))[0], 0, 'which has a newer one');
my $newer = bits('host.bloom');
($status, undef, $err) = by_url('older', 'host.bloom');
ok($status eq '1' && $err =~ /older than what was here/, 'an exporter that is behind is refused') || diag("$status $err");
spew('www/older/manifest', slurp('www/older/manifest') =~ s/^serial .*/'serial ' . (time + 60) . '000000'/mer);
($status, undef, $err) = by_url('older', 'host.bloom');
ok($status eq '1' && $err =~ /older than what was here/, 'also where its manifest is new') || diag("$status $err");
ok(bits('host.bloom') eq $newer, 'and the file stays');
export('one');
is((by_url('one', 'host.bloom'))[0] . lacks('host.bloom', 1 .. 5300), '00', 'one that is not behind is taken, with all keys');

# ------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------

sub refused
{
	my ($name, $pattern, $list, @options) = @_;
	my $manifest = -e "www/$list/manifest" ? slurp("www/$list/manifest") : '';
	my ($exit, undef, $problem) = export($list, @options);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($exit eq '2' && $problem =~ $pattern && $manifest eq (-e "www/$list/manifest" ? slurp("www/$list/manifest") : ''), "refused: $name")
	  || diag("$exit $problem");
	return;
}

refused('a list that is not there', qr/there is no published list "nothing"/, 'nothing');
refused('an index and a list', qr/either --index or --list/, 'one', '--index', 'x');
refused('an identity', qr/a list has its own/, 'one', '--identity', '0f8fad5b-d9cb-469f-a165-70867728950e');
my $exported = manifest('one')->{content}[0];
sql("UPDATE ext.bloom_generation SET serial = serial - 1 WHERE name = 'one' AND back = 0");
refused('a server that went back', qr/older than $exported: the server was restored/, 'one');
publish('one', 1, 1, 5700);
sql("UPDATE ext.bloom_generation SET serial = $exported WHERE name = 'one' AND back = 0");
refused('other bits of the same serial', qr/other bits .* under the same serial/, 'one');
sql("CALL ext.bloom_set_identity('one', gen_random_uuid())");
refused('another identity', qr/has another identity than before.*bloom_set_identity/, 'one');
sql("CALL ext.bloom_set_identity('one', '" . manifest('one')->{identity}[0] . "')");
agree('which bloom_set_identity gives back', 'one');
is(lacks('one.url', 1 .. 5700), 0, 'no key is missing');

# What a server sends of a part has its length, and the header's bits; what is here isn't asked for again
sql('ALTER FUNCTION ext.bloom_chunk(ext.bloomfilter, bigint, integer) RENAME TO true_chunk');
foreach my $try ([ 'too little of a part', 'substr(b, 2)', qr/sent \d+ of \d+ bytes/ ], [ 'too much', "b || '\\x00'", qr/sent \d+ of \d+ bytes/ ],
	[ 'other bits', 'set_bit(b, 9999, 1 - get_bit(b, 9999))', qr/part 0 .* is not valid/ ])
{
	my ($name, $bytes, $pattern) = @$try;
	sql("CREATE OR REPLACE FUNCTION ext.bloom_chunk(ext.bloomfilter, bigint, integer) RETURNS bytea LANGUAGE sql AS \$\$
		SELECT CASE WHEN \$3 < 1000000 THEN b ELSE $bytes END FROM ext.true_chunk(\$1, \$2, \$3) AS b \$\$");
	is((by_dsn('one', 'one.dsn'))[0] . (export('one'))[0], '00', "$name: not asked for again") if $name eq 'too little of a part';
	publish('one', 1, 1, 5701);
	refused($name, $pattern, 'one');
}

done_testing();
