# The postmaster is killed while filters are built, swapped and pulled, and its
# backends outlive it: after the next start every filter verifies and contains every
# key of its snapshot, and the file that was being pulled is as before.  The same
# where the backend of the pull is killed and the server recovers by itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;
use Time::HiRes qw(sleep);

use PostgreSQL::Test::Utils;

use BloomTest;
use BloomTest::Churn;
use BloomTest::Pull;

my $seed = 4104;
srand($seed);

my $node = new_node('postmaster',
	conf => <<'EOC');
restart_after_crash = on
fsync = on
wal_sync_method = fdatasync
EOC
my $churn = BloomTest::Churn->new($node);

# What is pulled is more than one chunk.  Of a filter of type held the second chunk
# waits for a lock that the test holds, so that each pull is in its middle.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE shipped (f bloomfilter);
INSERT INTO shipped SELECT bloom_agg(k, 2000000) FROM generate_series(1, 3000) AS k;
CREATE TABLE next_day AS SELECT bloom_add(f, -1) AS f FROM shipped;
CREATE DOMAIN held AS bytea;
CREATE FUNCTION bloom_chunk(filter held, "offset" bigint, length int) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
	IF "offset" > 0 THEN PERFORM pg_advisory_lock(1); END IF;
	RETURN bloom_chunk(filter::bytea::bloomfilter, "offset", length);
END $$;
EOC
my $pull = BloomTest::Pull->new($node, PostgreSQL::Test::Utils::tempdir);

sub wait_until
{
	my ($what, $condition) = @_;
	foreach (1 .. 1800)
	{
		return if $condition->();
		sleep(0.1);
	}
	die "waited in vain: $what";
}

sub wait_for_query
{
	my ($query) = @_;
	$node->poll_query_until('postgres', $query) or die "waited in vain: $query";
	return;
}

# Starts a build that takes longer than any test.
sub start_build
{
	my $session = session($node);
	my $pid = $session->pid;
	$session->start('INSERT INTO filters SELECT -1, -1, bloom_agg(k, 200000) FROM (SELECT generate_series(1, 2000000000) AS k) AS q');
	wait_for_query("SELECT state = 'active' AND query LIKE 'INSERT%' FROM pg_stat_activity WHERE pid = $pid");
	return $session;
}

# Starts a pull, and returns when it has a part of the file.
sub start_pull
{
	my ($holder) = @_;
	$holder->query('SELECT pg_advisory_lock(1)');
	$pull->start('SELECT f::bytea::held FROM next_day');
	wait_for_query("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'advisory'");
	return;
}

# Processes of the server, by the server.
sub backends
{
	return split /\n/, $node->safe_psql('postgres',
		'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
}

# Backends that compute do not notice that the postmaster is gone, and a server
# does not start beside them.
sub end_orphans
{
	my ($signal, @pids) = @_;
	kill $signal, grep { !is_gone($_) } @pids;
	wait_until('processes of the old server', sub { !grep { !is_gone($_) } @pids });
	return;
}

plan skip_all => 'the command line bloomfilter can\'t be built (libpq-dev,, libcurl4-openssl-dev, libsodium-dev)'
  if !$pull->runs;
is($pull->run('SELECT f FROM shipped'), '', 'a file is pulled');
my $files = $pull->files;

foreach my $round (1 .. rounds(5, 50))
{
	my $signal = $round % 2 ? 'TERM' : 'KILL';
	my $name = "seed $seed, round $round, orphans get $signal";
	my $builder = start_build();
	my $swapper = $churn->start;
	my $holder = session($node);
	start_pull($holder);

	my @pids = backends();
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
	$node->kill9;
	wait_until('the end of the postmaster', sub { !kill 0, $postmaster });
	command_fails([ 'pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, 'start' ],
		"$name: no server starts beside what is left of the old one");
	$pull->fails('the server refused: ', $files, $name);
	end_orphans($signal, @pids);
	$_->abandon foreach $builder, $swapper, $holder;

	$node->start;
	$churn->check($name);
	is($node->safe_psql('postgres', 'SELECT count(*) FROM filters WHERE id = -1'),
		0, "$name: of a build that did not end there is nothing");
	unlink $pull->file;
	is($pull->run('SELECT f FROM shipped'), '', "$name: the file is pulled again");
	is_deeply($pull->files, $files, "$name: and is the same");
}
stayed_alive($node);

# A backend that is killed takes the others with it; the postmaster stays.
my $backends_killed = rounds(2, 20);
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
foreach my $round (1 .. $backends_killed)
{
	my $name = "seed $seed, killed backend $round";
	my $swapper = $churn->start;
	my $holder = session($node);
	start_pull($holder);

	kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE wait_event = 'advisory'");
	$pull->fails('the server refused: ', $files, $name);
	wait_until('the end of the other backends',
		sub { is_gone($swapper->pid) && is_gone($holder->pid) });
	$_->abandon foreach $swapper, $holder;

	wait_until_up($node);
	$churn->check($name);
	is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
		$started, "$name: the server recovered by itself");
	unlink $pull->file;
	is($pull->run('SELECT f FROM shipped'), '', "$name: the file is pulled again");
	is_deeply($pull->files, $files, "$name: and is the same");
}
note $churn->checked . ' filters were checked';

my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC:|TRAP:/, 'no process crashed by itself');
is(scalar(() = $log =~ /was terminated by (?:signal|exception)/g),
	$backends_killed, 'nor ended by a signal but those that were sent one');
$node->stop;
done_testing();
