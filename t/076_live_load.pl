# Many writers and askers at once, as pgbench's clients, with REINDEX CONCURRENTLY in a loop
# and one of them killed by kill -9: whoever has inserted a key finds it, and so does whoever sees
# a row.  What they waited for is counted.  BLOOMFILTER_LONG=1 makes 64 of each and minutes
# of it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use IPC::Run ();
use Test::More;
use Time::HiRes qw(sleep);

use PostgreSQL::Test::Utils;

use BloomTest;

my $clients = rounds(12, 64);
my $transactions = rounds(50, 2000);

my $node = new_node('live_load', conf => "max_connections = 150\nlog_min_duration_statement = -1\nlog_statement = none\nrestart_after_crash = on\n");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint PRIMARY KEY, other bigint);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
CREATE INDEX keys_other ON keys USING bloomfilter (other) WITH (n = 100000);
INSERT INTO keys SELECT k, -k FROM generate_series(1, 1000) AS k;
CREATE TABLE grows (id bigint);
CREATE INDEX grows_id ON grows USING bloomfilter (id) WITH (n = 1, p = 0.0001);
CREATE TABLE plain (id bigint PRIMARY KEY, other bigint);
CREATE INDEX plain_other ON plain (other);
EOC

# A division by zero is a key that was denied.
my %scripts = (
	write => <<'EOC',
\set k random(1, 1000000000000)
INSERT INTO keys VALUES (:k::bigint, - :k::bigint) ON CONFLICT (id) DO UPDATE SET other = keys.other - 1;
SELECT 1 / bloom_index_contains('keys', 'id', :k::bigint)::int;
EOC
	write_plain => <<'EOC',
\set k random(1, 1000000000000)
INSERT INTO plain VALUES (:k::bigint, - :k::bigint) ON CONFLICT (id) DO UPDATE SET other = plain.other - 1;
SELECT 1 / EXISTS (SELECT FROM plain WHERE id = :k::bigint)::int;
EOC
	grow => <<'EOC',
INSERT INTO grows SELECT random() * 1000000000000 FROM generate_series(1, 300);
EOC
	ask_plain => <<'EOC',
\set k random(1, 1000000000000)
SELECT EXISTS (SELECT FROM plain WHERE id = :k::bigint), EXISTS (SELECT FROM plain WHERE other = :k::bigint);
SELECT 1 / bool_and(EXISTS (SELECT FROM plain WHERE id = o.id) AND EXISTS (SELECT FROM plain WHERE other = o.other))::int FROM (SELECT id, other FROM plain WHERE id >= :k::bigint ORDER BY id LIMIT 10) AS o HAVING count(*) > 0;
EOC
	ask => <<'EOC');
\set k random(1, 1000000000000)
SELECT bloom_index_contains('keys', 'id', :k::bigint), bloom_index_contains('keys', 'other', :k::bigint);
SELECT 1 / bool_and(bloom_index_contains('keys', 'id', id) AND bloom_index_contains('keys', 'other', other))::int FROM (SELECT id, other FROM keys WHERE id >= :k::bigint ORDER BY id LIMIT 10) AS several HAVING count(*) > 0;
EOC

# pgbench with all clients of a kind; output is in the hash.
sub start_clients
{
	my ($kind, @until) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir . "/$kind.sql";
	append_to_file($file, $scripts{$kind}) if !-e $file;
	my %run = (kind => $kind, out => '');
	$run{run} = IPC::Run::start(
		[ 'pgbench', '-n', '-M', 'prepared', '-c', $clients, '-j', 2, @until, '-f', $file, $node->connstr('postgres') . ' application_name=pgbench' ],
		'<', \undef, '>&', \$run{out});
	return \%run;
}

# Rebuilds and counts what others wait for until it is done; returns the session that
# rebuilds, still at it, and the counts.
sub rebuild_and_watch
{
	my ($table, $done) = @_;
	my $rebuild = "REINDEX TABLE CONCURRENTLY $table";
	my ($builder, $watcher) = map { session($node) } 1 .. 2;
	my %waits;
	my $rebuilt = 0;
	$builder->start($rebuild);
	while (!$done->())
	{
		my $seen = $watcher->query("SELECT coalesce(wait_event_type || ' ' || wait_event, 'running'), count(*) FROM pg_stat_activity WHERE application_name = 'pgbench' AND state = 'active' GROUP BY 1");
		$waits{$1} += $2 while $seen =~ /^(.*)\|(\d+)$/mg;
		sleep(0.02);
		$builder->{run}->pump_nb;
		next if !$builder->_at_mark('out');
		my (undef, $state, $err) = $builder->finish;
		# A client's lock and the rebuild's may be in a circle, which PostgreSQL ends.
		is($state, '', 'rebuilt') or diag $err if $state !~ /^(|40P01)$/;
		$rebuilt++;
		$builder->start($rebuild);
	}
	$watcher->quit;
	note "rebuilt $rebuilt times";
	return ($builder, %waits);
}

# Notes the counts as shares.
sub note_waits
{
	my (%waits) = @_;
	my $all = 1;
	$all += $_ foreach values %waits;
	note sprintf('%5.1f %% %s', 100 * $waits{$_} / $all, $_)
	  foreach sort { $waits{$b} <=> $waits{$a} } keys %waits;
	return;
}

# Waits for clients of a round in which nobody is killed.
sub finish_whole
{
	my ($name, $builder, @runs) = @_;
	foreach my $run (@runs)
	{
		$run->{run}->finish;
		unlike($run->{out}, qr/aborted|ERROR/, "$name: no client had an error ($run->{kind})") or diag $run->{out};
		note "$clients clients, $run->{kind}: $1" if $run->{out} =~ /(tps = \S+)/;
	}
	$builder->finish;
	$builder->quit;
	return;
}

# Whether all of these have ended.
sub all_ended
{
	my (@runs) = @_;
	$_->{run}->pump_nb foreach grep { $_->{run}->pumpable } @runs;
	return !grep { $_->{run}->pumpable } @runs;
}

sub check
{
	my ($name) = @_;
	is($node->safe_psql('postgres', <<'EOC'), '0|0', "$name: no key is denied");
SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'id', id)), count(*) FILTER (WHERE NOT bloom_index_contains('keys', 'other', other)) FROM keys
EOC
	is($node->safe_psql('postgres', 'SELECT bool_and(bloom_index_verify(indexrelid)) FROM bloom_live WHERE valid'),
		't', "$name: the filters are whole");
	return;
}

foreach my $round (1 .. rounds(2, 6))
{
	my $killed = $round % 2 == 0;
	my @runs = map { start_clients($_, $killed ? ('-T', 600) : ('-t', $transactions)) } 'write', 'ask';
	my $enough = $node->safe_psql('postgres', 'SELECT count(*) FROM keys') + $clients * $transactions;
	my ($builder, %waits) = rebuild_and_watch('keys', $killed
		? sub { $node->safe_psql('postgres', "SELECT count(*) >= $enough FROM keys") eq 't' }
		: sub { all_ended(@runs) });
	if ($killed)
	{
		kill 'KILL', $node->safe_psql('postgres', "SELECT min(pid) FROM pg_stat_activity WHERE application_name = 'pgbench'");
		$_->{run}->finish foreach @runs;
		$builder->abandon;
		wait_until_up($node);
	}
	else
	{
		finish_whole("round $round", $builder, @runs);
	}
	unlike($_->{out}, qr/division by zero/, "round $round: no client was denied a key ($_->{kind})") foreach @runs;
	check("round $round");
	note_waits(%waits);
	# What a rebuild that was killed has left behind.
	$node->safe_psql('postgres', $_)
	  foreach split /\n/, $node->safe_psql('postgres', "SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid");
}
# So many keys that several writers make the index grow at once.
my $growers = start_clients('grow', '-t', rounds(100, 2000));
$growers->{run}->finish;
unlike($growers->{out}, qr/aborted|ERROR/, 'no writer that made it grow had an error') or diag $growers->{out};
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('grows', 'id', id)), bloom_index_verify('grows_id') FROM grows"),
	'0|t', 'and all keys are there');
if ($ENV{BLOOMFILTER_LONG})
{
	my @runs = map { start_clients($_, '-t', $transactions) } 'write_plain', 'ask_plain';
	my ($builder, %waits) = rebuild_and_watch('plain', sub { all_ended(@runs) });
	finish_whole('B-trees alone', $builder, @runs);
	note_waits(%waits);
}
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:/, 'the server crashed for nothing but the kill');
$node->stop;
done_testing();
