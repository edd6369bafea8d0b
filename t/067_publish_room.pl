# A pg_wal whose files are held, where publishing would end the server.  (t/060_publish.pl has tablespaces without room.)
use BloomTest;
use BloomTest::SmallDisk;

use constant MEGABYTE => 1024 * 1024;

my $disk = BloomTest::SmallDisk->new(64 * MEGABYTE);
plan skip_all => 'no user namespaces here, in which to mount a small disk' if !defined $disk;

# A slot that nobody reads, or an archiver that fails, holds less than max_wal_size: it is held all the same.
my $away = PostgreSQL::Test::Utils::tempdir_short() . '/away';
my $node = new_node('wal',
	initdb => [ '--wal-segsize=1', '--waldir=' . $disk->folder . '/wal' ],
	conf => "max_wal_size = 48MB\nmin_wal_size = 2MB\nrestart_after_crash = off\nwal_level = replica\nmax_wal_senders = 2\nmax_replication_slots = 2\narchive_mode = on\narchive_command = 'test ! -e $away'\n");
my $session = session($node);
my $night = q{CALL bloom_publish('list', 'SELECT 1', n => 10000000)};
$session->query(q{CREATE TABLE filler (f text); ALTER TABLE filler ALTER f SET STORAGE external});
$session->query(q{SELECT pg_create_physical_replication_slot('dead', true)});
$session->query(q{INSERT INTO filler SELECT string_agg(md5(g::text), '') FROM generate_series(1, 100000) g}) foreach 1 .. 8;
cmp_ok($session->query('SELECT sum(size) FROM pg_ls_waldir()'), '>', 16 * MEGABYTE, 'the slot holds more than the list');
$disk->fill(6 * MEGABYTE);

sub refused
{
	my ($name) = @_;
	my $err = '';
	$node->psql('postgres', $night, stderr => \$err);
	like($err, qr/ERROR:  list "list" is not published: it needs 11\.8 MB in pg_wal, where \d\.\d MB are free\nDETAIL:  Nothing was written\.\nHINT:  Look at pg_replication_slots .* pg_stat_archiver/,
		$name);
	return;
}

# What the archiver has, a checkpoint frees.
sub clear_wal
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_ls_archive_statusdir() WHERE name ~ '\.ready$'}) or die 'not all is archived';
	$session->query('CHECKPOINT');
	return;
}

# The archiver tries a file after what was done before.
sub archive
{
	my ($told) = @_;
	$session->query($_) foreach q{SELECT pg_logical_emit_message(false, '', '')}, 'SELECT pg_switch_wal()';
	$node->poll_query_until('postgres', "SELECT $told FROM pg_stat_archiver") or die "not $told";
	return;
}

refused('a list that pg_wal has no room for is refused');
is($session->query(q{SELECT run FROM bloom_published WHERE name = 'list'}), 'failed', 'and that is told');

# The cure: the slot goes.
$session->query(q{SELECT pg_drop_replication_slot('dead')});
clear_wal();
is($session->state_of($night), '', 'without the slot the same list is published, on the same disk');
is($session->query(q{SELECT bloom_lookup('list', 1)}), 't', 'and asked');
append_to_file($away, '');
archive('last_failed_time > last_archived_time');
refused('so while the archiver fails');
unlink($away) or die $!;
archive('last_failed_time < last_archived_time');
clear_wal();
is($session->state_of($night), '', 'and not when it goes on');

finish($node);
