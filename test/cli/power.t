# power.t
#	  Losses of power: a follower's writes are written down, and from each point on the way the
#	  disk is left with any of the pages that were not synced, and page 0 torn between sectors.
#	  What a reader of the next boot then tells is there; and so is what a reader of any copy tells.
#
# Needs nginx; a library (shim.c) writes down what the disk is told.

# Programs are started so often that they are those without sanitizers.
BEGIN { $ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Hosts;
use Lists;
use POSIX qw(mkfifo);
use XXH64;

my $shim = $ENV{BLOOMFILTER_SHIM} // plan skip_all => 'BLOOMFILTER_SHIM names no library';
my $url = begin_nginx(free_port());
srand(my $seed = $ENV{SEED} // 1);
make_list($url, 's', 100, 'new:1-300', 'set:1001-1200', 'set:1201-1400', 'flip:2001-2100', 'set:2101-2300', 'new:3001-3300');

# The blocks of each serial.
my %blocks;
foreach my $i (0 .. 5)
{
	serve('s', $i);
	(pull_once("state$i"))[0] eq '0' or die slurp('.stderr');
	$blocks{ serial_of('s', $i) } = substr slurp("state$i"), 4096 + 64;
}

# What the shim wrote down.
sub records_of
{
	my ($file) = @_;
	my $log = -e $file ? slurp($file) : '';
	my ($at, @found) = (0);
	while ($at < length $log)
	{
		my ($what, $inode, $offset, $length) = unpack 'aQ<Q<Q<', substr $log, $at, 25;
		push @found, { what => $what, inode => $inode, at => $offset, bytes => substr $log, $at + 25, $length };
		$at += 25 + $length;
	}
	return @found;
}

# A host that comes from state to state, each look in a process of its own, on a disk; what it told the disk.
my @records;
foreach my $i (0 .. 5)
{
	serve('s', $i);
	local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', SHIM_LOG => 'log');
	waitpid start('', program(), 'pull', '--url', "$url/now", '--allow-http', '--out', 'u.bloom'), 0;
	ending() eq '0' or die slurp('.stderr');
}
push @records, records_of('log');
my %kinds;
$kinds{ $_->{what} }++ foreach @records;
cmp_ok($kinds{W}, '>', 30, 'writes were written down');
cmp_ok($kinds{$_} // 0, '>', 2, "and $_") foreach 'S', 'R', 'D';

# Units that reach the disk as a whole: sectors of page 0, else pages.
sub units
{
	my ($at, $bytes) = @_;
	my @units;
	while (length $bytes)
	{
		my $size = $at < 4096 ? 512 : 4096;
		my $length = $size - $at % $size;
		push @units, [ $at, substr $bytes, 0, $length ];
		$at += length $units[-1][1];
		$bytes = length $bytes > $length ? substr $bytes, $length : '';
	}
	return @units;
}

sub put { my ($image, $at, $bytes) = @_; $$image //= ''; $$image .= "\0" x ($at + length($bytes) - length $$image) if length $$image < $at + length $bytes; substr($$image, $at, length $bytes) = $bytes; return; }

# Few different pages are asked for again and again.
my %sums;
sub sum_of { my ($bytes) = @_; return $sums{$bytes} //= xxh64($bytes); }

# What a reader tells of an image: after another boot, or of a copy.
sub told_of
{
	my ($image, $copy) = @_;
	return 0 if length $image < 4096 || substr($image, 0, 4) ne 'BLML' || unpack('Q<', substr $image, 8) != length $image ||
		unpack('Q<', substr $image, 504) != sum_of(substr $image, 0, 504);
	my $saved = substr $image, 1024, 64;
	my $bound = substr($saved, 0, 56) . substr($image, 24, 8) . substr($image, 72, 8);
	return unpack 'Q<', substr $image, 80 if $copy || unpack('Q<', substr $saved, 56) != sum_of($bound);
	return unpack 'Q<', $saved;
}

# How many bits of a serial an image lacks.
sub lost { my ($image, $serial) = @_; return unpack '%32b*', $blocks{$serial} & ~substr($image, 4096 + 64) . "\0" x length $blocks{$serial}; }

my (%disk, %pending, @names);	# images by inode; units not synced; inodes that had the name
my ($runs, $whole, %told, @wrong) = (0, 0);

# The disk as a loss of power may leave it now.
sub lose_power
{
	my @may = @names;
	# the name is that of any inode since the folder was synced last
	my $inode = $may[ rand @may ] // return;
	my $image = $disk{$inode} // '';
	put(\$image, @$_) foreach grep { rand() < 0.5 } @{ $pending{$inode} // [] };
	$runs++;
	foreach my $copy (0, 1)
	{
		my $serial = told_of($image, $copy);
		if ($serial == 0) { $whole++; next; }
		if (!defined $blocks{$serial}) { push @wrong, "it tells $serial, which there is not"; next; }
		$told{$serial}++;
		my $lost = lost($image, $serial);
		push @wrong, "it tells $serial and lacks $lost bits" if $lost > 0;
	}
	return;
}

foreach my $record (@records)
{
	my ($what, $inode) = @$record{ 'what', 'inode' };
	if ($what eq 'W') { push @{ $pending{$inode} }, units($record->{at}, $record->{bytes}); }
	elsif ($what eq 'S') { put(\$disk{$inode}, @$_) foreach @{ delete $pending{$inode} // [] }; }
	elsif ($what eq 'R') { push @names, $inode; }
	elsif ($what eq 'D') { @names = $names[-1] if @names; }
	# of the units that are pending, of which there are seldom more than four, each is lost by some draw
	lose_power() foreach 1 .. 16;
}
is(join("\n", @wrong[ 0 .. ($#wrong > 9 ? 9 : $#wrong) ]), '', "$runs losses of power (seed $seed): what is told is there");
is($whole, 0, 'and a file that has its name is whole');
cmp_ok(scalar keys %told, '>=', 4, 'several serials were told');

# Who reads it in this boot, between any two writes, is told no serial whose bits are still to come.
my (%seen, @early);
foreach my $record (@records)
{
	# a file that is replaced is gone, and a later one may get its inode
	%seen = ($record->{inode} => $seen{ $record->{inode} }) if $record->{what} eq 'R';
	next if $record->{what} ne 'W';
	my $image = \$seen{ $record->{inode} };
	put($image, @$record{ 'at', 'bytes' });
	my $serial = length $$image > 4096 + 64 ? unpack 'Q<', substr $$image, 520 : 0;
	push @early, "$serial is told too early" if defined $blocks{$serial} && lost($$image, $serial) > 0;
}
is(join("\n", @early), '', 'between two writes what is told is there');

# Whoever reads a file is told to leave it before another one takes its name.
my ($named, %left, @silent);
foreach my $record (@records)
{
	$left{ $record->{inode} } = 1 if $record->{what} eq 'W' && $record->{at} == 600 && $record->{bytes} eq pack 'Q<', 1;
	next if $record->{what} ne 'R';
	push @silent, $named if defined $named && !$left{$named};
	$named = $record->{inode};
	delete $left{$named};
}
is("@silent", '', 'a file that is replaced says so before');

# ------------------------------------------------------------------------
# Keys that come while FILE is being saved
# ------------------------------------------------------------------------

sub slow_tells { my ($what, $state) = @_; return wait_for(60, sub { -e 'slow.bloom' && page_of('slow.bloom')->{$what} == serial_of('s', $state) }); }

sub begin_slow
{
	local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'slow.bloom', SHIM_HOLD => 'slow.fifo');
	return begin('slow', program(), 'pull', '--url', "$url/now", '--allow-http', '--out', 'slow.bloom', '--follow', '--every', '0.2', '--quiet');
}

# This waits until the disk has begun to save.
sub hold_save
{
	mkfifo('slow.fifo', 0600) or die;
	local $SIG{ALRM} = sub { die "nothing is saved\n" };
	alarm 120;
	open my $fifo, '>', 'slow.fifo' or die;
	alarm 0;
	return $fifo;
}

serve('s', 0);
begin_slow();
ok(slow_tells('serial', 0), 'a host on a slow disk') or diag(slurp('.slow.log'));
serve('s', 1);
ok(slow_tells('serial', 1), 'takes keys');
my $fifo = hold_save();
serve('s', 2);
ok(slow_tells('serial', 2), 'and the next ones meanwhile') or diag(slurp('.slow.log'));
my $before = page_of('slow.bloom')->{saved};
close $fifo;
wait_for(60, sub { page_of('slow.bloom')->{saved} != $before });
is(page_of('slow.bloom')->{saved}, serial_of('s', 1), 'the first ones are said to be saved, and no more');
unlink 'slow.fifo' or die;
is(finish('slow', 'TERM'), 0, 'it ends');
is(page_of('slow.bloom')->{saved}, serial_of('s', 2), 'and then all is saved');

serve('s', 3);
begin_slow();
ok(slow_tells('serial', 3), 'a new one');
serve('s', 4);
ok(slow_tells('serial', 4), 'takes keys');
$fifo = hold_save();
finish('slow', 'KILL');
is((pull_once('slow.bloom'))[0], 0, 'one that is killed while its child saves keeps nobody out');
close $fifo;
unlink 'slow.fifo' or die;

done_testing();
