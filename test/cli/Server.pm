# Server.pm
#	  What the tests of bloomfilter pull share: a schema on a server, and filters.
package Server;

use CommandLine;
use Exporter qw(import);
use IPC::Open2;

our @EXPORT = qw(server_dsn own_database speak_to hang_up sql make_index publish);

my $scoped;

# The connection string of BLOOMFILTER_TEST_DSN; without one the test is skipped.
sub server_dsn
{
	my $dsn = $ENV{BLOOMFILTER_TEST_DSN};
	plan skip_all => 'no server: set BLOOMFILTER_TEST_DSN, or run make -C test/cli check-pull'
	  if !defined $dsn;
	return $dsn;
}

# A new database with the extension in a schema that is on nobody's search path but sql's, which
# speaks to it from now on; without the extension the test is skipped.  It goes with its server.
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

# A table of users, and an index for so many.
sub make_index
{
	my ($n) = @_;
	return sql("CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = $n)");
}

# Publishes the integers of a range as a list of so many parts.
sub publish
{
	my ($name, $parts, $first, $last) = @_;
	sql(qq{
SELECT bloom_publish_filter('$name', array_agg(filter ORDER BY part), allow_shrink => true) IS NULL FROM (
	SELECT bloom_part(g, $parts) AS part, bloom_part_agg(g, $parts, 20000, 0.01) AS filter
	FROM generate_series($first, $last) AS g GROUP BY 1) AS s;
});
	return;
}

# A psql of each connection string, which stays: its start and its backend's take longer than most statements.
my %psql;

sub talk
{
	my ($psql, $commands) = @_;
	local $SIG{PIPE} = 'IGNORE';
	print { $psql->{to} } "$commands\n\\echo answered\n";
	my $answer = '';
	while (defined(my $line = readline $psql->{from}))
	{
		return $answer if $line eq "answered\n";
		$answer .= $line;
	}
	return undef;
}

# Ends it, before its server ends or its database is copied.
sub hang_up
{
	my ($dsn) = @_;
	my $psql = delete $psql{$dsn} // return;
	close $psql->{to};
	close $psql->{from};
	waitpid $psql->{process}, 0;
	return;
}

END
{
	my $status = $?;
	foreach my $psql (grep { $_->{owner} == $$ } values %psql) { kill 'TERM', $psql->{process}; waitpid $psql->{process}, 0; }
	$? = $status;
}

# The psql of where sql speaks to, as one that has just begun; another one where its server was away meanwhile.
sub ready
{
	my $stayed = exists $psql{$scoped};
	if (!$stayed)
	{
		my $process = open2(my $from, my $to, 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $scoped);
		$psql{$scoped} = { process => $process, from => $from, to => $to, owner => $$ };
	}
	return $psql{$scoped} if defined talk($psql{$scoped}, "DISCARD ALL;\nSET client_min_messages = warning; SET search_path = public, ext;");
	hang_up($scoped);
	return $stayed ? ready() : die "no server answers at $scoped\n";
}

# Runs statements, and gives what they answer.
sub sql
{
	my ($sql) = @_;
	spew('.sql', $sql);
	my $answer = talk(ready(), '\i .sql') // do { hang_up($scoped); die 'psql failed for: ' . substr($sql, 0, 200) . "\n"; };
	chomp $answer;
	return $answer;
}

1;
