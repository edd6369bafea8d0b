# Cluster.pm
#	  PostgreSQL servers of a test's own, to be crashed, promoted and restarted.
#
# They have the programs of the server of BLOOMFILTER_TEST_DSN, listen on a socket in a
# temporary folder only, and are gone when the test ends.
package Cluster;

use CommandLine qw(slurp wait_for);
use File::Spec;
use File::Temp qw(tempdir);
use Server qw(server_dsn speak_to hang_up);

my $port = 5432;
my @servers;
my $programs;

# initdb and postgres refuse to run as root.
sub as_owner
{
	my (@command) = @_;
	unshift @command, 'setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups' if $> == 0;
	return \@command;
}

sub _run
{
	my ($self, @command) = @_;
	my $log = "$self->{folder}/command.log";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		chdir $self->{folder};
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', $log;
		open STDERR, '>&', \*STDOUT;
		my $owned = as_owner(@command);
		exec @$owned or die "exec: $!";
	}
	waitpid $pid, 0;
	return $? == 0;
}

sub _do
{
	my ($self, @command) = @_;
	_run($self, @command) or die "@command failed:\n" . slurp("$self->{folder}/command.log");
	return $self;
}

sub _folder
{
	my ($name) = @_;
	$programs //= speak_to(server_dsn(), sub { Server::sql(q(SELECT setting FROM pg_config WHERE name = 'BINDIR')) });
	my $folder = tempdir("bloomfilter-$name-XXXXXX", DIR => $ENV{BLOOMFILTER_MEMORY} || File::Spec->tmpdir, CLEANUP => 1);
	chmod 0755, $folder;
	if ($> == 0) { my ($uid, $gid) = (getpwnam 'postgres')[ 2, 3 ]; chown $uid, $gid, $folder; }
	my $self = bless { folder => $folder, name => $name, owner => $$ }, __PACKAGE__;
	push @servers, $self;
	return $self;
}

sub _configure
{
	my ($self, @lines) = @_;
	open my $file, '>>', "$self->{folder}/data/postgresql.conf" or die "$!";
	print $file map { "$_\n" } @lines;
	close $file;
	return $self;
}

# A server, running, with the extension in schema ext of database postgres.
sub new
{
	my ($class, $name, @lines) = @_;
	my $self = _folder($name);
	# with_server has made one before; a second server of a test is to have another system identifier
	my $template = ($ENV{BLOOMFILTER_CLUSTERS} // '') . '/template';
	_do($self, -d $template && @servers == 1 ? ('cp', '-a', $template, "$self->{folder}/data") :
		("$programs/initdb", '-D', "$self->{folder}/data", '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'));
	_configure($self, "listen_addresses = ''", "unix_socket_directories = '$self->{folder}'", "port = $port",
		'fsync = off', 'autovacuum = off', 'wal_level = replica', 'max_wal_senders = 5', 'hot_standby = on', "bloomfilter.overflow = ignore", @lines);
	$self->start;
	$self->sql('CREATE SCHEMA ext; CREATE EXTENSION bloomfilter SCHEMA ext');
	return $self;
}

# A hot standby of a server, running.
sub standby
{
	my ($self, $name, @lines) = @_;
	my $standby = _folder($name);
	_do($standby, "$programs/pg_basebackup", '-D', "$standby->{folder}/data", '-d', $self->dsn, '-R', '-X', 'stream', '-c', 'fast', '--no-sync');
	_configure($standby, "unix_socket_directories = '$standby->{folder}'", 'wal_retrieve_retry_interval = 200ms', @lines);
	return $standby->start;
}

sub dsn { my ($self) = @_; return "host=$self->{folder} port=$port user=postgres dbname=postgres"; }
sub folder { return $_[0]{folder}; }

sub _control
{
	my ($self, @arguments) = @_;
	return _run($self, "$programs/pg_ctl", '-D', "$self->{folder}/data", '-w', '-t', 60, '-l', "$self->{folder}/server.log", @arguments);
}

sub start
{
	my ($self) = @_;
	_control($self, 'start') or die "no start:\n" . slurp("$self->{folder}/server.log");
	return $self;
}

# As pg_ctl's modes; "immediate" is a crash.
sub stop { my ($self, $mode) = @_; hang_up($self->dsn); return _control($self, '-m', $mode, 'stop'); }
sub promote { my ($self) = @_; return _control($self, 'promote'); }

sub sql
{
	my ($self, $sql) = @_;
	return speak_to($self->dsn, sub { Server::sql($sql) });
}

# So many keys that were not there before, of all servers; gives them.
my $next = 1;
sub insert
{
	my ($self, $count, $before) = @_;
	my @keys = ($next .. $next + $count - 1);
	$next += $count;
	$self->sql(($before // '') . "INSERT INTO users SELECT generate_series($keys[0], $keys[-1])");
	return @keys;
}

sub make_index { my ($self, $n) = @_; return speak_to($self->dsn, sub { Server::make_index($n) }); }

# A psql whose input stays open, for transactions that do.
sub session
{
	my ($self) = @_;
	open my $psql, '|-', 'psql', '-XAtq', '-d', $self->dsn, '-o', '/dev/null' or die "psql: $!";
	$psql->autoflush(1);
	return $psql;
}

# Microseconds since 1970 by the server's clock.
sub now { my ($self) = @_; return $self->sql('SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8'); }

# Waits until a standby has replayed what this server has written.
sub replayed_by
{
	my ($self, $standby) = @_;
	my $position = $self->sql('SELECT pg_current_wal_flush_lsn()');
	return wait_for(60, sub { $standby->sql("SELECT pg_last_wal_replay_lsn() >= '$position'") eq 't' });
}

sub _walwriter { my ($self) = @_; return $self->sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"); }

# What is committed with synchronous_commit off isn't flushed from now on: a crash loses it.
sub stop_walwriter
{
	my ($self) = @_;
	$self->{walwriter} = _walwriter($self);
	return kill 'STOP', $self->{walwriter};
}

# Kills the walwriter that was stopped.  The server starts its processes anew; its postmaster goes on.
sub crash
{
	my ($self) = @_;
	kill 'KILL', $self->{walwriter};
	return wait_for(60, sub { my $pid = eval { _walwriter($self) }; $pid && $pid != $self->{walwriter} });
}

END
{
	my $status = $?;
	foreach my $server (grep { $_->{owner} == $$ } reverse @servers)
	{
		_control($server, '-m', 'immediate', 'stop') if -e "$server->{folder}/data/postmaster.pid";
	}
	$? = $status;
}

1;
