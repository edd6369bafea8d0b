# safe_psql, psql and poll_query_until run their statements in a psql that stays, one for each database
# of a server: to start a psql and a backend for each statement takes most of the time of many tests.
#
# DISCARD ALL makes the session a new one after each call, except for what a library remembers.  A call
# with options or commands of psql, and a statement that changes a database, a tablespace or the settings
# of later sessions, gets a psql of its own.
package BloomTest::Kept;

use strict;
use warnings;

use BloomTest::Session;
use Time::HiRes qw(sleep);

use PostgreSQL::Test::Cluster;

# Sessions that a server keeps at most: some servers have ten connections.
use constant MOST => 4;

my $alone = qr/^\s*\\|\bDATABASE\b|\bTABLESPACE\b|\bALTER\s+(?:ROLE|USER|SYSTEM)\b|\bpg_reload_conf\b/mi;

my $psql = \&PostgreSQL::Test::Cluster::psql;

our @ISA = 'BloomTest::Session';

# undef where no server answers.
sub new
{
	my ($class, $node, $dbname) = @_;
	return eval { $class->SUPER::new($node, dbname => $dbname, psql => 'ON_ERROR_STOP=1') };
}

# Runs statements and returns the status of psql, its output and its messages.
sub answer
{
	my ($self, $sql) = @_;
	my ($done, $before) = ('-- done --', $self->{lines});
	# DISCARD ALL fails in a transaction that is left open: psql ends then, and the transaction with it.
	$self->start($sql . ($sql =~ /--.*\z/ ? "\n;" : ';') . "\n\\echo '$done'\n\\warn '$done'\nDISCARD ALL");
	if (!eval { $self->finish; 1 })
	{
		eval { $self->{run}->finish };
		$self->{pid} = 0;
	}
	my ($out, $err) = @$self{qw(out err)};
	my $succeeds = $out =~ s/\n?^\Q$done\E\n.*\z//ms;
	$err =~ s/\n?^\Q$done\E\n.*\z//ms;
	$err =~ s/^psql:<stdin>:\K(\d+)/$1 - $before/gme;
	return ($succeeds ? 0 : $self->{run}->full_result, $out =~ s/\n\z//r, $err =~ s/\n\z//r);
}

sub quit_all
{
	my ($node) = @_;
	eval { $_->quit } foreach values %{ delete $node->{kept} // {} };
	return;
}

# The session of a database, for the environment as it is now.
sub of
{
	my ($node, $dbname) = @_;
	my $kept = $node->{kept} //= {};
	my $key = join "\n", $dbname, map { "$_=$ENV{$_}" } grep { /^PG/ } sort keys %ENV;
	delete $kept->{$_} foreach grep { !-d "/proc/$kept->{$_}{pid}" } keys %$kept;
	quit_all($node) if !$kept->{$key} && keys %$kept >= MOST;
	return $node->{kept}{$key} //= BloomTest::Kept->new($node, $dbname);
}

sub psql
{
	my ($node, $dbname, $sql, %params) = @_;
	my %options = map { $_ => 1 } keys %params;
	delete @options{qw(stdout stderr on_error_die)};
	delete $options{on_error_stop} if $params{on_error_stop};
	my $session;
	if (%options || $sql =~ $alone || !($session = of($node, $dbname)))
	{
		quit_all($node) if $sql =~ $alone;
		return $psql->(@_);
	}
	my ($status, $out, $err) = $session->answer($sql);
	${ $params{stdout} } = $out if $params{stdout};
	${ $params{stderr} } = $err if $params{stderr};
	die "error running SQL: '$err'\nin: $sql" if $status && $params{on_error_die};
	return wantarray ? ($status >> 8, $out, $err) : $status >> 8;
}

# Asks until the answer is the expected one, three minutes at most.
sub poll_query_until
{
	my ($node, $dbname, $query, $expected) = @_;
	foreach (1 .. 6000)
	{
		my ($status, $out, $err) = psql($node, $dbname, $query);
		return 1 if $out eq ($expected // 't') && $err eq '';
		sleep(0.03);
	}
	return 0;
}

{
	no strict 'refs';
	no warnings 'redefine';
	my $cluster = 'PostgreSQL::Test::Cluster';
	*{"${cluster}::psql"} = \&psql;
	*{"${cluster}::poll_query_until"} = \&poll_query_until;
	foreach my $name (qw(stop restart kill9 reload promote backup))
	{
		my $before = \&{"${cluster}::$name"};
		*{"${cluster}::$name"} = sub { quit_all($_[0]); return $before->(@_) };
	}
}

1;
