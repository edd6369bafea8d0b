# Proxy.pm
#	  A network that can be cut: between a client and a server, a process that
#	  passes on so many bytes and no more.
#
# It listens on a Unix socket.  Each connection takes the next line of the file
# "cuts" in the proxy's folder: "server N" or "client N" ends it after N bytes of
# that side, anything else never.  What has passed is written to the file "passed"
# when a connection ends: bytes of the server and of the client.
package Proxy;

use strict;
use warnings;

use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);

use constant PIECE => 65536;

# The proxy of the server whose socket is at this path.
sub new
{
	my ($class, $server) = @_;
	my $folder = tempdir('bloomfilter-proxy-XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $self = bless { folder => $folder, server => $server, owner => $$ }, $class;
	my $door = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => "$folder/.s.PGSQL.5432", Listen => 10)
	  or die "$folder: $!";
	chmod 0777, $folder, "$folder/.s.PGSQL.5432";

	$self->{pid} = fork() // die "fork: $!";
	if ($self->{pid} == 0)
	{
		$SIG{PIPE} = 'IGNORE';
		$SIG{TERM} = sub { require POSIX; POSIX::_exit(0) };
		while (1)
		{
			my $client = $door->accept or next;
			$self->serve($client, $self->next_cut);
		}
	}
	close $door;
	return $self;
}

# Where to connect to.
sub dsn
{
	my ($self) = @_;
	return "host=$self->{folder} port=5432";
}

sub file
{
	my ($self, $name) = @_;
	return "$self->{folder}/$name";
}

# Says how the next connections end.  A file is replaced as a whole.  What an earlier
# connection passed on is forgotten; each connection does this too when it begins, so
# that one which ends only now does not pass for it.
sub cut
{
	my ($self, @cuts) = @_;
	unlink $self->file('passed');
	open my $file, '>', $self->file('new') or die $!;
	print $file map { "$_\n" } @cuts;
	close $file or die $!;
	rename $self->file('new'), $self->file('cuts') or die $!;
	return;
}

# Bytes that the last connection passed on, of the server and of the client.
sub passed
{
	my ($self) = @_;
	open my $file, '<', $self->file('passed') or return;
	return split / /, <$file> // '';
}

sub next_cut
{
	my ($self) = @_;
	open my $file, '<', $self->file('cuts') or return '';
	my ($first, @others) = <$file>;
	close $file;
	chomp $first if defined $first;
	$self->cut(map { s/\n//r } @others);
	return $first // '';
}

# Passes bytes on between two sockets until one side ends or the cut.
sub serve
{
	my ($self, $client, $cut) = @_;
	my $server = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $self->{server}) or return;
	my ($side, $left) = $cut =~ /^(server|client) (\d+)$/ ? ($1, $2) : ('', 0);
	my %passed = (server => 0, client => 0);
	my $select = IO::Select->new($client, $server);

	CONNECTION: while ($side eq '' || $passed{$side} < $left)
	{
		foreach my $from ($select->can_read)
		{
			my ($name, $to) = $from == $client ? ('client', $server) : ('server', $client);
			my $room = $name eq $side ? $left - $passed{$name} : PIECE;
			last CONNECTION if $room == 0;
			my $length = sysread $from, my $bytes, $room < PIECE ? $room : PIECE;
			last CONNECTION if !$length || !send_all($to, $bytes);
			$passed{$name} += $length;
		}
	}
	open my $file, '>', $self->file('passed.new') or die $!;
	print $file "$passed{server} $passed{client}";
	close $file;
	close $client;
	close $server;
	rename $self->file('passed.new'), $self->file('passed');
	return;
}

sub send_all
{
	my ($to, $bytes) = @_;
	while (length $bytes)
	{
		my $written = syswrite $to, $bytes or return 0;
		substr($bytes, 0, $written) = '';
	}
	return 1;
}

sub DESTROY
{
	my ($self) = @_;
	return if $self->{owner} != $$;
	local $?;
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	return;
}

1;
