# A file system of a few megabytes that a test fills and empties, without root.
#
# A process in a user and a mount namespace of its own mounts a tmpfs; others of the
# same user reach it through /proc/PID/root, also a server that knows nothing of it.
# It is gone with that process.
package BloomTest::SmallDisk;

use strict;
use warnings;

use IPC::Run ();

use PostgreSQL::Test::Utils;

# Makes one of so many bytes; undef where that is not allowed.
sub new
{
	my ($class, $bytes) = @_;
	my $at = PostgreSQL::Test::Utils::tempdir_short();
	my $self = bless { in => '', out => '' }, $class;

	$self->{run} = eval
	{
		IPC::Run::start(
			[
				'unshare', '--user', '--map-root-user', '--mount', 'sh', '-c',
				"mount -t tmpfs -o size=$bytes,mode=700 none '$at' && echo \$\$ && exec cat"
			],
			'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err});
	} or return undef;
	$self->{run}->pump while $self->{out} !~ /\n/ && $self->{run}->pumpable;
	return undef if $self->{out} !~ /^(\d+)\n/;
	$self->{folder} = "/proc/$1/root$at";
	return -w $self->{folder} ? $self : undef;
}

sub folder
{
	my ($self) = @_;
	return $self->{folder};
}

# A new folder on it.
sub make_folder
{
	my ($self, $name) = @_;
	mkdir "$self->{folder}/$name" or die "$name: $!";
	return "$self->{folder}/$name";
}

# Takes all space but so many bytes.
sub fill
{
	my ($self, $free) = @_;
	my $block = "\0" x (1024 * 1024);
	my $size = 0;
	open(my $file, '>:raw', "$self->{folder}/ballast") or die $!;
	while (my $written = syswrite($file, $block))
	{
		$size += $written;
	}
	truncate $file, $size > $free ? $size - $free : 0 or die $!;
	close $file;
	return;
}

# Gives it back.
sub give_back
{
	my ($self) = @_;
	unlink "$self->{folder}/ballast" or die $!;
	return;
}

# The namespace ends with the process that it was made for.
sub DESTROY
{
	my ($self) = @_;
	local ($?, $@);
	eval { $self->{in} = ''; $self->{run}->kill_kill } if $self->{run};
	return;
}

1;
