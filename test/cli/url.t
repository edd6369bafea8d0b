# url.t
#	  From a live index to hosts: bloomfilter export, a stock web server, bloomfilter pull
#	  --url, and who opens the file meanwhile.
#
# Needs a server with the extension, nginx and minisign.  Everything listens on loopback.
# Each wait is for a condition.

use Cwd qw(abs_path);
use CommandLine;
use Hosts;
use Server;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url');
plan skip_all => 'minisign is not installed' if system('command -v minisign >/dev/null') != 0;

my $here = abs_path('.');
my $port = free_port();
mkdir 'hosts';
my $url = begin_nginx($port);

sub export { return run('', 'export', '--dsn', $dsn, @_); }

# ------------------------------------------------------------------------
# Manifests of the golden file
# ------------------------------------------------------------------------

# test/feed/test_manifest.c has all rows; signatures are here alone: each row that has one, and of the
# others the first of each kind.
mkdir 'www/v';
my %seen;
foreach my $row (read_table('manifests.tsv'))
{
	my $manifest = pack 'H*', $row->{manifest_hex} =~ s/^-$//r;
	next if $manifest !~ /^signature /m && $seen{"$row->{word} $row->{word_with_key}"}++;
	spew('www/v/manifest', $manifest);
	my %pattern = (line => qr/manifest line \d+ /, must => qr/takes a newer version/, signature => qr/no right signature/);
	foreach my $try ([ 'word' ], [ 'word_with_key', '--key', $row->{key} ])
	{
		my ($column, @options) = @$try;
		my ($status, undef, $err) = by_url('v', 'v.bloom', @options);
		my $word = $row->{$column};
		# what is right is refused later, as its files aren't there, or its times are not of now
		my $as_it_should = $word eq '-' ? !grep { $err =~ $_ } values %pattern : $err =~ $pattern{$word};
		ok($status ne '0' && $as_it_should && !-e 'v.bloom', "manifest $row->{name}, $column") || diag("status $status: $err");
	}
}

# ------------------------------------------------------------------------
# An empty index, then keys; once by once
# ------------------------------------------------------------------------

make_index(20000);
my @to = ('--index', 'users_filter', '--to', 'www/users', '--expires', '86400');
is((export(@to))[0], 0, 'an empty index is exported');
is((by_url('users/', 'once.bloom'))[0], 0, 'and pulled');
is((run('', 'info', 'once.bloom'))[1] =~ /key_type\s+(\w+)/ ? $1 : '', 'integer', 'it has its key type from the start');
my $whole_serial = manifest('users')->{serial}[0];
my @lengths = -s 'www/users/manifest';
foreach my $i (1 .. 12)
{
	sql("INSERT INTO users SELECT generate_series($i * 100, $i * 100 + 99)");
	is((export(@to))[0], 0, "export $i");
	push @lengths, -s 'www/users/manifest';
}
my $m = manifest('users');
is($m->{epoch}[0], $whole_serial, 'keys that come are no new epoch');
cmp_ok(@{ $m->{patch} }, '<', 8, 'patches are merged as they age');
is(scalar(grep { $lengths[$_] == $lengths[ $_ - 1 ] } 1 .. $#lengths), 0, 'no two manifests after each other have the same length');
is((by_url('users', 'once.bloom'))[0], 0, 'a host that is behind pulls patches');
ok(has('once.bloom', 100 .. 1299), 'and has all keys');
my $snapshot = sql("SELECT encode(ext.bloomfilter_send(bloom_snapshot('users_filter')), 'hex')");
is((run('', 'copy', 'once.bloom', 'copy.bloom'))[0], 0, 'it is copied');
ok(pack('H*', $snapshot) eq slurp('copy.bloom'), 'and the copy is bloom_snapshot, byte for byte');
is(scalar(() = slurp("access.log") =~ m{GET /users/\w+\.bloom }g), 1, "the whole was fetched once");
is((run('', 'status', 'once.bloom'))[0], 0, 'status is content');
is((run('', 'verify', 'once.bloom'))[0], 0, 'and so is verify');

# ------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------

# url_edges.t has what is wrong with a manifest.
like((run('', 'pull', '--url', "$url/users", '--out', 'once.bloom'))[2], qr/use https:/, 'http');
like((by_url('nothing', 'once.bloom'))[2], qr/answered 404/, 'what is not there');
spew('other.bloom', 'mine');
like((by_url('users', 'other.bloom'))[2], qr/other.bloom/, 'a file that was not pulled');
is(slurp('other.bloom'), 'mine', 'it is left alone');

# ------------------------------------------------------------------------
# Signatures
# ------------------------------------------------------------------------

foreach my $key ('a', 'b')
{
	is(system("minisign -G -W -p $key.pub -s $key.key >/dev/null </dev/null"), 0, "minisign makes key $key");
}
my @signed_to = ('--index', 'users_filter', '--to', 'www/signed');
is((export(@signed_to, '--sign', 'a.key', '--sign', 'b.key'))[0], 0, 'signed by two keys');
is((run('', 'pull', '--url', "$url/signed", '--key', 'a.pub', '--out', 'signed.bloom'))[0], 0, 'a host with one of them takes it, by http: as well');
is((by_url('signed', 'signed_b.bloom', '--key', (split /\n/, slurp('b.pub'))[1]))[0], 0, 'and one with the text of the other');
spew('part', slurp('www/signed/manifest') =~ s/^signature .*//msr);
my @values = split / /, manifest('signed')->{signature}[0];
spew('part.minisig', "untrusted comment: list\n$values[0]\ntrusted comment: bloomfilter-list 2\n$values[1]\n");
is(system('minisign -V -q -p a.pub -m part'), 0, 'minisign verifies it, split as FEED.md says');
spew('www/signed/manifest', slurp('www/signed/manifest') =~ s/^poll .*/poll 9/mr);
like((by_url('signed', 'signed.bloom', '--key', 'a.pub'))[2], qr/no right signature/, 'what was changed is refused');
like((by_url('users', 'signed.bloom', '--key', 'a.pub'))[2], qr/no right signature/, 'and what is not signed');
system('rm', '-r', 'www/signed');
is((export(@signed_to, '--sign', 'b.key'))[0], 0, 'a new folder of the same name, signed by the second key');
like((by_url('signed', 'signed.bloom', '--key', 'a.pub'))[2], qr/no right signature/, 'is refused with the first');
is((by_url('signed', 'signed_b.bloom', '--key', 'b.pub'))[0], 1, 'and with the second it is another list, though the key is right');
spew('c.key', (split /\n/, slurp('a.key'))[0] . "\n" . do { my $b = (split /\n/, slurp('a.key'))[1]; substr($b, 2, 4) = 'RTY0'; $b } . "\n");
refuses(qr/has a password/, '', 'export', '--dsn', $dsn, @signed_to, '--sign', 'c.key');
refuses(qr/not a public key|neither/, '', 'pull', '--url', "$url/signed", '--key', 'x', '--out', 'signed.bloom');

# ------------------------------------------------------------------------
# Exporters
# ------------------------------------------------------------------------

spew('after', "echo \"\$1\" >>$here/after.log\ncase \$1 in *.patch) exit \$(cat $here/after.status);; esac\n");
spew('after.status', '0');
my @after = ('--index', 'users_filter', '--to', 'www/after', '--after', "sh $here/after \"\$1\"");
is((export(@after))[0], 0, 'a command for each file');
my @passed = split /\n/, slurp('after.log');
like($passed[0], qr/\.bloom$/, 'the whole first');
like($passed[-1], qr/manifest$/, 'the manifest last');
spew('after.status', '1');
my $before = slurp('www/after/manifest');
sql('INSERT INTO users VALUES (6000)');
is((export(@after))[0], 2, 'a patch that it fails for');
is(slurp('www/after/manifest'), $before, 'is not published');
spew('after.status', '0');
is((export(@after))[0], 0, 'but once it does');
isnt(slurp('www/after/manifest'), $before, 'it is');

my $settled = manifest('users')->{exporter}[0];
begin('exporter', program(), 'export', '--dsn', $dsn, @to, '--follow', '--every', '0.25', '--poll', '1', '--heartbeat', '1', '--quiet');
ok(wait_for(30, sub { manifest('users')->{exporter}[0] ne $settled }), 'an exporter follows');
refuses(qr/another process exports to/, '', 'export', '--dsn', $dsn, @to);
refuses(qr/is the folder of the list/, '', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/after', '--name', 'y');
refuses(qr/there is no index "nothing"/, '', 'export', '--dsn', $dsn, '--index', 'nothing', '--to', 'www/none');

# ------------------------------------------------------------------------
# A host that follows
# ------------------------------------------------------------------------

begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
ok(wait_for(30, sub { -e 'hosts/u.bloom' }), 'a host begins');
begin('hasty', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/hasty.bloom', '--follow', '--every', '0.5');
ok(wait_for(30, sub { -e '.hasty.log' && slurp('.hasty.log') =~ /hasty.bloom: looks each 1 s, as the exporter's --poll says$/m }),
	'one that is to look more often than the exporter wants says so');
finish('hasty', 'TERM');
unlike(slurp('.host.log'), qr/looks each/, 'the other one has nothing to say');
like((by_url('users', 'hosts/u.bloom'))[2], qr/is followed by another process/, 'it is the only one');
my $inode = (stat 'hosts/u.bloom')[1];
sql('INSERT INTO users SELECT generate_series(10000, 10999)');
ok(wait_for(30, sub { has('hosts/u.bloom', 10000 .. 10999) }), 'keys that come are found by who opens the file');
is((stat 'hosts/u.bloom')[1], $inode, 'in the same file');
my $next = 20000;

# Keys that were committed are there soon.
sub arrive
{
	my ($name) = @_;
	my $first = $next;
	$next += 50;
	sql("INSERT INTO users SELECT generate_series($first, $first + 49)");
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(60, sub { has('hosts/u.bloom', $first .. $first + 49) }), "keys arrive: $name");
	return;
}

my $epoch = manifest('users')->{epoch}[0];
foreach my $statement ('REINDEX INDEX CONCURRENTLY users_filter',
	'DROP INDEX users_filter; CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 30000)',
	'TRUNCATE users', 'INSERT INTO users SELECT generate_series(1000000, 1080000)')
{
	sql($statement);
	arrive($statement);
}
cmp_ok(manifest('users')->{epoch}[0], '>', $epoch, 'a rebuild is a new epoch');
ok(has('hosts/u.bloom', 1000000 .. 1000999), 'keys beyond n are there');
finish('exporter', 'TERM');
my $last = manifest('users')->{content}[0];
ok(wait_for(60, sub { told('hosts/u.bloom')->{serial} eq $last }), 'the follower comes to the end');
is(finish('host', 'TERM'), 0, 'the follower ends with 0');
$snapshot = sql("SELECT encode(ext.bloomfilter_send(bloom_snapshot('users_filter')), 'hex')");
is((run('', 'copy', 'hosts/u.bloom', 'copy.bloom'))[0], 0, 'what it leaves is copied');
ok(pack('H*', $snapshot) eq slurp('copy.bloom'), 'and is bloom_snapshot, byte for byte');

is(scalar(() = glob 'www/users/.tmp-*'), 0, 'nothing unfinished is left');
done_testing();
