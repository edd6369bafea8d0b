# bloomfilter pull, run by a test against its server, in a folder of the test's.
package BloomTest::Pull;

use strict;
use warnings;

use FindBin;
use IPC::Run ();
use Test::More;

use PostgreSQL::Test::Utils;

# The program, built where it is not yet; undef if it can't be.
sub program
{
	my $root = "$FindBin::RealBin/..";
	my $log = '';
	return "$root/build/cli/bloomfilter"
	  if IPC::Run::run([ 'make', '-s', '-C', "$root/src/cli" ], '>&', \$log);
	note "bloomfilter can't be built here:\n$log";
	return undef;
}

# Pulls from a node into an empty folder.
sub new
{
	my ($class, $node, $folder) = @_;
	return bless { node => $node, folder => $folder, program => program() }, $class;
}

# Whether there is a program to run.
sub runs
{
	my ($self) = @_;
	return defined $self->{program};
}

# The file that is pulled.
sub file
{
	my ($self) = @_;
	return "$self->{folder}/filter";
}

# All files of the folder, each with its content, but for what its first page tells of
# looks.
sub files
{
	my ($self) = @_;
	my @names = grep { !/^\.\.?$/ } slurp_dir($self->{folder});
	my %files = map { ($_ => slurp_file("$self->{folder}/$_")) } @names;
	foreach (values %files) { substr($_, 1536, 512) = '' if /^BLML/; }
	return \%files;
}

# Names of files that are not in both of what files() returned, or are not the same.
sub differences
{
	my ($one, $other) = @_;
	return join ' ', grep { !exists $one->{$_} || !exists $other->{$_} || $one->{$_} ne $other->{$_} }
	  sort keys %{ { %$one, %$other } };
}

# Starts to pull a list.
sub start
{
	my ($self, $list, @options) = @_;
	my @command = (
		$self->{program}, 'pull', '--dsn', $self->{node}->connstr('postgres'),
		'--list', $list, '--out', $self->file, @options);
	$self->{out} = '';
	$self->{err} = '';
	$self->{run} = IPC::Run::start(\@command, '<', \undef, '>', \$self->{out}, '2>', \$self->{err});
	return;
}

# Waits for its end and returns what it complained, '' for success.
sub finish
{
	my ($self) = @_;
	$self->{run}->finish;
	my $status = $self->{run}->result;
	return "status $status: $self->{err}" if ($status == 0) != ($self->{err} eq '');
	return $self->{err};
}

# Pulls a list and returns what it complained.
sub run
{
	my ($self, @arguments) = @_;
	$self->start(@arguments);
	return $self->finish;
}

# Checks that what was started fails for this reason and leaves these files, no more
# and no other ones.
sub fails
{
	my ($self, $reason, $files, $name) = @_;
	like($self->finish, qr/\Abloomfilter: [^\n]*(?:$reason)[^\n]*\n\z/, "$name: the pull fails and says why");
	my $left = $self->files;
	is(join(' ', sort keys %$left), join(' ', sort keys %$files), "$name: no other file is left");
	is(join(' ', grep { $left->{$_} ne $files->{$_} } keys %$files),
		'', "$name: and each is as before");
	return;
}

1;
