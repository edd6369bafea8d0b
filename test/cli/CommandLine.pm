# CommandLine.pm
#	  Runs the program under test and gives back all that it said.
#
# Who uses it has strict, warnings and Test::More, too.  Each test file works in a temporary folder of its own.  BLOOMFILTER names the
# program; test/cli/run sets it to one built with sanitizers.
package CommandLine;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter ();
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

our @ISA = 'Exporter';
our @EXPORT = (qw(program skip_leaks start ending run ask refuses wait_for slurp spew overwrite read_table), grep { !/^\$/ } @Test::More::EXPORT);

sub import
{
	strict->import;
	warnings->import;
	return __PACKAGE__->export_to_level(1, @_);
}

my $here = dirname(abs_path(__FILE__));
my $program = $ENV{BLOOMFILTER} || "$here/../../build/cli/bloomfilter";
$program = abs_path($program) || die "no program at $program: run make -C src/cli\n";
my $plain = $ENV{BLOOMFILTER_PLAIN} ? abs_path($ENV{BLOOMFILTER_PLAIN}) : $program;

# What answers a question to a file.  In tests of export and pull it is the program without sanitizers
# (see Hosts.pm), which starts in a tenth of the time: each of these commands has a test of its own.
our $asked = $program;

my $folder = tempdir('bloomfilter-cli-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir $folder or die "chdir $folder: $!";
END { chdir '/'; }

sub program { return $program; }

# Of a test that starts it hundreds of times: a start looks for leaks as long as for all else, and others look.
sub skip_leaks { $ENV{ASAN_OPTIONS} = 'detect_leaks=0'; return; }

sub slurp
{
	my ($path) = @_;
	open my $file, '<:raw', $path or die "$path: $!";
	local $/;
	my $content = <$file>;
	return $content;
}

sub spew
{
	my ($path, $content) = @_;
	open my $file, '>:raw', $path or die "$path: $!";
	print $file $content or die "$path: $!";
	close $file or die "$path: $!";
	return;
}

# Some bytes of a file in its place.
sub overwrite
{
	my ($path, $at, $bytes) = @_;
	open my $file, '+<:raw', $path or die "$path: $!";
	seek $file, $at, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	return;
}

# Starts a command with its input and outputs in files, .stdin, .stdout and .stderr;
# gives its process.
sub start
{
	my ($stdin, @command) = @_;

	spew('.stdin', $stdin);
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		open STDIN, '<', '.stdin' or die;
		open STDOUT, '>', '.stdout' or die;
		open STDERR, '>', '.stderr' or die;
		exec @command or die "exec: $!";
	}
	return $pid;
}

# How the process that was waited for has ended: exit status, or "signal N"
sub ending { return $? & 127 ? 'signal ' . ($? & 127) : $? >> 8; }

# A start looks for leaks as long as for all else: the first one of a command with its options does.
my %looked;
sub ran
{
	my ($what, $stdin, @arguments) = @_;
	local $ENV{ASAN_OPTIONS} = 'detect_leaks=0' if $looked{ join ' ', $what, $arguments[0] // '', grep { /^-/ } @arguments }++;
	waitpid start($stdin, $what, @arguments), 0;
	return (ending(), slurp('.stdout'), slurp('.stderr'));
}

# run($stdin, @arguments): exit status (or "signal N"), output, errors.  export and pull are started as
# what the program becomes for them, which saves one of two starts; who begins one that stays tests that.
sub run
{
	my ($stdin, $command, @arguments) = @_;
	my $what = ($command // '') =~ /^(?:contains|copy|explain|info|status|verify)$/ ? $asked : $program;
	$what .= '-lists' if ($command // '') =~ /^(?:export|pull)$/ && -x "$what-lists";
	return ran($what, $stdin, $command // (), @arguments);
}

# The same by the program without sanitizers, whatever it is: for what is asked again and again until
# something has happened.
sub ask { my ($stdin, @arguments) = @_; return ran($plain, $stdin, @arguments); }

# Waits until a condition holds, so many seconds at most; gives what it gave last.
sub wait_for
{
	my ($seconds, $condition) = @_;
	my $end = clock_gettime(CLOCK_MONOTONIC) + $seconds;
	my $result;
	sleep 0.1 while !($result = $condition->()) && clock_gettime(CLOCK_MONOTONIC) < $end;
	return $result;
}

# An error: status 2, nothing on standard output, one line that matches.
sub refuses
{
	my ($pattern, $stdin, @arguments) = @_;
	my ($status, $out, $err) = run($stdin, @arguments);
	my $shown = join ' ', map { length > 30 ? substr($_, 0, 30) . '...' : $_ } @arguments;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return ok($status eq '2' && $out eq '' && $err =~ /\Abloomfilter: [^\n]*\n\z/ &&
		$err =~ $pattern, "refused: $shown")
	  || diag("status $status, output \"$out\", errors \"$err\", wanted $pattern");
}

# Rows of a file of test/vectors, as hashes by column.
sub read_table
{
	my ($name) = @_;
	my @lines = split /\n/, slurp("$here/../vectors/$name");
	my @columns = split /\t/, substr(shift @lines, 1);

	return map
	{
		my %row;
		@row{@columns} = split /\t/, $_, -1;
		\%row;
	} @lines;
}

1;
