# The format's derived fields, so that changed bytes can be made to look whole: the
# number of set bits and both checksums, XXH64 with seed 0 (doc/FORMAT.md).
package BloomTest::Format;

use strict;
use warnings;

use constant HEADER => 64;
use constant AT_BITS_SET => 40;
use constant AT_HEADER_CHECKSUM => 52;
use constant AT_CHECKSUM => 56;

# Multiplication and addition modulo 2^64.
use integer;

use constant {
	P1 => -7046029288634856825,
	P2 => -4417276706812531889,
	P3 => 1609587929392839161,
	P4 => -8796714831421723037,
	P5 => 2870177450012600261,
};

sub _shift_right
{
	my ($x, $by) = @_;
	return ($x >> $by) & ((1 << (64 - $by)) - 1);
}

sub _rotate
{
	my ($x, $by) = @_;
	return ($x << $by) | _shift_right($x, 64 - $by);
}

sub _round
{
	my ($lane, $word) = @_;
	return _rotate($lane + $word * P2, 31) * P1;
}

# XXH64 with seed 0.
sub xxh64
{
	my ($bytes) = @_;
	my $length = length $bytes;
	my $at = 0;
	my $h = P5;

	if ($length >= 32)
	{
		my @lanes = (P1 + P2, P2, 0, -(P1));
		for (; $at + 32 <= $length; $at += 32)
		{
			my @words = unpack('q<4', substr($bytes, $at, 32));
			$lanes[$_] = _round($lanes[$_], $words[$_]) foreach 0 .. 3;
		}
		$h = _rotate($lanes[0], 1) + _rotate($lanes[1], 7)
		  + _rotate($lanes[2], 12) + _rotate($lanes[3], 18);
		$h = ($h ^ _round(0, $_)) * P1 + P4 foreach @lanes;
	}
	$h += $length;
	for (; $at + 8 <= $length; $at += 8)
	{
		$h = _rotate($h ^ _round(0, unpack('q<', substr($bytes, $at, 8))), 27) * P1 + P4;
	}
	if ($at + 4 <= $length)
	{
		$h = _rotate($h ^ (unpack('V', substr($bytes, $at, 4)) * P1), 23) * P2 + P3;
		$at += 4;
	}
	for (; $at < $length; $at++)
	{
		$h = _rotate($h ^ (unpack('C', substr($bytes, $at, 1)) * P5), 11) * P1;
	}
	$h = ($h ^ _shift_right($h, 33)) * P2;
	$h = ($h ^ _shift_right($h, 29)) * P3;
	return $h ^ _shift_right($h, 32);
}

# A filter's bytes with the right derived fields; bytes shorter than a header as
# they are.
sub sealed
{
	my ($bytes) = @_;
	return $bytes if length $bytes < HEADER;
	my $blocks = substr($bytes, HEADER);
	substr($bytes, AT_BITS_SET, 8) = pack('q<', unpack('%32b*', $blocks));
	substr($bytes, AT_HEADER_CHECKSUM, 4) =
	  pack('V', xxh64(substr($bytes, 0, AT_HEADER_CHECKSUM)) & 0xffffffff);
	substr($bytes, AT_CHECKSUM, 8) =
	  pack('q<', xxh64(substr($bytes, 0, AT_CHECKSUM) . $blocks));
	return $bytes;
}

1;
