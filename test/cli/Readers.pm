# Readers.pm
#	  What programs of a host say of a followed file: no key may be denied that is of the
#	  serial which they tell.
#
# A test says which keys came with which serial, and then asks for all of them.
package Readers;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use IPC::Open2;

our @EXPORT = qw(came_with told_serial denied open_reader open_readers close_readers);

my %keys;

# These integers are in all content from this serial on.
sub came_with { my ($serial, @keys) = @_; push @{ $keys{$serial} }, @keys; return; }

sub keys_of { my ($serial) = @_; return map { @{ $keys{$_} } } grep { $_ <= $serial } sort keys %keys; }

# The serial that is told by bloomfilter status; 0 if nothing is known, or it is that of
# another file, which it says.
sub told_serial
{
	my ($file) = @_;
	my ($status, $out) = ask('', 'status', '--json', $file);
	return $out !~ /"other"/ && $out =~ /"serial": "(\d+)"/ ? $1 : 0;
}

# How many keys of the serial that it tells a program denies which opens the file by the C
# library: "told N, denied M".  Nothing may change meanwhile.
sub denied
{
	my ($file) = @_;
	my $serial = told_serial($file);
	my @keys = keys_of($serial);
	return "told $serial, denied 0" if !@keys;
	my ($status, $out, $err) = ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file);
	my $found = $out =~ /^(\d+)$/ ? $1 : "error: $err";
	return "told $serial, denied " . ($found =~ /error/ ? $found : @keys - $found);
}

# Programs that have a list open for long, by their names: BLOOMFILTER_READER in C, and those of
# BLOOMFILTER_READERS, a name and a command on a line, in which FILE stands for the file. Asked with
# ranges such as 1-20, such a function answers the serial and how many of these the list lacks;
# nothing if the program has ended.
my %readers;

sub open_readers
{
	my ($file) = @_;
	my $lines = ($ENV{BLOOMFILTER_READER} ? "c $ENV{BLOOMFILTER_READER} FILE\n" : '') . ($ENV{BLOOMFILTER_READERS} // '');
	return map { my ($name, @command) = map { s/^FILE$/$file/r } split / /; ($name => open_reader(@command)) } split /\n/, $lines;
}

sub open_reader
{
	my (@command) = @_;
	my $pid = open2(my $out, my $in, @command);
	$readers{$pid} = $$;
	return sub {
		local $SIG{PIPE} = 'IGNORE';
		print $in "@_\n";
		my $line = <$out> // return;
		return $line =~ /^(\d+) (\d+)$/;
	};
}

sub close_readers
{
	foreach my $pid (grep { $readers{$_} == $$ } keys %readers) { kill 'KILL', $pid; waitpid $pid, 0; }
	%readers = ();
	return;
}

END { my $status = $?; close_readers(); $? = $status; }

1;
