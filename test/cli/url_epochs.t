# url_epochs.t
#	  A host that comes from an older state, over sets and flips of several epochs, or by the
#	  whole file where no patch leads.
#
# Needs nginx, which listens on loopback.

use CommandLine;
use Digest::SHA qw(sha256_hex);
use Hosts;
use IO::Socket::INET;
use Lists;
use XXH64;

skip_leaks();

my $port = free_port();
my $url = begin_nginx($port);
my @states = ('new:1-300', 'set:1001-1100', 'flip:2001-2100', 'set:2101-2200', 'set:2201-2300', 'flip:3001-3100', 'flip:4001-4100', 'set:4101-4200');
my @keys = ([ 1 .. 300 ], [ 1 .. 300, 1001 .. 1100 ], [ 2001 .. 2100 ], [ 2001 .. 2200 ], [ 2001 .. 2300 ], [ 3001 .. 3100 ], [ 4001 .. 4100 ], [ 4001 .. 4200 ]);
make_list($url, 's', 100, @states);

# What was asked for since the last call, by kind.
my $asked = 0;
sub asked
{
	my @lines = split /\n/, slurp('access.log');
	my @new = @lines[ $asked .. $#lines ];
	$asked = @lines;
	return join ' ', map { my $kind = $_; "$kind " . grep { /\.$kind HTTP\S+ 200/ } @new } 'bloom', 'patch';
}
# The web server's log has all requests before one that it has.
my $marks = 0;
sub settle
{
	my $mark = 'GET /mark' . ++$marks . ' ';
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or die "socket: $!";
	print $socket "${mark}HTTP/1.0\r\n\r\n";
	wait_for(30, sub { slurp('access.log') =~ /\Q$mark/ });
	return asked();
}

my $hosts = 0;
sub host_at { my ($state) = @_; my $file = 'e' . ++$hosts; serve('s', $state); is((pull_once($file))[0], 0, "a host of state $state"); settle(); return $file; }

sub is_at
{
	my ($file, $state, $how) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(lacks($file, @{ $keys[$state] }), 0, 'has all keys');
	is(told($file)->{serial}, serial_of('s', $state), 'tells its serial');
	is((run('', 'verify', $file))[0], 0, 'and its sum is right');
	is(settle(), $how, 'by what was fetched');
	return;
}

foreach my $way ([ 0, 1, 1 ], [ 1, 2, 1 ], [ 0, 4, 4 ], [ 2, 6, 4 ], [ 0, 7, 7 ])
{
	my ($from, $to, $patches) = @$way;
	my $file = host_at($from);
	my $inode = (stat $file)[1];
	serve('s', $to);
	is((pull_once($file))[0], 0, "from $from to $to");
	is_at($file, $to, "bloom 0 patch $patches");
	is((stat $file)[1] == $inode, !grep({ /flip/ } @states[ $from + 1 .. $to ]), 'in place, but for other epochs');
}

# A host whose bits are not those of the flip's state takes the whole.
my $file = host_at(1);
overwrite($file, 512, pack 'Q<', page_of($file)->{changes} + 1);
overwrite($file, 4096 + 64 + 50, "\xff");
serve('s', 2);
is((pull_once($file))[0], 0, 'bits of a patch that was broken off');
is_at($file, 2, 'bloom 1 patch 1');

# Patches that are missing, damaged, or not valid.
my ($flip, $set) = map { my $kind = $_; map { /(\w{64})/ } grep { /^patch $kind/ } reverse split /\n/, slurp('www/s/4/manifest') } 'flip', 'set';
foreach my $harm ([ 'missing', sub { unlink $_[0] } ], [ 'damaged', sub { spew($_[0], 'x' . substr slurp($_[0]), 1) } ])
{
	my ($how, $do) = @$harm;
	$file = host_at(1);
	serve('s', 4);
	$do->("www/now/$flip.patch");
	is((pull_once($file))[0], 0, "a flip that is $how");
	is_at($file, 4, $how eq 'missing' ? 'bloom 1 patch 2' : 'bloom 1 patch 3');
	$file = host_at(3);
	serve('s', 4);
	$do->("www/now/$set.patch");
	is((pull_once($file))[0], 2, "a set that is $how, and the whole lacks what it has");
	like(settle(), qr/bloom 0/, 'fetches no whole file');
	is(told($file)->{serial}, serial_of('s', 3), 'and leaves what there was');
	is(lacks($file, @{ $keys[3] }), 0, 'with its keys');
	serve('s', 4);
	is((pull_once($file))[0], 0, 'once it is there');
	is_at($file, 4, 'bloom 0 patch 1');
}

# Patches that lead elsewhere than their lines say: a host has no serial whose keys it lacks.
$file = host_at(2);
serve('s', 4);
my @lines = slurp('www/s/4/manifest') =~ /^patch set \d+ \d+ (\d+ \w{64})$/mg;
spew('www/now/manifest', slurp('www/s/4/manifest') =~ s/$lines[-2]/x/r =~ s/$lines[-1]/$lines[-2]/r =~ s/ x$/ $lines[-1]/mr);
is((pull_once($file))[0], 2, 'patches whose lines have each the digest of the other');
is(told($file)->{serial}, serial_of('s', 2), 'leave what there was');
is(lacks($file, @{ $keys[2] }), 0, 'with its keys');
settle();

# Whole files that are not what they should be leave all as it was.
my ($whole) = map { /(\w{64})/ } grep { /^whole/ } split /\n/, slurp('www/s/7/manifest');
serve('s', 7);
spew("www/now/$whole.bloom", 'x' . substr slurp("www/s/7/$whole.bloom"), 1);
isnt((pull_once('none'))[0], 0, 'a whole file that is damaged');
ok(!-e 'none', 'makes no file');
is(told('none')->{wrong} // '', 'waiting', 'and status says that there is none');
serve('s', 7);
system('cp', "www/s/7/$whole.bloom", 'www/now/');
is((pull_once('none'))[0], 0, 'and the right one does');

# Where the server's whole file has another k, or another seed, each checksum of it may be right.
serve('s', 7);
foreach my $at (5, 16)
{
	my $filter = slurp("www/s/7/$whole.bloom");
	substr($filter, $at, 1) ^= chr 2;
	substr($filter, 52, 4) = pack 'L<', xxh64(substr $filter, 0, 52) & 0xffffffff;
	substr($filter, 56, 8) = pack 'Q<', xxh64(substr($filter, 0, 56) . substr $filter, 64);
	my $name = sha256_hex($filter);
	spew("www/now/$name.bloom", $filter);
	spew('www/now/manifest', slurp('www/s/7/manifest') =~ s/$whole/$name/r);
	my ($status, undef, $err) = pull_once('turned');
	ok($status == 2 && $err =~ /files and patches of the server don't fit each other/ && !-e 'turned', "another byte $at of the header is refused")
		|| diag("$status $err");
}

# Files and patches that make another sum than the manifest tells are refused.
$file = host_at(1);
serve('s', 2);
spew('www/now/manifest', slurp('www/s/2/manifest') =~ s/^(sum \w{15})(\w)/$1 . sprintf '%x', 15 - hex $2/emr);
foreach my $host ($file, 'other')
{
	my ($status, undef, $err) = pull_once($host);
	ok($status == 2 && $err =~ /files and patches of the server don't fit each other/, 'another sum than the manifest tells is refused') || diag("$status $err");
}
is(settle(), 'bloom 2 patch 1', 'by the patch, and by the whole');
is(told($file)->{serial}, serial_of('s', 1), 'a host keeps what it had');
is(lacks($file, @{ $keys[1] }), 0, 'with its keys');
ok(!-e 'other', 'and a new one has no file');

# Hosts wait for their turn.
{
	local $ENV{SPREAD} = 3600;
	make_list($url, 'spread', 100, 'new:1-300', 'new:5001-5100');
}
serve('spread', 0);
follow('turn', 'turn.bloom');
ok(wait_for(60, sub { lacks('turn.bloom', 1 .. 300) eq '0' }), 'a host of an epoch');
serve('spread', 1);
ok(wait_for(60, sub { (told("turn.bloom")->{wrong} // "") eq "waiting" }), 'waits where the next one is a whole file');
is(lacks('turn.bloom', 1 .. 300), 0, 'with what it has');
is((pull_once('turn.new'))[0] . lacks('turn.new', 5001 .. 5100), '00', 'who has none does not wait, and has the new one');
finish('turn', 'TERM');

# Heartbeats: an exporter that renews nothing.
{
	local $ENV{HEARTBEAT} = 1;
	make_list($url, 'beat', 1, 'new:1-300', 'set:301-310');
}
serve('beat', 0);
follow('beat', 'beat.bloom');
ok(wait_for(60, sub { lacks('beat.bloom', 1 .. 300) eq '0' }), 'a list with a heartbeat');
ok(wait_for(30, sub { status_word('beat.bloom') eq 'old' }), 'is old after three that were missed');
like(told('beat.bloom')->{message}, qr/has not renewed the list/, 'and status says why');
finish('beat', 'TERM');

# A mirror that lags is no news; what lags longer is older.
{
	local $ENV{HEARTBEAT} = 20;
	make_list($url, 'lag', 100, 'new:1-300', 'set:301-310');
}
serve('lag', 1);
is((pull_once('lag.bloom'))[0], 0, 'a host');
serve('lag', 0);
is((pull_once('lag.bloom'))[0], 0, 'a mirror that is a second behind');
is(told('lag.bloom')->{serial}, serial_of('lag', 1), 'changes nothing');
is(told('lag.bloom')->{exit}, 0, 'and is no error');

done_testing();
