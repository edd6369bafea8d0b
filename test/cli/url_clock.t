# url_clock.t
#	  Clocks that are a day wrong, of the host that follows, of the one that asks for its
#	  status, and of the exporter.
#
# faketime gives one program another time.  Needs a server with the extension, nginx, and a
# program without sanitizers, which don't go with it.

use Cwd qw(abs_path);
my $plain;
BEGIN { $plain = abs_path($ENV{BLOOMFILTER_PLAIN}) if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Hosts;
use Server;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url_clock');
plan skip_all => 'no program without sanitizers: set BLOOMFILTER_PLAIN, or run make -C test/cli check-pull'
  if !defined $plain || !-x $plain;
my ($library) = glob '/usr/lib/*/faketime/libfaketime.so.1';
plan skip_all => 'faketime is not installed' if !defined $library;

my @ages = ('99999999999999999999', '-86400');
my $url = begin_nginx(free_port(), 'location = /users/manifest { if (-f $document_root/held) { return 304; } }',
	map { "location /age$_/ { add_header Age $_; }" } @ages);
my @export = ('export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--expires', '86400');
my @pull = ('pull', '--url', "$url/users", '--allow-http');

make_index(1000);
sql('INSERT INTO users SELECT generate_series(1, 300)');
is((run('', @export))[0], 0, 'an index is exported');

# What faketime leaves in memory of each program that doesn't end by exit.
my $owner = $$;
my @leavings = ('/dev/shm/faketime_shm_*', '/dev/shm/sem.faketime_sem_*');
my %left_by_others = map { $_ => 1 } map { glob } @leavings;
END { unlink grep { !$left_by_others{$_} } map { glob } @leavings if defined $owner && $owner == $$; }

# A program to which it is so many hours later: its status and what it says.
sub later
{
	my ($hours, @command) = @_;
	local %ENV = (%ENV, LD_PRELOAD => $library, FAKETIME => sprintf('%+dh', $hours), FAKETIME_DONT_FAKE_MONOTONIC => 1, DONT_FAKE_MONOTONIC => 1);
	my $text = `$plain @{[ map { quotemeta } @command ]} 2>&1`;
	return (ending(), $text);
}

sub words
{
	my ($hours, $file, @limits) = @_;
	my ($status, $text) = later($hours, 'status', '--json', @limits, $file);
	return $text =~ /"wrong": \[(.*?)\]/ ? $1 =~ tr/"//dr : $text;
}

# ------------------------------------------------------------------------
# The host's clock
# ------------------------------------------------------------------------

is((later(0, @pull, '--out', 'right.bloom'))[0], 0, 'with the right clock a host pulls');
is(words(0, 'right.bloom', '--max-true-age', 7200), '', 'and nothing is wrong');

my ($status, $text) = later(-20, @pull, '--out', 'behind.bloom');
is($status, 0, 'a host whose clock is 20 hours behind pulls, too') || diag($text);
is(lacks('behind.bloom', 1 .. 300), 0, 'and has all keys');
is(words(-20, 'behind.bloom'), 'clock', 'but its status says that the clock is wrong');
like((later(-20, 'status', 'behind.bloom'))[1], qr/clock is \d+ s behind the web server's/, 'by how much');
like((later(-20, 'status', '--max-true-age', 7200, 'behind.bloom'))[1], qr/old: up to when it has all that was committed is not known/, 'and that it can not know how old the list is');

($status, $text) = later(-72, @pull, '--out', 'far.bloom');
ok($status == 1 && $text =~ /serial is of the future: this clock or the exporter's is wrong/, 'three days behind nothing is taken') || diag("$status $text");
is(words(-72, 'far.bloom'), 'waiting', 'and status says that there is no file');

($status, $text) = later(20, @pull, '--out', 'ahead.bloom');
is($status, 0, 'a host whose clock is 20 hours ahead pulls') || diag($text);
is(words(20, 'ahead.bloom', '--max-true-age', 7200), 'old, clock', 'and its status says that it is wrong, and the list rather too old than too fresh');
($status, $text) = later(48, @pull, '--out', 'expired.bloom');
ok($status == 1 && $text =~ /it has expired/, 'two days ahead what was signed for a day has expired') || diag("$status $text");

# What has expired by the server's clock has expired, though this host's says otherwise
mkdir 'www/old';
spew('www/old/manifest', slurp('www/users/manifest') =~ s/^expires (\d+)/'expires ' . ($1 - 86400 * 1000000 - 3600 * 1000000)/emr);
($status, $text) = later(-20, 'pull', '--url', "$url/old", '--allow-http', '--out', 'old.bloom');
ok($status == 1 && $text =~ /it has expired/, 'a host that is behind does not take what expired an hour ago') || diag("$status $text");

# What a cache says of the age of its answer doesn't make it later
foreach my $age (@ages)
{
	mkdir "www/age$age";
	spew("www/age$age/manifest", slurp('www/users/manifest') =~ s/^expires (\d+)/'expires ' . ($1 - 2 * 86400 * 1000000)/emr);
	($status, $text) = later(0, 'pull', '--url', "$url/age$age", '--allow-http', '--out', 'aged.bloom');
	ok($status == 1 && $text =~ /it has expired/ && !-e 'aged.bloom', "nor with an age of $age") || diag("$status $text");
}

# ------------------------------------------------------------------------
# The clock steps after the look
# ------------------------------------------------------------------------

is(words(-24, 'right.bloom'), '', 'set back by a day: the time since the boot tells how old it is');
like(words(24, 'right.bloom', '--max-age', 7200), qr/old/, 'set forward by a day: it is old');

# The time of a follower, which may change while it runs.
sub set_clock { my ($hours) = @_; spew('clock.new', sprintf "%+dh\n", $hours); rename 'clock.new', 'clock' or die; return; }

set_clock(0);
{
	local %ENV = (%ENV, LD_PRELOAD => $library, FAKETIME_TIMESTAMP_FILE => 'clock', FAKETIME_NO_CACHE => 1, FAKETIME_DONT_FAKE_MONOTONIC => 1, DONT_FAKE_MONOTONIC => 1);
	begin('host', $plain, @pull, '--out', 'working.bloom', '--follow', '--every', '1');
}
ok(wait_for(30, sub { page_serial('working.bloom') > 0 }), 'a follower with the right clock');
is(words(-24, 'working.bloom'), '', 'asked by a clock that is a day behind');
spew('www/held', '');
set_clock(48);
ok(wait_for(30, sub { slurp('.host.log') =~ /it has expired/ }), 'a list of which the server says for ever that it is unchanged expires') || diag(slurp('.host.log'));
unlink 'www/held' or die;
finish('host', 'TERM');

# ------------------------------------------------------------------------
# The exporter's clock
# ------------------------------------------------------------------------

my $before = slurp('www/users/manifest');
foreach my $hours (-24, 24)
{
	($status, $text) = later($hours, @export);
	ok($status == 2 && $text =~ /clock and the server's differ by \d+ s; set them right/, "an exporter whose clock is $hours h wrong refuses") || diag("$status $text");
	is(slurp('www/users/manifest'), $before, 'and publishes nothing');
}
is((later(0, @export))[0], 0, 'with the right clock it goes on');

done_testing();
