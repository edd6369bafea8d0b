# url.t
#	  From a live index to hosts: bloomfilter export, a stock web server, bloomfilter pull
#	  --url, and who opens the file meanwhile.
#
# Needs a server with the extension, nginx and minisign.  Everything listens on loopback.
# Each wait is for a condition.

use strict;
use warnings;

use File::Copy qw(copy);
use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Hosts;
use Server;
use Test::More;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url');
plan skip_all => 'minisign is not installed' if system('command -v minisign >/dev/null') != 0;

my $here = `pwd`;
chomp $here;
my $port = free_port();
mkdir 'hosts';
my $url = begin_nginx($port);

sub export { return run('', 'export', '--dsn', $dsn, @_); }
sub pull { return run('', 'pull', '--url', @_); }

# ------------------------------------------------------------------------
# Manifests of the golden file
# ------------------------------------------------------------------------

mkdir 'www/v';
foreach my $row (read_table('manifests.tsv'))
{
	spew('www/v/manifest', $row->{manifest_hex} eq '-' ? '' : pack('H*', $row->{manifest_hex}));
	my %pattern = (line => qr/manifest line \d+ /, must => qr/takes a newer version/, signature => qr/no right signature/);
	foreach my $try ([ 'word', '--allow-http' ], [ 'word_with_key', '--key', $row->{key} ])
	{
		my ($column, @options) = @$try;
		my ($status, undef, $err) = pull("$url/v", '--out', 'v.bloom', @options);
		my $word = $row->{$column};
		# what is right is refused later, as its files aren't there, or its times are not of now
		my $as_it_should = $word eq '-' ? !grep { $err =~ $_ } values %pattern : $err =~ $pattern{$word};
		ok($status ne '0' && $as_it_should && !-e 'v.bloom', "manifest $row->{name}, $column") || diag("status $status: $err");
	}
}

# ------------------------------------------------------------------------
# An empty index, then keys; once by once
# ------------------------------------------------------------------------

sql('SET search_path = public, ext; CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 20000)');
my @to = ('--index', 'users_filter', '--to', 'www/users', '--expires', '86400');
is((export(@to))[0], 0, 'an empty index is exported');
my @here = ("$url/users/", '--allow-http', '--out', 'once.bloom');
is((pull(@here))[0], 0, 'and pulled');
is((run('', 'info', 'once.bloom'))[1] =~ /key_type\s+(\w+)/ ? $1 : '', 'integer', 'it has its key type from the start');
my $whole_serial = manifest('users')->{serial}[0];
my @lengths = -s 'www/users/manifest';
foreach my $i (1 .. 12)
{
	sql("INSERT INTO users SELECT generate_series($i * 100, $i * 100 + 99)");
	is((export(@to))[0], 0, "export $i") if $i == 12;
	export(@to) if $i < 12;
	push @lengths, -s 'www/users/manifest';
}
my $m = manifest('users');
is($m->{epoch}[0], $whole_serial, 'keys that come are no new epoch');
cmp_ok(@{ $m->{patch} }, '<', 8, 'patches are merged as they age');
is(scalar(grep { $lengths[$_] == $lengths[ $_ - 1 ] } 1 .. $#lengths), 0, 'no two manifests after each other have the same length');
is((pull(@here))[0], 0, 'a host that is behind pulls patches');
ok(has('once.bloom', 100 .. 1299), 'and has all keys');
my $snapshot = sql("SET search_path = public, ext; SELECT encode(ext.bloomfilter_send(bloom_snapshot('users_filter')), 'hex')");
is((run('', 'copy', 'once.bloom', 'copy.bloom'))[0], 0, 'it is copied');
ok(pack('H*', $snapshot) eq slurp('copy.bloom'), 'and the copy is bloom_snapshot, byte for byte');
is(scalar(() = slurp("access.log") =~ m{GET /users/\w+\.bloom }g), 1, "the whole was fetched once");
is((run('', 'status', 'once.bloom'))[0], 0, 'status is content');
is((run('', 'verify', 'once.bloom'))[0], 0, 'and so is verify');

# ------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------

sub refused
{
	my ($name, $pattern, @arguments) = @_;
	my $content = sub { return substr(slurp('once.bloom'), 0, 1024) . substr(slurp('once.bloom'), 4096) };
	my $before = $content->();
	my ($status, undef, $err) = pull(@arguments);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($status ne '0' && $err =~ $pattern && $before eq $content->(), "refused: $name") || diag("status $status: $err");
	return;
}

my @out = ('--allow-http', '--out', 'once.bloom');
system('cp', '-r', 'www/users', 'www/older');
sql('INSERT INTO users VALUES (5000)');
export(@to);
pull(@here);
refused('an older manifest', qr/older than what was here/, "$url/older", @out);
like((run('', 'status', 'once.bloom'))[2], qr/back|older/, 'status says so');
is((pull("$url/older", @out, '--allow-older'))[0], 0, 'unless it is told to');
ok(!has('once.bloom', 5000), 'then the older one is there');
is((pull(@here))[0], 0, 'and the newer one again');
system('cp', '-r', 'www/users', 'www/fork');
spew('www/fork/manifest', slurp('www/fork/manifest') =~ s/^poll .*/poll 77/mr);
refused('another manifest of the same serial', qr/two different ones of one serial/, "$url/fork", @out);
spew('www/fork/manifest', slurp('www/users/manifest') =~ s/^identity .*/identity 0f8fad5b-d9cb-469f-a165-70867728950e/mr =~ s/^serial (\d+)/'serial ' . ($1 + 1)/emr);
refused('another identity', qr/another list of this name/, "$url/fork", @out);
refused('another name', qr/is the list "public.users_filter", not "x"/, @here, '--name', 'x');
refused('http', qr/use https:/, "$url/users", '--out', 'once.bloom');
refused('what is not there', qr/answered 404/, "$url/nothing", @out);
spew('www/fork/manifest', "<html>\n");
refused('a page', qr/is no manifest .*manifest line 1 /, "$url/fork", @out);
spew('www/fork/manifest', slurp('www/users/manifest') =~ s/^serial .*/serial 9000000000000000000/mr);
refused('a serial of the future', qr/serial is of the future/, "$url/fork", @out);
spew('www/fork/manifest', slurp('www/users/manifest') =~ s/^expires .*/expires 1700000000000000/mr);
refused('an expired one', qr/it has expired/, "$url/fork", @out);
spew('other.bloom', 'mine');
refused('a file that was not pulled', qr/other.bloom/, "$url/users", '--allow-http', '--out', 'other.bloom');
is(slurp('other.bloom'), 'mine', 'it is left alone');

# A file of the server that is damaged, for a host that needs it
my ($digest) = manifest('users')->{whole}[0] =~ /(\w{64})/;
my $content = slurp("www/users/$digest.bloom");
spew("www/users/$digest.bloom", substr($content, 0, -1) . 'x');
like((pull("$url/users", '--allow-http', '--out', 'new.bloom'))[2], qr/not what the manifest says/, 'a damaged whole is refused');
ok(!-e 'new.bloom', 'and leaves no file');
is((export(@to))[0], 0, 'the exporter, started anew, notices');
is((pull("$url/users", '--allow-http', '--out', 'new.bloom'))[0], 0, 'and publishes all anew');
ok(has('new.bloom', 100 .. 1299, 5000), 'with all keys');

# ------------------------------------------------------------------------
# Signatures
# ------------------------------------------------------------------------

foreach my $key ('a', 'b')
{
	is(system("minisign -G -W -p $key.pub -s $key.key >/dev/null </dev/null"), 0, "minisign makes key $key");
}
my @signed_to = ('--index', 'users_filter', '--to', 'www/signed');
is((export(@signed_to, '--sign', 'a.key', '--sign', 'b.key'))[0], 0, 'signed by two keys');
is((pull("$url/signed", '--key', 'a.pub', '--out', 'signed.bloom'))[0], 0, 'a host with one of them takes it');
is((pull("$url/signed", '--key', (split /\n/, slurp('b.pub'))[1], '--out', 'signed_b.bloom'))[0], 0, 'and one with the text of the other');
spew('part', slurp('www/signed/manifest') =~ s/^signature .*//msr);
my @values = split / /, manifest('signed')->{signature}[0];
spew('part.minisig', "untrusted comment: list\n$values[0]\ntrusted comment: bloomfilter-list 2\n$values[1]\n");
is(system('minisign -V -q -p a.pub -m part'), 0, 'minisign verifies it, split as FEED.md says');
spew('www/signed/manifest', slurp('www/signed/manifest') =~ s/^poll .*/poll 9/mr);
like((pull("$url/signed", '--key', 'a.pub', '--out', 'signed.bloom'))[2], qr/no right signature/, 'what was changed is refused');
like((pull("$url/users", '--key', 'a.pub', '--out', 'signed.bloom'))[2], qr/no right signature/, 'and what is not signed');
system('rm', '-r', 'www/signed');
is((export(@signed_to, '--sign', 'b.key'))[0], 0, 'a new folder of the same name, signed by the second key');
like((pull("$url/signed", '--key', 'a.pub', '--out', 'signed.bloom'))[2], qr/no right signature/, 'is refused with the first');
is((pull("$url/signed", '--key', 'b.pub', '--out', 'signed_b.bloom'))[0], 1, 'and with the second it is another list, though the key is right');
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

begin('exporter', program(), 'export', '--dsn', $dsn, @to, '--follow', '--every', '0.25', '--poll', '1', '--heartbeat', '1', '--quiet');
my $settled = manifest('users')->{exporter}[0];
ok(wait_for(30, sub { manifest('users')->{exporter}[0] ne $settled }), 'an exporter follows');
refuses(qr/another process exports to/, '', 'export', '--dsn', $dsn, @to);
refuses(qr/is the folder of the list/, '', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/after', '--name', 'y');
refuses(qr/there is no index "nothing"/, '', 'export', '--dsn', $dsn, '--index', 'nothing', '--to', 'www/none');

# ------------------------------------------------------------------------
# A host that follows
# ------------------------------------------------------------------------

my @follow = (program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
begin('host', @follow);
ok(wait_for(30, sub { -e 'hosts/u.bloom' }), 'a host begins');
begin('hasty', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/hasty.bloom', '--follow', '--every', '0.5');
ok(wait_for(30, sub { -e '.hasty.log' && slurp('.hasty.log') =~ /hasty.bloom: looks each 1 s, as the exporter's --poll says$/m }),
	'one that is to look more often than the exporter wants says so');
finish('hasty', 'TERM');
unlike(slurp('.host.log'), qr/looks each/, 'the other one has nothing to say');
refuses(qr/is followed by another process/, '', 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom');
{
	my $inode = (stat 'hosts/u.bloom')[1];
	sql('INSERT INTO users SELECT generate_series(10000, 10999)');
	ok(wait_for(30, sub { has('hosts/u.bloom', 10000 .. 10999) }), 'keys that come are found by who opens the file');
	is((stat 'hosts/u.bloom')[1], $inode, 'in the same file');
}
my $next = 20000;

# Keys that were committed are there soon, whoever was killed.
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

arrive('to begin with');
foreach my $round (1 .. 3)
{
	finish('host', 'KILL');
	sql("INSERT INTO users VALUES (7000 + $round)");
	begin('host', @follow);
	arrive("a follower that was killed, $round");
	ok(has('hosts/u.bloom', 7000 + $round), "and what came meanwhile, $round");
	finish('exporter', 'KILL');
	begin('exporter', program(), 'export', '--dsn', $dsn, @to, '--follow', '--every', '0.25', '--poll', '1', '--heartbeat', '1', '--quiet');
	arrive("an exporter that was killed, $round");
}
finish('nginx', 'TERM');
ok(wait_for(30, sub { (run('', 'status', 'hosts/u.bloom'))[1] =~ /^failures +[1-9]/m }), 'status tells of looks that fail');
begin_nginx($port);
arrive('after the web server was gone');
my $epoch = manifest('users')->{epoch}[0];
foreach my $statement ('REINDEX INDEX users_filter', 'REINDEX INDEX CONCURRENTLY users_filter',
	'DROP INDEX users_filter; CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 30000)',
	'TRUNCATE users', 'INSERT INTO users SELECT generate_series(1000000, 1080000)')
{
	sql($statement) foreach $statement =~ /; / ? () : ($statement);
	sql("SET search_path = public, ext; $statement") if $statement =~ /; /;
	arrive($statement);
}
cmp_ok(manifest('users')->{epoch}[0], '>', $epoch, 'a rebuild is a new epoch');
ok(has('hosts/u.bloom', 1000000 .. 1000999), 'keys beyond n are there');
is(sql("SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'bloomfilter export'"), 't', 'the connection is cut');
arrive('after the connection was cut');

# Time: all that was committed before true_at is in what a host has of that serial.
like((run('', 'status', 'hosts/u.bloom'))[1], qr/serial\s+\d+/, 'status tells the serial');
finish('exporter', 'TERM');
my $last = manifest('users')->{content}[0];
ok(wait_for(60, sub { (run('', 'status', 'hosts/u.bloom'))[1] =~ /^serial\s+$last$/m }), 'the follower comes to the end');
is(finish('host', 'TERM'), 0, 'the follower ends with 0');
$snapshot = sql("SET search_path = public, ext; SELECT encode(ext.bloomfilter_send(bloom_snapshot('users_filter')), 'hex')");
is((run('', 'copy', 'hosts/u.bloom', 'copy.bloom'))[0], 0, 'what it leaves is copied');
ok(pack('H*', $snapshot) eq slurp('copy.bloom'), 'and is bloom_snapshot, byte for byte');

finish('nginx', 'TERM');
is(scalar(() = glob 'www/users/.tmp-*'), 0, 'nothing unfinished is left');

scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url WITH (FORCE)');
done_testing();
