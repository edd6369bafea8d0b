# Readers.pm
#	  What programs of a host say of a followed file: no key may be denied that is of the
#	  serial which they tell.
#
# A test says which keys came with which serial, and then asks for all of them.
package Readers;

use strict;
use warnings;

use CommandLine;
use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use Server qw(wait_for);
use Test::More;

our @EXPORT = qw(came_with told working_serial denied denied_by_python bits_of wait_in_batch);

# Built as its own tests build it.
my $python = dirname(abs_path(__FILE__)) . '/../../clients/python';
my $interpreter = -x '/usr/bin/python3' ? '/usr/bin/python3' : 'python3';
my %keys;

# These integers are in all content from this serial on.
sub came_with { my ($serial, @keys) = @_; push @{ $keys{$serial} }, @keys; return; }

sub keys_of { my ($serial) = @_; return map { @{ $keys{$_} } } grep { $_ <= $serial } sort keys %keys; }

# The serial that is told by bloomfilter status; 0 if nothing is known, or it is that of
# another file, which it says.
sub told
{
	my ($file) = @_;
	my ($status, $out) = ask('', 'status', '--json', $file);
	return $out !~ /"other"/ && $out =~ /"serial": "(\d+)"/ ? $1 : 0;
}

# The serial in a file's page; 0 if there is none.
sub working_serial
{
	my ($file) = @_;
	open my $page, '<:raw', $file or return 0;
	seek $page, 520, 0;
	my $bytes;
	return read($page, $bytes, 8) == 8 ? unpack 'Q<', $bytes : 0;
}

# How many keys of the serial that it tells a program denies which opens the file by the C
# library: "told N, denied M".  Nothing may change meanwhile.
sub denied
{
	my ($file) = @_;
	my $serial = told($file);
	my @keys = keys_of($serial);
	return "told $serial, denied 0" if !@keys;
	my ($status, $out, $err) = ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file);
	my $found = $out =~ /^(\d+)$/ ? $1 : "error: $err";
	return "told $serial, denied " . ($found =~ /error/ ? $found : @keys - $found);
}

# The same by the reader in Python, of many files; in one process, as it begins slowly.
sub denied_by_python
{
	my (@files) = @_;
	spew('.readers', join '', map { my $serial = $_; map { "$serial $_\n" } @{ $keys{$serial} } } keys %keys);
	spew('.readers.py', <<'END');
import sys, warnings
warnings.simplefilter("ignore")
from bloomfilter import WatchedBloomFilter
keys = [tuple(map(int, line.split())) for line in open(".readers")]
for path in sys.argv[1:]:
    try:
        reader = WatchedBloomFilter(path)
        serial = reader.status.serial or 0
        print("told %d, denied %d" % (serial, sum(key not in reader for came, key in keys if came <= serial)))
    except Exception as problem:
        print("told 0, error: %s" % str(problem).replace("\n", " "))
END
	my $build = "cd '$python' && $interpreter backend.py build/lib";
	system("$build >/dev/null 2>&1") == 0 or die "the reader in Python can't be built: $build";
	local $ENV{PYTHONPATH} = "$python/build/lib";
	open my $pipe, '-|', $interpreter, '.readers.py', @files or die "$interpreter: $!";
	my @answers = <$pipe>;
	close $pipe;
	chomp @answers;
	return @answers;
}

# The blocks of a file of one part.
sub bits_of
{
	my ($file) = @_;
	run('', 'copy', $file, '.copy');
	return substr slurp('.copy'), 64;
}

# Waits until a condition holds for all of these; those for which it doesn't.
sub wait_in_batch
{
	my ($seconds, $condition, @what) = @_;
	my @left = @what;
	wait_for($seconds, sub { @left = grep { !$condition->($_) } @left; return !@left });
	return @left;
}

1;
