# url_config.t
#	  bloomfilter pull --config: many lists in one process.  Lists that fail beside lists that
#	  go on, lists that come, change and go, a slow server, and one connection for all.
#
# Needs a server with the extension, nginx and minisign.  Everything listens on loopback.
# Each wait is for a condition.

use strict;
use warnings;

use FindBin;
use IO::Socket::INET;
use lib $FindBin::Bin;

use CommandLine;
use Digest::SHA qw(sha256_hex);
use Hosts;
use Server;
use Test::More;
use Time::HiRes;

my $dsn = own_database('bloomfilter_cli_url_config');
plan skip_all => 'minisign is not installed' if system('command -v minisign >/dev/null') != 0;
mkdir 'hosts';
my $port = free_port();
my $url = begin_nginx($port);

sub pull { return run('', 'pull', '--config', @_); }
sub add { my ($table, $first, $last) = @_; sql("INSERT INTO $table SELECT generate_series($first, $last)"); return; }
sub wrong { my ($file) = @_; return (run('', 'status', '--json', $file))[1] =~ /"wrong": \[(.*?)\]/ ? $1 : 'unknown'; }

# A list's lines: [name], its address, its file, and others.
sub list
{
	my ($name, $from, @lines) = @_;
	return join "\n", "[$name]", "url = $from", "out = hosts/$name.bloom", @lines, '', '';
}

foreach my $table ('a', 'b', 'c')
{
	sql("SET search_path = public, ext; CREATE TABLE $table (id bigint); CREATE INDEX ${table}_filter ON $table USING bloomfilter (id) WITH (n = 20000)");
	add($table, 1, 1000);
}
is(system('minisign -G -W -p right.pub -s right.key >/dev/null </dev/null'), 0, 'a key');
is(system('minisign -G -W -p wrong.pub -s wrong.key >/dev/null </dev/null'), 0, 'and another');
sub export { my ($table, @options) = @_; return run('', 'export', '--dsn', $dsn, '--index', "${table}_filter", '--to', "www/$table", '--poll', '1', @options); }
is((export($_, $_ eq 'c' ? ('--sign', 'right.key') : ()))[0], 0, "$_ is exported") foreach 'a', 'b', 'c';
my $head = "# for all\nallow-http = on\nevery = 1\n\n";

# ------------------------------------------------------------------------
# Files with errors
# ------------------------------------------------------------------------

# What a file's one error is, at which line; and that nothing of its list begins.
sub wrong_line
{
	my ($name, $line, $pattern, $text) = @_;
	spew('wrong.conf', $text);
	my ($status, $out, $err) = pull('wrong.conf', '--once');
	ok($status eq '2' && $err =~ /^bloomfilter: "wrong.conf", line $line: $pattern/m, "an error: $name") || diag("status $status: $err");
	ok(!-e 'hosts/x.bloom', 'and nothing of that list begins');
	unlink glob 'hosts/*';
	return;
}

my $x = list('x', "$url/a");
wrong_line('no line of any kind', 5, qr/"nonsense" is neither \[name\] nor name = value/, "${head}nonsense\n$x");
wrong_line('an unknown name', 8, qr/unknown name "color"/, $head . list('x', "$url/a", 'color = red'));
wrong_line('a number that is none', 8, qr/every must be a whole number from 1 to 86400, not "soon"/, $head . list('x', "$url/a", 'every = soon'));
wrong_line('a switch that is none', 8, qr/no-agent must be on or off, not "maybe"/, $head . list('x', "$url/a", 'no-agent = maybe'));
wrong_line('no value', 8, qr/working has no value/, $head . list('x', "$url/a", 'working ='));
wrong_line('a value twice', 8, qr/url is given twice/, $head . list('x', "$url/a", "url = $url/b"));
wrong_line('a key that is none', 8, qr/"RWQ" is neither a public key nor a file/, $head . list('x', "$url/a", 'key = RWQ'));
wrong_line('a name of one list for all', 5, qr/url belongs to one list/, $head . "url = $url/a\n$x");
wrong_line('a key for all that is none: none of them begins', 5, qr/"RWQ" is neither/, $head . "key = RWQ\n$x");
wrong_line('a list without a file', 5, qr/url and out are needed/, $head . "[x]\nurl = $url/a\n");
wrong_line('a list without a name', 5, qr/a list begins with its name in brackets/, $head . "[]\n" . $x =~ s/^\[x\]\n//r);
wrong_line('a name that does not end', 5, qr/a list begins with its name in brackets/, $head . "[x\n" . $x =~ s/^\[x\]\n//r);
wrong_line('http without being told', 1, qr/http: lets others change what comes: use https:, key or allow-http/, $x);
wrong_line('a zero byte', 8, qr/the line has a zero byte/, $head . list('x', "$url/a", "name = public.a_filter\0x"));
wrong_line('a folder for a file', 5, qr/out must be a file's name/, $head . $x =~ s/^out = .*/out = hosts\//mr);
like((pull('nothing'))[2], qr/cannot read "nothing": .*\n.*there is no list in "nothing" that could be followed/, 'no file at all');
is((pull('nothing'))[0], 2, 'is an error that ends it');
spew('empty.conf', "# nothing\n");
is((pull('empty.conf'))[0], 2, 'and so is a file without a list');
refuses(qr/--config is given twice/, '', 'pull', '--config', 'a', '--config', 'b');

spew('twice.conf', $head . list('a', "$url/a") . list('b', "$url/b") =~ s/b\.bloom/.\/a.bloom/r . list('a', "$url/b") =~ s/a\.bloom/c.bloom/r);
my ($status, $out, $err) = pull('twice.conf', '--once');
like($err, qr/^bloomfilter: "twice.conf", line 9: the list of "twice.conf", line 5, has the same out$/m, 'a file of two lists is an error of the second');
like($err, qr/^bloomfilter: "twice.conf", line 13: the list of "twice.conf", line 5, has the same name$/m, 'a name of two lists, too');
is($status, 2, 'which the exit status tells');
ok(has('hosts/a.bloom', 1 .. 1000) && !-e 'hosts/c.bloom', 'but the first one is pulled');

# ------------------------------------------------------------------------
# Once
# ------------------------------------------------------------------------

my $closed = 'http://127.0.0.1:' . free_port();
my $key = (split /\n/, slurp('wrong.pub'))[1];
my ($dead, $refused) = (list('dead', "$closed/dead"), list('refused', "$url/c", "key = $key"));
unlink glob 'hosts/*';
spew('once.conf', "$head$dead$refused" . list('a', "$url/a") . list('c', "$url/c", 'key = right.pub'));
($status, $out, $err) = pull('once.conf', '--once');
is($status, 2, 'with a list that fails, once ends with 2');
like($err, qr/^bloomfilter: dead: \Q$closed\E.*\nbloomfilter: refused: hosts\/refused.bloom: refused: it has no right signature/m, 'messages begin with the list');
like($out, qr/^a: hosts\/a.bloom: serial \d+, whole\nc: hosts\/c.bloom: serial/m, 'and so do those of lists that come');
ok(has('hosts/a.bloom', 1 .. 1000) && has('hosts/c.bloom', 1 .. 1000), 'the lists behind them are pulled');
is(wrong('hosts/refused.bloom'), '"first", "signature"', 'status tells of the one that is refused');
spew('once.conf', "$head$refused" . list('a', "$url/a"));
is((pull('once.conf', '--once'))[0], 1, 'with a list that is refused with 1');
mkdir 'conf.d';
spew('conf.d/a.conf', $head . list('a', "$url/a"));
spew('conf.d/c.conf', "allow-http = on\nkey = wrong.pub\n" . list('c', "$url/c", 'key = right.pub'));
spew('conf.d/none.txt', 'nonsense');
($status, $out, $err) = pull('conf.d', '--once', '--quiet');
is("$status$out$err", '0', 'a folder of files; a list\'s own key is taken');
spew('conf.d/c.conf', "allow-http = on\nkey = right.pub\n" . list('c', "$url/c", 'key = wrong.pub'));
is((pull('conf.d', '--once'))[0], 1, 'and is all that it has');
spew('conf.d/c.conf', "allow-http = on\nkey = right.pub\n" . list('c', "$url/c"));
is((pull('conf.d', '--once'))[0], 0, 'unless it has none of its own');
spew('conf.d/z.conf', $head . list('z', "$url/a") =~ s/z\.bloom/a.bloom/r);
like((pull('conf.d', '--once'))[2], qr{"conf.d/z.conf", line 5: the list of "conf.d/a.conf", line 5, has the same out}, 'the same file in two of them is an error, too');

# ------------------------------------------------------------------------
# One connection
# ------------------------------------------------------------------------

unlink glob 'hosts/*';
spew('many.conf', $head . list('a', "$url/a") . list('b', "$url/b"));
system(': >connections.log');
my @follow = (program(), 'pull', '--config', 'many.conf');
begin('many', @follow);
ok(wait_for(30, sub { my $log = slurp('connections.log'); (() = $log =~ m{/a/manifest}g) > 2 && (() = $log =~ m{/b/manifest}g) > 2 }), 'two lists of a server are looked at, again and again');
my %connections = map { (split / /)[0] => 1 } split /\n/, slurp('connections.log');
is(scalar(keys %connections), 1, 'by one connection');

# ------------------------------------------------------------------------
# Lists that come, change and go
# ------------------------------------------------------------------------

sub says { my ($pattern) = @_; return wait_for(30, sub { slurp('.many.log') =~ $pattern }); }
my $next = 5000;

# New keys of a table are found in the file of a list.
sub arrive
{
	my ($table, $name, $what) = @_;
	my $first = $next;
	$next += 10;
	add($table, $first, $first + 9);
	my ($exported, undef, $why) = export($table, $table eq 'c' ? ('--sign', 'right.key') : ());
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($exported, 0, "$table is exported anew") || diag($why);
	ok(wait_for(60, sub { -e "hosts/$name.bloom" && has("hosts/$name.bloom", $first .. $first + 9) }), "keys arrive: $what") || diag(map { -e $_ ? slurp($_) : () } '.many.log', '.folder.log', "hosts/$name.bloom.status");
	return;
}

sub hang_up { kill 'HUP', process_of('many'); return; }

arrive('a', 'a', 'to begin with');
arrive('b', 'b', 'in the second list, too');
spew('many.conf', $head . list('a', "$url/a") . list('b', "$url/b") . list('c', "$url/c", 'key = right.pub') . "$dead$refused");
ok(says(qr/Z c: begins$/m), 'lists come when the file has changed');
arrive('c', 'c', 'in a list that came');
ok(says(qr/bloomfilter: dead: /) && says(qr/bloomfilter: refused: .*no right signature/), 'others that came fail');
arrive($_, $_, 'beside lists that fail') foreach 'a', 'b', 'c';
is(wrong('hosts/c.bloom'), '', 'status is content with one');
is(wrong('hosts/refused.bloom'), '"first", "signature"', 'and not with the other');

spew('many.conf', $head . list('a', "$url/a") . "nonsense\n");
hang_up();
ok(says(qr/"many.conf", line 9: "nonsense" is neither.*\n.*nothing of it is taken before it is right/), 'a file with an error is not taken');
arrive($_, $_, 'the lists go on as they were') foreach 'a', 'b', 'c';
unlink 'many.conf';
hang_up();
ok(says(qr/cannot read "many.conf"/), 'nor is a file that is not there');
arrive('b', 'b', 'the lists go on');

my $target = readlink 'hosts/b.bloom.working';
my $lines = list('a', "$url/a", 'no-agent = on') . list('c', "$url/c", 'key = right.pub');
spew('many.conf', $head . $lines);
hang_up();
ok(says(qr/Z a: has changed\n(?:.*\n)*\S+Z a: begins\n/), 'a list that has changed begins anew');
ok(says(qr/bloomfilter: b: "hosts\/b.bloom" stays as it is: its list is followed no more/), 'a list that goes leaves its file');
is(wrong('hosts/b.bloom'), '"removed"', 'status says that it was removed');
is((run('', 'status', '--quiet', 'hosts/b.bloom'))[0], 1, 'by exit status 1');
like((run('', 'status', '--prometheus', 'hosts/b.bloom'))[1], qr/word="removed"\} 1$/m, 'and its metric');
ok(!-l 'hosts/b.bloom.working' && !-e 'hosts/b.bloom.working' && !-e ($target // 'nothing'), 'its working copy is gone');
ok(has('hosts/b.bloom', split /\n/, sql('SELECT id FROM b')), 'its file has all that only the working copy had');
arrive('a', 'a', 'in the list that begins anew');
ok(wait_for(30, sub { slurp('access.log') =~ m{GET /a/manifest HTTP/1.1" \d+ \d+ "-" "-"} }), 'as it says now');
spew('many.conf', $head . $lines . list('b', "$url/b"));
arrive('b', 'b', 'in a list that comes back');
ok(wait_for(30, sub { wrong('hosts/b.bloom') eq '' }), 'with which status is content again');

# ------------------------------------------------------------------------
# Files that can't be had, for now
# ------------------------------------------------------------------------

begin('rival', program(), 'pull', '--url', "$url/a", '--allow-http', '--out', 'hosts/kept.bloom', '--follow', '--every', '1');
ok(wait_for(30, sub { -e 'hosts/kept.bloom' }), 'another process follows a list');
build('mine', [ 1, 2, 3 ], '-n', 100);
my $mine = slurp('mine');
rename 'mine', 'hosts/mine.bloom';
spew('hosts/mark.bloom.mark', 'rubbish');
spew('many.conf', $head . $lines . list('b', "$url/b") . list('kept', "$url/a") . list('mine', "$url/a") . list('mark', "$url/a") . list('lost', "$url/a") =~ s/hosts.lost/nowhere\/lost/r);
ok(says(qr/bloomfilter: kept: another process keeps "hosts\/kept.bloom"/), 'whose file is not taken');
ok(says(qr/bloomfilter: mine: "hosts\/mine.bloom" is not what was pulled from this address/), 'nor one that was not pulled');
ok(says(qr/bloomfilter: mark: "hosts\/mark.bloom.mark" is not what bloomfilter pull writes/), 'nor one with a mark of something else');
ok(says(qr/bloomfilter: lost: cannot open the folder "nowhere\/"/), 'nor one in a folder that is not there');
arrive($_, $_, 'beside them') foreach 'a', 'b', 'c';
is(slurp('hosts/mine.bloom'), $mine, 'what was not pulled is left alone');
like((run('', 'status', 'hosts/mark.bloom'))[1], qr/^error +"hosts\/mark.bloom.mark" is not what/m, 'status tells why there is none');
unlink 'hosts/mark.bloom.mark', 'hosts/mine.bloom';
mkdir 'nowhere';
finish('rival', 'TERM');
arrive('a', $_, "in $_, once it can be had") foreach 'kept', 'mine', 'mark', '../nowhere/lost';
unlink map { readlink // () } glob 'nowhere/*.working';
spew('many.conf', $head . $lines . list('b', "$url/b"));
ok(wait_for(30, sub { wrong('hosts/kept.bloom') eq '"removed"' && wrong('nowhere/lost.bloom') eq '"removed"' }), 'and they go');

SKIP:
{
	my $copy = readlink 'hosts/c.bloom.working';
	skip 'the working copy lies beside its file', 4 if !defined $copy;
	unlink $copy;
	ok(says(qr/bloomfilter: c: "hosts\/c.bloom.working" was removed by another program, and is made again/), 'a working copy that somebody removed');
	arrive('c', 'c', 'is made again');
	ok(-e $copy, 'in its place');
}

# ------------------------------------------------------------------------
# A folder
# ------------------------------------------------------------------------

finish('many', 'TERM');
unlink glob 'conf.d/*';
spew("conf.d/$_.conf", $head . list($_, "$url/$_")) foreach 'a', 'b';
spew('conf.d/c.conf', $head . list('c', "$url/c", 'key = right.pub'));
begin('folder', program(), 'pull', '--config', 'conf.d');
arrive($_, $_, 'by a folder of files') foreach 'a', 'b', 'c';
unlink 'conf.d/b.conf';
ok(wait_for(30, sub { wrong('hosts/b.bloom') eq '"removed"' }), 'a file that goes takes its list away');
arrive($_, $_, 'in the others') foreach 'a', 'c';
spew('conf.d/b.conf', $head . list('b', "$url/b"));
arrive('b', 'b', 'when it comes back');
is(finish('folder', 'TERM'), 0, 'it ends');
begin('many', @follow);
arrive($_, $_, 'by one file again') foreach 'a', 'b', 'c';

# ------------------------------------------------------------------------
# Killed
# ------------------------------------------------------------------------

my $wholes = () = slurp('access.log') =~ /GET \S+\.bloom /g;
finish('many', 'KILL');
begin('many', @follow);
arrive($_, $_, 'after it was killed') foreach 'a', 'b', 'c';
is(scalar(() = slurp('access.log') =~ /GET \S+\.bloom /g), $wholes, 'by steps: what was there is taken up');
refuses(qr/"hosts\/a.bloom"/, '', 'pull', '--url', "$url/a", '--allow-http', '--out', 'hosts/a.bloom');
is(finish('many', 'TERM'), 0, 'it ends with 0');
is(wrong("hosts/$_.bloom"), '', "status is content with $_, which it leaves") foreach 'a', 'b', 'c';

# ------------------------------------------------------------------------
# A slow server, and a dead one
# ------------------------------------------------------------------------

# Answers one request out of www; whether the client is still there.
sub answer
{
	my ($client, $rate, $ranges, $delay) = @_;
	my ($path, $from);
	while (defined(my $line = <$client>))
	{
		last if $line =~ /^\r?\n/;
		$path = $1 if $line =~ m{^GET (\S+)};
		$from = $1 if $ranges && $line =~ /^Range: bytes=(\d+)-/;
	}
	return 0 if !defined $path;
	$from //= 0;
	open my $log, '>>', "requests.$rate" or die;
	print $log "$path $from\n";
	close $log;
	my $content = -e "www$path" ? slurp("www$path") : '';
	my $rest = substr $content, $from;
	Time::HiRes::sleep($delay) if $path =~ /\.bloom$/;
	print $client $from > 0 ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes $from-" . (length($content) - 1) . '/' . length($content) . "\r\n" : "HTTP/1.1 200 OK\r\n",
		'Content-Length: ', length($rest), "\r\n\r\n";
	my $piece = $path =~ /\.bloom$/ ? int($rate / 10) : length $rest;
	while (length $rest)
	{
		print $client substr $rest, 0, $piece, '' or return 0;
		Time::HiRes::sleep(0.1) if length $rest;
	}
	return 1;
}

# A server of www that keeps connections, so many bytes a second of files, after a delay; each
# request is noted in requests.RATE with where it begins.
my @tricklers;
sub trickle
{
	my ($rate, $ranges, $delay) = @_;
	my $door = IO::Socket::INET->new(Listen => 10, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die "socket: $!";
	my $trickler = fork() // die "fork: $!";
	if ($trickler > 0)
	{
		push @tricklers, $trickler;
		return 'http://127.0.0.1:' . $door->sockport;
	}
	@tricklers = ();
	$SIG{PIPE} = 'IGNORE';
	while (my $client = $door->accept)
	{
		$client->autoflush(1);
		while (answer($client, $rate, $ranges, $delay)) { }
		close $client;
	}
	exit 0;
}
END { kill 'KILL', @tricklers if @tricklers; }

sql('SET search_path = public, ext; CREATE TABLE large (id bigint); CREATE INDEX large_filter ON large USING bloomfilter (id) WITH (n = 700000)');
add('large', 1, 1000);
is((export('large'))[0], 0, 'a list of some 840,000 bytes');
publish('parts', 4, 1, 1000);
is((run('', 'export', '--dsn', $dsn, '--list', 'parts', '--to', 'www/parts', '--poll', '1'))[0], 0, 'and one of four parts');

# A file that takes longer than any turn, of a server without ranges that begins it late, on a
# connection that the manifest had, too; it is waited for at the end.
mkdir 'late';
spew('late.conf', $head . (list('large', trickle(45000, 0, 3) . '/large') . list('b', "$url/b")) =~ s/hosts/late/gr);
begin('late', program(), 'pull', '--config', 'late.conf');

unlink glob 'hosts/*';
spew('many.conf', $head . list('large', trickle(20000, 1, 0) . '/large'));
begin('many', @follow);
ok(wait_for(60, sub { -e 'requests.20000' && slurp('requests.20000') =~ m{^/large/\S+\.bloom 0$}m }), 'a file that comes slowly delays no list');
spew('many.conf', $head . list('large', slurp('many.conf') =~ /^url = (.*)/m) . list('a', "$url/a"));
ok(wait_for(120, sub { -e 'hosts/a.bloom' || -e 'hosts/large.bloom' }), 'the file of lists has changed meanwhile');
ok(!-e 'hosts/large.bloom', 'which is taken while the transfer lasts');
is(finish('many', 'TERM'), 0, 'it ends');

my $slow = trickle(120000, 1, 0);
# takes connections, and never says anything; and one that takes none, as a host that is gone
my ($silent, $full) = map { IO::Socket::INET->new(Listen => $_, LocalAddr => '127.0.0.1') or die "socket: $!" } 10, 1;
my @waiting = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0) } 1 .. 4;

unlink glob 'hosts/*';
spew('many.conf', $head . list('silent', 'http://127.0.0.1:' . $silent->sockport) . list('full', 'http://127.0.0.1:' . $full->sockport) . list('large', "$slow/large") . list('parts', "$slow/parts") . list('a', "$url/a"));
begin('many', @follow);
ok(wait_for(60, sub { -e 'requests.120000' && slurp('requests.120000') =~ m{^/large/\S+\.bloom 0$}m }), 'a large file is on its way from a slow server');
arrive('a', 'a', 'meanwhile, in another list');
ok(!-e 'hosts/large.bloom', 'before the large file is here');
ok(wait_for(120, sub { -e 'hosts/large.bloom' && has('hosts/large.bloom', 1 .. 1000) }), 'which comes in the end');
ok(wait_for(120, sub { -e 'hosts/parts.bloom' && has('hosts/parts.bloom', 1 .. 1000) }), 'and so do the parts of the other');
my @requests = grep { /\.bloom / } split /\n/, slurp('requests.120000');
my %from;
push @{ $from{ (split / /)[0] } }, (split / /)[1] foreach @requests;
my ($large) = grep { m{^/large/} } keys %from;
cmp_ok(scalar(@{ $from{$large} }), '>', 1, 'in several pieces');
foreach my $file (sort keys %from)
{
	my @sorted = sort { $a <=> $b } @{ $from{$file} };
	is_deeply($from{$file}, \@sorted, "each begins where the one before ended");
	is(scalar(grep { $_ == 0 } @sorted), 1, 'and nothing is fetched twice');
}
like(slurp('.many.log'), qr/bloomfilter: $_: http:\S+: next to nothing came in 2 s, while other lists wait/, "a server that is $_ is not waited for") foreach 'silent', 'full';
unlike(slurp('.many.log'), qr/bloomfilter: full: .*next to nothing came in [^2]/, 'nor longer where nobody takes the connection');
arrive('a', 'a', 'beside it');
is(finish('many', 'TERM'), 0, 'it ends');

ok(wait_for(240, sub { -e 'late/large.bloom' && has('late/large.bloom', 1 .. 1000) }), 'of a server without ranges a file comes in the end') || diag(slurp('.late.log'), slurp('requests.45000'));
like(slurp('.late.log'), qr/large: http:\S+: a file didn't come in \d+ s, while other lists wait: turn ranges on/, 'and what to do is said');
is(finish('late', 'TERM'), 0, 'it ends');

# ------------------------------------------------------------------------
# Lists that are too large
# ------------------------------------------------------------------------

# A manifest of whole files of so many bytes with a content of the first second, and other lines.
sub huge
{
	my ($serial, $lengths, @lines) = @_;
	my $i = 0;
	my $parts = @$lengths;
	mkdir 'www/huge';
	spew('www/huge/manifest', join "\n", 'bloomfilter-list 1', 'name huge', 'identity 00010203-0405-0607-0809-0a0b0c0d0e0f', 'exporter 5d9f6f3c1b2a4e70',
		"serial $serial", "content $serial", 'epoch 1000000', 'built 1000000', 'poll 1', 'spread 0', "parts $parts",
		(map { join ' ', 'whole', $i++, $serial, @$_ } @$lengths), @lines, '');
	return;
}

# A whole file of these keys in that folder: its length and digest.
sub whole_of
{
	build('www/huge/whole', [@_], '-n', 2000);
	my $bytes = slurp('www/huge/whole');
	rename 'www/huge/whole', 'www/huge/' . sha256_hex($bytes) . '.bloom';
	return [ length $bytes, sha256_hex($bytes) ];
}

my $digest = 'ab' x 32;
huge(1000000, [ map { [ 500_000_000, $digest ] } 1 .. 8192 ]);
unlink glob 'hosts/*';
spew('many.conf', $head . list('huge', "$url/huge", 'working = no') . list('a', "$url/a", 'working = no'));
($status, $out, $err) = pull('many.conf', '--once');
is($status, 2, 'a list of 4 TB is an error');
like($err, qr/^bloomfilter: huge: hosts\/huge.bloom: what the server has takes 7\.\d+ TiB of memory, and there are [\d.]+ [MG]iB: give this host/m, 'which tells what it takes and what there is');
unlike(slurp('access.log'), qr{GET /huge/\S+\.bloom}, 'before anything is fetched');
ok(has('hosts/a.bloom', 1 .. 1000), 'of that list alone');

huge(1000000, [ whole_of(1 .. 100) ]);
is((pull('many.conf', '--once'))[0], 0, 'when it is of a usual size it comes');
huge(2000000, [ whole_of(1 .. 200) ], "step 1000000 2000000 4000000000 $digest");
($status, $out, $err) = pull('many.conf', '--once');
like($err, qr/^bloomfilter: huge: hosts\/huge.bloom: the steps of the server are 3\.\d+ GiB, more than 16 times its whole files, and are not fetched/, 'steps that are longer than they may be are not fetched');
unlike(slurp('access.log'), qr{GET /huge/\S+\.patch}, 'in fact');
ok($status eq '0' && has('hosts/huge.bloom', 1 .. 200), 'but the whole is') || diag("$status: $err");

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_config WITH (FORCE)');
done_testing();
