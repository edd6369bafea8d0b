# follow.t
#	  bloomfilter pull --follow: through a pooler, from a standby, over a failover, and
#	  where nobody notifies.
#
# Each wait is for a condition; the intervals of the looks are either a second or so
# long that only a notification can come first.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_follow');
my $never = 80_000;
my ($host) = $dsn =~ /host=(\/\S+)/;
my $port = $dsn =~ /port=(\d+)/ ? $1 : $ENV{PGPORT} // 5432;
my $bin = sql("SELECT setting FROM pg_config() WHERE name = 'BINDIR'");

# Servers don't run as root, and the folders of these belong to who runs them.
my @owner = $> == 0 ? ('runuser', '-u', 'postgres', '--') : ();
my $place = tempdir('bloomfilter-follow-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $place;
chown +(getpwnam 'postgres')[2], -1, $place if @owner;

sub as_owner
{
	return system('sh', '-c', 'cd / && exec "$@" >>"$0" 2>&1 </dev/null', "$place/log", @owner, @_) == 0;
}

my @followers;

# Follows in a process of its own, the list if no query is given.
sub follow
{
	my ($name, $from, $every, @what) = @_;
	@what = ('--list', 'account') if !@what;
	my $child = fork() // die "fork: $!";
	if ($child == 0)
	{
		open STDOUT, '>', ".std$name" or die;
		open STDERR, '>&', \*STDOUT or die;
		exec program(), 'pull', '--dsn', $from, @what, '--out', $name, '--follow', '--every', $every;
	}
	push @followers, $child;
	ok(wait_for(30, sub { -e $name }), "$name: begins with a pull");
	return;
}

sub end_follower
{
	my ($name) = @_;
	my $child = pop @followers;
	kill 'TERM', $child;
	waitpid $child, 0;
	is($?, 0, "$name: ends cleanly") || diag(slurp(".std$name"));
	is(join(' ', grep { /tmp$/ } glob ".$name.* $name.*"), '', "$name: leaves no file");
	return;
}

END { my $status = $?; kill 'KILL', @followers if @followers; $? = $status; }

# Whether a file has a key that the list did not have at first
sub has { my ($name, $key) = @_; return sub { (run('', 'contains', '-q', $name, $key))[0] eq '0' } }

# Nobody notifies
sub day
{
	my ($last) = @_;
	return "(SELECT ext.bloom_agg(g, 20000, 0.01) FROM generate_series(1, $last) AS g)";
}
sql('CREATE TABLE mine AS SELECT ' . day(1000) . ' AS f');
follow('poll', $dsn, 1, '--query', 'SELECT f FROM mine');
sql('UPDATE mine SET f = ' . day(1001));
ok(wait_for(30, has('poll', 1001)), 'poll: comes without a notification');
like(slurp('.stdpoll'), qr/\A\S+Z poll: pulled [^\n]*\n\S+Z poll: pulled [^\n]*\n\z/, 'poll: says so, with the time');
my $looked = slurp('poll.status');
my $touched = (stat 'poll')[9];
ok(wait_for(30, sub { slurp('poll.status') ne $looked }), 'poll: notes each look');
is((stat 'poll')[9], $touched, 'poll: but touches the file only when it changes');
sql('ALTER TABLE mine RENAME TO away');
ok(wait_for(30, sub { slurp('.stdpoll') =~ /does not exist/ }), 'poll: a table that is away');
sql('ALTER TABLE away RENAME TO mine; UPDATE mine SET f = ' . day(1002));
ok(wait_for(30, has('poll', 1002)), 'poll: is looked for again');
end_follower('poll');

publish('account', 1, 1, 1002);

# A notification comes before the next look; another list's is no news
follow('told', $dsn, $never);
sql("NOTIFY bloom_published, 'another'");
publish('account', 1, 1, 1003);
ok(wait_for(30, has('told', 1003)), 'told: a notification is enough');
unlike(slurp('.stdtold'), qr/unchanged/, 'told: of another list nothing is said');
end_follower('told');

# A log that is full ends nobody
my $child = fork() // die "fork: $!";
if ($child == 0)
{
	open STDOUT, '>', '/dev/full' or die;
	open STDERR, '>', '.stdfull' or die;
	exec program(), 'pull', '--dsn', $dsn, '--list', 'account', '--out', 'full', '--follow', '--every', $never;
}
push @followers, $child;
ok(wait_for(30, sub { -e 'full' }), 'full: begins with a pull');
publish('account', 1, 1, 1004);
ok(wait_for(30, has('full', 1004)), 'full: goes on');
is(() = slurp('.stdfull') =~ /cannot write to standard output/g, 1, 'full: complains once');
end_follower('full');

# A pooler in transaction mode
SKIP:
{
	chomp(my $pooler = `command -v pgbouncer || ls /usr/sbin/pgbouncer 2>/dev/null`);
	skip 'no pgbouncer', 1 if $pooler eq '' || !defined $host;
	my ($user) = $dsn =~ /user=(\S+)/ ? $1 : scalar getpwuid $>;
	spew("$place/pooler.ini", <<"EOC");
[databases]
* = host=$host port=$port
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $place
auth_type = any
pool_mode = transaction
default_pool_size = 2
logfile = $place/pooler.log
pidfile = $place/pooler.pid
EOC
	spew("$place/users", '');
	spew("$place/pooler.ini", slurp("$place/pooler.ini") =~ s/\* = (.*)/* = $1 user=$user/r);
	ok(as_owner($pooler, '-d', "$place/pooler.ini"), 'pooler: runs') || diag(slurp("$place/log"));
	wait_for(30, sub { -S "$place/.s.PGSQL.6432" });
	my $through = "host=$place port=6432 user=$user dbname=bloomfilter_cli_follow";
	is((run('', 'pull', '--dsn', $through, '--list', 'account', '--out', 'once'))[0], 0, 'pooler: a pull');
	follow('pooled', $through, 1);
	publish('account', 1, 1, 1005);
	ok(wait_for(30, has('pooled', 1005)), 'pooler: what is published comes');
	is(() = slurp('.stdpooled') =~ /not listening to "bloom_published": a pooler stands before the server/g, 1, 'pooler: it said once that it looks only');
	end_follower('pooled');
	unlike(slurp("$place/pooler.log"), qr/got packet|while server was not ready/, 'pooler: nothing is left in its connections');
	open my $file, '<', "$place/pooler.pid" or die;
	chomp(my $pid = <$file>);
	kill 'TERM', $pid;
}

# A standby, which is promoted, and a failover to the primary
SKIP:
{
	skip 'the server is not on this machine', 1 if !defined $host;
	my ($user) = $dsn =~ /user=(\S+)/ ? $1 : scalar getpwuid $>;
	skip 'the server lets nobody make a standby', 1
	  if !as_owner("$bin/pg_basebackup", '-h', $host, '-p', $port, '-U', $user, '-D', "$place/data", '-R', '-c', 'fast', '-X', 'stream', '--no-sync');
	my @start = ("$bin/pg_ctl", '-D', "$place/data", '-l', "$place/standby.log", '-w', '-o',
		"-c listen_addresses= -c unix_socket_directories=$place -c port=6433 -c fsync=off -c shared_preload_libraries=", 'start');
	ok(as_owner(@start), 'standby: runs') || diag(slurp("$place/log"));
	my $standby = "host=$place port=6433 user=$user dbname=bloomfilter_cli_follow";
	follow('standby', $standby, 1);
	ok(wait_for(30, sub { slurp('.stdstandby') =~ /not listening to "bloom_published": the server is a standby/ }), 'standby: it says that it looks only');
	publish('account', 1, 1, 1006);
	ok(wait_for(30, has('standby', 1006)), 'standby: what is published comes');
	is(() = slurp('.stdstandby') =~ /not listening/g, 1, 'standby: said once');
	end_follower('standby');

	speak_to($standby, sub { sql('SELECT pg_wal_replay_pause() IS NULL') });
	publish('account', 1, 1, 1010);
	is((run('', 'pull', '--dsn', $dsn, '--list', 'account', '--out', 'lag'))[0], 0, 'lag: a pull from the primary');
	like((run('', 'pull', '--dsn', $standby, '--list', 'account', '--out', 'lag'))[2], qr/lag: kept: the standby is behind: it has serial \d+, older than \d+ of the file/, 'lag: the standby has an older serial');
	my $known = slurp('lag.status');
	unlink 'lag.status';
	is((run('', 'pull', '--dsn', $standby, '--list', 'account', '--out', 'lag'))[0], 1, 'lag: nor without FILE.status');
	spew('lag.status', $known);
	ok(has('lag', 1010)->(), 'lag: which denies nobody');
	speak_to($standby, sub { sql('SELECT pg_wal_replay_resume() IS NULL') });
	ok(wait_for(30, sub { (run('', 'pull', '--dsn', $standby, '--list', 'account', '--out', 'lag'))[1] =~ /unchanged/ }), 'lag: until it has caught up');
	is((run('', 'pull', '--dsn', $standby, '--list', 'account', '--out', 'new'))[0], 0, 'lag: and a host that has nothing takes what there is');

	follow('failing', "host=$place,$host port=6433,$port user=$user dbname=bloomfilter_cli_follow connect_timeout=5", 1);
	ok(as_owner("$bin/pg_ctl", '-D', "$place/data", '-m', 'immediate', '-w', 'stop'), 'failover: the server that was followed is gone');
	publish('account', 1, 1, 1011);
	ok(wait_for(60, has('failing', 1011)), 'failover: what the other one publishes comes');
	publish('account', 1, 1, 1012);
	ok(wait_for(60, has('failing', 1012)), 'failover: and so does the next');
	end_follower('failing');

	ok(as_owner(@start), 'promotion: the standby runs again');
	follow('promoted', $standby, 1);
	ok(as_owner("$bin/pg_ctl", '-D', "$place/data", '-w', 'promote'), 'promotion: it becomes a primary');
	speak_to($standby, sub { publish('account', 1, 1, 1013) });
	ok(wait_for(30, has('promoted', 1013)), 'promotion: what it publishes comes');
	end_follower('promoted');
	as_owner("$bin/pg_ctl", '-D', "$place/data", '-m', 'immediate', '-w', 'stop');
}

scope_to('public');
sql('DROP DATABASE bloomfilter_cli_follow WITH (FORCE)');
done_testing();
