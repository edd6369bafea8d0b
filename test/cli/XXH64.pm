# XXH64.pm
#	  XXH64 with seed 0, for headers that a test makes.
package XXH64;

use strict;
use warnings;
no warnings 'portable';

use Exporter qw(import);

our @EXPORT = qw(xxh64);

# Of a multiple of four bytes; as unsigned numbers.
my @prime = (undef, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5);
sub times { my ($a, $b) = @_; use integer; return $a * $b; }
sub plus { my ($a, $b) = @_; use integer; return $a + $b; }
sub rotated { my ($x, $n) = @_; return ($x << $n) | ($x >> (64 - $n)); }
sub unsigned { my ($x) = @_; return unpack 'Q', pack 'q', $x; }
sub round_of { my ($sum, $lane) = @_; return unsigned(&times(rotated(unsigned(plus($sum, &times($lane, $prime[2]))), 31), $prime[1])); }
sub xxh64
{
	my ($bytes) = @_;
	my $length = length $bytes;
	my @sum = (plus($prime[1], $prime[2]), $prime[2], 0, -$prime[1]);
	$sum[3] = &times(-1, $prime[1]);
	my $at = 0;
	for (; $at + 32 <= $length; $at += 32)
	{
		my @lanes = unpack 'Q<4', substr $bytes, $at, 32;
		@sum = map { round_of($sum[$_], $lanes[$_]) } 0 .. 3;
	}
	my $h = unsigned(plus(plus(rotated($sum[0], 1), rotated($sum[1], 7)), plus(rotated($sum[2], 12), rotated($sum[3], 18))));
	$h = unsigned(plus(&times($h ^ round_of(0, $_), $prime[1]), $prime[4])) foreach @sum;
	$h = unsigned(plus($h, $length));
	for (; $at + 8 <= $length; $at += 8)
	{
		$h ^= round_of(0, unpack 'Q<', substr $bytes, $at, 8);
		$h = unsigned(plus(&times(rotated($h, 27), $prime[1]), $prime[4]));
	}
	if ($at + 4 <= $length)
	{
		$h ^= unsigned(&times(unpack('L<', substr $bytes, $at, 4), $prime[1]));
		$h = unsigned(plus(&times(rotated($h, 23), $prime[2]), $prime[3]));
	}
	$h = unsigned(&times($h ^ ($h >> 33), $prime[2]));
	$h = unsigned(&times($h ^ ($h >> 29), $prime[3]));
	return $h ^ ($h >> 32);
}

1;
