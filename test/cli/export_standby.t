# export_standby.t
#	  bloomfilter export of an index and of a list from a hot standby, and bloomfilter pull --dsn of
#	  the index: it lags, refuses its index, cancels looks, restarts, and becomes the primary.

use Cluster;
use CommandLine;
use Hosts;
use Server;

skip_leaks();

server_dsn();
my $url = begin_nginx(free_port());
my $primary = Cluster->new('primary');
mkdir 'hosts';
$primary->make_index(100000);
my $standby = $primary->standby('standby', 'max_standby_streaming_delay = 200ms');
my $dsn = $standby->dsn;

my @committed;
sub insert { my ($server, $count) = @_; push @committed, my @keys = $server->insert($count); return @keys; }

# All that was committed so far is at the host once true_at says so.  On a standby that is
# the time of a later commit.
sub kept
{
	my ($server, $name) = @_;
	my $time = $server->now;
	my @before = @committed;
	insert($server, 1);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(promised('users', 'hosts/u.bloom', $time, @before), 0, $name);
	is(promised_by_dsn('hosts/direct.bloom', $time, @before), 0, "$name, also without a folder");
	return;
}

insert($primary, 500);
begin('exporter', program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--follow', '--every', '0.2', '--poll', '1', '--heartbeat', '1');
ok(wait_for(60, sub { -e 'www/users/manifest' }), 'a standby is exported');
begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1');
begin('direct', program(), 'pull', '--dsn', $dsn, '--index', 'users_filter', '--out', 'hosts/direct.bloom', '--follow', '--every', '0.2');
kept($primary, 'a host has what was committed on the primary');
is(exporter_says('users', 'standby'), 1, 'the exporter says that it reads a standby');

# ------------------------------------------------------------------------
# It lags
# ------------------------------------------------------------------------

$standby->sql('SELECT pg_wal_replay_pause()');
ok(wait_for(30, sub { $standby->sql('SELECT pg_get_wal_replay_pause_state()') eq 'paused' }), 'its replay pauses');
my $time = $primary->now;
my @late = insert($primary, 300);
my $serial = manifest('users')->{serial}[0];
ok(wait_for(30, sub { manifest('users')->{serial}[0] > $serial + 3000000 }), 'manifests are renewed meanwhile');
cmp_ok(manifest('users')->{true_at}[0], '<', $time, "but true_at is not the standby's clock");
is(scalar(grep { has('hosts/u.bloom', $_) } @late[ 0 .. 49 ]) < 40 ? 'no' : 'yes', 'no', 'the host has not what was not replayed');
$primary->sql('REINDEX INDEX users_filter');
sub both { my ($server) = @_; return run('', 'export', '--dsn', $server->dsn, '--index', 'users_filter', '--to', 'www/both'); }
is((both($primary))[0], 0, 'the primary is exported to another folder, after a rebuild');
my ($exit, undef, $problem) = both($standby);
ok($exit eq '2' && $problem =~ /the standby is behind what was taken before/, 'into which the standby, which lacks it, is not') || diag($problem);
$standby->sql('SELECT pg_wal_replay_resume()');
kept($primary, 'when it replays again, nothing is missing');
is((both($standby))[0], 0, 'then the standby is exported to it, too');

# ------------------------------------------------------------------------
# Its index may not be used
# ------------------------------------------------------------------------

my $epoch = manifest('users')->{epoch}[0];
$primary->sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'users_filter'::regclass");
ok(wait_for(60, sub { exporter_says('users', 'failures') > 0 && exporter_says('users', 'failed') ne '' }), 'an index that is not valid is not exported, and since when is said');
like((run('', 'status', '--json', 'www/users'))[1], qr/"error": "(?:[^"\\]|\\.)*users_filter/, 'and why');
is(manifest('users')->{epoch}[0], $epoch, 'what was exported stays');
insert($primary, 100);
is(promised('users', 'hosts/u.bloom', 0, @committed[ 0 .. 499 ]), 0, 'and so does what the host has');
$primary->sql("UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'users_filter'::regclass");
kept($primary, 'when it is valid again nothing is missing');
ok(wait_for(30, sub { exporter_says('users', 'failures') eq '0' }), 'and nothing fails');

# ------------------------------------------------------------------------
# A look waits for a lock that is replayed, and is cancelled
# ------------------------------------------------------------------------

my $locker = $primary->session;
print $locker "BEGIN; LOCK TABLE users; SELECT pg_switch_wal();\n";
ok(wait_for(60, sub { slurp('.exporter.log') =~ /lock timeout|conflict with recovery/ }), 'a look that a lock holds up ends');
print $locker "COMMIT;\n\\q\n";
close $locker;
kept($primary, 'and is tried again');
$primary->sql('REINDEX INDEX users_filter');
insert($primary, 20);
$primary->sql('VACUUM users');
kept($primary, 'a rebuild on the primary reaches the host');
cmp_ok(manifest('users')->{epoch}[0], '>', $epoch, 'as a new epoch');

# ------------------------------------------------------------------------
# It restarts, and becomes the primary
# ------------------------------------------------------------------------

$standby->stop('immediate');
insert($primary, 50);
$standby->start;
kept($primary, 'after a restart nothing is missing');
$epoch = manifest('users')->{epoch}[0];
my $looking = q(SELECT pid FROM pg_stat_activity WHERE application_name = 'bloomfilter export');
my $pid = $standby->sql($looking);
$primary->replayed_by($standby);
$primary->stop('immediate');
ok($standby->promote, 'it is promoted while the exporter follows');
insert($standby, 200);
kept($standby, 'what is committed on the new primary arrives');
is(manifest('users')->{epoch}[0], $epoch, 'and is no new epoch');
is($standby->sql($looking), $pid, 'by the same connection');
ok(wait_for(30, sub { exporter_says('users', 'standby') eq '0' }), 'which the exporter knows for a primary now');
finish($_, 'TERM') foreach 'exporter', 'host', 'direct';

# ------------------------------------------------------------------------
# A list, of a standby
# ------------------------------------------------------------------------

my $second = $standby->standby('second');
Server::speak_to($standby->dsn, sub { publish('list', 1, 1, 5000) });
$standby->replayed_by($second);
begin('exporter', program(), 'export', '--dsn', $second->dsn, '--list', 'list', '--to', 'www/list', '--follow', '--every', '1', '--poll', '1', '--heartbeat', '5');
ok(wait_for(60, sub { -e 'www/list/manifest' }), 'a list of a standby is exported');
begin('host', program(), 'pull', '--url', "$url/list", '--allow-http', '--out', 'hosts/l.bloom', '--follow', '--every', '1');
ok(wait_for(60, sub { -e 'hosts/l.bloom' && has('hosts/l.bloom', 1 .. 5000) }), 'and arrives');
ok(!defined manifest('list')->{true_at}, 'a standby cannot say when it was true');
$second->sql('SELECT pg_wal_replay_pause()');
$serial = manifest('list')->{serial}[0];
Server::speak_to($standby->dsn, sub { publish('list', 1, 1, 7000) });
ok(wait_for(60, sub { manifest('list')->{serial}[0] > $serial + 4000000 }), 'while it lags the manifest is renewed');
is(manifest('list')->{content}[0], $second->sql("SELECT serial FROM ext.bloom_list WHERE name = 'list'"), 'with what the standby has');
$second->sql('SELECT pg_wal_replay_resume()');
ok(wait_for(60, sub { has('hosts/l.bloom', 1 .. 7000) }), 'then all arrives');
is(exporter_says('list', 'standby'), 1, 'the exporter says that it reads a standby');

done_testing();
