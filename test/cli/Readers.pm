# Readers.pm
#	  Programs of a host that have a followed file open, and what they say of it.
package Readers;

use CommandLine;
use Exporter qw(import);
use IPC::Open2;

our @EXPORT = qw(open_reader open_readers close_readers);

# Programs that have a list open for long, by their names: BLOOMFILTER_READER in C, and those of
# BLOOMFILTER_READERS, a name and a command on a line. They are asked as test/readers/readers.py says:
# with ranges such as 1-20, such a function answers the serial and how many of these the list lacks;
# nothing if the program has ended.
my %readers;

sub open_readers
{
	my ($file) = @_;
	my $lines = ($ENV{BLOOMFILTER_READER} ? "c $ENV{BLOOMFILTER_READER}\n" : '') . ($ENV{BLOOMFILTER_READERS} // '');
	return map { my ($name, @command) = split / /; ($name => open_reader(@command, $file)) } split /\n/, $lines;
}

# The last argument is the file.
sub open_reader
{
	my (@command) = @_;
	my $file = pop @command;
	my $pid = open2(my $out, my $in, @command);
	$readers{$pid} = $$;
	my $ask = sub {
		local $SIG{PIPE} = 'IGNORE';
		print $in join("\t", @_) . "\n";
		return <$out> // '';
	};
	$ask->('open', 'list', $file, 'watch');
	return sub { return $ask->('lacks', 'list', @_) =~ /^(\d+) (\d+)$/; };
}

sub close_readers
{
	foreach my $pid (grep { $readers{$_} == $$ } keys %readers) { kill 'KILL', $pid; waitpid $pid, 0; }
	%readers = ();
	return;
}

END { my $status = $?; close_readers(); $? = $status; }

1;
