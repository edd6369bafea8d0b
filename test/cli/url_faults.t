# url_faults.t
#	  A follower that is killed in each of its system calls, and the order in which follower
#	  and exporter write: what a loss of power leaves is in order, too.
#
# strace kills, and writes down what was called.  Needs a server with the extension, nginx,
# strace, and the right to trace; a program without sanitizers, which can't be traced.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use Cwd qw(abs_path);
my $plain;
BEGIN { $plain = abs_path($ENV{BLOOMFILTER_PLAIN}) if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Followers;
use Hosts;
use Readers;
use Server;
use Test::More;
use Time::HiRes qw(sleep);

use constant AT_ONCE => 40;

my $dsn = own_database('bloomfilter_cli_url_faults');
plan skip_all => 'no program without sanitizers: set BLOOMFILTER_PLAIN, or run make -C test/cli check-pull'
  if !defined $plain || !-x $plain;
plan skip_all => 'strace can trace nothing here' if system('strace -o /dev/null true >/dev/null 2>&1') != 0;

my $url = begin_nginx(free_port());
my $here = `pwd`;
chomp $here;
my @calls = qw(openat write fsync rename renameat symlinkat unlink unlinkat mmap fallocate fchmod ftruncate);

make_states($dsn, $url, $plain);

# ------------------------------------------------------------------------
# Followers that are traced
# ------------------------------------------------------------------------

sub is_running { my ($file) = @_; return is_alive(name_of($file)); }

# The traced process of a tracer ends as a program does.
sub end_traced
{
	my ($file) = @_;
	my $tracer = process_of(name_of($file)) // return;
	my $children = -e "/proc/$tracer/task/$tracer/children" ? slurp("/proc/$tracer/task/$tracer/children") : '';
	kill 'TERM', split ' ', $children;
	return;
}

# Each of these has a state, is ended in order, or was killed before.
sub end_all
{
	my ($state, @files) = @_;
	my @left = wait_in_batch(60, sub { !is_running($_[0]) || has_state($state, $_[0]) }, @files);
	# FILE.status of the look is written after its serial
	sleep 0.2;
	end_traced($_) foreach @files;
	push @left, wait_in_batch(60, sub { !is_running($_[0]) }, @files);
	return @left;
}

# ------------------------------------------------------------------------
# What it calls
# ------------------------------------------------------------------------

# Calls of a whole run that are about the host's files, as [ name, which one of this name it is ];
# and the trace.
sub calls_of
{
	my ($before, $state) = @_;
	my $file = new_host();
	if (defined $before)
	{
		follow($before, $file);
		wait_in_batch(60, sub { has_state($before, $_[0]) }, $file);
		finish(name_of($file), 'KILL');
	}
	follow($state, $file, 'strace', '-f', '-y', '-o', "$file.trace", '-e', 'trace=' . join(',', @calls));
	is(scalar(end_all($state, $file)), 0, "a traced follower comes to the state $state, and ends");
	my $text = slurp("$file.trace");
	my (@found, %count);
	foreach my $line (split /\n/, $text)
	{
		my ($call) = $line =~ /^\d+ +(\w+)\(/ or next;
		$count{$call}++;
		push @found, [ $call, $count{$call} ] if $line =~ /u\.bloom|\/bloomfilter-\d+-|<\Q$here\E\/host\d+>/;
	}
	return ($text, @found);
}

# ------------------------------------------------------------------------
# Killed in each of them
# ------------------------------------------------------------------------

my %traces;
foreach my $try ([ undef, 'first' ], [ 'first', 'step' ], [ 'first', 'epoch' ])
{
	my ($before, $state) = @$try;
	my ($trace, @points) = calls_of($before, $state);
	$traces{$state} = $trace;
	cmp_ok(scalar(@points), '>', 20, "to $state: " . @points . ' system calls to be killed in');
	my ($killed, @wrong) = (0);
	while (my @batch = splice @points, 0, AT_ONCE)
	{
		my %at = map { (new_host() => $_) } @batch;
		my @files = sort keys %at;
		if (defined $before)
		{
			follow($before, $_) foreach @files;
			push @wrong, map { "$_ did not come to $before" } wait_in_batch(60, sub { has_state($before, $_[0]) }, @files);
			finish(name_of($_), 'KILL') foreach @files;
		}
		follow($state, $_, 'strace', '-f', '-o', '/dev/null', '-e', "trace=$at{$_}[0]", '-e', "inject=$at{$_}[0]:signal=KILL:when=$at{$_}[1]") foreach @files;
		push @wrong, map { "$_ neither ended nor was killed" } end_all($state, @files);
		my @by_python = denied_by_python(@files);
		foreach my $i (0 .. $#files)
		{
			my $file = $files[$i];
			my $where = "killed in $at{$file}[0] $at{$file}[1]";
			$killed++ if finish(name_of($file), 'KILL') eq 'signal 9';
			my $by_library = denied($file);
			# a first file that isn't there yet can't be opened
			next if !-e $file;
			push @wrong, "$where: $by_library" if $by_library !~ /denied 0$/;
			push @wrong, "$where: Python: $by_python[$i]" if $by_python[$i] !~ /denied 0$/;
		}
		follow($state, $_) foreach @files;
		push @wrong, map { "killed in @{ $at{$_} }: started again it did not come to $state: " . slurp('.' . name_of($_) . '.log') } wait_in_batch(60, sub { has_state($state, $_[0]) }, @files);
		push @wrong, map { "killed in @{ $at{$_} }: other bits" } grep { bits_of($_) ne bits_at($state) } @files;
		foreach my $file (@files)
		{
			finish(name_of($file), 'TERM');
			push @wrong, "killed in @{ $at{$file} }: it left another file" if substr(slurp($file), 64) ne bits_at($state) || denied($file) ne "told @{[ newest($state) ]}, denied 0";
			leave($file);
		}
	}
	is(join("\n", @wrong), '', "to $state: no reader denies a key of the serial that it tells, and the follower started again has all");
	cmp_ok($killed, '>', 20, "to $state: killed $killed times");
	like(slurp('access.log'), qr{GET /epoch/\w{64}\.delta }, 'to the new epoch by a delta') if $state eq 'epoch';
}

# ------------------------------------------------------------------------
# The order of what they write
# ------------------------------------------------------------------------

# What a loss of power could take of a trace: each name that a file gets must be of synced
# content; and what is in this list must be synced with its folder before the next of it.
# Gives what is wrong.  FILE.status of a look that changed nothing may be lost.
sub disorder
{
	my ($trace, $matters) = @_;
	my (%unsynced, @pending, @wrong);
	foreach my $line (split /\n/, $trace)
	{
		if ($line =~ /^\d+ +write\(\d+<([^>]+)>/) { $unsynced{$1} = 1; }
		elsif ($line =~ /^\d+ +fsync\(\d+<([^>]+)>\) += 0/)
		{
			my $path = $1;
			delete $unsynced{$path};
			@pending = grep { $_->[0] ne $path } @pending;
		}
		elsif ($line =~ /^\d+ +(?:renameat\((?:AT_FDCWD|\d+)<([^>]+)>, "([^"]+)", (?:AT_FDCWD|\d+)<[^>]+>, "([^"]+)"\)|unlinkat\((?:AT_FDCWD|\d+)<([^>]+)>, "([^"]+)", 0\)) += 0/)
		{
			my ($folder, $from, $name) = defined $1 ? ($1, $2, $3) : ($4, undef, $5);
			next if $name !~ $matters;
			push @wrong, "$name before $_->[1] was synced" foreach @pending;
			push @wrong, "$name of content that was not synced" if defined $from && $unsynced{"$folder/$from"};
			push @pending, [ $folder, $name ] if defined $from && $name !~ /\.(?:bloom|step|delta)$/;
		}
	}
	return join "\n", @wrong, map { "$_->[1] was not synced" } @pending;
}

foreach my $state (sort keys %traces)
{
	my @names = $traces{$state} =~ /renameat\([^"]*"[^"]*", [^"]*"(u\.bloom[^"]*)"\) += 0/g;
	ok(grep({ $_ eq 'u.bloom.mark' } @names) && ($state eq 'step' || grep { $_ eq 'u.bloom' } @names), "the trace to $state has a mark and a file");
	is(disorder($traces{$state}, qr/^u\.bloom(\.mark)?$/), '', 'each is synced before the next is written');
	my ($mark, $file) = (index($traces{$state}, '"u.bloom.mark") = 0'), index($traces{$state}, '"u.bloom") = 0'));
	cmp_ok($mark, '<', $file, 'the mark before the file');
}

# An exporter of news, with an old file in its folder that nobody names
my $old = 'www/now/' . '0' x 64 . '.step';
spew($old, 'old');
utime 0, 0, $old;
sql('INSERT INTO users SELECT generate_series(3001, 3100)');
system('strace', '-f', '-y', '-s', '200', '-o', 'export.trace', '-e', 'trace=' . join(',', @calls), $plain, 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/now', '--quiet');
my $trace = slurp('export.trace');
ok(!-e $old && $trace =~ /unlinkat\([^"]*"0{64}\.step"/, 'an exporter that deletes what nobody names');
like($trace, qr/"[0-9a-f]{64}\.step"\) = 0.*"manifest"\) = 0.*fsync\(\d+<[^>]*www\/now>\) += 0.*unlinkat\([^"]*"0{64}\.step"/s, 'writes files, then the manifest, syncs the folder, and then deletes');
is(disorder($trace, qr/^(?:manifest|\.state|[0-9a-f]{64}\.(?:step|bloom))$/), '', 'and writes nothing before what it needs is synced');
ok($trace =~ /^(.*)"manifest"\) = 0/ms && $1 =~ /"[0-9a-f]{64}\.step"\) = 0\n(?:(?!renameat).*\n)*\d+ +fsync\(\d+<[^>]*www\/now>\) += 0/, 'the folder is synced with the files before the manifest');

# An exporter of a rebuild
sql('REINDEX INDEX users_filter');
system('strace', '-f', '-y', '-s', '200', '-o', 'rebuild.trace', '-e', 'trace=' . join(',', @calls), $plain, 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/now', '--quiet');
$trace = slurp('rebuild.trace');
like($trace, qr/"[0-9a-f]{64}\.bloom"\) = 0.*"[0-9a-f]{64}\.delta"\) = 0.*"manifest"\) = 0/s, 'an exporter of a rebuild writes the whole file, the delta, and the manifest');
is(disorder($trace, qr/^(?:manifest|\.state|[0-9a-f]{64}\.(?:step|bloom|delta))$/), '', 'and nothing before what it needs is synced');

# That the check sees what it is to see
is(disorder(<<'END', qr/^u\.bloom(\.mark)?$/), "u.bloom.mark of content that was not synced\nu.bloom before u.bloom.mark was synced\nu.bloom.mark was not synced", 'a trace in disorder is found');
1 write(5</h/.tmp-u.bloom.mark>, "x", 1) = 1
1 renameat(4</h>, ".tmp-u.bloom.mark", 4</h>, "u.bloom.mark") = 0
1 renameat(4</h>, "new", 4</h>, "u.bloom") = 0
END

finish('nginx', 'TERM');
leave($_) foreach glob 'host*/u.bloom';
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_faults WITH (FORCE)');
done_testing();
