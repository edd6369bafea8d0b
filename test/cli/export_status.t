# export_status.t
#	  What an operator sees of an exporter: bloomfilter status of its folder, as text, JSON and
#	  metrics, and the alert rules over these.
#
# Needs a server with the extension.

use FindBin;
use CommandLine;
use Hosts;
use Server;

skip_leaks();
# What status says is tested here.
$CommandLine::asked = program();

my $dsn = own_database('bloomfilter_cli_export_status');
mkdir 'www';
my @export = (program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--poll', '1');
sub export { my (@options) = @_; return run('', @export[ 1 .. $#export ], @options); }
sub says { my ($name) = @_; return (ask('', 'status', '--json', 'www/users'))[1] =~ /"$name": "?([^",}]*)/ ? $1 : ''; }
sub words { return (run('', 'status', '--json', 'www/users'))[1] =~ /"wrong": \[(.*?)\]/ ? $1 : 'none'; }
sub metrics { return (run('', 'status', '--prometheus', 'www/users'))[1]; }
sub status_line { my ($name) = @_; return (run('', 'status', 'www/users'))[1] =~ /^$name +(.*)$/m ? $1 : ''; }

# Changes a value of the status as the exporter wrote it.
sub edit
{
	my ($name, $value) = @_;
	my $text = slurp('www/users/.status');
	$text =~ s/^($name \w) .*/$1 $value/m or die "$name is not there";
	spew('www/users/.status', $text);
	return;
}
sub microseconds { my ($seconds) = @_; return (time + $seconds) . '000000'; }

make_index(20000);
mkdir 'www/users';
my ($status, $out, $err) = run('', 'status', 'www/users');
ok($status eq '2' && $err =~ /cannot read "www\/users\/.status"/, 'of a folder without an exporter nothing is known');
like((run('', 'status', '--json', 'www/users'))[1], qr/"known": false, "healthy": false/, 'also in JSON');

# ------------------------------------------------------------------------
# What it counts
# ------------------------------------------------------------------------

is((export())[0], 0, 'an empty index is exported');
is((run('', 'status', '--quiet', 'www/users'))[0], 0, 'nothing is wrong');
is(says('full_files_first'), 1, 'the first whole file has its reason');
is((export('--dsn', 'host=/nowhere'))[0] . status_line('exporter'), '2', 'one that has not reached the server has no number yet');
is(sprintf('%04o', (stat 'www/users/.status')[2] & 07777), '0600', 'the status is for its owner');
begin('exporter', @export, '--follow', '--every', '0.1', '--heartbeat', '1', '--quiet');
ok(wait_for(30, sub { says('next_heartbeat') ne '' }), 'an exporter stays');
sql('INSERT INTO users SELECT generate_series(1, 1000)');
ok(wait_for(30, sub { says('patches') >= 1 && says('keys') >= 1000 * 0.9 }), 'a patch is counted, and keys are estimated');
my $m = manifest('users');
is(says($_), $m->{$_}[0], "$_ as in the manifest") foreach 'identity', 'exporter';
ok(wait_for(30, sub { says('serial') eq manifest('users')->{serial}[0] }), 'serial as in the manifest, which each heartbeat renews');
is(says('rebuilt'), $m->{epoch}[0], 'and when the list was rebuilt');
is(says('list'), 'public.users_filter', 'the list');
is(says('n') . ' ' . says('p'), '20000 0.01', 'n and p');
cmp_ok(says('bits'), '>', 1000, 'bits');
cmp_ok(says('patch_bytes'), '>=', (split / /, $m->{patch}[-1])[3], 'bytes of patches');
cmp_ok(says('pages'), '>=', 1, 'changed pages');
cmp_ok(says('looks'), '>', says('full_reads'), 'looks, and of these the whole ones');
is(says('full_reads'), 1, 'one, of this connection');
is(says('standby'), 0, 'the server is a primary');
like(says('server'), qr/dbname=bloomfilter_cli_export_status/, 'and its place is told');
unlike((run('', 'status', '--json', 'www/users'))[1], qr/password|user=/, 'without who logs in');
my $looks = says('looks');
ok(wait_for(30, sub { says('looks') > $looks }), 'the status is written although nothing changes');
ok(wait_for(90, sub { says('files') > 0 && says('bytes') > 0 }), 'files and bytes of the folder');
my $active = q(SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bloomfilter export' AND state = 'active');
foreach my $try ([ 'INSERT INTO users SELECT generate_series(2001, 5000)', 'full_files_long' ], [ 'TRUNCATE users', 'full_files_rebuild' ],
	[ 'ALTER INDEX users_filter SET (n = 50000); REINDEX INDEX users_filter', 'full_files_geometry' ])
{
	my ($statement, $reason) = @$try;
	my $before = says($reason);
	# one look is to find all of it: none is under way while the exporter stands still
	kill 'STOP', process_of('exporter');
	wait_for(30, sub { slurp('/proc/' . process_of('exporter') . '/stat') =~ /\) T / && sql($active) eq '0' });
	sql($statement);
	kill 'CONT', process_of('exporter');
	ok(wait_for(30, sub { says($reason) == $before + 1 }), "$statement: $reason");
}
my $reads = says('full_reads');
sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');
ok(wait_for(30, sub { says('full_reads') > $reads && says('failures') eq '0' }), 'a new connection reads all, and failures are over then');
is(says('ahead_since'), '', 'and finds no bit that the server has not');
sql('ALTER INDEX users_filter RENAME TO hidden');
ok(wait_for(30, sub { says('failures') > 0 && says('failed') ne '' }), 'an index that is gone: failures, and since when');
ok(wait_for(30, sub { (run('', 'status', '--json', 'www/users'))[1] =~ /"error": ".*users_filter/ }), 'and the error');
sql('ALTER INDEX hidden RENAME TO users_filter');
ok(wait_for(60, sub { says('failures') eq '0' && says('error') eq '' }), 'when it is back, none');

# ------------------------------------------------------------------------
# The forms
# ------------------------------------------------------------------------

is(status_line('standby'), '0', 'the text has a line for each value');
like(status_line('looked'), qr/^\d{4}-\d\d-\d\dT/, 'times are as in a file\'s status');
like(status_line('true_age'), qr/^\d+ s$/, 'with ages');
my $metrics = metrics();
my $label = 'folder="www/users",list="public.users_filter"';
foreach my $name ('serial', 'rate', 'looks', 'looked_timestamp_seconds', 'database_ms')
{
	like($metrics, qr/^# TYPE bloomfilter_export_$name gauge\nbloomfilter_export_$name\{$label\} [0-9.e+-]+$/m, "metric $name");
}
like($metrics, qr/^bloomfilter_export_full_files_rebuild\{$label\} [1-9]/m, 'whole files by reason');
is(scalar(() = $metrics =~ /^(?!# |bloomfilter_export_\w+\{[^}]*\} [0-9.e+-]+$)/mg), 0, 'every line is a metric');
my $both = (run('', 'status', '--prometheus', 'www/users', 'nothing.bloom'))[1];
like($both, qr/^bloomfilter_healthy\{file="nothing.bloom",list=""\} 0\n/m, 'files and folders together: a file');
like($both, qr/^bloomfilter_export_healthy\{$label\} 1\n/m, 'and a folder');
is(finish('exporter', 'TERM'), 0, 'the exporter ends');

# ------------------------------------------------------------------------
# What is wrong
# ------------------------------------------------------------------------

my $kept = slurp('www/users/.status');
sub bad
{
	my ($word, $name, @edits) = @_;
	spew('www/users/.status', $kept);
	edit(splice @edits, 0, 2) while @edits;
	is(words(), qq("$word"), "$name: the word is $word");
	is((run('', 'status', '--quiet', 'www/users'))[0], 1, "$name: exit status 1");
	like(metrics(), qr/^bloomfilter_export_wrong\{$label,reason="$word"\} 1$/m, "$name: its metric");
	is(status_line('wrong'), $word, "$name: in the text");
	spew('www/users/.status', $kept);
	return;
}
bad('old', 'three heartbeats without a look', 'looked', microseconds(-10), 'published', microseconds(-2), 'next_heartbeat', microseconds(-1));
bad('rate', 'a rate of more than 2 p', 'rate', '0.021', 'looked', microseconds(0));
bad('expires', 'half of the time is over', 'published', microseconds(-60), 'expires', microseconds(50), 'next_heartbeat', microseconds(0), 'looked', microseconds(0));
bad('clock', 'a look in the future', 'looked', microseconds(100), 'published', microseconds(0), 'next_heartbeat', microseconds(50));
edit('looked', microseconds(-20));
edit('next_heartbeat', microseconds(1000));
is((run('', 'status', '--quiet', 'www/users'))[0], 0, 'younger than three heartbeats');
is((run('', 'status', '--quiet', '--max-age', '10', 'www/users'))[0], 1, 'but --max-age may say less');
edit('exporter', "\e]0;pwned\a");
is(status_line('exporter'), '?]0;pwned?', 'what is there is shown without what a terminal would obey');
spew('www/users/.status', "something else\n");
is((run('', 'status', 'www/users'))[0], 2, 'a file that is no status is refused');

# The rules that are shipped ask for metrics that there are.
my $rules = slurp("$FindBin::Bin/../../examples/alerts/bloomfilter.yml");
my @asked = $rules =~ /\b(bloomfilter_\w+)/g;
cmp_ok(scalar(@asked), '>', 4, 'there are alert rules');
export('--expires', '86400');
run('', 'pull', '--dsn', $dsn, '--index', 'users_filter', '--out', 'users.bloom');
$metrics = (run('', 'status', '--prometheus', 'www/users', 'users.bloom'))[1];
is(join(' ', grep { $metrics !~ /^# TYPE $_ /m } @asked), '', 'of metrics that status prints');

# A server that is away when the exporter starts
begin('early', program(), 'export', '--dsn', 'host=/nowhere dbname=x', '--index', 'users_filter', '--to', 'www/early', '--follow', '--quiet');
ok(wait_for(30, sub { -e '.early.log' && (() = slurp('.early.log') =~ /cannot connect/g) >= 2 }), 'a server that is away is looked for again');
ok(is_alive('early'), 'and the exporter stays');
is((run('', 'status', 'www/early'))[0], 1, 'its status says so');
finish('early', 'TERM');

done_testing();
