# url_faults.t
#	  A follower that is killed before each of its calls to the file system, or whose calls
#	  fail: a reader that was open before denies no key, one that opens then has what its
#	  serial promises, and the next follower comes to what the server has.
#
# Needs nginx; a library (shim.c) stands between the follower and its file.

# Programs are started so often that they are those without sanitizers.
BEGIN { $ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Hosts;
use Lists;
use POSIX qw(ENOSPC EIO);
use Readers qw(open_reader close_readers);

my $shim = $ENV{BLOOMFILTER_SHIM} // plan skip_all => 'BLOOMFILTER_SHIM names no library';
my $reader = $ENV{BLOOMFILTER_READER} // plan skip_all => 'BLOOMFILTER_READER names no program';
my $url = begin_nginx(free_port());
make_list($url, 's', 100, 'new:1-300', 'set:1001-1100', 'set:1101-1200', 'flip:2001-2100', 'set:2101-2200', 'new:3001-3300');
make_list($url, 'c', 100, 'tracked:1-300', 'out:1-20', 'out:21-30');
my %keys = (0 => [ 1 .. 300 ], 1 => [ 1001 .. 1100 ], 2 => [ 1101 .. 1200 ], 3 => [ 2001 .. 2100 ], 4 => [ 2101 .. 2200 ], 5 => [ 3001 .. 3300 ]);

# The keys that a file of a serial must have.
sub keys_at
{
	my ($serial) = @_;
	foreach my $i (reverse 0 .. 5)
	{
		next if serial_of('s', $i) > $serial;
		return map { @{ $keys{$_} } } grep { $_ <= $i && ($i >= 5 ? $_ >= 5 : $i >= 3 ? $_ >= 3 : 1) } 0 .. $i;
	}
	return ();
}

# One look with the library between.
sub look
{
	my ($file, %shim) = @_;
	local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', %shim);
	my $child = start('', program() . '-lists', 'pull', '--url', "$url/now", '--allow-http', '--out', $file);
	waitpid $child, 0;
	return ending();
}

my $hosts = 0;
sub new_host { my $folder = 'k' . ++$hosts; mkdir $folder; return "$folder/u.bloom"; }

# Up to where a file tells that it has all.
sub told_by { my ($file, $list) = @_; my $told = told($file); return $list eq 'c' ? $told->{changes_to} // $told->{serial} : $told->{serial}; }

# The same, and how many keys it lacks then, or has of those that went by a change.
sub answers
{
	my ($file, $list) = @_;
	my $ask = open_reader($reader, $file);
	my ($serial) = $list eq 'c' ? told_by($file, $list) : $ask->();
	my $gone = $list eq 's' || ($serial // 0) < serial_of('c', 1) ? 0 : $serial < serial_of('c', 2) ? 20 : 30;
	my $lacks = ($ask->(map { "$_-$_" } $list eq 'c' ? (31 .. 300) : keys_at($serial // 0)))[1] // 'all';
	$lacks .= ' and has some that went' if $gone > 0 && (($ask->("1-$gone"))[1] // 0) != $gone;
	close_readers();
	return ($serial, $lacks);
}

# From one state to another, or from nothing (undef): what is wrong with what is left by a look that was hurt.
# Behind its page the file has what that of a host has which nothing hurt.
my $right;
sub problem_of
{
	my ($file, $how, $from, $to, $list) = @_;
	return "a look that was hurt ended with $how" if $how eq 'signal 11' || $how eq 'signal 6';
	if (-e $file)
	{
		my ($serial, $lacks) = answers($file, $list);
		return 'no serial' if !defined $serial && defined $from;
		return "it tells $serial and lacks $lacks" if $lacks ne '0';
	}
	elsif (defined $from) { return 'the file is gone'; }
	my ($status, undef, $err) = pull_once($file);
	return "the next look ended with $status: $err" if $status ne '0';
	return 'the next look left something else' if join(' ', told_by($file, $list), substr slurp($file), 4096) ne join ' ', serial_of($list, $to), $right;
	($status, undef, $err) = run('', 'verify', $file);
	return "verify ended with $status: $err" if $status ne '0';
	return 'files are left: ' . join ' ', glob("$file* " . $file =~ s{u\.bloom$}{.u*}r) if glob($file =~ s{u\.bloom$}{.u*}r);
	return '';
}

# A new file with a table of changes, bits and changes that come, a new file in the place of one: other
# ways make no other calls.
foreach my $way ([ undef, 1, 'c' ], [ 0, 1, 's' ], [ 2, 4, 's' ], [ 1, 2, 'c' ])
{
	my ($from, $to, $list) = @$way;
	my $name = "$list " . (defined $from ? "from state $from" : 'from nothing') . " to $to";
	my $file = new_host();
	my $folder = $file =~ s{/.*}{}r;
	serve($list, $from // $to);
	if (defined $from) { (pull_once($file))[0] eq '0' && link $file, "$folder/kept" or die 'no start'; }
	my $before = defined $from ? slurp($file) : '';
	serve($list, $to);
	# the file of before, by its inode, which it knows
	my $begin = sub
	{
		unlink glob "$folder/{.u*,u.bloom}";
		return if !defined $from;
		spew("$folder/kept", $before);
		link "$folder/kept", $file or die "$file: $!";
	};
	$begin->();
	is(look($file, SHIM_COUNT => 'calls'), 0, "$name, whole");
	chomp(my $calls = slurp('calls'));
	$right = substr slurp($file), 4096;
	cmp_ok($calls, '>', 5, "in $calls calls");
	my @wrong;
	foreach my $n (1 .. $calls)
	{
		$begin->();
		my $how = look($file, SHIM_KILL => $n);
		# a child saves, whose end is not the follower's
		push @wrong, "killed before call $n: it ended with $how" if $how ne 'signal 9' && $how ne '0';
		my $problem = problem_of($file, $how, $from, $to, $list);
		push @wrong, "killed before call $n: $problem" if $problem ne '';
	}
	is(join("\n", @wrong), '', "$name: killed before each call");
	@wrong = ();
	foreach my $call ('pwrite', 'fsync', 'fdatasync', 'renameat', 'posix_fallocate', 'openat')
	{
		foreach my $error ($call =~ /sync/ ? EIO : ENOSPC)
		{
			$begin->();
			is(look($file, SHIM_ONLY => $call, SHIM_COUNT => 'calls', SHIM_FAIL => 1_000_000, SHIM_ERROR => 0), 0, "$name: count of $call");
			chomp(my $count = -e 'calls' ? slurp('calls') : 0);
			unlink 'calls';
			foreach my $n (1 .. $count)
			{
				$begin->();
				my $how = look($file, SHIM_ONLY => $call, SHIM_FAIL => $n, SHIM_ERROR => $error);
				my $left = $call eq 'renameat' && defined $from && page_of($file)->{superseded};
				my $problem = $left ? 'readers are to leave the file that stays' : problem_of($file, $how, $from, $to, $list);
				push @wrong, "$call number $n failed with $error: $problem" if $problem ne '';
			}
		}
	}
	is(join("\n", @wrong), '', "$name: calls that fail");
}

# A disk that can't be written for a while: the reader goes on, and keys come when it can.
serve('s', 0);
my $file = new_host();
is((pull_once($file))[0], 0, 'a host');
serve('s', 1);
{
	local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', SHIM_ONLY => 'pwrite', SHIM_FAIL => 4, SHIM_ERROR => ENOSPC);
	begin('full', program(), 'pull', '--url', "$url/now", '--allow-http', '--out', $file, '--follow', '--every', '0.2', '--quiet');
}
ok(wait_for(60, sub { -e '.full.log' && slurp('.full.log') =~ /No space left/ }), 'whose disk is full');
is(lacks($file, keys_at(told($file)->{serial})), 0, 'has what it tells');
finish('full', 'KILL');
follow('room', $file);
ok(wait_for(60, sub { told($file)->{exit} eq '0' && told($file)->{serial} == serial_of('s', 1) }), 'and with room comes to what the server has');
is(finish('room', 'TERM'), 0, 'to its end');

# A save that fails: the inode is lost, and never synced again.
serve('s', 0);
$file = new_host();
is((pull_once($file))[0], 0, 'a host');
serve('s', 1);
look($file, SHIM_ONLY => 'fdatasync', SHIM_FAIL => 1, SHIM_ERROR => EIO, SHIM_COUNT => 'calls');
like(slurp('.stderr'), qr/saving failed/, 'whose disk dropped what was written');
is(told($file)->{serial}, serial_of('s', 0), 'tells what it was born with');
is(told($file)->{exit}, 1, 'and is not well');
my $inode = (stat $file)[1];
is((pull_once($file))[0], 0, 'the next look');
isnt((stat $file)[1], $inode, 'makes a new file');
is(told($file)->{serial}, serial_of('s', 1), 'with all that there is');

done_testing();
