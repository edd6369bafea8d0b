# container.t
#	  A host in a container: its image has a list already, on overlayfs; programs see the folder
#	  of FILE, or FILE alone, by another mount; and memory is short.
#
# Works in a mount namespace of its own, which takes no root.  A limit of memory takes root, and
# a program without sanitizers.  Needs nginx.

use FindBin;
BEGIN
{
	$ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN};
	my @enter = ('unshare', $> == 0 ? () : ('--user', '--map-root-user'), '--mount');
	if (!$ENV{IN_CONTAINER})
	{
		if (system("@enter true 2>/dev/null") != 0) { print "1..0 # SKIP nothing can be mounted here\n"; exit; }
		$ENV{IN_CONTAINER} = $> == 0 ? 'root' : 'user';
		exec @enter, $^X, "-I$FindBin::Bin", "$FindBin::Bin/$FindBin::Script" or die "exec: $!";
	}
}

use CommandLine;
use Hosts;
use Lists;
use Readers qw(open_reader close_readers);

my $reader = $ENV{BLOOMFILTER_READER} // plan skip_all => 'BLOOMFILTER_READER names no program';
my $url = begin_nginx(free_port());
my @states = ('new:1-300', 'set:1001-1100', 'set:1101-1200', 'flip:2001-2100', 'set:2101-2200', 'flip:3001-3100');
my @new = map { s/.*://r } @states;
make_list($url, 's', 100, @states);

sub mount { my (@arguments) = @_; return system('mount', @arguments) == 0; }

END { system('umount -lq alone seen box layers'); }

# How many of the integers that are new in a state a program lacks.
sub misses { my ($seen, $state) = @_; return ($seen->($new[$state]))[1] // 'all: it has ended'; }
sub comes { my ($seen, $state, $name) = @_; my $misses; wait_for(60, sub { ($misses = misses($seen, $state)) eq '0' }); return is($misses, 0, $name); }

# ------------------------------------------------------------------------
# An image with a list in it
# ------------------------------------------------------------------------

mkdir $_ or die foreach 'layers', 'box', 'seen';
mount('-t', 'tmpfs', 'layers', 'layers') or die 'tmpfs';
mkdir "layers/$_" or die foreach 'lower', 'upper', 'work';
serve('s', 0);
is((pull_once('layers/lower/u.bloom'))[0], 0, 'a list is put into an image');
unlink 'layers/lower/u.bloom.lock';
SKIP:
{
	skip 'no overlayfs here', 21 if !mount('-t', 'overlay', 'box', '-o', 'lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work', 'box');
	my $seen = open_reader($reader, 'box/u.bloom');
	is(misses($seen, 0), 0, 'a program reads it before its follower begins');
	is(told('box/u.bloom')->{exit}, 1, 'status says that nobody follows it there');
	serve('s', 1);
	follow('box', 'box/u.bloom');
	comes($seen, 1, 'and comes to the file that the follower makes of it');
	is(told('box/u.bloom')->{place}, 'here', 'which is in its place');
	my $inode = (stat 'box/u.bloom')[1];
	serve('s', 2);
	comes($seen, 2, 'what comes next is seen');
	is((stat 'box/u.bloom')[1], $inode, 'in the same file');
	isnt((stat 'layers/lower/u.bloom')[1], $inode, "and the image's file is another one,");
	is(lacks('layers/lower/u.bloom', 1 .. 300), 0, 'which has what it had');
	cmp_ok(count_of('layers/lower/u.bloom', 1001 .. 1200), '<', 20, 'and no more');

	ok(mount('--bind', 'box', 'seen') && mount('-o', 'remount,bind,ro', 'seen'), 'other programs see the folder by a mount that is read-only');
	spew('alone', '');
	ok(mount('--bind', 'box/u.bloom', 'alone'), 'or the file alone');
	is(told($_)->{place}, 'here', "$_: it is in its place") foreach 'seen/u.bloom', 'alone';
	my $folder = open_reader($reader, 'seen/u.bloom');
	is(misses($folder, 2), 0, 'all is there');
	serve('s', 3);
	comes($folder, 3, 'an epoch is a new file, to which who sees the folder comes');
	comes($seen, 3, 'and so does who sees it from the start');
	ok(wait_for(60, sub { my $told = told('alone'); $told->{exit} eq '1' && ($told->{wrong} // '') =~ /old/ }), 'of the file alone status says that it is old');
	is(lacks('alone', 1 .. 300), 0, 'it has what it had');

	# the container ends, and another one has what it left
	is(finish('box', 'KILL'), 'signal 9', 'the follower is killed');
	serve('s', 4);
	follow('box', 'box/u.bloom');
	comes($seen, 4, 'the next one goes on');
	is(finish('box', 'TERM'), 0, 'and ends when it is told to');
}

# ------------------------------------------------------------------------
# A limit of 1.2 times the list
# ------------------------------------------------------------------------

# A group of so much memory, by either version of the kernel's.
sub make_group
{
	my ($bytes) = @_;
	foreach (['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'], [ '/sys/fs/cgroup', 'memory.max' ])
	{
		my ($base, $limit) = @$_;
		my $group = "$base/bloomfilter.$$";
		next if $ENV{IN_CONTAINER} ne 'root' || !-e "$base/cgroup.procs" || !mkdir $group;
		return $group if -e "$group/$limit" && eval { spew("$group/$limit", "$bytes\n"); 1 };
		rmdir $group;
	}
	return undef;
}

SKIP:
{
	my $group = make_group(int 1.2 * 24_000_000) // skip 'no limit of memory can be set here', 8;
	my @within = ('sh', '-c', "echo \$\$ > $group/cgroup.procs && exec \"\$@\"", 'sh');
	{
		local $ENV{ROOM} = 20_000_000;
		make_list($url, 'big', 100, @states);
	}
	system('rm', '-r', 'www/now');
	serve('big', 0);
	mkdir 'limited';
	follow('limited', 'limited/u.bloom', @within);
	ok(wait_for(60, sub { -e 'limited/u.bloom' && lacks('limited/u.bloom', 1 .. 300) eq '0' }), 'a list in a container of little memory') or diag(slurp('.limited.log'));
	ok(-s 'limited/u.bloom' >= 24_000_000 && -s 'limited/u.bloom' < 26_000_000, 'is as large as it should be') or diag(-s 'limited/u.bloom');
	my $seen = open_reader(@within, $reader, 'limited/u.bloom');
	foreach my $state (1 .. 5)
	{
		serve('big', $state);
		comes($seen, $state, "$states[$state] comes to a program of the same container") or diag(slurp('.limited.log'));
	}
	is(finish('limited', 'TERM'), 0, 'and nothing is killed');
	close_readers();
	rmdir $group;
}

done_testing();
