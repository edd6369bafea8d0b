# A tracked list that was copied or carried elsewhere answers as its table there says, and goes on:
# restored from a dump, upgraded, on a logical subscriber, with a clock that was set back; and where
# commits were lost, hosts keep the changes that they have, until the list is published.
use BloomTest;
use IPC::Run ();
use BloomTest::Pull;

my $program = BloomTest::Pull::program();
my $folder = PostgreSQL::Test::Utils::tempdir();
my $node = new_node('source', allows_streaming => 'logical');
my $wrong = <<'EOC';
SELECT count(*) FROM generate_series(1, 1200) k LEFT JOIN device d ON d.id = k
WHERE bloom_lookup('active', k) IS DISTINCT FROM coalesce(d.active, false)
EOC
my $changes = 'SELECT name, hash, tag, value, version FROM bloom_list_change ORDER BY hash';
my $in_force;

# Runs statements, each in a transaction of its own.
sub in
{
	my ($on, $dbname, @statements) = @_;
	my $answer;
	$answer = $on->safe_psql($dbname, $_) foreach @statements;
	return $answer;
}

sub run_ok
{
	my ($name, @command) = @_;
	$node->command_ok(\@command, $name);
	return;
}

# As each copy must: it goes on, and a rollback brings no removed key back.
sub goes_on
{
	my ($on, $dbname, $name) = @_;
	is(in($on, $dbname, $wrong), 0, "$name: no wrong answer");
	is(in($on, $dbname, $changes), $in_force, "$name: the changes are there");
	is(in($on, $dbname, 'UPDATE device SET active = NOT active WHERE id BETWEEN 4 AND 8; DELETE FROM device WHERE id = 30', $wrong), 0, "$name: changes are recorded");
	is(in($on, $dbname, "CALL bloom_rollback('active')", $wrong), 0, "$name: right after a rollback");
	# bloom_alter forgets the query of the version before, so that it must be given again.
	in($on, $dbname, "CALL bloom_publish('active', 'SELECT id, active FROM device')") if $name eq 'data alone';
	is(in($on, $dbname, ("CALL bloom_refresh('active')") x 3, $wrong), 0, "$name: and after the next runs");
	is(in($on, $dbname, 'SELECT count(*) FROM bloom_change'), 0, "$name: which take all changes away");
	return;
}

# Changes that are in force, and some that a generation has taken up.
in($node, 'postgres', 'CREATE DATABASE source');
in($node, 'source', 'CREATE EXTENSION bloomfilter', 'CREATE TABLE device (id int PRIMARY KEY, active boolean)',
	'INSERT INTO device SELECT g, g % 2 = 0 FROM generate_series(1, 1000) g',
	"CALL bloom_publish('active', 'SELECT id, active FROM device', p => 1e-9)",
	"CALL bloom_track('active', 'device', 'id', 'active')",
	'UPDATE device SET active = NOT active WHERE id <= 10', "CALL bloom_refresh('active')",
	'UPDATE device SET active = NOT active WHERE id <= 5; DELETE FROM device WHERE id = 20; INSERT INTO device VALUES (1100, true)');
is(in($node, 'source', $wrong), 0, 'the list is right');
$in_force = in($node, 'source', $changes);
is(scalar(split /\n/, $in_force), 7, 'with seven changes');

# A dump, whole; and the schema first, then the data without triggers: none records what is loaded.
my $source = $node->connstr('source');
in($node, 'postgres', "CREATE DATABASE $_ TEMPLATE template0") foreach qw(whole parts);
run_ok('a plain dump', 'pg_dump', '-f', "$folder/plain.sql", '-d', $source);
run_ok('is restored', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('whole'), '-f', "$folder/plain.sql");
goes_on($node, 'whole', 'plain dump');
run_ok('a dump', 'pg_dump', '-Fc', '-f', "$folder/dump", '-d', $source);
run_ok('its schema', 'pg_restore', '--schema-only', '-d', $node->connstr('parts'), "$folder/dump");
run_ok('and its data are restored', 'pg_restore', '--data-only', '--disable-triggers', '-d', $node->connstr('parts'), "$folder/dump");
in($node, 'parts', "CALL bloom_alter('active', owner => current_user::name)");
goes_on($node, 'parts', 'data alone');
in($node, 'postgres', "DROP DATABASE $_") foreach qw(whole parts);

# ------------------------------------------------------------------------
# Servers that hosts follow
# ------------------------------------------------------------------------

# An exporter into a folder, by a connection string.
sub export
{
	my ($where, $dsn) = @_;
	return IPC::Run::start([ $program, 'export', '--dsn', $dsn, '--list', 'active', '--to', "$folder/$where", '--follow', '--every', '0.25' ],
		'<', \undef, '>', "$folder/$where.out", '2>', "$folder/$where.err");
}

# What a folder says: how many changes, and whether all is true by now.
sub told
{
	my ($where) = @_;
	my $manifest = -e "$folder/$where/manifest" ? slurp_file("$folder/$where/manifest") : '';
	my ($count) = $manifest =~ /^must-changes \w+ (\d+)$/m;
	return ($count // 'none') . ($manifest =~ /^true_at [1-9]/m ? ' true' : ' lacks');
}

# Each of these waits a minute at most, in which all changes are read at least once.
sub becomes
{
	my ($where, $what, $name) = @_;
	return eventually(sub { told($where) eq $what }, $name) || diag(told($where), slurp_file("$folder/$where.err"));
}

sub complaints { my ($where) = @_; return scalar(() = slurp_file("$folder/$where.err") =~ /the server lacks 1 changes/g); }

SKIP:
{
	skip 'no command line bloomfilter', 1 if !defined $program;

	# A subscriber whose transactions have other numbers: an exporter finds what came since its last look
	# by them, or only with all others, once a minute.
	my $subscriber = new_node('subscriber');
	$subscriber->safe_psql('postgres', 'CREATE DATABASE source');
	in($subscriber, 'source', 'CREATE EXTENSION bloomfilter', 'CREATE TABLE device (id int PRIMARY KEY, active boolean)');
	$subscriber->stop;
	append_to_file($subscriber->data_dir . '/pg_xact/' . sprintf('%04X', 1_000_000_000 >> 20), "\0" x 262144);
	run_ok('a far transaction', 'pg_resetwal', '-x', 1_000_000_000, '-D', $subscriber->data_dir);
	$subscriber->start;
	in($node, 'source', 'CREATE PUBLICATION lists FOR ALL TABLES');
	in($subscriber, 'source', "CREATE SUBSCRIPTION lists CONNECTION '" . ($source =~ tr/'//dr) . "' PUBLICATION lists");
	$subscriber->wait_for_subscription_sync($node, 'lists', 'source');
	is(in($subscriber, 'source', $wrong), 0, 'subscriber: no wrong answer');
	my $exporter = export('subscriber', $subscriber->connstr('source'));
	becomes('subscriber', '7 true', 'subscriber: its exporter tells seven changes');
	my $since = time;
	foreach my $change (8 .. 10)
	{
		in($node, 'source', "UPDATE device SET active = NOT active WHERE id = 500 + $change");
		becomes('subscriber', "$change true", "subscriber: and $change");
	}
	cmp_ok(time - $since, '<', 60, 'subscriber: none of them had to wait for a minute');
	$node->wait_for_catchup('lists');
	is(in($subscriber, 'source', $wrong), 0, 'subscriber: no wrong answer since');
	$exporter->kill_kill;
	in($subscriber, 'source', 'DROP SUBSCRIPTION lists');
	$subscriber->stop;
	in($node, 'source', 'DROP PUBLICATION lists');
	$in_force = in($node, 'source', $changes);

	# A removal that comes to hosts, and is lost by a failover.
	my $standby = new_standby($node, 'standby');
	$node->wait_for_catchup($standby);
	$standby->stop;
	my $both = 'dbname=source target_session_attrs=read-write host=' . join(',', map { $_->host } $node, $standby) . ' port=' . join(',', map { $_->port } $node, $standby);
	$exporter = export('failover', $both);
	becomes('failover', '10 true', 'failover: ten changes');
	in($node, 'source', 'DELETE FROM device WHERE id = 40');
	becomes('failover', '11 true', 'failover: a removed key comes to hosts');
	$node->stop;
	$standby->start;
	$standby->promote;
	becomes('failover', '11 lacks', 'failover: hosts keep it, and nothing is said to be true by now');
	is(in($standby, 'source', "SELECT bloom_lookup('active', 40), count(*) FROM bloom_list_change GROUP BY 1"), 't|10', 'failover: as the server has lost it');
	is(in($standby, 'source', $wrong), 0, 'failover: the server is right by itself');
	eventually(sub { complaints('failover') >= 1 }, 'failover: it is said');
	sleep 2;
	cmp_ok(complaints('failover'), '==', 1, 'failover: once in a minute');
	in($standby, 'source', "CALL bloom_refresh('active')");
	becomes('failover', '0 true', 'failover: until the list is published');
	$exporter->kill_kill;

	# pg_upgrade, and a clock that is an hour back.
	in($standby, 'source', 'UPDATE device SET active = NOT active WHERE id BETWEEN 1 AND 5');
	$in_force = in($standby, 'source', $changes);
	$standby->stop;
	my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
	$upgraded->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	my ($bin) = run_command([ 'pg_config', '--bindir' ]);
	chdir $folder or die;
	run_ok('pg_upgrade', 'pg_upgrade', '-b', $bin, '-B', $bin, '-d', $standby->data_dir, '-D', $upgraded->data_dir, '-s', $standby->host, '-p', $standby->port, '-P', $upgraded->port);
	my ($fake) = glob '/usr/lib/*/faketime/libfaketimeMT.so.1';
	{
		local %ENV = (%ENV, defined $fake ? (LD_PRELOAD => $fake, FAKETIME => '-1h', FAKETIME_DONT_FAKE_MONOTONIC => 1, FAKETIME_DONT_RESET => 1) : ());
		$upgraded->start;
	}
	my $version = 'SELECT max(version) FROM bloom_list_change';
	my $last = in($upgraded, 'source', $version);
	SKIP:
	{
		skip 'no faketime', 1 if !defined $fake;
		cmp_ok(in($upgraded, 'source', 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint'), '<', $last - 3_000_000_000, 'upgraded: the clock is back');
	}
	goes_on($upgraded, 'source', 'upgraded');
	stayed_alive($upgraded);
	$upgraded->stop;
}

finish($node);
