# export_folder.t
#	  What an exporter does with its folder: what is named stays, whole files are renewed without
#	  keeping keys waiting, a command or a server that fails costs nothing but time, and a folder
#	  that was damaged goes on under its identity.
#
# Needs a server with the extension.  Each wait is for a condition.

use CommandLine;
use Cwd;
use Hosts;
use Server;

my $dsn = own_database('bloomfilter_cli_export_folder');
my $here = getcwd();
mkdir 'www';
my @export = ('export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--quiet');
my @follow = (program(), @export, '--follow', '--every', '0.2', '--heartbeat', '1');
sub export { my (@options) = @_; return run('', @export, @options); }
sub first { my ($word) = @_; return (manifest('users')->{$word} // [ '' ])->[0]; }
sub path_of { my ($line, $ending) = @_; return 'www/users/' . (split / /, $line)[-1] . $ending; }
sub files { my $m = manifest('users'); return (map { path_of($_, '.bloom') } @{ $m->{whole} }), map { path_of($_, '.patch') } @{ $m->{patch} // [] }; }

my $next = 1;
sub insert { my ($count) = @_; sql("INSERT INTO users SELECT generate_series($next, $next + $count - 1)"); $next += $count; return; }

# What the manifest promises comes out of its files: all keys are there.
sub pulled
{
	my $file = 'whole.bloom';
	spew($file, slurp(path_of(first('whole'), '.bloom')));
	return has($file, @_);
}

make_index(20000);
insert(100);

# ------------------------------------------------------------------------
# Manifest and lock
# ------------------------------------------------------------------------

my ($status, $out, $err) = export();
is("$status$err", '0', 'exported once');
my $m = manifest('users');
ok(!defined $m->{heartbeat} && !defined $m->{expires}, 'who does not stay promises no heartbeat, and its manifest never expires');
like(first('sum'), qr/^[0-9a-f]{16}$/, 'the manifest has the sum');
is(sprintf('%04o', (stat 'www/users/.lock')[2] & 07777), '0600', 'the lock is its owner\'s');
foreach my $option ('--poll', '--spread', '--heartbeat')
{
	is((run('', @export, '--follow', $option, '1000000000000000000'))[0], 2, "$option of ages is refused, as hosts refuse it");
}
is((export('--heartbeat', '5'))[0], 2, 'a heartbeat needs --follow');
begin('exporter', program(), @export, '--follow', '--every', '0.5');
ok(wait_for(30, sub { first('heartbeat') eq '20' }), 'who stays promises 20 s');
cmp_ok(first('expires'), '>', first('serial'), 'and an end');
is(sql("SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'bloomfilter export'"), 't', 'the server knows it by its name');
rename 'www/users', 'www/moved';
ok(wait_for(30, sub { !is_alive('exporter') }), 'whose folder was moved ends');
like(slurp('.exporter.log'), qr{another folder, or none, is at "www/users"}, 'and says so');
rename 'www/moved', 'www/users';

# ------------------------------------------------------------------------
# Old files
# ------------------------------------------------------------------------

insert(50);
is((export())[0], 0, 'keys that come');
like(join(' ', @{ manifest('users')->{patch} }), qr/^set /, 'are a set');
my @named = files();
my %inode = map { $_ => (stat)[1] } @named;
my $old = time - 3 * 86400;
utime $old, $old, @named;
my ($stranger, $young) = map { 'www/users/' . $_ x 64 } '0', '1';
my @strangers = ("$stranger.patch", "$stranger.bloom", "$young.patch", "$young.bloom", 'www/users/mine.txt');
spew($_, 'x') foreach @strangers;
utime $old, $old, @strangers[ 0, 1, 4 ];
utime time - 7200, time - 7200, @strangers[ 2, 3 ];
($status, $out, $err) = export();
is("$status$err", '0', 'an export over files of three days');
is(join(' ', grep { ((stat)[1] // 0) != $inode{$_} } @named), '', 'takes away none that is named');
is(join(' ', grep { -e } @strangers), join(' ', @strangers[ 2 .. 4 ]), 'but those that nobody named for a day, and nothing that others put there');
my $was = path_of(first('whole'), '.bloom');
utime $old, $old, $was;
sql('TRUNCATE users; ALTER INDEX users_filter SET (n = 30000); REINDEX INDEX users_filter');
insert(200);
is((export())[0], 0, 'another size');
ok(!defined manifest('users')->{patch}, 'has no patch that leads to it');
isnt(path_of(first('whole'), '.bloom'), $was, 'another whole file');
cmp_ok((stat $was)[9], '>', time - 3600, 'and the old one has its day from now on');

# ------------------------------------------------------------------------
# Whole files are renewed for their age, and no key waits for them
# ------------------------------------------------------------------------

$was = path_of(first('whole'), '.bloom');
$old = time - 4 * 86400;
utime $old, $old, $was;
($status, $out, $err) = export('--after', "basename \"\$1\" >>$here/sent");
is("$status$err", '0', 'an export over a whole file of more than half of --keep-days');
like(slurp('sent'), qr/^[0-9a-f]{64}\.bloom$/m, 'passes it on again');
cmp_ok((stat path_of(first('whole'), '.bloom'))[9], '>', time - 3600, 'it is as a new one');
is(exporter_says('users', 'full_files_renewed'), 1, 'and counted');
insert(30);
is((export())[0], 0, 'keys that come behind it');
my $behind = $next - 1;
utime $old, $old, path_of(first('whole'), '.bloom');
begin('exporter', @follow, '--after', "case \$1 in *.bloom) touch $here/begun; until [ -e $here/go ]; do sleep 0.1; done;; esac");
ok(wait_for(60, sub { -e 'begun' }), 'an exporter passes on a whole file, which takes long');
my $content = first('content');
my @before = @{ manifest('users')->{whole} };
insert(20);
ok(wait_for(60, sub { first('content') > $content }), 'keys that come meanwhile are published');
is(first('whole'), $before[0], 'with the whole file of before');
spew('go', '');
ok(wait_for(60, sub { first('whole') ne $before[0] }), 'and then comes the new one');
ok(pulled($behind - 229 .. $behind), 'which has all keys of when it was begun');
is(finish('exporter', 'TERM'), 0, 'it ends');

# ------------------------------------------------------------------------
# A command that fails
# ------------------------------------------------------------------------

begin('exporter', @follow, '--after', "[ -e $here/well ]");
ok(wait_for(60, sub { exporter_says('users', 'failures') >= 2 }), 'a command that fails is a failure, and tried again');
spew('well', '');
ok(wait_for(60, sub { exporter_says('users', 'failures') eq '0' }), 'until it does not');
is(exporter_says('users', 'full_reads'), 1, 'all of the index was read once');
is(finish('exporter', 'TERM'), 0, 'the exporter ends');

# ------------------------------------------------------------------------
# A server that says nothing
# ------------------------------------------------------------------------

begin('exporter', @follow);
my $pid = '';
ok(wait_for(60, sub { exporter_says('users', 'failures') eq '0' && ($pid = sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'bloomfilter export'")) ne '' }), 'an exporter');
SKIP:
{
	skip 'the server belongs to somebody else', 3 if !kill 'STOP', $pid;
	insert(20);
	$content = first('content');
	ok(wait_for(90, sub { slurp('.exporter.log') =~ /the server has not answered for \d+ s/ }), 'a backend that is stopped is silent');
	ok(wait_for(90, sub { first('content') > $content }), 'and another one is asked');
	ok(wait_for(30, sub { exporter_says('users', 'failures') eq '0' }), 'then all is well');
	kill 'CONT', $pid;
}
is(finish('exporter', 'TERM'), 0, 'it ends');

# ------------------------------------------------------------------------
# Serials
# ------------------------------------------------------------------------

my $serial = (time + 30) . '000000';
spew('www/users/manifest', slurp('www/users/manifest') =~ s/^serial .*/serial $serial/mr);
insert(20);
($status, $out, $err) = export();
is("$status$err", '0', 'a clock that stepped back 30 s');
is(first('serial'), $serial + 1, 'makes the next serial, not a smaller one');
publish('list', 1, 1, 5000);
is((run('', 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list'))[0], 0, 'a list');
my $manifest = slurp('www/list/manifest');
sql("UPDATE ext.bloom_generation SET serial = serial + 7200000000 WHERE name = 'list' AND back = 0");
($status, $out, $err) = run('', 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list');
ok($status eq '2' && $err =~ /serial that is \d+ s in the future.* set its serial in bloom_generation to 1, and CALL bloom_set_identity/, 'a serial of in two hours is refused') || diag($err);
is(slurp('www/list/manifest'), $manifest, 'and nothing written');
sql("UPDATE ext.bloom_generation SET serial = 1 WHERE name = 'list' AND back = 0");
sql("CALL ext.bloom_set_identity('list', '" . ($manifest =~ /^identity (.*)$/m)[0] . "')");
is((run('', 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list'))[0], 0, 'until that is done');
spew('www/list/manifest', $manifest =~ s/^serial .*/serial 9000000000000000000/mr);
($status, $out, $err) = run('', 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list');
ok($status eq '2' && $err =~ /empty the folder, which hosts take with --allow-older$/m, 'a manifest of the future is refused') || diag($err);
system('rm', '-r', 'www/list');
is((run('', 'export', '--dsn', $dsn, '--list', 'list', '--to', 'www/list'))[0], 0, 'in an empty folder the list begins anew');

# ------------------------------------------------------------------------
# A manifest that can't be read
# ------------------------------------------------------------------------

my $identity = first('identity');
foreach my $try ([ 'empty', '' ], [ 'torn', substr(slurp('www/users/manifest'), 0, 100) ])
{
	my ($how, $text) = @$try;
	spew('www/users/manifest', $text);
	insert(5);
	($status, $out, $err) = export();
	ok($status eq '0' && $err =~ /publishing all anew/, "a manifest that is $how: all is published anew") || diag("$status $err");
	is(first('identity'), $identity, "$how: under the same identity");
	cmp_ok(first('serial'), '>', $serial, "$how: with a newer serial") if $how ne 'empty';
	$serial = first('serial');
}
unlink 'www/users/manifest';
is((export())[0], 0, 'without one, too');
is(first('identity'), $identity, 'the identity stays');
spew('www/users/manifest', '');
unlink 'www/users/.state';
($status, $out, $err) = export();
ok($status eq '2' && $err =~ /no \.state says whose list it was: give an index's --identity/, 'where nothing is known, the identity is asked for') || diag($err);
is((export('--identity', $identity))[0], 0, 'and taken');
is(first('identity'), $identity, 'as it is given');

# ------------------------------------------------------------------------
# Flips
# ------------------------------------------------------------------------

sql('DELETE FROM users WHERE id % 50 = 0');
sql('REINDEX INDEX users_filter');
is((export())[0], 0, 'a rebuild that took keys away');
my ($flip) = grep { /^flip / } @{ manifest('users')->{patch} // [] };
ok(defined $flip, 'has a flip');
cmp_ok((split / /, $flip // 'x x x 999999')[3], '<', (split / /, first('whole'))[2], 'shorter than the whole');
is((split / /, $flip // '')[2], first('epoch'), 'which leads to the epoch');

done_testing();
