# export_kill.t
#	  An exporter that is killed in each of its system calls, or whose disk is full: the folder
#	  is whole at every moment, the next exporter goes on with a larger serial, and a host
#	  gets everything.
#
# strace kills, and refuses calls.  Needs a server with the extension, nginx, strace, and the
# right to trace.  Programs are started so often that they are those without sanitizers, if there
# are some.  A folder in memory is filled where a user may mount one in a namespace.

use Cwd qw(getcwd);
BEGIN { $ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use File::Copy qw(cp);
use Hosts;
use Server;

my $dsn = own_database('bloomfilter_cli_export_kill');
plan skip_all => 'strace can trace nothing here' if system('strace -o /dev/null true >/dev/null 2>&1') != 0;
my $url = begin_nginx(free_port());
my @export = (program() . '-lists', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--poll', '1', '--quiet');
sub pull { return (by_url('users', 'u.bloom'))[0]; }

make_index(3000);
my $next = 1;

# A tracked list, exported into the same folder; how many of its keys are not as they should be.
sub change { sql("UPDATE device SET active = NOT active WHERE id <= 10 OR id = $_[0]"); return; }
sub devices { my ($bool) = @_; return map { "$_\n" } split /\n/, sql("SELECT id FROM device WHERE " . ($bool ? '' : 'NOT ') . 'active'); }
sub wrong_devices { return (ask(join('', devices(0)), 'contains', '--count', 'u.bloom'))[1] + devices(1) - (ask(join('', devices(1)), 'contains', '--count', 'u.bloom'))[1]; }
my @of_index = @export;
my $right = sub { has('u.bloom', 1 .. $next - 1) };
sub export_list
{
	@export = map { s/^--index$/--list/r =~ s/^users_filter$/active/r } @of_index;
	$right = sub { wrong_devices() == 0 };
	sql("CREATE TABLE device (id bigint PRIMARY KEY, active boolean); INSERT INTO device SELECT g, g % 3 > 0 FROM generate_series(1, 300) AS g;"
		. " CALL bloom_publish('active', 'SELECT id, active FROM device'); CALL bloom_track('active', 'device', 'id', 'active')");
	system('rm -rf www/users u.bloom*; mkdir www/users');
	foreach my $id (20 .. 22) { change($id); export(); }
	pull();
	return change(23);
}
sub insert { my ($count) = @_; sql("INSERT INTO users SELECT generate_series($next, $next + $count - 1)"); $next += $count; return; }
sub export { my (@options) = @_; waitpid start('', @export, @options), 0; return ending(); }
sub serial { return -e 'www/users/manifest' ? manifest('users')->{serial}[0] : 0; }

# The folder as it is in a copy.
sub put_back
{
	my ($copy) = @_;
	unlink glob 'www/users/{.[a-z]*,*}';
	foreach my $file (glob "$copy/{.[a-z]*,*}")
	{
		my $there = $file =~ s{^\Q$copy}{www/users}r;
		cp($file, $there) or die "$file: $!";
		utime((stat $file)[ 8, 9 ], $there);
	}
	return;
}

# ------------------------------------------------------------------------
# Killed in each call
# ------------------------------------------------------------------------

my @calls = qw(openat write renameat unlinkat utimensat);

# The calls of a publication that change the folder: call, and which of its name.  A kill in one that
# changes nothing, or the mode of a file that has no name yet, leaves the folder as the next kill does.
sub calls_of
{
	my ($name) = @_;
	system('cp', '-a', 'www/users', 'try');
	waitpid start('', 'strace', '-y', '-o', 'trace', '-e', 'trace=' . join(',', @calls), map { $_ eq 'www/users' ? 'try' : $_ } @export), 0;
	is(ending(), 0, "$name: an exporter that is traced ends well");
	my (@found, %count);
	foreach my $line (split /\n/, slurp('trace'))
	{
		my ($call) = $line =~ /^(\w+)\(/ or next;
		$count{$call}++;
		push @found, [ $call, $count{$call} ] if $line =~ m{/try[>/]|\.tmp-} && ($call ne 'openat' || $line =~ /O_CREAT/);
	}
	system('rm', '-rf', 'try');
	return @found;
}

is(export(), 0, 'an empty index is exported');
is(pull(), 0, 'and pulled');
# A patch that is merged is a patch, too.
foreach my $try ([ 'a patch that is merged', sub { do { insert(3); export() } until @{ manifest('users')->{patch} // [] } == 3; insert(3) } ],
	[ 'a rebuild', sub { sql('REINDEX INDEX users_filter') } ], [ 'a first export', sub { } ], [ 'changes of a list', \&export_list ])
{
	my ($name, $prepare) = @$try;
	$prepare->();
	if ($name eq 'a first export')
	{
		system('rm -rf www/users u.bloom*; mkdir www/users');
	}
	system('rm -rf before');
	system('cp', '-a', 'www/users', 'before');
	my @points = calls_of($name);
	cmp_ok(scalar(@points), '>', 8, "$name: " . @points . ' system calls to be killed in');
	my ($killed, @wrong) = (0);
	foreach my $point (@points)
	{
		my ($call, $when) = @$point;
		my $where = "killed in $call $when";
		put_back('before');
		my $serial = serial();
		waitpid start('', 'strace', '-o', '/dev/null', '-e', "trace=$call", '-e', "inject=$call:signal=KILL:when=$when", @export), 0;
		$killed++ if ending() eq 'signal 9';
		push @wrong, "$where: torn: " . torn('users') if torn('users') ne '';
		my $left = serial();
		push @wrong, "$where: the serial went back" if $left < $serial;
		# where the manifest is the one of before, and nothing torn, hosts get what they got
		push @wrong, "$where: a host was refused: " . slurp('.stderr') if $left > $serial && pull() ne '0';
		push @wrong, "$where: the next one failed: " . slurp('.stderr') if export() ne '0';
		push @wrong, "$where: torn after the next one" if torn('users') ne '';
		push @wrong, "$where: no larger serial" if serial() <= $left;
		push @wrong, "$where: something unfinished is left" if glob 'www/users/.tmp-*';
		push @wrong, "$where: a host was refused after it: " . slurp('.stderr') if pull() ne '0';
		push @wrong, "$where: a host has other keys" if !$right->();
		# each folder is one that the host has not gone beyond
		unlink glob 'u.bloom*';
	}
	is(join("\n", @wrong), '', "$name: the folder is whole, and the next one goes on");
	cmp_ok($killed, '>', 8, "$name: killed $killed times");
	export();
}

# ------------------------------------------------------------------------
# No room
# ------------------------------------------------------------------------

# Each file that the exporter writes is refused its place on the disk, for so many times.
@export = @of_index;
system('rm -rf www/users u.bloom*');
export();
pull();
insert(50);
foreach my $try ([ 'fsync', 'ENOSPC' ], [ 'renameat', 'EROFS' ])
{
	my ($call, $error) = @$try;
	unlink '.full.log';
	my $before = manifest('users');
	insert(20);
	begin('full', 'strace', '-D', '-o', '/dev/null', '-e', "trace=$call", '-e', "inject=$call:error=$error:when=1..2", @export, '--follow', '--every', '0.2', '--heartbeat', '1');
	ok(wait_for(60, sub { -e '.full.log' && slurp('.full.log') =~ /cannot write ".*": (No space left|Input\/output|Read-only)/ }), "$call fails by $error: it is said");
	ok(wait_for(60, sub { serial() > $before->{serial}[0] && torn('users') eq '' }), "$call, $error: when there is room again, it goes on by itself");
	finish('full', 'TERM');
	is(pull(), 0, "$call, $error: a host follows");
	ok(has('u.bloom', 1 .. $next - 1), "$call, $error: and has all");
}

# A folder in memory, in a mount namespace that is gone with its process; others come to it through /proc.
sub small_disk
{
	my ($folder, $size) = @_;
	my $here = getcwd();
	mkdir "$folder.disk";
	begin('disk', 'unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', "mount -t tmpfs -o size=$size,mode=755 none $here/$folder.disk && echo mounted && exec sleep 3600");
	wait_for(30, sub { !is_alive('disk') || (-e '.disk.log' && slurp('.disk.log') =~ /mounted/) });
	return is_alive('disk') && symlink '/proc/' . process_of('disk') . "/root$here/$folder.disk", $folder;
}

SKIP:
{
	skip 'nothing can be mounted here', 8 if !small_disk('www/small', '400k');
	my @small = map { $_ eq 'www/users' ? 'www/small' : $_ } @export;
	begin('small', @small, '--follow', '--every', '0.2', '--heartbeat', '1');
	ok(wait_for(30, sub { -e 'www/small/manifest' }), 'an exporter to a small disk');
	begin('small_host', program(), 'pull', '--url', "$url/small", '--allow-http', '--out', 's.bloom', '--follow', '--every', '1');
	ok(wait_for(30, sub { -e 's.bloom' }), 'and a host');
	system('dd if=/dev/zero of=www/small/ballast bs=4k >/dev/null 2>&1');
	my $whole = manifest('small')->{whole}[0];
	my $serial;
	sql('REINDEX INDEX users_filter');
	insert(50);
	ok(wait_for(60, sub { slurp('.small.log') =~ /cannot write ".*": No space left on device/ }), 'a full disk is said');
	$serial = manifest('small')->{serial}[0];
	is(manifest('small')->{whole}[0], $whole, 'the old manifest stays');
	ok(has('s.bloom', 1 .. $next - 51), 'and so does what the host has');
	unlink 'www/small/ballast';
	ok(wait_for(90, sub { manifest('small')->{whole}[0] ne $whole && manifest('small')->{serial}[0] > $serial }), 'with room again it goes on by itself');
	is(promised('small', 's.bloom', 0, 1 .. 100), 0, 'and the host');
	ok(wait_for(60, sub { has('s.bloom', 1 .. $next - 1) }), 'which gets all');
	finish($_, 'TERM') foreach 'small', 'small_host';
	finish('disk', 'KILL');
}

done_testing();
