# pull_kill.t
#	  A follower that is killed before each of its calls to the file system, while programs have
#	  its file open: all the time each has every key of the serial that it tells, and in the end
#	  it has the last one.
#
# test/cross/run runs it with readers of all languages: see open_readers. Needs nginx; a library
# (shim.c) kills.

# Programs are started so often that they are those without sanitizers.
BEGIN { $ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Hosts;
use Lists;
use Readers qw(open_readers);

my $shim = $ENV{BLOOMFILTER_SHIM} // plan skip_all => 'BLOOMFILTER_SHIM names no library';
my $url = begin_nginx(free_port());

# More states than a look has calls, of each kind; and what keys each has.
my @kinds = ('new', map { ('set', 'flip', 'set', 'new') } 1 .. 20);
my (@states, @keys, @content);
foreach my $i (0 .. $#kinds)
{
	@keys = () if $kinds[$i] ne 'set';
	push @keys, 100 * $i + 1 . '-' . 100 * ($i + 1);
	push @states, "$kinds[$i]:$keys[-1]";
	push @content, [@keys];
}
make_list($url, 's', @states + 100, @states);
my %keys_of = map { (serial_of('s', $_) => $content[$_]) } 0 .. $#content;
serve('s', 0);
(pull_once('u.bloom'))[0] eq '0' or die slurp('.stderr');
my %reader = open_readers('u.bloom');

# What is wrong with a reader's answers. Where it takes another file between two of them, it is asked again.
sub problem_of
{
	my ($name) = @_;
	foreach (1 .. 10)
	{
		my ($serial) = $reader{$name}->() or return 'it has ended';
		my $keys = $keys_of{$serial} or return "it tells $serial, which there never was";
		my (undef, $lacks) = $reader{$name}->(@$keys) or return 'it has ended';
		my ($after) = $reader{$name}->() or return 'it has ended';
		return $lacks ? "it tells $serial and lacks $lacks" : '' if $after == $serial;
	}
	return 'it tells another serial each time';
}

my (%calls, %killed, %through, @wrong);
sub ask_all
{
	my ($when) = @_;
	foreach my $name (sort keys %reader)
	{
		my $problem = problem_of($name);
		push @wrong, "$name, $when: $problem" if $problem ne '';
	}
	return;
}

foreach my $i (1 .. $#kinds)
{
	my $kind = $kinds[$i];
	my $call = ++$calls{$kind};
	serve('s', $i);
	{
		local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', SHIM_KILL => $call);
		waitpid start('', program(), 'pull', '--url', "$url/now", '--allow-http', '--out', 'u.bloom'), 0;
		if (ending() eq 'signal 9') { $killed{$kind}++ } else { $calls{$kind} = 0; $through{$kind}++; }
	}
	ask_all("$kind, killed before call $call");
	(pull_once('u.bloom'))[0] eq '0' or push @wrong, "$kind, call $call: the next look failed: " . slurp('.stderr');
	ask_all("$kind, after it");
}
is(join("\n", @wrong), '', 'each has what it tells');
foreach my $kind ('set', 'flip', 'new')
{
	cmp_ok($killed{$kind}, '>', 10, "$kind: killed $killed{$kind} times");
	cmp_ok($through{$kind}, '>', 0, "$kind: and before each call");
}
foreach my $name (sort keys %reader)
{
	ok(wait_for(60, sub { my ($serial) = $reader{$name}->(); $serial == serial_of('s', $#kinds) }), "$name has the last state");
}
done_testing();
