# url_edges.t
#	  The edges of bloomfilter export and pull --url: looks that find nothing, transfers that
#	  are interrupted, a second exporter, the sweep, another boot, and the words of status.
#
# Needs a server with the extension and nginx; minisign for the signature's word.
# Everything listens on loopback.  Each wait is for a condition.

use strict;
use warnings;

use FindBin;
use IO::Socket::INET;
use lib $FindBin::Bin;

use CommandLine;
use Hosts;
use Server;
use Test::More;
use XXH64;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url_edges');
mkdir 'hosts';
my $port = free_port();
my $url = begin_nginx($port, 'location /secret/ { if ($http_authorization != "Bearer hush") { return 403; } }',
	'location /fresh/ { if ($http_cache_control != "max-age=0") { return 403; } }',
	'location /moved/ { return 302 /users/manifest; }');

sub export { return run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', @_); }
sub pull { return run('', 'pull', '--url', @_); }
sub add { my ($first, $last) = @_; sql("INSERT INTO users SELECT generate_series($first, $last)"); return; }

# The status of a file in each form: exit status, words that are wrong, and Prometheus' for a word.
sub words
{
	my ($file, @more) = @_;
	my ($status, undef, $err) = run('', 'status', '--quiet', @more, $file);
	my @json = (run('', 'status', '--json', @more, $file))[1] =~ /"wrong": \[(.*?)\]/;
	return "$status $json[0]";
}

sub metric
{
	my ($file, $word) = @_;
	return (run('', 'status', '--prometheus', $file))[1] =~ /^bloomfilter_wrong\{file="\Q$file\E",list="[^"]*",reason="$word"\} ([01])$/m ? $1 : 'none';
}

sql('SET search_path = public, ext; CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 20000)');
add(1, 1000);
my @to = ('www/users', '--poll', '1');
is((export(@to))[0], 0, 'an index is exported');

# ------------------------------------------------------------------------
# A look that finds nothing
# ------------------------------------------------------------------------

my @follow = ('--allow-http', '--follow', '--every', '1');
begin('host', program(), 'pull', '--url', "$url/users", '--out', 'hosts/u.bloom', @follow);
ok(wait_for(30, sub { slurp('access.log') =~ m{"GET /users/manifest HTTP/1.1" 304 } }), 'an unchanged manifest is answered by 304');
my $serial = manifest('users')->{content}[0];
ok(wait_for(30, sub { slurp('access.log') =~ m{"bloomfilter-pull/\S+ \(public.users_filter $serial; formats 1, 2\)"} }), 'the log tells the list and its serial');
is(words('hosts/u.bloom'), '0 ', 'status is content');
add(2000, 2099);
export(@to);
ok(wait_for(30, sub { has('hosts/u.bloom', 2000 .. 2099) }), 'after it new keys are taken');
my $content = manifest('users')->{content}[0];
ok(wait_for(30, sub { (run('', 'status', 'hosts/u.bloom'))[1] =~ /^serial\s+$content$/m }), 'and the serial is that of the content');
is(finish('host', 'TERM'), 0, 'the follower ends');
# However long a start takes: without it, three times --every.
is(words('hosts/u.bloom', '--max-age', 60), '0 ', 'status is content with the file that it leaves');

# ------------------------------------------------------------------------
# A web server that fails
# ------------------------------------------------------------------------

# Answers requests out of www/users.  For each fetch of a .bloom file the next line of
# "cuts" counts: "half" ends it in the middle, "wrong" says another range, "all" knows of none.
sub serve
{
	my ($door) = @_;
	while (my $client = $door->accept)
	{
		my ($path, $from) = ('', 0);
		while (defined(my $line = <$client>))
		{
			last if $line =~ /^\r?\n/;
			$path = $1 if $line =~ m{^GET (\S+)};
			$from = $1 if $line =~ /^Range: bytes=(\d+)-/;
		}
		my $content = -e "www$path" ? slurp("www$path") : '';
		my @cuts = split /\n/, slurp('cuts');
		my $cut = $path =~ /\.bloom$/ && @cuts ? shift @cuts : '';
		spew('cuts', join '', map { "$_\n" } @cuts) if $cut ne '';
		open my $log, '>>', 'requests' or die;
		print $log "$path $from $cut\n";
		close $log;
		$from = 0 if $cut eq 'all' || $from >= length $content;
		my $first = $cut eq 'wrong' ? $from + 1 : $from;
		my $rest = substr $content, $from;
		print $client $from > 0 ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes $first-" . (length($content) - 1) . '/' . length($content) . "\r\n" : "HTTP/1.1 200 OK\r\n",
			'Content-Length: ', length($rest), "\r\nConnection: close\r\n\r\n", $cut eq 'half' ? substr($rest, 0, length($rest) / 2) : $rest;
		close $client;
	}
	exit 0;
}

my $door = IO::Socket::INET->new(Listen => 10, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die "socket: $!";
my $broken = 'http://127.0.0.1:' . $door->sockport;
spew('cuts', '');
my $server = fork() // die "fork: $!";
serve($door) if $server == 0;
close $door;
END { kill 'KILL', $server if $server; }

foreach my $try ([ "half\n", 'an interrupted transfer is gone on with', qr/\A\S+ 0 half\n\S+ [1-9]\d* \n\z/ ],
	[ "half\nhalf\n", 'twice', qr/\A\S+ 0 half\n\S+ ([1-9]\d*) half\n\S+ (?!\1 )[1-9]\d* \n\z/ ],
	[ "half\nall\n", 'a server without ranges sends all of it', qr/\A\S+ 0 half\n\S+ [1-9]\d* all\n\z/ ],
	[ "half\nwrong\n", 'after a wrong range it begins anew', qr/\A\S+ 0 half\n\S+ [1-9]\d* wrong\n\S+ 0 \n\z/ ])
{
	my ($cuts, $name, $pattern) = @$try;
	spew('cuts', $cuts);
	spew('requests', '');
	begin('broken', program(), 'pull', '--url', "$broken/users", '--out', 'hosts/b.bloom', @follow);
	ok(wait_for(60, sub { -e 'hosts/b.bloom' && has('hosts/b.bloom', 1 .. 1000, 2000 .. 2099) }), $name);
	finish('broken', 'TERM');
	my $requests = join '', grep { /\.bloom / } map { "$_\n" } split /\n/, slurp('requests');
	like($requests, $pattern, 'by these requests');
	unlink glob('hosts/b.bloom*');
}

# ------------------------------------------------------------------------
# Options
# ------------------------------------------------------------------------

system('cp', '-r', 'www/users', 'www/secret');
like((pull("$url/secret", '--allow-http', '--out', 'secret.bloom'))[2], qr/answered 403/, 'without a header the server refuses');
spew('headers', "Authorization: Bearer hush\n");
my ($status, $out, $err) = pull("$url/secret", '--allow-http', '--out', 'secret.bloom', '--header-file', 'headers');
is($status, 0, 'with the header of --header-file it does not') || diag($err);
unlike("$out$err" . join('', map { slurp($_) } glob 'secret.bloom.*'), qr/hush/, 'which is told to nobody');
like((pull("$url/moved", '--allow-http', '--out', 'moved.bloom', '--header-file', 'headers'))[2], qr/answered 302/, 'nor taken to where a redirection leads');
is((pull("$url/moved", '--allow-http', '--out', 'moved.bloom'))[2] =~ /answered 302/, '', 'which is followed without secrets');
system('cp', '-r', 'www/users', 'www/fresh');
is((pull("$url/fresh", '--allow-http', '--out', 'fresh.bloom'))[0], 0, 'no cache between may answer without asking the server');
refuses(qr/cannot read "nothing"/, '', 'pull', '--url', "$url/secret", '--allow-http', '--out', 'x.bloom', '--header-file', 'nothing');

# ------------------------------------------------------------------------
# Two exporters, and another server
# ------------------------------------------------------------------------

is((export('www/two'))[0], 0, 'a folder for two exporters');
begin('first', program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/two', '--follow', '--every', '0.25', '--heartbeat', '1', '--quiet');
my $before = manifest('two')->{exporter}[0];
ok(wait_for(30, sub { manifest('two')->{exporter}[0] ne $before }), 'the first one writes');
refuses(qr/another process exports to "www\/two"/, '', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/two');

# The other host's exporter has the same folder over a network that knows no locks.
system('cp', '-r', 'www/two', 'www/three');
is((export('www/three'))[0], 0, 'the second one, on another host,');
system('cp www/three/*.bloom www/two/ && cp www/three/manifest www/two/new && mv www/two/new www/two/manifest');
ok(wait_for(30, sub { -e '.first.log' && slurp('.first.log') =~ /another exporter writes to "www\/two": this one ends/ }), 'makes the first one end');
is(manifest('two')->{exporter}[0], manifest('three')->{exporter}[0], 'and its manifest stays');
finish('first', 'TERM');

spew('www/three/.state', slurp('www/three/.state') =~ s/^server .*/server 1/mr);
refuses(qr/another server answers than the one before.*--new-source/, '', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/three');
my $epoch = manifest('three')->{epoch}[0];
is((export('www/three', '--new-source'))[0], 0, 'another server takes its place if told so');
is((export('www/three'))[0], 0, 'which need be said once');
is((pull("$url/three", '--allow-http', '--out', 'three.bloom'))[0] || has('three.bloom', 1 .. 1000), 1, 'and hosts have all keys');

# ------------------------------------------------------------------------
# What is deleted
# ------------------------------------------------------------------------

# Files of the folder that nobody names, so many hours old.
sub leave
{
	my ($ending, $hours) = @_;
	my $name = sprintf('www/three/%064x', 1000 * $hours + length $ending) . $ending;
	spew($name, 'x' x 1000);
	utime time - 3600 * $hours, time - 3600 * $hours, $name;
	return $name;
}

my ($named) = glob 'www/three/*.bloom';
utime 0, 0, glob 'www/three/*.bloom';
my %is = (young_patch => leave('.patch', 0.5), patch => leave('.patch', 2), whole => leave('.bloom', 2), old_patch => leave('.patch', 25), old_whole => leave('.bloom', 25));
spew('www/three/mine.txt', 'mine');
utime 0, 0, 'www/three/mine.txt';
export('www/three');
is(join(' ', grep { -e $is{$_} } sort keys %is), 'patch whole young_patch', 'what nobody named for a day goes');
ok(-e "www/three/" . (manifest('three')->{whole}[0] =~ /(\w{64})$/)[0] . '.bloom', 'what the manifest names stays, however old');
ok(-e 'www/three/mine.txt', 'and so does what others put there');

system('cp', '-r', 'www/users', 'www/old');
add(3000, 3099);
export(@to);

# ------------------------------------------------------------------------
# The words of status
# ------------------------------------------------------------------------

my @out = ('--allow-http', '--out', 'word.bloom');
pull("$url/users", @out);
is(words('word.bloom'), '0 ', 'a file with which nothing is wrong');
is(metric('word.bloom', $_), 0, "its metric $_") foreach 'signature', 'old', 'back';
sub bad
{
	my ($word, $edit, @options) = @_;
	system('rm', '-rf', 'www/bad');
	system('cp', '-r', 'www/users', 'www/bad');
	spew('www/bad/manifest', $edit->(slurp('www/bad/manifest')));
	is((pull("$url/bad", @out, @options))[0], 1, "$word: refused by exit status 1");
	is(words('word.bloom'), qq(1 "$word"), "$word: the word of status");
	is(metric('word.bloom', $word), 1, "$word: its metric");
	like((run('', 'status', '--prometheus', 'word.bloom'))[1], qr/^bloomfilter_healthy\{[^}]*\} 0$/m, "$word: not healthy");
	is((run('', 'status', 'word.bloom'))[1] =~ /^wrong\s+(.*)$/m ? $1 : '', $word, "$word: in the text");
	return;
}
my $key = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3';
bad('signature', sub { $_[0] }, '--key', $key);
bad('old', sub { $_[0] =~ s/^poll /expires 1700000000000000\npoll /mr });
bad('clock', sub { $_[0] =~ s/^serial .*/serial 9000000000000000000/mr });
bad('identity', sub { $_[0] =~ s/^name .*/name other/mr });
bad('identity', sub { $_[0] =~ s/^identity .*/identity 0f8fad5b-d9cb-469f-a165-70867728950e/mr });
bad('back', sub { $_[0] =~ s/^poll .*/poll 77/mr });
bad('back', sub { slurp('www/old/manifest') });
pull("$url/users", @out);
is(words('word.bloom'), '0 ', 'a look that goes well ends it');
is(metric('word.bloom', 'back'), 0, 'in the metrics, too');

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_edges WITH (FORCE)');
done_testing();
