# A psql session that stays open: statements one by one, answers with SQLSTATE,
# and statements that are started now and waited for later.
package BloomTest::Session;

use strict;
use warnings;

use IPC::Run ();
use Scalar::Util qw(weaken);

# By the numbers of their backends.
my %open;

# Seconds after which a statement that has not ended is taken for stuck.
use constant STUCK => 600;

# Options: dbname, on_connect (a statement to begin with), psql (a variable of psql).
sub new
{
	my ($class, $node, %options) = @_;
	my $self = bless { in => '', out => '', err => '', statements => 0, lines => 0 }, $class;
	my @command = (
		'psql', '-X', '-A', '-t', '-q', '-v', $options{psql} // 'VERBOSITY=verbose', '-f', '-',
		'-d', $node->connstr($options{dbname} // 'postgres'));

	$self->{timer} = IPC::Run::timer(STUCK);
	$self->{run} = IPC::Run::start(
		\@command, '<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err},
		$self->{timer});
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	weaken($open{ $self->{pid} } = $self);
	$self->query($options{on_connect}) if defined $options{on_connect};
	return $self;
}

# The process id of the session's backend.
sub pid
{
	my ($self) = @_;
	return $self->{pid};
}

# Sends statements without waiting for them.
sub start
{
	my ($self, $sql) = @_;
	$self->{statements}++;
	$self->{mark} = "-- end of statement $self->{statements} --";
	$self->{out} = '';
	$self->{err} = '';
	my $sent = "$sql\n;\n\\echo '$self->{mark}'\n\\warn '$self->{mark}'\n";
	$self->{lines} += $sent =~ tr/\n//;
	$self->{in} .= $sent;
	$self->{run}->pump_nb;
	return;
}

# Whether one of psql's streams has come to the mark.
sub _at_mark
{
	my ($self, $stream) = @_;
	my $end = "$self->{mark}\n";
	return length $self->{$stream} >= length $end
	  && substr($self->{$stream}, -length $end) eq $end;
}

# Waits for what was sent.  In list context: output, SQLSTATE of the last error
# ('' for none), all messages.  Dies if the session ends.
sub finish
{
	my ($self) = @_;
	my $mark = $self->{mark};

	$self->{timer}->start(STUCK);
	while (!$self->_at_mark('out') || !$self->_at_mark('err'))
	{
		die "the session ended: $self->{err}"
		  unless $self->{run}->pumpable && $self->{run}->pump;
	}
	$self->{timer}->reset;
	my ($out, $err) = ($self->{out}, $self->{err});
	$out =~ s/\n?\Q$mark\E\n\z//;
	$err =~ s/\n?\Q$mark\E\n\z//;
	my @states = $err =~ /^(?:psql:\S+ )?(?:ERROR|FATAL|PANIC):\s+(\w{5}):/mg;
	return ($out, @states ? $states[-1] : '', $err);
}

# Runs statements: output, SQLSTATE, messages.
sub try
{
	my ($self, $sql) = @_;
	$self->start($sql);
	return $self->finish;
}

# Runs statements that must succeed and returns their output.
sub query
{
	my ($self, $sql) = @_;
	my ($out, $state, $err) = $self->try($sql);
	die "$err\nin: " . substr($sql, 0, 2000) if $state ne '';
	return $out;
}

# The SQLSTATE that statements end with, '' for success.
sub state_of
{
	my ($self, $sql) = @_;
	return ($self->try($sql))[1];
}

# Ends the session.
sub quit
{
	my ($self) = @_;
	delete $open{ $self->{pid} };
	$self->{in} .= "\\q\n";
	$self->{run}->finish;
	return;
}

sub quit_all
{
	eval { $_->quit } foreach grep { defined } values %open;
	return;
}

# Forgets a session whose backend is gone.
sub abandon
{
	my ($self) = @_;
	delete $open{ $self->{pid} };
	$self->{run}->kill_kill;
	return;
}

1;
