# export_pool.t
#	  bloomfilter export, and bloomfilter pull --dsn, through pgbouncer, which gives them another
#	  server without their knowledge: after a crash, after a failover, and by mistake.
#
# Needs pgbouncer and nginx.  Everything listens on sockets and on loopback.

use Cluster;
use CommandLine;
use Hosts;
use Server;

skip_leaks();

server_dsn();
my ($pgbouncer) = grep { -x } '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer';
plan skip_all => 'pgbouncer is not installed' if !defined $pgbouncer;
my $url = begin_nginx(free_port());
mkdir 'hosts';

my $primary = Cluster->new('pooled', 'wal_writer_delay = 10s', 'wal_writer_flush_after = 1GB');
my $stranger = Cluster->new('stranger');
foreach my $server ($primary, $stranger)
{
	$server->make_index(100000);
}
$stranger->sql('INSERT INTO users SELECT generate_series(900000, 900100)');

my @committed;

# The pooler, whose socket is in a folder of its own; what it leads to can be changed.  Each of the
# two that follow has a pool, and so server connections, of its own.
my $folder = $primary->folder;
my $dsn = "host=$folder port=6432 user=postgres dbname=pool";
sub lead_to
{
	my (@servers) = @_;
	my $hosts = join ',', map { $_->folder } @servers;
	spew("$folder/pgbouncer.ini", join("\n", '[databases]', (map { "$_ = host=$hosts port=5432 dbname=postgres user=postgres" } 'pool', 'direct'),
		'[pgbouncer]', 'listen_addr =', 'listen_port = 6432', "unix_socket_dir = $folder", 'auth_type = any', 'server_login_retry = 1',
		'query_wait_timeout = 60', @servers > 1 ? ('min_pool_size = 2', 'server_round_robin = 1') : (), 'admin_users = postgres', 'pool_mode = transaction', "logfile = $folder/pgbouncer.log", ''));
	return;
}
sub admin
{
	my (@commands) = @_;
	return system("psql -XAtq -d 'host=$folder port=6432 user=postgres dbname=pgbouncer' @{[ map { qq(-c '$_') } @commands ]} >/dev/null 2>&1") == 0;
}
# While the pool pauses, something is done, and then it leads elsewhere.
sub turn_to
{
	my ($name, $meanwhile, @servers) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $paused = admin('PAUSE');
	$meanwhile->();
	lead_to(@servers);
	return ok($paused && admin('RELOAD', 'RESUME'), $name);
}
sub kept
{
	my ($server, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $time = $server->now;
	is(promised('users', 'hosts/u.bloom', $time, @committed), 0, $name);
	is(promised_by_dsn('hosts/direct.bloom', $time, @committed), 0, "$name, also without a folder");
	return;
}
sub sql_through
{
	my ($statement) = @_;
	my $answer = `psql -XAtq -d '$dsn' -c '$statement'`;
	chomp $answer;
	return $answer;
}

lead_to($primary);
my $command = Cluster::as_owner($pgbouncer, '-q', "$folder/pgbouncer.ini");
begin('pooler', 'sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', @$command);
ok(wait_for(30, sub { admin('SHOW VERSION') }), 'a pooler, by transaction');
begin('exporter', program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--follow', '--every', '0.2', '--poll', '1', '--heartbeat', '1');
ok(wait_for(30, sub { -e 'www/users/manifest' }), 'an exporter follows');
begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
begin('direct', program(), 'pull', '--dsn', $dsn =~ s/dbname=pool/dbname=direct/r, '--index', 'users_filter', '--out', 'hosts/direct.bloom', '--follow', '--every', '0.2');
push @committed, $primary->insert(500);
kept($primary, 'what is committed arrives');
my $reads = exporter_says('users', 'full_reads');
push @committed, $primary->insert(100);
kept($primary, 'and what comes then');
is(exporter_says('users', 'full_reads'), $reads, 'as changes, while the pooler keeps its server connection');
is(sql_through('SHOW lock_timeout'), '0', "no setting stays with the pooler's connections");
is(sql_through('SHOW search_path'), '"$user", public', 'nor a search_path');

# Keys that were told and never flushed: another process of the server has their positions.
$primary->stop_walwriter;
my @lost = $primary->insert(200, 'SET synchronous_commit = off; ');
ok(wait_for(30, sub { has('hosts/u.bloom', @lost) }), 'keys are told before they are flushed');
ok($primary->crash, 'the server crashes, and starts anew');
push @committed, $primary->insert(1) foreach 1 .. 5;
push @committed, $primary->insert(300);
kept($primary, 'nothing is missing after that');
ok(wait_for(30, sub { exporter_says('users', 'full_reads') > $reads }), 'all of the index was read');

# ------------------------------------------------------------------------
# A failover behind the pooler, and a server that is another one
# ------------------------------------------------------------------------

my $standby = $primary->standby('successor');
push @committed, $primary->insert(50);
$primary->replayed_by($standby);
my $epoch = manifest('users')->{epoch}[0];
$reads = exporter_says('users', 'full_reads');
turn_to('the pool goes on with the standby that was promoted', sub { $primary->stop('fast'); $standby->promote }, $standby);
push @committed, $standby->insert(300);
kept($standby, 'nothing is missing after the failover');
is(manifest('users')->{epoch}[0], $epoch, 'which is no new epoch');
ok(wait_for(30, sub { exporter_says('users', 'full_reads') > $reads }), 'all of the index was read');

my $content = manifest('users')->{content}[0];
turn_to('then it leads to another server, by mistake', sub { }, $stranger);
ok(wait_for(60, sub { slurp('.exporter.log') =~ /another server answers than the one before/ }), 'which is noticed');
like((run('', 'status', '--json', 'www/users'))[1], qr/"error": "another server answers/, 'and told');
is(manifest('users')->{content}[0], $content, 'and not exported');
ok(wait_for(60, sub { status_word('hosts/direct.bloom') =~ /identity/ }), 'nor pulled');
is(promised_by_dsn('hosts/direct.bloom', 0, @committed), 0, 'and no key goes');
turn_to('the right one comes back', sub { }, $standby);
push @committed, $standby->insert(100);
kept($standby, 'and it goes on by itself');
is(manifest('users')->{epoch}[0], $epoch, 'in the same epoch');

# Two servers in turns: each look is of one.
turn_to('it gives each transaction another of two servers', sub { }, $standby, $stranger);
my $refusals = () = slurp('.exporter.log') =~ /another server answers/g;
push @committed, $standby->insert(100);
kept($standby, 'what is committed on the right one arrives');
ok(wait_for(60, sub { (() = slurp('.exporter.log') =~ /another server answers/g) > $refusals || exporter_says('users', 'failures') > 0 }), 'the other one is refused');
push @committed, $standby->insert(100);
kept($standby, 'and nothing is missing');
turn_to('and back to one', sub { }, $standby);

# A list through it
Server::speak_to($standby->dsn, sub { publish('list', 1, 1, 5000) });
begin('lister', program(), 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list', '--follow', '--every', '1', '--poll', '1');
ok(wait_for(60, sub { -e 'www/list/manifest' }), 'a list comes through it, too');
Server::speak_to($standby->dsn, sub { publish('list', 1, 1, 6000) });
my $serial = $standby->sql("SELECT serial FROM ext.bloom_list WHERE name = 'list'");
ok(wait_for(60, sub { manifest('list')->{content}[0] eq $serial }), 'and each new one');

finish($_, 'TERM') foreach 'lister', 'exporter', 'host', 'direct';

# A tracked list through it, whose server is followed by one that never had the last removal.
$standby->sql(q{CREATE TABLE device (id bigint PRIMARY KEY, active boolean NOT NULL); INSERT INTO device SELECT g, true FROM generate_series(1, 5000) AS g; CALL bloom_publish('active', 'SELECT id FROM device WHERE active', p => 1e-6)});
$standby->sql(q{CALL bloom_track('active', 'device', 'id', 'active')});
begin('exporter', program(), 'export', '--dsn', $dsn, '--list', 'active', '--to', 'www/active', '--follow', '--every', '0.2');
ok(wait_for(30, sub { -e 'www/active/manifest' }), 'a tracked list comes through it');
begin('host', program(), 'pull', '--url', "$url/active", '--allow-http', '--out', 'hosts/active.bloom', '--follow');
begin('direct', program(), 'pull', '--dsn', $dsn =~ s/dbname=pool/dbname=direct/r, '--list', 'active', '--out', 'hosts/active.direct', '--follow', '--every', '0.2');
my @hosts = ('hosts/active.bloom', 'hosts/active.direct');
ok(wait_for(60, sub { @hosts == grep { -e } @hosts }), 'and to hosts');
sub denies { my ($host, $key) = @_; return (ask('', 'contains', '--quiet', $host, $key))[0] == 1; }
sub denied { my ($key) = @_; return @hosts == grep { denies($_, $key) } @hosts; }
my $third = $standby->standby('third');
$standby->sql('UPDATE device SET active = false WHERE id = 7');
ok(wait_for(60, sub { denied(7) }), 'a key is removed at hosts');
$standby->replayed_by($third);
$third->stop('fast');
$standby->sql('UPDATE device SET active = false WHERE id = 8');
ok(wait_for(60, sub { denied(8) }), 'and another, which a standby has not seen');
ok(exists manifest('active')->{true_at}, 'all is true by now');
turn_to('the pool goes on with the standby', sub { $standby->stop('immediate'); $third->start; $third->promote }, $third);
$third->sql('UPDATE device SET active = false WHERE id = 9');
ok(wait_for(60, sub { denied(9) }), 'whose changes come to hosts');
ok(denied(7) && denied(8), 'which take back none that they had');
is($third->sql("SELECT bloom_lookup('active', 8)"), 't', 'although the server has lost it');
ok(wait_for(60, sub { !exists manifest('active')->{true_at} }), 'so that nothing is said to be true by now');
like(slurp('.exporter.log'), qr/the server lacks 1 changes/, 'which is told');
$third->sql("CALL bloom_refresh('active')");
ok(wait_for(60, sub { exists manifest('active')->{true_at} }), 'until the list is published');
ok(wait_for(60, sub { @hosts == grep { has($_, 8) } @hosts }), 'and hosts say what the server says');
ok(denied(7) && denied(9), 'of each key');

# Its server crashes, loses a removal, and gives the number of that transaction again: the pooler hides it.
$third->stop_walwriter;
$third->sql('SET synchronous_commit = off; UPDATE device SET active = false WHERE id = 20');
ok(wait_for(60, sub { denied(20) }), 'a key is removed before that is flushed');
turn_to('the server crashes, and another is removed', sub {
	$third->crash;
	$third->sql('UPDATE device SET active = false WHERE id = 21');
}, $third);
is($third->sql('SELECT active FROM device WHERE id = 20'), 't', 'the first one is lost');
my $removed = $third->now;
ok(wait_for(60, sub { @hosts == grep { denies($_, 21) || page_of($_)->{true_at} > $removed } @hosts }), 'hosts go on');
ok(denied(21), 'and know of it as soon as they say so');

done_testing();
