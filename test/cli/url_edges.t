# url_edges.t
#	  The edges of bloomfilter export and pull --url: looks that find nothing, transfers that
#	  are interrupted, a second exporter, the sweep, another boot, and the words of status.
#
# Needs a server with the extension and nginx; minisign for the signature's word.
# Everything listens on loopback.  Each wait is for a condition.

use IO::Socket::INET;
use CommandLine;
use Hosts;
use Server;

skip_leaks();
# What status says is tested here.
$CommandLine::asked = program();

my $dsn = own_database('bloomfilter_cli_url_edges');
mkdir 'hosts';
my $url = begin_nginx(free_port(), 'location /secret/ { if ($http_authorization != "Bearer hush") { return 403; } }',
	'location /held/ { return 304; }', 'location /fresh/ { if ($http_cache_control != "max-age=0") { return 403; } }');

sub export { return run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', @_); }
sub add { my ($first, $last) = @_; sql("INSERT INTO users SELECT generate_series($first, $last)"); return; }

# The status of a file in each form: exit status, words that are wrong, and Prometheus' for a word.
sub words
{
	my ($file, @more) = @_;
	my ($status) = run('', 'status', '--quiet', @more, $file);
	my @json = (run('', 'status', '--json', @more, $file))[1] =~ /"wrong": \[(.*?)\]/;
	return "$status $json[0]";
}

sub metric
{
	my ($file, $word) = @_;
	return (run('', 'status', '--prometheus', $file))[1] =~ /^bloomfilter_wrong\{file="\Q$file\E",list="[^"]*",reason="$word"\} ([01])$/m ? $1 : 'none';
}

make_index(20000);
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
like(join(' ', (by_url('held', 'held.bloom'))[0, 2]), qr/^2 .*answered 304$/, 'but it is no answer to who has nothing');
add(2000, 2099);
export(@to);
my $content = manifest('users')->{content}[0];
ok(wait_for(30, sub { page_serial('hosts/u.bloom') == $content && has('hosts/u.bloom', 2000 .. 2099) }), 'after it new keys are taken, and their serial');
is(finish('host', 'TERM'), 0, 'the follower ends');
# However long a start takes: without it, three times --every.
is(words('hosts/u.bloom', '--max-age', 3600), '0 ', 'status is content with the file that it leaves');

# ------------------------------------------------------------------------
# A web server that fails
# ------------------------------------------------------------------------

# Answers requests out of www/users.  For each fetch of a .bloom file the next line of
# "cuts" counts: "half" ends it in the middle, "wrong" says another range, "all" knows of none.
sub answer
{
	my ($path, $from) = @_;
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
	my $most = $cut eq 'half' ? int(length($rest) / 2) : length $rest;
	return ('200 OK', [], $rest, $most) if $from == 0;
	return ('206 Partial Content', [ "Content-Range: bytes $first-" . (length($content) - 1) . '/' . length $content ], $rest, $most);
}

spew('cuts', '');
my $broken = begin_web(\&answer);

foreach my $try ([ "half\n", 'an interrupted transfer is gone on with', qr/\A\S+ 0 half\n\S+ [1-9]\d* \n\z/ ],
	[ "half\nall\n", 'a server without ranges sends all of it', qr/\A\S+ 0 half\n\S+ [1-9]\d* all\n\z/ ],
	[ "half\nwrong\n", 'after a wrong range it begins anew', qr/\A\S+ 0 half\n\S+ [1-9]\d* wrong\n\S+ 0 \n\z/ ])
{
	my ($cuts, $name, $pattern) = @$try;
	spew('cuts', $cuts);
	spew('requests', '');
	begin('broken', program(), 'pull', '--url', "$broken/users", '--out', 'hosts/b.bloom', @follow);
	ok(wait_for(60, sub { has('hosts/b.bloom', 1 .. 1000, 2000 .. 2099) }), $name);
	finish('broken', 'TERM');
	my $requests = join '', grep { /\.bloom / } map { "$_\n" } split /\n/, slurp('requests');
	like($requests, $pattern, 'by these requests');
	unlink glob('hosts/b.bloom*');
}

# ------------------------------------------------------------------------
# Options
# ------------------------------------------------------------------------

system('cp', '-r', 'www/users', 'www/secret');
my $refused = (by_url('secret?token=hush', 'secret.bloom'))[2];
ok($refused =~ /answered 403/ && $refused !~ /hush/, 'without a header the server refuses, and the query of an address is told to nobody') || diag($refused);
spew('headers', "Authorization: Bearer hush\n");
my ($status, $out, $err) = by_url('secret', 'secret.bloom', '--header-file', 'headers');
is($status, 0, 'with the header of --header-file it does not') || diag($err);
unlike("$out$err" . join('', map { slurp($_) } glob 'secret.bloom.*'), qr/hush/, 'which is told to nobody');
system('cp', '-r', 'www/users', 'www/fresh');
is((by_url('fresh', 'fresh.bloom'))[0], 0, 'no cache between may answer without asking the server');
refuses(qr/cannot read "\Q$_\E"/, '', 'pull', '--url', "$url/secret", '--allow-http', '--out', 'x.bloom', '--header-file', $_) foreach 'nothing', '.';
refuses(qr/^(?!.*hush).*no user and password/, '', 'pull', '--url', $url =~ s{//}{//app:hush@}r, '--allow-http', '--out', 'x.bloom');

# ------------------------------------------------------------------------
# Two exporters, and another server
# ------------------------------------------------------------------------

is((export('www/two'))[0], 0, 'a folder for two exporters');
begin('first', program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/two', '--follow', '--every', '0.25', '--heartbeat', '1', '--quiet');
my $before = manifest('two')->{exporter}[0];
ok(wait_for(30, sub { manifest('two')->{exporter}[0] ne $before }), 'the first one writes');

# The other host's exporter has the same folder over a network that knows no locks.
system('cp', '-r', 'www/two', 'www/three');
is((export('www/three'))[0], 0, 'the second one, on another host,');
system('cp www/three/*.bloom www/two/ && cp www/three/manifest www/two/new && mv www/two/new www/two/manifest');
ok(wait_for(30, sub { -e '.first.log' && slurp('.first.log') =~ /another exporter writes to "www\/two": this one ends/ }), 'makes the first one end');
is(manifest('two')->{exporter}[0], manifest('three')->{exporter}[0], 'and its manifest stays');
finish('first', 'TERM');

spew('www/three/.state', slurp('www/three/.state') =~ s/^server .*/server 1/mr);
refuses(qr/another server answers than the one before.*--new-source/, '', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/three');
is((export('www/three', '--new-source'))[0], 0, 'another server takes its place if told so');
is((export('www/three'))[0], 0, 'which need be said once');
is((by_url('three', 'three.bloom'))[0] . lacks('three.bloom', 1 .. 1000), '00', 'and hosts pull it, with all keys');

system('cp', '-r', 'www/users', 'www/old');
add(3000, 3099);
export(@to);

# ------------------------------------------------------------------------
# The words of status
# ------------------------------------------------------------------------

by_url('users', 'word.bloom');
like((by_url('users', 'word.bloom', '--name', 'x'))[2], qr/is the list "public.users_filter", not "x"/, 'another name than is asked for');
is(words('word.bloom'), '0 ', 'a file with which nothing is wrong');
is(metric('word.bloom', 'old'), 0, 'its metrics say so, too');
my $bits = substr slurp('word.bloom'), 4096;
sub bad
{
	my ($word, $pattern, $edit, @options) = @_;
	system('rm', '-rf', 'www/bad');
	system('cp', '-r', 'www/users', 'www/bad');
	spew('www/bad/manifest', $edit->(slurp('www/bad/manifest')));
	my ($refused, undef, $why) = by_url('bad', 'word.bloom', @options);
	like("$refused $why", qr/^1 .*$pattern/s, "$word: refused by an error that says why");
	is($bits, substr(slurp('word.bloom'), 4096), "$word: and the file stays");
	is(words('word.bloom'), qq(1 "$word"), "$word: the word of status");
	is(metric('word.bloom', $word), 1, "$word: its metric");
	return;
}
my $key = 'RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3';
bad('signature', qr/no right signature/, sub { $_[0] }, '--key', $key);
bad('old', qr/it has expired/, sub { $_[0] =~ s/^poll /expires 1700000000000000\npoll /mr });
bad('clock', qr/serial is of the future/, sub { $_[0] =~ s/^serial .*/serial 9000000000000000000/mr });
bad('identity', qr/is the list "public.users_filter", not "other"/, sub { $_[0] =~ s/^name .*/name other/mr });
bad('identity', qr/another list of this name/, sub { $_[0] =~ s/^identity .*/identity 0f8fad5b-d9cb-469f-a165-70867728950e/mr });
bad('back', qr/two different ones of one serial/, sub { $_[0] =~ s/^poll .*/poll 77/mr });
bad('back', qr/older than what was here/, sub { slurp('www/old/manifest') });
is((run('', 'status', 'word.bloom'))[1] =~ /^wrong\s+(.*)$/m ? $1 : '', 'back', 'the text of status has the word');
is((by_url('old', 'word.bloom', '--allow-older'))[0], 0, 'unless it is told to');
ok(!has('word.bloom', 3000 .. 3099), 'then the older one is there');
is((by_url('users', 'word.bloom'))[0], 0, 'and the newer one again');
is(words('word.bloom'), '0 ', 'a look that goes well ends it');

done_testing();
