# Readers.pm
#	  Programs of a host that have a followed file open, and what they say of it.
package Readers;

use CommandLine;
use Exporter qw(import);
use IPC::Open2;

our @EXPORT = qw(open_reader open_readers close_readers);

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
