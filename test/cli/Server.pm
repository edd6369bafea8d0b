# Server.pm
#	  What the tests of bloomfilter pull share: a schema on a server, and filters.
package Server;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use Test::More;
use Time::HiRes qw(sleep clock_gettime CLOCK_MONOTONIC);

our @EXPORT = qw(server_dsn scope_to own_database speak_to sql bytea build publish wait_for);

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

# A new database with the extension in a schema that is on nobody's search path, which
# is what sql speaks to from now on; without the extension the test is skipped.
sub own_database
{
	my ($name) = @_;
	$scoped = server_dsn();
	plan skip_all => 'the extension is not installed'
	  if !sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'bloomfilter'");
	sql("DROP DATABASE IF EXISTS $name");
	sql("CREATE DATABASE $name");
	$scoped = server_dsn() =~ s/dbname=\S+/dbname=$name/r;
	sql('CREATE SCHEMA ext; CREATE EXTENSION bloomfilter SCHEMA ext');
	return $scoped;
}

# Lets sql speak to another server meanwhile.
sub speak_to
{
	my ($dsn, $function) = @_;
	my $before = $scoped;
	$scoped = $dsn;
	my $result = $function->();
	$scoped = $before;
	return $result;
}

# Publishes the integers of a range as a list of so many parts.
sub publish
{
	my ($name, $parts, $first, $last) = @_;
	sql(qq{
SET search_path = public, ext;
SELECT bloom_publish_filter('$name', array_agg(filter ORDER BY part), allow_shrink => true) IS NULL FROM (
	SELECT bloom_part(g, $parts) AS part, bloom_part_agg(g, $parts, 20000, 0.01) AS filter
	FROM generate_series($first, $last) AS g GROUP BY 1) AS s;
});
	return;
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
	my $end = clock_gettime(CLOCK_MONOTONIC) + $seconds;
	sleep 0.1 while !$condition->() && clock_gettime(CLOCK_MONOTONIC) < $end;
	return $condition->();
}

1;
