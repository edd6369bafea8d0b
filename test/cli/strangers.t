# strangers.t
#	  What a web server may do wrong, and who else on a host may read or hold what a follower keeps.
#
# Needs no server: its web server is here, and lies where the file "lie" says so.

use CommandLine;
use Hosts;
use Lists;

skip_leaks();

mkdir 'www';
my $most = 64 * 1024 * 1024;

# Of the manifest "endless" sends bytes until the client has enough; how many is written down.
sub send_much
{
	my ($client) = @_;
	my ($piece, $sent) = ("# a line of a manifest that says nothing\n" x 1600, 0);
	$client->flush;
	while ($sent < $most && (my $written = syswrite $client, $piece)) { $sent += $written; }
	return spew('sent', $sent);
}

my $url = begin_web(sub {
	my ($path) = @_;
	return ('200 OK', [], \&send_much) if $path =~ /manifest$/ && -e 'lie' && slurp('lie') eq 'endless';
	return -e "www$path" ? ('200 OK', [], slurp("www$path")) : ('404 Not Found', [], '');
});

my @keys = (1 .. 300);
make_list($url, 's', 100, 'new:1-300', 'new:1-300', 'new:1-300');
serve('s', 0);
is((pull_once('u.bloom'))[0], 0, 'a list');

# ------------------------------------------------------------------------
# The web server
# ------------------------------------------------------------------------

spew('lie', 'endless');
my ($status, undef, $err) = pull_once('u.bloom');
unlink 'lie';
like("$status $err", qr{^2 bloomfilter: \S+/manifest: is longer than it may be$}, 'a manifest without end is refused');
cmp_ok(slurp('sent'), '<', $most / 2, 'after some bytes more than a manifest may have');
is(lacks('u.bloom', @keys), 0, 'and the file stays');

make_list($url, 'two', 50, 'two:1-300');
mkdir 'parts';
serve('two', 0);
is((pull_once('parts/u.bloom'))[0], 0, 'a list of two parts');
is(lacks('parts/u.bloom', @keys), 0, 'has all keys');
my $manifest = slurp('www/now/manifest');
my ($first, $second) = $manifest =~ /^whole 0 (.*)\nwhole 1 (.*)$/m;
spew('www/now/manifest', $manifest =~ s/^whole 0 .*\nwhole 1 .*$/whole 0 $second\nwhole 1 $first/mr);
($status, undef, $err) = pull_once('parts/swapped.bloom');
like("$status $err", qr/^2 .*refused: another part$/, 'a manifest that swaps its parts is refused');
ok(!-e 'parts/swapped.bloom', 'and makes no file');

# ------------------------------------------------------------------------
# The host
# ------------------------------------------------------------------------

# Damaged bits are not waited for, however long others have to wait for their turn.
mkdir 'lost';
{
	local $ENV{SPREAD} = 3600;
	make_list($url, 'wide', 40, 'new:1-300');
}
serve('wide', 0);
follow('lost', 'lost/u.bloom');
ok(wait_for(60, sub { lacks('lost/u.bloom', @keys) eq '0' && status_word('lost/u.bloom') eq '' }), 'a list whose hosts take turns');
overwrite('lost/u.bloom', 4096 + 64, "\0" x 3000);
ok(wait_for(120, sub { lacks('lost/u.bloom', @keys) eq '0' && status_word('lost/u.bloom') eq '' }), 'bits that are lost are fetched at once');
finish('lost', 'TERM');

# Whoever could read FILE before can read it, and nobody else; nobody else can hold its lock.
mkdir 'modes';
umask 022;
spew('modes/u.bloom.lock', '');
chmod 0666, 'modes/u.bloom.lock';
serve('s', 1);
follow('modes', 'modes/u.bloom');
ok(wait_for(60, sub { -e 'modes/u.bloom' }), 'a follower, whose lock others could open');
is((stat 'modes/u.bloom.lock')[2] & 0777, 0600, 'which they can no more');
finish('modes', 'TERM');
chmod 0640, 'modes/u.bloom';
serve('s', 2);
is((pull_once('modes/u.bloom'))[0], 0, 'a new file');
is((stat 'modes/u.bloom')[2] & 0777, 0640, 'has the mode of the one before');
SKIP:
{
	my $shim = $ENV{BLOOMFILTER_SHIM} // skip 'BLOOMFILTER_SHIM names no library', 2;
	my $plain = $ENV{BLOOMFILTER_PLAIN} // program();
	make_list($url, 'group', 30, 'new:1-300', 'new:1-300');
	serve('group', 1);
	my $child = do
	{
		local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', SHIM_NO_GROUP => 1);
		start('', $plain, 'pull', '--url', "$url/now", '--allow-http', '--out', 'modes/u.bloom', '--allow-older');
	};
	waitpid $child, 0;
	is(ending(), 0, 'a new file whose group cannot be the one before');
	is((stat 'modes/u.bloom')[2] & 0777, 0600, 'is not for the group that it has instead');
}

done_testing();
