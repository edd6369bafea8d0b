# export_day.t
#	  A long day: exporter, web server, follower and PostgreSQL are killed, stopped and started
#	  in random turns while keys come, and one asks for all that were promised: none is denied.
#	  Beside it an exact list is tracked: keys come and go, by two exporters, of which one looks at a
#	  standby, and a host that follows now one and now the other; each answer is that of the last change
#	  that was promised.
#
# What is promised: a manifest's true_at says that all keys committed before are in its
# content, and a host tells the serial of what it has.  BLOOMFILTER_DAY_SECONDS is how long
# the day is (12), BLOOMFILTER_DAY_SEED which one.  It lasts longer where all that was down left
# too few questions: who has failed waits longer each time, and a day that asks nothing tells nothing.
# test/cross/run runs it with readers of all languages that have the file open all day: see open_readers.

use Cluster;
use CommandLine;
use Hosts;
use Readers qw(open_readers);
use List::Util qw(max min);
use Server;
use Time::HiRes qw(sleep time);

skip_leaks();

server_dsn();
my $seconds = $ENV{BLOOMFILTER_DAY_SECONDS} // 12;
my $seed = $ENV{BLOOMFILTER_DAY_SEED} // int(rand(1 << 31));
srand $seed;
diag("BLOOMFILTER_DAY_SEED=$seed");

my $url = begin_nginx(free_port());
my $server = Cluster->new('day', 'synchronous_commit = on');
mkdir 'hosts';
$server->sql('CREATE TABLE users (id bigint, at bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 20000)');

# Beside them a list, whose keys come and go.
my $devices = 200;
$server->sql("CREATE TABLE device (id bigint PRIMARY KEY, active boolean NOT NULL); INSERT INTO device SELECT g, g % 3 > 0 FROM generate_series(1, $devices) AS g;"
	. " CALL bloom_publish('active', 'SELECT id, active FROM device'); CALL bloom_track('active', 'device', 'id', 'active')");
my $standby = $server->standby('day-standby');

my %runs;
my %command = (
	lister => sub { begin('lister', program(), 'export', '--dsn', $server->dsn, '--list', 'active', '--to', 'www/active', '--follow', '--every', '0.1', '--heartbeat', '1', '--quiet') },
	deputy => sub { begin('deputy', program(), 'export', '--dsn', $standby->dsn, '--list', 'active', '--to', 'www/deputy', '--follow', '--every', '0.1', '--heartbeat', '1', '--quiet') },
	owner => sub { begin('owner', program(), 'pull', '--url', "$url/" . (-e 'hosts/a.bloom' && rand() < 0.5 ? 'deputy' : 'active'), '--allow-http', '--out', 'hosts/a.bloom', '--follow', '--every', '1', '--quiet') },
	exporter => sub { begin('exporter', program(), 'export', '--dsn', $server->dsn, '--index', 'users_filter', '--to', 'www/users', '--follow', '--every', '0.1', '--poll', '1', '--heartbeat', '1', '--quiet') },
	host => sub { begin('host', program(), 'pull', '--url', "$url/users", '--allow-http', '--out', 'hosts/u.bloom', '--follow', '--every', '1', '--quiet') },
	nginx => sub { start_nginx() },
	server => sub { $server->start });

$command{$_}->() foreach 'exporter', 'host', 'lister', 'deputy', 'owner';
$runs{$_} = 1 foreach keys %command;
ok(wait_for(60, sub { -e 'hosts/u.bloom' && -e 'hosts/a.bloom' }), 'hosts follow');

# A program that opens the file for each question, and others that have it open.
my %reader = ('contains' => \&ask_contains, open_readers('hosts/u.bloom'));

my %judge = ('contains' => sub { ask_contains_of('hosts/a.bloom', @_) }, open_readers('hosts/a.bloom'));

sub ask_contains { my (@ranges) = @_; return ask_contains_of('hosts/u.bloom', @ranges); }

sub ask_contains_of
{
	my ($file, @ranges) = @_;
	my ($serial, $lacks) = (told($file)->{serial} // 0, lacks($file, map { /(\d+)-(\d+)/ ? ($1 .. $2) : () } @ranges));
	return ($serial, $lacks eq 'none' ? undef : $lacks);
}

# Keys with the time after their commit; and what manifests have promised: content, true_at.
my (@committed, %promised, @turns);
my ($next, $asked, %checks, @denied, @gone) = (1, 0);

# Of each device the last change: when it was committed at the latest, and its value; and up to when all was promised.
my %last = map { $_ => [ 0, $_ % 3 > 0 ? 1 : 0 ] } 1 .. $devices;
my ($certain, %judged, @wrong) = (0);
$judged{$_} = 0 foreach keys %judge;

# A change that failed may have been committed all the same: of that key nothing is known until the next one.
sub change_devices
{
	return if !$runs{server};
	my ($first, $value) = (1 + int rand $devices, int rand 2);
	my @keys = grep { $_ <= $devices } $first .. $first + int rand 5;
	my $at = eval { $server->sql("UPDATE device SET active = ($value = 1) WHERE id BETWEEN $keys[0] AND $keys[-1]; SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8") };
	$last{$_} = [ $at // 9e18, $value ] foreach @keys;
	return;
}

# What a file promised once holds for ever: a key whose last change it has says so, whatever looked at the server since.
# Node sees within 100 ms that another file took the place of its own.
sub judge_devices
{
	my ($name, $later) = @_;
	$certain = max($certain, page_of('hosts/a.bloom')->{true_at});
	my @known = grep { $last{$_}[0] < $certain } sort keys %last;
	my @in = grep { $last{$_}[1] } @known;
	my @out = grep { !$last{$_}[1] } @known;
	my (undef, $denied) = $judge{$name}->(map { "$_-$_" } @in);
	my (undef, $absent) = $judge{$name}->(map { "$_-$_" } @out);
	if (!defined $denied || !defined $absent) { push @gone, $name; return; }
	my $is_wrong = $denied > 0 || $absent < @out;
	if ($is_wrong && $name eq 'node' && !$later) { sleep 0.3; return judge_devices($name, 1); }
	push @wrong, "$name: $denied of " . @in . ' denied, ' . (@out - $absent) . ' of ' . @out . " true at $certain after: " . join(', ', @turns) if $is_wrong;
	$judged{$name} += @known;
	return;
}

$checks{$_} = 0 foreach keys %reader;

sub write_keys
{
	return if !$runs{server};
	my ($first, $last) = ($next, $next + 19);
	$next += 20;
	my $mode = rand() < 0.3 ? 'SET synchronous_commit = off; ' : '';
	# with synchronous_commit off a crash may take them back: then they are no promise
	my $statement = "${mode}INSERT INTO users SELECT generate_series($first, $last);";
	my $done = eval { $server->sql($statement); 1 };
	push @committed, [ $server->now, $first .. $last ] if $done && $mode eq '' && $runs{server};
	return;
}

sub note_manifest
{
	return if !-e 'www/users/manifest';
	my $m = manifest('users');
	my ($content, $true_at) = ($m->{content}[0], $m->{true_at}[0] // 0);
	$promised{$content} = $true_at if $true_at > ($promised{$content} // 0);
	return;
}

# The serial first, then the keys: what comes meanwhile can only add.
sub read_keys
{
	my ($name) = @_;
	my ($serial) = $reader{$name}->();
	if (!defined $serial) { push @gone, $name; return; }
	my $until = 0;
	foreach (map { $promised{$_} } grep { $_ <= $serial } keys %promised) { $until = $_ if $_ > $until; }
	my @ranges = map { my ($at, @keys) = @$_; $at < $until ? "$keys[0]-$keys[-1]" : () } @committed;
	return if !@ranges;
	my ($now, $missing) = $reader{$name}->(@ranges);
	push @denied, "$name: " . ($missing // 'all') . ' of ' . @ranges . " times 20 at serial $serial after: " . join(', ', @turns) if ($missing // 1) > 0;
	$asked += 20 * @ranges;
	$checks{$name}++;
	return;
}

my %turn = (
	'exporter killed' => [ 'exporter', sub { finish('exporter', 'KILL') } ],
	'exporter ended' => [ 'exporter', sub { finish('exporter', 'TERM') } ],
	'host killed' => [ 'host', sub { finish('host', 'KILL') } ],
	'exporter of the list killed' => [ 'lister', sub { finish('lister', 'KILL') } ],
	'exporter of the standby killed' => [ 'deputy', sub { finish('deputy', 'KILL') } ],
	'exporter of the list ended' => [ 'lister', sub { finish('lister', 'TERM') } ],
	'host of the list killed' => [ 'owner', sub { finish('owner', 'KILL') } ],
	'host ended' => [ 'host', sub { finish('host', 'TERM') } ],
	'web server killed' => [ 'nginx', sub { finish('nginx', 'TERM') } ],
	'PostgreSQL crashed' => [ 'server', sub { $server->stop('immediate') } ],
	'PostgreSQL stopped' => [ 'server', sub { $server->stop('fast') } ]);
my @statements = ("CALL bloom_refresh('active')", "CALL bloom_refresh('active')", "CALL bloom_rollback('active')",
	'REINDEX INDEX users_filter', 'REINDEX INDEX CONCURRENTLY users_filter', 'VACUUM users',
	'BEGIN; DROP INDEX users_filter; CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 30000); COMMIT', 'CHECKPOINT',
	'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');

my $end = time + $seconds;
while (time < $end || ((min(values %checks) < $seconds / 2 || min(values %judged) == 0) && time < $end + 300))
{
	if (rand() < 0.35)
	{
		my ($name) = (sort keys %turn)[ rand keys %turn ];
		my ($who, $what) = @{ $turn{$name} };
		push @gone, $who if $runs{$who} && $who ne 'server' && !is_alive($who);
		if ($runs{$who}) { $runs{$who} = 0; $what->(); push @turns, $name; }
		else { $command{$who}->(); $runs{$who} = 1; push @turns, "$who started"; }
	}
	elsif (rand() < 0.1 && $runs{server})
	{
		my $statement = $statements[ rand @statements ];
		push @turns, $statement;
		eval { $server->sql($statement) };
	}
	write_keys();
	note_manifest() for 1 .. 3;
	read_keys($_) foreach sort keys %reader;
	change_devices() for 1 .. 3;
	judge_devices($_) foreach sort keys %judge;
}
foreach my $who ('server', 'nginx', 'exporter', 'host', 'lister', 'deputy', 'owner')
{
	$command{$who}->() if !$runs{$who};
	$runs{$who} = 1;
}
is(join("\n", @denied), '', "no key is denied that was promised, $asked times, " . @turns . ' turns');
cmp_ok(min(values %checks), '>=', $seconds / 2, join ', ', 'each was asked often enough', map { "$checks{$_} times $_" } sort keys %checks);
is(join("\n", @wrong), '', join ', ', 'each device is in or out as it was promised', map { "$judged{$_} answers by $_" } sort keys %judged);
cmp_ok(min(values %judged), '>', 0, 'which was asked');
push @gone, grep { !is_alive($_) } 'exporter', 'host', 'nginx', 'lister', 'deputy', 'owner';
is(join(', ', @gone), '', 'nothing ended by itself');
write_keys();
is(promised('users', 'hosts/u.bloom', $server->now, map { my ($at, @keys) = @$_; @keys } @committed), 0, 'in the end all keys are there')
  || diag("turns: @turns\n" . slurp('.exporter.log') . slurp('.host.log'));

done_testing();
