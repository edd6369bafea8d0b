# export_changes.t
#	  Changes by day of a tracked list, from the server to hosts: bloomfilter export, a stock web
#	  server, and bloomfilter pull by --url and by --dsn, which must agree with the server.
#
# Needs a server with the extension and nginx.  Everything listens on loopback.  Each wait
# is for a condition.

use CommandLine;
use Digest::SHA qw(sha256_hex);
use Hosts;
use Server;
use Time::HiRes qw(time);

skip_leaks();

my $dsn = own_database('bloomfilter_cli_export_changes');
my $url = begin_nginx(free_port());
mkdir 'hosts';

sub export_of { my ($list, $folder) = @_; return ('export', '--dsn', $dsn, '--list', $list, '--to', 'www/' . ($folder // $list)); }
sub export_to { my (@of) = @_; return run('', export_of(@of)); }
sub export { my ($list) = @_; return export_to($list); }
sub by_dsn { my ($list, $file, @options) = @_; return run('', 'pull', '--dsn', $dsn, '--list', $list, '--out', $file, @options); }
sub info { my ($file, $word) = @_; return (run('', 'info', $file))[1] =~ /^$word\s+(.*)$/m ? $1 : ''; }
sub inode { return (stat $_[0])[1]; }

# The keys of 1 to 5200 that a file says are in, as a text of digits.
sub answers { my ($file) = @_; my %in = map { $_ => 1 } split /\n/, (run(join('', map { "$_\n" } 1 .. 5200), 'contains', $file))[1]; return join '', map { $in{$_} ? 1 : 0 } 1 .. 5200; }
sub truth { my ($list) = @_; return sql("SELECT string_agg(bloom_lookup('$list', g)::int::text, '' ORDER BY g) FROM generate_series(1, 5200::bigint) AS g"); }

# The folder, a host that pulls by URL, and one by DSN say what the server says.
sub agree
{
	my ($name, $list) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @ended = map { join ' ', @$_[ 0, 2 ] } [ export($list) ], [ by_url($list, "$list.url") ], [ by_dsn($list, "$list.dsn") ];
	is(join('|', @ended), '0 |0 |0 ', "$name: exported and pulled");
	my $truth = truth($list);
	ok(answers("$list.url") eq $truth, "$name: by URL each answer is the server's");
	ok(answers("$list.dsn") eq $truth, "$name: by DSN, too");
	is((run('', 'verify', "$list.url"))[0], 0, "$name: and it is sound");
	return;
}

# ------------------------------------------------------------------------
# A list that is tracked
# ------------------------------------------------------------------------

sql(q{
CREATE TABLE device (id bigint PRIMARY KEY, active boolean NOT NULL);
INSERT INTO device SELECT g, g % 3 > 0 FROM generate_series(1, 5000) AS g;
CALL bloom_publish('active', 'SELECT id FROM device WHERE active');
});
# Changes are only there for who reads them without nested loops, which take the square of their number before an ANALYZE.
sql(q{DO $$ BEGIN EXECUTE format('CREATE OR REPLACE VIEW ext.bloom_list_change AS SELECT * FROM (%s) AS v WHERE NOT current_setting(''enable_nestloop'')::boolean',
	rtrim(pg_get_viewdef('ext.bloom_list_change'), ';')); END $$});
agree('untracked', 'active');
unlike(slurp('www/active/manifest'), qr/change/, 'an untracked list has no word of changes');
is(unpack('V', substr slurp('active.url'), 4, 4), 2, 'and a file of version 2');
sql(q{CALL bloom_track('active', 'device', 'id', 'active')});
agree('tracked', 'active');
like(slurp('www/active/manifest'), qr/^must-changes [0-9a-f]{16} 0$/m, 'a tracked list says so before there is a change');
is(manifest('active')->{poll}[0], 1, 'its hosts look each second');
is(unpack('V', substr slurp('active.url'), 4, 4), 3, 'and have a file of version 3');
my $inode = inode('active.url');
sql('UPDATE device SET active = false WHERE id = 43; UPDATE device SET active = true WHERE id = 42; INSERT INTO device VALUES (5001, true); DELETE FROM device WHERE id = 44');
agree('first changes', 'active');
is(join(' ', map { (run('', 'contains', '--quiet', 'active.url', $_))[0] } 42, 43, 44, 5001), '0 1 1 0', 'keys came and went');
is(inode('active.url'), $inode, 'in the same file');
is(told('active.url')->{changes} . ' ' . info('active.url', 'changes') . ' ' . info('active.url', 'slots'), '4 4 1024', 'status and info say how many there are');
is(told('active.url')->{changes_to}, manifest('active')->{serial}[0], 'and up to where');
my $explained = (run('', 'explain', 'active.url', '43'))[1];
like($explained, qr/^change    false \d+\nanswer    false$/m, 'a key is explained');
is((run('', 'explain', 'active.url', '--bytes', 'integer', '2b00000000000000'))[1], $explained, 'and by its bytes');
is(sql(q{SELECT bloom_explain('active', 'integer', '\x2b00000000000000')}) . "\n", $explained, 'as SQL does');
my @line = split / /, manifest('active')->{change}[0];
is("$line[0] $line[2]", '0 ' . (64 + 4 * 32), 'they are one file');
is(scalar @{ manifest('active')->{'inline-changes'} }, 1, 'that stands in the manifest, too');
unlike(slurp('access.log'), qr/\.changes/, 'and was not fetched');
my ($status, undef, $err) = run('', 'copy', 'active.url', 'copied.bloom');
like("$status$err", qr/^0.*without the 4 changes by day/, 'a copy says that it is without them');
is((run('', 'contains', '--quiet', 'copied.bloom', '43'))[0], 0, 'and is the filter that was published');
my $id = (split / /, manifest('active')->{'must-changes'}[0])[0];
# By programs without sanitizers, which the first ones had: more often than there may be files.
foreach my $round (1 .. 20)
{
	sql("UPDATE device SET active = NOT active WHERE id IN (43, 100 + $round, 200 + $round)");
	ask('', export_of('active'));
	by_url('active', 'active.url') if $round == 11;
}
agree('many times', 'active');
cmp_ok(scalar @{ manifest('active')->{change} }, '<=', 16, 'files are merged: ' . @{ manifest('active')->{change} } . ' lines');
is((split / /, manifest('active')->{'must-changes'}[0])[0], $id, 'each exporter went on with the row of the one before');
unlink 'late.url';
is((by_url('active', 'late.url'))[0], 0, 'a host that begins');
ok(answers('late.url') eq truth('active'), 'has all of them');

# ------------------------------------------------------------------------
# Publishes, rollbacks
# ------------------------------------------------------------------------

sql(q{CALL bloom_refresh('active'); UPDATE device SET active = NOT active WHERE id = 50});
agree('the next run', 'active');
is(info('active.url', 'changes'), 1, 'takes up the changes, and those after it stay');
isnt((split / /, manifest('active')->{'must-changes'}[0])[0], $id, 'which is another row');
sql(q{INSERT INTO device SELECT g, true FROM generate_series(5100, 5150) AS g; CALL bloom_refresh('active')});
agree('a run that adds keys alone', 'active');
is(manifest('active')->{epoch}[0], manifest('active')->{content}[0], 'is another epoch');
sql(q{CALL bloom_rollback('active')});
agree('a rollback', 'active');
cmp_ok(info('active.url', 'changes'), '>', 50, 'what the bad run took up is in force again');
sql(q{UPDATE device SET active = NOT active WHERE id <= 1500});
$inode = inode('active.url');
agree('many at once', 'active');
cmp_ok(info('active.url', 'slots'), '>=', 4 * 1500, 'a table that is too small is replaced');
isnt(inode('active.url'), $inode, 'with the file');
like(slurp('access.log'), qr{GET /active/\w+\.changes}, 'they were fetched');
$id = (split / /, manifest('active')->{'must-changes'}[0])[0];
my $old = time - 4 * 86400;
utime $old, $old, glob 'www/active/*.changes';
agree('files of changes of more than half of --keep-days', 'active');
isnt((split / /, manifest('active')->{'must-changes'}[0])[0], $id, 'begin another row');
my ($renewed) = glob 'www/active/' . (split / /, manifest('active')->{change}[0])[3] . '.changes';
cmp_ok((stat $renewed)[9], '>', time - 3600, 'whose file is as a new one');

# ------------------------------------------------------------------------
# What is lost
# ------------------------------------------------------------------------

$id = (split / /, manifest('active')->{'must-changes'}[0])[0];
unlink glob 'www/active/*.changes';
like((export('active'))[2], qr/missing or damaged/, 'files of changes that are lost are told of');
agree('files of changes that are lost', 'active');
isnt((split / /, manifest('active')->{'must-changes'}[0])[0], $id, 'begin another row');
system('rm -rf www/active');
sql('UPDATE device SET active = NOT active WHERE id = 60');
agree('a folder that is lost', 'active');
system('cp active.url copy.url; rm active.url');
agree('a file that is lost', 'active');
is((by_url('active', 'copy.url'))[0], 0, 'a copied file is taken up');
ok(answers('copy.url') eq truth('active'), 'with all changes');
is((run('', 'verify', 'copy.url'))[0], 0, 'and is sound');
my $bytes = slurp('copy.url');
my $slots = info('copy.url', 'slots');
my $table = length($bytes) - 33 * $slots;
my ($slot) = grep { substr($bytes, $table + 32 * $_ + 24, 8) ne "\0" x 8 } 0 .. $slots - 1;
substr($bytes, $table + 32 * $slot + 8, 1) ^= "\1";
spew('damaged.url', $bytes);
is((run('', 'verify', 'damaged.url'))[0], 1, 'a turned bit of the table is found by verify');
spew('copy.url', $bytes);
my $damaged = inode('copy.url');
(undef, undef, $err) = by_url('active', 'copy.url');
is((run('', 'verify', 'copy.url'))[0], 0, 'and by the follower');
isnt(inode('copy.url'), $damaged, 'which makes the file anew');
ok(answers('copy.url') eq truth('active'), 'with all changes');

# ------------------------------------------------------------------------
# From the server to the web server, and back
# ------------------------------------------------------------------------

is((by_dsn('active', 'moved'))[0], 0, 'a file that is pulled from the server');
my $made = inode('moved');
foreach my $id (81 .. 82)
{
	sql("UPDATE device SET active = NOT active WHERE id IN ($id, 80)");
	is((export('active'))[0] . ' ' . ($id % 2 ? by_url('active', 'moved') : by_dsn('active', 'moved'))[0], '0 0', "then from the @{[ $id % 2 ? 'web server' : 'server' ]}");
	ok(answers('moved') eq truth('active'), 'has each change, and its own answers stay');
	is(inode('moved') . ' ' . (run('', 'verify', 'moved'))[0], "$made 0", 'in the same file, which is sound');
}

# ------------------------------------------------------------------------
# Rights, servers that lost something
# ------------------------------------------------------------------------

sql('CREATE ROLE bloomfilter_cli_changes LOGIN; GRANT USAGE ON SCHEMA ext TO bloomfilter_cli_changes; GRANT SELECT ON ext.bloom_list, ext.bloom_list_part TO bloomfilter_cli_changes');
my $role = $dsn =~ s/user=\S+/user=bloomfilter_cli_changes/r;
($status, undef, $err) = run('', 'pull', '--dsn', $role, '--list', 'active', '--out', 'role.bloom');
like("$status $err", qr/^2 .*bloom_list_change/s, 'without the right to see changes a tracked list is an error');
sql('GRANT SELECT ON ext.bloom_list_change TO bloomfilter_cli_changes');
is((run('', 'pull', '--dsn', $role, '--list', 'active', '--out', 'role.bloom'))[0], 0, 'with it all is well');
sql('DROP OWNED BY bloomfilter_cli_changes; DROP ROLE bloomfilter_cli_changes');
sql('UPDATE device SET active = NOT active WHERE id = 70');
agree('one more', 'active');
my $before = answers('active.url');
my $lose_last = q{ALTER TABLE bloom_change DISABLE TRIGGER guard; DELETE FROM bloom_change WHERE version = (SELECT max(version) FROM bloom_change); ALTER TABLE bloom_change ENABLE ALWAYS TRIGGER guard};
my $true_at = page_of('active.url')->{true_at};
sql($lose_last);
is((export_to('active', 'other'))[0], 0, 'of a server that lost a change another folder');
($status, undef, $err) = by_url('other', 'active.url');
like("$status$err", qr/^0.*changes by day that the exporter lacks/, 'lacks what hosts have');
ok(answers('active.url') eq $before, 'who keep it');
is(page_of('active.url')->{true_at}, $true_at, 'and are no truer than they were');
($status, undef, $err) = by_dsn('active', 'active.dsn');
like("$status$err", qr/^0.*the server lacks 1 changes/, 'who pulls from the server is told of it');
is(page_of('active.dsn')->{true_at}, 0, 'and that nothing is known to be true by now');
($status, undef, $err) = export('active');
like("$status$err", qr/^0.*the server lacks 1 changes/, 'and so is the exporter');
ok(!exists manifest('active')->{true_at}, 'nothing is said to be true by now');
is((by_url('active', 'active.url'))[0], 0, 'hosts go on');
ok(answers('active.url') eq $before, 'with the change, which nothing takes back');
is((by_url('active', 'begun.url'))[0], 0, 'a host that begins');
ok(answers('begun.url') eq $before, 'has it, too');
sql(q{CALL bloom_refresh('active')});
agree('the next run', 'active');
ok(exists manifest('active')->{true_at}, 'says up to when all is true');
cmp_ok(page_of('active.url')->{true_at}, '>', $true_at, 'to hosts, too');

# Two exporters go on with one row, of which one looks at a server that lags.
sql('UPDATE device SET active = NOT active WHERE id = 71');
agree('one more change', 'active');
system('cp -a www/active www/copied');
sql('UPDATE device SET active = NOT active WHERE id = 72');
export('active');
my $unguarded = 'ALTER TABLE bloom_change DISABLE TRIGGER guard; %s; ALTER TABLE bloom_change ENABLE ALWAYS TRIGGER guard';
sql('CREATE TABLE hidden AS SELECT * FROM bloom_change WHERE version = (SELECT max(version) FROM bloom_change)');
sql(sprintf $unguarded, 'DELETE FROM bloom_change USING hidden AS h WHERE bloom_change.name = h.name AND bloom_change.key = h.key');
sql('UPDATE device SET active = NOT active WHERE id = 73');
export_to('active', 'copied');
is((by_url('copied', 'active.url'))[0], 0, 'a host that has been at the copy of a folder');
sql(sprintf $unguarded, 'INSERT INTO bloom_change SELECT * FROM hidden');
agree('two that go on with one row', 'active');

# ------------------------------------------------------------------------
# Followers, to the second
# ------------------------------------------------------------------------

begin('export', program(), 'export', '--dsn', $dsn, '--list', 'active', '--to', 'www/active', '--follow', '--every', '0.25', '--quiet');
begin('url', program(), 'pull', '--url', "$url/active", '--allow-http', '--out', 'hosts/url.bloom', '--follow', '--quiet');
begin('dsn', program(), 'pull', '--dsn', $dsn, '--list', 'active', '--out', 'hosts/dsn.bloom', '--follow', '--quiet');
ok(wait_for(60, sub { -e 'hosts/url.bloom' && -e 'hosts/dsn.bloom' }), 'hosts follow');
foreach my $round (1 .. 3)
{
	my $value = sql("UPDATE device SET active = NOT active WHERE id = 300 RETURNING active") eq 't' ? 0 : 1;
	my $since = time;
	foreach my $host ('url', 'dsn')
	{
		ok(wait_for(30, sub { (ask('', 'contains', '--quiet', "hosts/$host.bloom", '300'))[0] eq $value }), "a change comes by $host, $round");
	}
	note(sprintf 'both had it after %.1f s', time - $since);
	sql(q{CALL bloom_refresh('active')}) if $round == 2;
}

# A server that lost a change, whose changes are all read once for each connection of the exporter.
sql($lose_last);
my $value;
foreach my $read (1 .. 2)
{
	sql(q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'bloomfilter export'});
	$value = sql("UPDATE device SET active = NOT active WHERE id = 310 RETURNING active") eq 't' ? 0 : 1;
	ok(wait_for(60, sub { (ask('', 'contains', '--quiet', 'hosts/url.bloom', '310'))[0] eq $value }), "a change comes from a server that lost one, $read");
	ok(!exists manifest('active')->{true_at}, 'and nothing is said to be true by now');
}
is(finish($_, 'TERM'), 0, "$_ ends") foreach 'export', 'url', 'dsn';

# ------------------------------------------------------------------------
# Exact lists, texts, and the end of it
# ------------------------------------------------------------------------

sql(q{CALL bloom_publish('exact', 'SELECT id, active FROM device'); CALL bloom_track('exact', 'device', 'id', 'active')});
sql('UPDATE device SET active = NOT active WHERE id % 50 = 0');
agree('an exact list', 'exact');
is(answers('exact.url'), sql("SELECT string_agg(coalesce(active, bloom_lookup('exact', g))::int::text, '' ORDER BY g) FROM generate_series(1, 5200::bigint) AS g LEFT JOIN device ON id = g"),
	'is right for each key of the table');
sql(q{CALL bloom_refresh('exact'); UPDATE device SET active = NOT active WHERE id % 70 = 0});
agree('its next run', 'exact');
begin('exact', program(), 'pull', '--dsn', $dsn, '--list', 'exact', '--out', 'exact.dsn', '--follow', '--quiet');
my $page = substr slurp('exact.dsn'), 0, 4096;
$value = sql("UPDATE device SET active = NOT active WHERE id = 320 RETURNING active") eq 't' ? 0 : 1;
sub exact_says { return (ask('', 'contains', '--quiet', 'exact.dsn', '320'))[0]; }
ok(wait_for(30, sub { exact_says() eq $value }), 'a follower has a change');
$inode = inode('exact.dsn');
overwrite('exact.dsn', 0, $page);
ok(wait_for(30, sub { (inode('exact.dsn') // $inode) ne $inode }), 'an older page over that of an exact file is found');
is(exact_says(), $value, 'and hides no change');
is(finish('exact', 'TERM'), 0, 'it ends');

# Rows that are as full as they may be: a fourth of the table, and all entries of a row.
sql(q{CALL bloom_publish('full', 'SELECT id FROM device'); CALL bloom_track('full'); SELECT bloom_change('full', g::bigint, false) FROM generate_series(1, 256) AS g});
agree('a fourth of the slots', 'full');
$inode = inode('full.dsn');
sql(q{SELECT bloom_change('full', 7::bigint, true)});
agree('a key of them that changes again', 'full');
is(inode('full.dsn'), $inode, 'needs no other table');
my $manifest = slurp('www/full/manifest');
# more than all that are needed stand in the upper half, where they rise behind those that are made up
my $had = join '', grep { unpack('C', substr $_, 7) > 127 } unpack '(a32)*', join '', map { substr slurp("www/full/$_.changes"), 64 } map { (split / /)[3] } @{ manifest('full')->{change} }[0];
my $made_up = (1 << 20) - 256;
my $most = $made_up + length($had) / 32;
my $head = pack 'a4VQ<H32Q<x16', 'BLMC', 1, manifest('full')->{content}[0], manifest('full')->{identity}[0] =~ tr/-//dr, $most;
my $sum = sql(sprintf q{SELECT bloom_hash('\\x%s'::bytea || string_agg(decode('0000000000' || lpad(to_hex(g << 3 & 255), 2, '0') || lpad(to_hex(g >> 5 & 255), 2, '0')}
	. q{ || lpad(to_hex(g >> 13), 2, '0') || repeat('0', 32) || '0200000000000000', 'hex'), '') || '\\x%s') FROM generate_series(1, %d) AS g}, unpack('H*', $head), unpack('H*', $had), $made_up);
$bytes = join '', $head, pack('q<', $sum), (map { pack 'Q<x16Q<', $_ << 43, 2 } 1 .. $made_up), $had;
my $digest = sha256_hex($bytes);
spew("www/full/$digest.changes", $bytes);
$manifest =~ s/^(must-changes \w+) .*\nchange (0 \d+) (?:.*\n)*?(?=#)/"$1 $most\nchange $2 " . length($bytes) . " $digest\n"/me;
spew('www/full/manifest', $manifest);
sql(q{SELECT bloom_change('full', g::bigint, true) FROM generate_series(1, 20) AS g});
($status, undef, $err) = ask('', export_of('full'));
unlike("$status$err", qr/missing|can't|^[^0]/, 'a row that can have no entry more is gone on with');
is((ask('', 'pull', '--url', "$url/full", '--allow-http', '--out', 'full.url'))[0], 0, 'and hosts take the next changes');
ok(answers('full.url') eq truth('full'), 'which are right');

# Of an empty list a file tells how the keys are to be read that come, where the query does.
sql(q{CREATE TABLE token (jti uuid PRIMARY KEY); CALL bloom_publish('tokens', 'SELECT jti FROM token', allow_empty => true); CALL bloom_track('tokens', 'token', 'jti')});
sql(q{INSERT INTO token VALUES ('5d0c4b0e-6b1f-4c9c-9f0e-0d6c1f5a7e21')});
is((by_dsn('tokens', 'tokens.dsn'))[0] . (run('', 'contains', 'tokens.dsn', '5D0C4B0E6B1F4C9C9F0E0D6C1F5A7E21'))[0], '00', 'a key that comes to an empty list is found');
sql(q{CALL bloom_publish('pairs', 'SELECT ROW(1, 2) WHERE false', allow_empty => true); CALL bloom_track('pairs'); SELECT bloom_change('pairs', ROW(1, 2), true)});
is((by_dsn('pairs', 'pairs.dsn'))[0] . (run("1\t2\n", 'contains', '--copy', '--type', 'integer,integer', 'pairs.dsn'))[0], '00', 'a row, too');
refuses(qr/give --type/, "1\t2\n", 'contains', '--copy', 'pairs.dsn');
sql(q{CALL bloom_untrack('active')});
agree('a list that is tracked no more', 'active');
unlike(slurp('www/active/manifest'), qr/change/, 'has no word of changes');
is(unpack('V', substr slurp('active.url'), 4, 4), 2, 'and a file of version 2');
done_testing();
