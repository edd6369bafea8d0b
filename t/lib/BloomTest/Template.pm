# A test's servers begin with a copy of the files that initdb has made for the first test of the run,
# of those that run at once each of the first: initdb takes a second of processor time.  A second
# server of a test has a system identifier of its own, by which hosts and indexes know a cluster.
package BloomTest::Template;

use strict;
use warnings;

use File::Temp ();
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;

my $made = 0;
my $run = \&PostgreSQL::Test::Utils::system_or_bail;

# initdb -D FOLDER -A trust -N [OPTION]...
sub copy
{
	my (undef, undef, $folder, @options) = @_;
	my $template = "$PostgreSQL::Test::Utils::tmp_check/template" . join('', @options) =~ s/\W/_/gr;
	if (!-d $template)
	{
		$run->('initdb', '-D', "$template.$$", @options);
		# To fill new files of the write-ahead log with zeros takes as long as to write what is logged, and to
		# compile a statement longer than to run it.
		append_to_file("$template.$$/postgresql.conf", "wal_init_zero = off\njit = off\n");
		# another test may have been first
		rename "$template.$$", $template;
	}
	$run->('cp', '-a', $template, in_memory($folder));
	another_cluster($folder) if $made++;
	return;
}

# Where the files of a server, which is to lie in a folder that is not there yet, are: in memory where
# BLOOMFILTER_MEMORY names a folder of it.
sub in_memory
{
	my ($folder) = @_;
	return $folder if !$ENV{BLOOMFILTER_MEMORY};
	my $data = File::Temp::tempdir(DIR => $ENV{BLOOMFILTER_MEMORY}, CLEANUP => 1) . '/data';
	symlink $data, $folder or die "$folder: $!";
	return $data;
}

# Changes the identifier in pg_control.  pg_resetwal takes the rest as it stands, though the checksum is
# wrong then, and writes the checksum anew.
sub another_cluster
{
	my ($folder) = @_;
	open(my $control, '+<:raw', "$folder/global/pg_control") or die $!;
	read($control, my $identifier, 8) == 8 or die 'pg_control is short';
	seek($control, 0, 0) or die $!;
	print $control pack 'Q', $made + unpack 'Q', $identifier;
	close($control) or die $!;
	return $run->('pg_resetwal', '-f', '-D', $folder);
}

{
	no warnings 'redefine';
	*PostgreSQL::Test::Utils::system_or_bail = sub {
		my $copies = $_[0] eq 'initdb' && !grep { m{^--waldir} } @_;
		return $copies ? copy(@_) : $run->(@_);
	};
	# Of a backup.
	*PostgreSQL::Test::RecursiveCopy::copypath = sub { return $run->('cp', '-a', $_[0], in_memory($_[1])) };
}

1;
