# Live indexes under wal_level = minimal, where PostgreSQL logs nothing of files that the
# transaction itself has made and writes them out at commit, or logs them whole if they are
# small: after an immediate stop every key that was committed is found.  And filters that have
# been moved to another tablespace, under either wal_level.
use BloomTest;

my $node = new_node('live_minimal', conf => "wal_level = minimal\nmax_wal_senders = 0\n");
my $elsewhere = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
my $copy = "COPY keys FROM PROGRAM 'seq 20001 30000'";

# What one transaction does with the table keys and its filter, if there was one before.
my @cases = (
	[ 'made with its table', 0, 'CREATE TABLE keys (id bigint)', 'CREATE INDEX keys_id ON keys USING bloomfilter (id)', $copy, 'INSERT INTO keys SELECT generate_series(1, 5000)' ],
	[ 'made after its table was filled', 0, 'CREATE TABLE keys (id bigint)', $copy, 'CREATE INDEX keys_id ON keys USING bloomfilter (id)', 'INSERT INTO keys VALUES (1)' ],
	[ 'that grows', 0, 'CREATE TABLE keys (id bigint)', 'CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1)', $copy ],
	[ 'made on an old table', 1, 'DROP INDEX keys_id', $copy, 'CREATE INDEX keys_id ON keys USING bloomfilter (id)', 'INSERT INTO keys VALUES (1)' ],
	[ 'rebuilt', 1, $copy, 'REINDEX INDEX keys_id', 'INSERT INTO keys SELECT generate_series(1, 5000)' ],
	[ 'truncated', 1, 'TRUNCATE keys', $copy, 'INSERT INTO keys SELECT generate_series(1, 5000)' ],
	[ 'rebuilt in a savepoint that was rolled back', 1, 'SAVEPOINT s', 'REINDEX INDEX keys_id', 'ROLLBACK TO s', $copy ],
	[ 'truncated in a savepoint that was rolled back', 1, 'SAVEPOINT s', 'TRUNCATE keys', 'INSERT INTO keys VALUES (1)', 'ROLLBACK TO s', $copy ],
	[ 'moved', 1, 'ALTER INDEX keys_id SET TABLESPACE elsewhere', $copy ],
	[ 'of a table that was moved', 1, 'ALTER TABLE keys SET TABLESPACE elsewhere', 'ALTER INDEX keys_id SET TABLESPACE elsewhere', $copy, 'ALTER INDEX keys_id SET TABLESPACE pg_default' ],
);

# Each case has a table of its own, and all of them one checkpoint before and one immediate stop after.
sub try_cases
{
	my ($name, @tried) = @_;
	my $session = session($node);
	my %table = map { $tried[$_][0] => "keys$_" } 0 .. $#tried;
	foreach my $table (sort values %table)
	{
		$session->query("DROP TABLE IF EXISTS $table");
	}
	foreach my $case (grep { $_->[1] } @tried)
	{
		my $table = $table{ $case->[0] };
		$session->query("CREATE TABLE $table (id bigint); CREATE INDEX ${table}_id ON $table USING bloomfilter (id); INSERT INTO $table SELECT generate_series(10001, 20000)");
	}
	$session->query('CHECKPOINT');
	foreach my $case (@tried)
	{
		my $table = $table{ $case->[0] };
		my (undef, undef, @statements) = @$case;
		$session->query(join(';', 'BEGIN', map({ s/\bkeys(?=\b|_)/$table/gr } @statements), 'COMMIT'));
		$session->query("INSERT INTO $table SELECT generate_series(30001, 31000)");
	}
	$node->stop('immediate');
	$session->abandon;
	$node->start;
	$session = session($node);
	foreach my $case (@tried)
	{
		my $table = $table{ $case->[0] };
		foreach my $when ('', ', and takes keys')
		{
			$session->query("INSERT INTO $table SELECT generate_series(31001, 32000)") if $when;
			is($session->query(<<"EOC"), 't|0|t|f', "$name: a filter $case->[0]$when");
SELECT count(*) > 9000, count(*) FILTER (WHERE NOT bloom_index_contains('${table}_id', id)), bloom_index_verify('${table}_id'),
	bool_and(bloom_index_contains('${table}_id', -id)) FROM $table
EOC
		}
	}
	$session->quit;
	return;
}

# Files are written out from this size on, and logged below it.
foreach my $threshold ('0', '1GB')
{
	$node->append_conf('postgresql.conf', "wal_skip_threshold = $threshold");
	$node->restart;
	try_cases("wal_skip_threshold = $threshold", @cases);
}

# What such a transaction adds has no position in the log, by which changes are told.
{
	my $session = session($node);
	$session->query('BEGIN; DROP TABLE IF EXISTS keys0; CREATE TABLE keys0 (id bigint); CREATE INDEX keys0_id ON keys0 USING bloomfilter (id)');
	is($session->state_of("SELECT bloom_index_changes('keys0_id', NULL)"), '55000', 'changes of a file that is not logged are refused');
	$session->query('ROLLBACK');
	is($session->query("SELECT count(*) > 1 FROM bloom_index_changes('keys0_id', NULL)"), 't', 'and told later');
}
$node->append_conf('postgresql.conf', 'wal_level = replica');
$node->restart;
try_cases('wal_level = replica', grep { $_->[0] =~ /moved/ } @cases);

finish($node);
