# url_cache.t
#	  Patches that a cache says are not there, servers that ask for patience, and pages that are
#	  no manifest: bloomfilter pull --url waits, and goes on by itself.
#
# A web server of the test's own answers as it is told.  Needs a server with the extension.

use Digest::SHA qw(sha256_hex);

use CommandLine;
use Hosts;
use Server;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url_cache');
mkdir 'www';

# ------------------------------------------------------------------------
# The web server
# ------------------------------------------------------------------------

# Each line of "rules" is a pattern of paths, a status and headers that are sent for them.  What
# was asked for is in "requests", with the time.
sub answer
{
	my ($path) = @_;
	my ($status, $headers) = (-e "www$path" ? '200 OK' : '404 Not Found');
	foreach my $rule (split /\n/, slurp('rules'))
	{
		my ($pattern, $answer, $more) = split /\t/, $rule;
		($status, $headers) = ($answer, $more) if $path =~ /$pattern/;
	}
	open my $log, '>>', 'requests' or die;
	printf $log "%.3f %s %s\n", clock_gettime(CLOCK_MONOTONIC), $path, $status;
	close $log;
	return ($status, [ $headers // () ], $status =~ /^200/ && -e "www$path" ? slurp("www$path") : '<html>');
}

sub rules { spew('rules.new', join '', map { "$_\n" } @_); rename 'rules.new', 'rules'; return; }
sub requests { my ($pattern) = @_; return grep { /$pattern/ } split /\n/, slurp('requests'); }

rules();
spew('requests', '');
my $url = begin_web(\&answer) . '/users';

# ------------------------------------------------------------------------
# A host, and keys that come
# ------------------------------------------------------------------------

make_index(100000);

# More than goes into the manifest, so that there is a file.
my $next = 1;

sub add
{
	my ($count) = @_;
	sql("INSERT INTO users SELECT generate_series($next, $next + $count - 1)");
	$next += $count;
	is((run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--poll', '1'))[0], 0, "keys before $next are exported");
	return;
}

# Another manifest of the same content
sub change
{
	my ($edit) = @_;
	spew('www/users/manifest', $edit->(slurp('www/users/manifest')) =~ s/^serial (\d+)/'serial ' . ($1 + 1)/emr);
	return;
}

# Failures are forgotten so, and with them the time between two looks.
sub restart
{
	finish('host', 'TERM');
	begin('host', program(), 'pull', '--url', $url, '--allow-http', '--out', 'u.bloom', '--follow', '--every', '1');
	return;
}

sub is_current { return page_serial('u.bloom') == manifest('users')->{content}[0] && has('u.bloom', 1 .. $next - 1); }

# The whole file of what there is now, as another host has it: its content and the manifest's line.
sub publish_whole
{
	is((by_url('users', 'whole.bloom'))[0], 0, 'another host has the whole');
	run('', 'copy', 'whole.bloom', 'whole.filter');
	my $name = sha256_hex(slurp('whole.filter'));
	my $content = manifest('users')->{content}[0];
	system("cp whole.filter www/users/$name.bloom");
	return change(sub { $_[0] =~ s/^whole 0 .*/"whole 0 $content " . (-s 'whole.filter') . " $name"/mer });
}

add(1000);
restart();
ok(wait_for(30, sub { -e 'u.bloom' && is_current() }), 'a host follows');
is(scalar(requests(qr/\.bloom 200/)), 1, 'by a whole file');

# ------------------------------------------------------------------------
# A patch that isn't there
# ------------------------------------------------------------------------

rules("\\.patch\$\t404 Not Found");
spew('requests', '');
add(4000);
like(join(' ', keys %{ manifest('users') }), qr/patch/, 'a step of its own');
ok(!defined manifest('users')->{inline}, 'that is too long for the manifest');
ok(wait_for(60, sub { requests(qr/\.patch 404/) >= 2 }), 'a cache that says it is not there is asked again');
is(scalar(requests(qr/\.bloom /)), 0, 'and no whole file is fetched');
is(lacks('u.bloom', 1 .. 1000), 0, 'readers go on with what they had');
rules();
ok(wait_for(60, sub { is_current() }), 'once the cache has it, it is taken');
is(scalar(requests(qr/\.bloom /)), 0, 'without a whole file');

# One that never comes: whole files that don't have it would not help
rules("\\.patch\$\t404 Not Found");
add(4000);
spew('requests', '');
restart();
ok(wait_for(60, sub { requests(qr/\.patch 404/) >= 4 }), 'a patch that never comes is looked for again');
is(scalar(requests(qr/\.bloom /)), 0, 'and no whole file is fetched that does not have it');
cmp_ok(told('u.bloom')->{failures}, '>=', 2, 'these looks are failures, by status');

# One that has it is fetched, at a time of the host's own
finish('host', 'TERM');
rules();
publish_whole();
rules("\\.patch\$\t404 Not Found");
spew('requests', '');
restart();
ok(wait_for(60, sub { requests(qr/\.patch 404/) >= 4 }), 'a patch is missed');
is(scalar(requests(qr/\.bloom /)), 0, 'for minutes the whole file that has it is left to other hosts');
change(sub { $_[0] =~ s/^spread .*/spread 1/mr });
restart();
ok(wait_for(60, sub { is_current() }), 'where the manifest gives a second for that, it is fetched');
cmp_ok(scalar(requests(qr/\.patch 404/)), '>=', 7, 'after three looks');
is(scalar(requests(qr/\.bloom 200/)), 1, 'once');
is(status_word('u.bloom'), '', 'and status is content');
rules();

# ------------------------------------------------------------------------
# A manifest that isn't there, or no manifest
# ------------------------------------------------------------------------

rules("manifest\$\t404 Not Found");
ok(wait_for(90, sub { slurp('.host.log') =~ /manifest: the server answered 404/ }), 'a manifest that is answered by 404 is an error');
ok(-e 'u.bloom' && is_current(), 'and the file stays');
rules();
ok(wait_for(90, sub { told('u.bloom')->{failures} eq '0' }), 'until it is there again');
mkdir 'www/portal';
spew('www/portal/manifest', "<html>Sign in</html>\n");
rules("portal\t200 OK\tContent-Type: text/html; charset=utf-8");
like((by_url('portal', 'portal.bloom'))[2], qr/is no manifest \(content type "text\/html; charset=utf-8"\)/, 'the page of a captive portal is told by its type');
ok(!-e 'portal.bloom', 'and taken for nothing');
rules("portal\t200 OK\tContent-Type: \e]0;pwned\a\e[2J\x{c2}\x{9b}31m\x{e2}\x{80}\x{ae}");
my $said = (by_url('portal', 'portal.bloom'))[2];
like($said, qr/is no manifest \(content type "[^"]*pwned/, 'what a server says is shown');
unlike($said, qr/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]/, 'without what a terminal would obey');

# ------------------------------------------------------------------------
# Patience that a server asks for
# ------------------------------------------------------------------------

spew('requests', '');
rules("manifest\$\t429 Too Many Requests\tRetry-After: 5");
ok(wait_for(60, sub { requests(qr/manifest 429/) >= 2 }), 'a server that answers 429, Retry-After: 5');
my ($first, $second) = map { (split / /)[0] } requests(qr/manifest 429/);
cmp_ok($second - $first, '>=', 4.9, 'is left alone so long');
rules();
ok(wait_for(60, sub { requests(qr/manifest 200/) > 0 }), 'and looked at again');
is(finish('host', 'TERM'), 0, 'the host ends');

done_testing();
