# Server.pm
#	  What the tests of bloomfilter pull share: a schema on a server, and filters.
package Server;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(server_dsn scope_to sql bytea build wait_for);

my $scoped;

# The connection string of BLOOMFILTER_TEST_DSN; without one the test is skipped.
sub server_dsn
{
	my $dsn = $ENV{BLOOMFILTER_TEST_DSN};
	plan skip_all => 'no server: set BLOOMFILTER_TEST_DSN, or run make -C test/cli check-pull'
	  if !defined $dsn;
	return $dsn;
}

# The same for a schema of one's own, which is also what sql speaks to.
sub scope_to
{
	my ($schema) = @_;
	$scoped = server_dsn() . " options='-csearch_path=$schema,public'";
	return $scoped;
}

# Runs statements, and gives what they answer.
sub sql
{
	my ($sql) = @_;
	spew('.sql', "SET client_min_messages = warning;\n$sql");
	my @command = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $scoped, '-f', '.sql');
	my $answer = join '', do
	{
		open my $psql, '-|', @command or die "psql: $!";
		my @lines = <$psql>;
		close $psql or die "psql failed for: " . substr($sql, 0, 200) . "\n";
		@lines;
	};
	chomp $answer;
	return $answer;
}

# A file's bytes as SQL.
sub bytea { return "'\\x" . unpack('H*', slurp($_[0])) . "'::bytea"; }

# Makes a filter of integers, or a set, by the program under test.
sub build
{
	my ($file, $keys, @options) = @_;
	my ($status, undef, $err) = run(join('', map { "$_\n" } @$keys), 'build', '-t', 'integer', @options, $file);
	die $err if $status;
	return;
}

# Waits until a condition holds, so many seconds at most; whether it does.
sub wait_for
{
	my ($seconds, $condition) = @_;
	my $end = time + $seconds;
	sleep 0.05 while !$condition->() && time < $end;
	return $condition->();
}

1;
