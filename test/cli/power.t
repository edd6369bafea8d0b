# power.t
#	  Losses of power: a follower's writes are written down, and from each point on the way the
#	  disk is left with any of the pages that were not synced, and page 0 torn between sectors.
#	  What a reader of the next boot then tells is there; and so is what a reader of any copy tells.
#
# Needs nginx; a library (shim.c) writes down what the disk is told.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Hosts;
use Lists;
use Test::More;
use XXH64;

my $shim = $ENV{BLOOMFILTER_SHIM} // plan skip_all => 'BLOOMFILTER_SHIM names no library';
my $plain = $ENV{BLOOMFILTER_PLAIN} // program();
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

# A host that comes from state to state, each look in a process of its own, on a disk; what it told the disk.
my @records;
foreach my $i (0 .. 5)
{
	serve('s', $i);
	local %ENV = (%ENV, LD_PRELOAD => $shim, SHIM_FILE => 'u.bloom', SHIM_LOG => 'log');
	waitpid start('', $plain, 'pull', '--url', "$url/now", '--allow-http', '--out', 'u.bloom'), 0;
	ending() eq '0' or die slurp('.stderr');
}
{
	my $log = slurp('log');
	my $at = 0;
	while ($at < length $log)
	{
		my ($what, $inode, $offset, $length) = unpack 'aQ<Q<Q<', substr $log, $at, 25;
		push @records, { what => $what, inode => $inode, at => $offset, bytes => substr $log, $at + 25, $length };
		$at += 25 + $length;
	}
}
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

# What a reader tells of an image: after another boot, or of a copy.
sub told_of
{
	my ($image, $copy) = @_;
	return 0 if length $image < 4096 || substr($image, 0, 4) ne 'BLML' || unpack('Q<', substr $image, 8) != length $image ||
		unpack('Q<', substr $image, 504) != xxh64(substr $image, 0, 504);
	my $saved = substr $image, 1024, 64;
	my $bound = substr($saved, 0, 56) . substr($image, 24, 8) . substr($image, 72, 8);
	return unpack 'Q<', substr $image, 80 if $copy || unpack('Q<', substr $saved, 56) != xxh64($bound);
	return unpack 'Q<', $saved;
}

# How many bits of a serial an image lacks.
sub lost { my ($image, $serial) = @_; return unpack '%32b*', $blocks{$serial} & ~substr($image, 4096 + 64) . "\0" x length $blocks{$serial}; }

my (%disk, %pending, @names, %durable);	# images by inode; units not synced; inodes that had the name
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

my $last = 0;
foreach my $record (@records)
{
	my ($what, $inode) = @$record{ 'what', 'inode' };
	if ($what eq 'W') { push @{ $pending{$inode} }, units($record->{at}, $record->{bytes}); }
	elsif ($what eq 'S') { put(\$disk{$inode}, @$_) foreach @{ $pending{$inode} // [] }; $pending{$inode} = []; }
	elsif ($what eq 'R') { push @names, $inode; }
	else { @names = $names[-1] if @names; }
	lose_power() foreach 1 .. 40;
}
is(join("\n", @wrong[ 0 .. ($#wrong > 9 ? 9 : $#wrong) ]), '', "$runs losses of power (seed $seed): what is told is there");
is($whole, 0, 'and a file that has its name is whole');
cmp_ok(scalar keys %told, '>=', 4, 'several serials were told');

# The same could fail: who believed the serial of now would be told what is not there.
my $believed = 0;
(%disk, %pending, @names) = ();
foreach my $record (@records)
{
	my ($what, $inode) = @$record{ 'what', 'inode' };
	if ($what eq 'W') { push @{ $pending{$inode} }, units($record->{at}, $record->{bytes}); }
	elsif ($what eq 'S') { put(\$disk{$inode}, @$_) foreach @{ $pending{$inode} // [] }; $pending{$inode} = []; }
	elsif ($what eq 'R') { @names = ($inode); }
	next if !@names;
	foreach (1 .. 10)
	{
		my $image = $disk{ $names[0] };
		put(\$image, @$_) foreach grep { rand() < 0.5 } @{ $pending{ $names[0] } // [] };
		my $serial = unpack 'Q<', substr $image, 520;
		$believed++ if defined $blocks{$serial} && lost($image, $serial) > 0;
	}
}
cmp_ok($believed, '>', 0, "where the serial of now is believed after a boot, $believed lack keys");

finish('nginx', 'TERM');
done_testing();
