# url_full.t
#	  No room in memory for a working copy, and no room on the disk of FILE: programs go on
#	  with what there is, and the follower by itself when there is room again.
#
# Small file systems in memory stand for both: mounting them needs root.  Needs a server with
# the extension, and nginx.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Hosts;
use Readers;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_url_full');
plan skip_all => 'mounting a file system needs root' if $> != 0;
chomp(my $here = `pwd`);
mkdir $_ foreach 'memory', 'disk';
plan skip_all => 'no file system can be mounted here'
  if system("mount -t tmpfs -o size=1m none $here/memory 2>/dev/null && mount -t tmpfs -o size=1m none $here/disk 2>/dev/null") != 0;
my $owner = $$;
END { my $status = $?; system("umount -l $here/memory $here/disk 2>/dev/null") if defined $owner && $owner == $$; $? = $status; }

my $url = begin_nginx(free_port());
my $next = 1;

sub add
{
	my ($count, $more) = @_;
	my ($first, $last) = ($next, $next + $count - 1);
	$next += $count;
	sql("INSERT INTO users SELECT generate_series($first, $last);" . ($more // ''));
	is((run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--poll', '1'))[0], 0, "keys to $last are exported");
	came_with(manifest('users')->{content}[0], $first .. $last);
	return;
}

# A filter of some 256 kB: three of them have no room in 1 MB beside something else.
sql('SET search_path = public, ext; CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 200000)');
add(300);

# The folder and the working copies of a host
sub follow
{
	my ($file, @more) = @_;
	begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', $file, '--follow', '--every', '1', @more);
	return;
}

sub is_current { my ($file) = @_; return -e $file && told($file) eq manifest('users')->{content}[0] && denied($file) =~ /denied 0$/; }
sub fill { my ($folder) = @_; system("dd if=/dev/zero of=$folder/filler bs=4k 2>/dev/null"); return; }

# ------------------------------------------------------------------------
# Memory
# ------------------------------------------------------------------------

fill('memory');
mkdir 'plain';
follow('plain/u.bloom', '--working', "$here/memory");
ok(wait_for(30, sub { is_current('plain/u.bloom') }), 'without room in memory the file is there');
ok(!working_serial('plain/u.bloom'), 'and no working copy');
like(slurp('.host.log'), qr/no working copy in memory: cannot make "[^"]*": No space left on device; programs have the file/, 'it says so');
add(100);
ok(wait_for(30, sub { is_current('plain/u.bloom') }), 'new keys are in the file');
unlink 'memory/filler';
ok(wait_for(60, sub { working_serial('plain/u.bloom') }), 'once there is room, a working copy is made by itself');
my $inode = (stat 'plain/u.bloom')[1];
add(100);
ok(wait_for(30, sub { is_current('plain/u.bloom') }), 'new keys are in it');
is((stat 'plain/u.bloom')[1], $inode, 'and the file is as it was');
is(scalar(() = slurp('.host.log') =~ /no working copy/g), 1, 'that there was none is said once');

# A new epoch, whose working copy finds no room beside the old one
fill('memory');
add(100, 'REINDEX INDEX users_filter');
ok(wait_for(60, sub { is_current('plain/u.bloom') }), 'at a new epoch without room the file is there');
ok(!(run('', 'verify', 'plain/u.bloom'))[0], 'and sound');
unlink 'memory/filler';
ok(wait_for(60, sub { working_serial('plain/u.bloom') eq manifest('users')->{content}[0] }), 'then a working copy again');
is((run('', 'verify', 'plain/u.bloom'))[0], 0, 'that has all of the file');
is(finish('host', 'TERM'), 0, 'the follower ends');

# ------------------------------------------------------------------------
# The disk of FILE
# ------------------------------------------------------------------------

mkdir 'disk/host';
fill('disk');
follow('disk/host/u.bloom', '--working', 'no');
ok(wait_for(30, sub { slurp('.host.log') =~ /No space left on device/ }), 'without room for a first file that is said');
ok(!-e 'disk/host/u.bloom', 'and there is none');
unlink 'disk/filler';
ok(wait_for(90, sub { is_current('disk/host/u.bloom') }), 'once there is room, it comes by itself');
sub fetches { return scalar(() = slurp('access.log') =~ m{GET /users/\w+\.(?:bloom|delta) }g); }
sub looks { return scalar(() = slurp('access.log') =~ m{GET /users/manifest }g); }
my $before = slurp('disk/host/u.bloom');
my $told = told('disk/host/u.bloom');
fill('disk');
# room for the mark and the status
truncate 'disk/filler', (-s 'disk/filler') - 100_000 or die $!;
spew('.host.log', '');
add(100);
ok(wait_for(60, sub { slurp('.host.log') =~ /No space left on device/ }), 'without room for the next one that is said');
my $looks = looks();
ok(wait_for(60, sub { looks() >= $looks + 3 }), 'the host goes on to look');
is(scalar(() = slurp('.host.log') =~ /No space left on device/g), 1, 'but does not try to write each time');
ok(slurp('disk/host/u.bloom') eq $before, 'the file stays');
like(denied('disk/host/u.bloom'), qr/^told $told, denied 0$/, 'and its serial is told');
my $fetches = fetches();
spew('.host.log', '');
add(100, 'REINDEX INDEX users_filter');
ok(wait_for(120, sub { (() = slurp('.host.log') =~ /cannot write "[^"]*": No space left on device: it needs \d+ bytes, and \d+ are free/g) >= 2 }), 'without room at a new epoch that is said');
is(fetches(), $fetches, 'before anything is fetched');
like(denied('disk/host/u.bloom'), qr/^told $told, denied 0$/, 'also at a new epoch');
unlink 'disk/filler';
ok(wait_for(120, sub { is_current('disk/host/u.bloom') }), 'once there is room, it goes on by itself');
is((run('', 'verify', 'disk/host/u.bloom'))[0], 0, 'and the file is sound');
is(join(' ', grep { /tmp/ } map { s{.*/}{}r } glob('disk/host/.* disk/host/*')), '', 'nothing unfinished is left');
unlike(slurp('.host.log'), qr/signal|replaced by another program/, 'nobody else is blamed');
is(finish('host', 'TERM'), 0, 'the follower ends');

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_full WITH (FORCE)');
done_testing();
