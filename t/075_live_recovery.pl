# Live indexes recovered to points in the past: within transactions, and in
# each phase of REINDEX CONCURRENTLY.  All keys of the table as it was then are found, and
# the new timeline goes on.  And a primary that went on after its standby was promoted,
# rewound by pg_rewind: its filters are those of the new primary, block by block.
use BloomTest;

my $primary = new_node('live_origin',
	allows_streaming => 1,
	has_archiving => 1,
	conf => "wal_consistency_checking = 'generic'\nwal_keep_size = '1GB'\n");
$primary->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint, code text);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
CREATE INDEX keys_code ON keys USING bloomfilter (lower(code)) WHERE id > 0;
CREATE TABLE other (id bigint);
INSERT INTO keys SELECT k, 'Code ' || k FROM generate_series(1, 1000) AS k;
EOC
$primary->backup('base');

my $writer = session($primary);
my $blocker = session($primary);
my $builder = session($primary);
my @points;

# A point to recover to, with what is there at this moment.
sub point
{
	my ($name) = @_;
	my $content = $primary->safe_psql('postgres', 'SELECT count(*), sum(id) FROM keys');
	$primary->safe_psql('postgres', "SELECT pg_create_restore_point('$name')");
	push @points, [ $name, $content ];
	return;
}

sub add_keys
{
	my ($first) = @_;
	$writer->query("INSERT INTO keys SELECT k, 'Code ' || k FROM generate_series($first, $first + 999) AS k");
	return;
}

# Waits until the rebuild is in a phase.
sub in_phase
{
	my ($phase) = @_;
	$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_progress_create_index WHERE phase = '$phase'")
	  or die "never in phase $phase";
	return;
}

add_keys(10_000);
$writer->query('BEGIN');
add_keys(20_000);
$writer->query("SAVEPOINT s; UPDATE keys SET id = -id WHERE id < 100");
$primary->safe_psql('postgres', 'CHECKPOINT');
$primary->safe_psql('postgres', "INSERT INTO keys SELECT generate_series(30000, 31000), 'beside'");
point('within');
$writer->query('RELEASE s; COMMIT');

# A rebuild waits for whoever writes, then for older snapshots, then for askers.
$blocker->query('BEGIN; LOCK TABLE keys IN ROW EXCLUSIVE MODE');
$builder->start('REINDEX TABLE CONCURRENTLY keys');
in_phase('waiting for writers before build');
add_keys(40_000);
point('before_build');
my $snapshot = session($primary);
$snapshot->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other');
$blocker->query('COMMIT');
in_phase('waiting for old snapshots');
add_keys(50_000);
point('before_swap');
$blocker->query("BEGIN; SELECT bloom_index_contains('keys', 'id', 1)");
$snapshot->query('COMMIT');
in_phase('waiting for readers before marking dead');
add_keys(60_000);
point('after_swap');
$blocker->query('COMMIT');
$builder->finish;
my $segment = $primary->safe_psql('postgres', 'SELECT pg_walfile_name(pg_current_wal_lsn())');
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$_->quit foreach $writer, $blocker, $builder, $snapshot;
$primary->poll_query_until('postgres', "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver")
  or die 'the log was not archived';

my $lost = "SELECT count(*), sum(id), count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'id', id)), count(*) FILTER (WHERE id > 0 AND NOT bloom_index_contains('keys_code', lower(code))) FROM keys";
my $whole = "SELECT bool_and(bloom_index_verify(indexrelid)) FROM bloom_live WHERE valid";
foreach my $point (@points)
{
	my ($name, $content) = @$point;
	my $node = PostgreSQL::Test::Cluster->new("live_$name");
	$node->init_from_backup($primary, 'base', has_restoring => 1);
	$node->append_conf('postgresql.conf', "recovery_target_name = '$name'\nrecovery_target_action = 'promote'\narchive_mode = off\n");
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'not promoted';
	is($node->safe_psql('postgres', $lost), "$content|0|0", "$name: as it was, and no key is denied");
	is($node->safe_psql('postgres', $whole), 't', "$name: all filters are whole");
	$node->safe_psql('postgres', "INSERT INTO keys SELECT k, 'Anew ' || k FROM generate_series(80000, 80999) AS k");
	like($node->safe_psql('postgres', $lost), qr/\|0\|0$/, "$name: nor one of the new timeline");
	# What a rebuild left behind by its recovery is not valid, and no hindrance.
	$node->safe_psql('postgres', 'REINDEX TABLE keys');
	like($node->safe_psql('postgres', $lost), qr/\|0\|0$/, "$name: nor after a rebuild");
	stayed_alive($node);
	unlike(slurp_file($node->logfile), qr/inconsistent page found/, "$name: replayed pages are those that were written");
	$node->teardown_node;
}

# The primary goes on, while its standby is promoted and goes another way.
my $standby = new_standby($primary, 'live_rewind', conf => "archive_mode = off\n");
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$standby->promote;
$primary->safe_psql('postgres', "INSERT INTO keys SELECT k, 'Lost ' || k FROM generate_series(1000000, 1004000) AS k; REINDEX INDEX keys_code");
$standby->safe_psql('postgres', "INSERT INTO keys SELECT k, 'Kept ' || k FROM generate_series(2000000, 2004000) AS k; CHECKPOINT");
$primary->stop;
command_ok([ 'pg_rewind', '--target-pgdata', $primary->data_dir, '--source-server', $standby->connstr('postgres') ],
	'the old primary is rewound');
# The files of settings came with the others.
$primary->append_conf('postgresql.conf', "port = " . $primary->port . "\nunix_socket_directories = '" . $primary->host . "'\n");
$primary->append_conf('postgresql.conf', "primary_conninfo = '" . $standby->connstr . "'\nrecovery_target_timeline = 'latest'\n");
$primary->set_standby_mode;
$primary->start;
$standby->safe_psql('postgres', "INSERT INTO keys SELECT k, 'Late ' || k FROM generate_series(3000000, 3001000) AS k");
$standby->wait_for_catchup($primary, 'replay', $standby->lsn('write'));
is($primary->safe_psql('postgres', $lost), $standby->safe_psql('postgres', $lost), 'it has the rows of the new primary');
like($primary->safe_psql('postgres', $lost), qr/\|0\|0$/, 'and denies no key');
is($primary->safe_psql('postgres', "SELECT bloom_index_contains('keys', 'id', 1003000)"), 'f', 'it has forgotten what is lost');
is($primary->safe_psql('postgres', $whole), 't', 'all filters are whole');
my $bytes = "SET bloomfilter.overflow = ignore; SELECT md5(bloom_snapshot('keys_id')::text), md5(bloom_snapshot('keys_code')::text)";
is($primary->safe_psql('postgres', $bytes), $standby->safe_psql('postgres', $bytes), 'and are those of the new primary');

finish($primary, $standby);
