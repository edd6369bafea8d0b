# url_epochs.t
#	  A list that is published again and an index that is rebuilt: hosts come to the new
#	  epoch by deltas, or by the whole file where these don't fit.
#
# Needs a server with the extension and nginx.  Everything listens on loopback.  What hosts
# fetched is counted in nginx's log.  Each wait is for a condition.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Hosts;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_url_epochs');
my $here = `pwd`;
chomp $here;
my $url = begin_nginx(free_port());
mkdir 'hosts';

sub export_list { my ($list, @options) = @_; return run('', 'export', '--dsn', $dsn, '--list', $list, '--to', "www/$list", '--poll', '1', @options); }
sub export_index { my ($folder, @options) = @_; return run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', "www/$folder", '--poll', '1', @options); }
sub pull { my ($folder, $file, @options) = @_; return run('', 'pull', '--url', "$url/$folder", '--allow-http', '--out', $file, @options); }
sub missing { my ($file, @keys) = @_; return @keys - (run(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file))[1]; }
sub whole_of { my ($folder) = @_; return (map { "www/$folder/$_.bloom" } map { /(\w{64})/ } @{ manifest($folder)->{whole} })[0]; }
sub lengths { my ($folder, $word) = @_; my $sum = 0; $sum += /^(?:\d+ )?\d{10,} \d{10,} (\d+) \w{64}/ ? $1 : die foreach @{ manifest($folder)->{$word} // [] }; return $sum; }

# What was fetched of a folder since the last call: bytes of each kind, in words.
my $read = 0;
sub fetched
{
	my ($folder) = @_;
	my %bytes = (bloom => 0, step => 0, delta => 0);
	my $log = substr slurp('access.log'), $read;
	$read += length $log;
	$bytes{$1} += $2 while $log =~ m{"GET /$folder/\w{64}\.(bloom|step|delta) HTTP/\S+" 20\d (\d+) }g;
	return join ', ', map { "$_ $bytes{$_}" } grep { $bytes{$_} > 0 } 'bloom', 'step', 'delta';
}

sub took
{
	my ($name, $folder, $file, $expected, @options) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, undef, $err) = pull($folder, $file, @options);
	is($status, 0, "$name: pulled") || diag($err);
	is(fetched($folder), $expected, "$name: by this");
	ok(slurp($file) eq slurp(whole_of($folder)), "$name: the host has the whole file, byte for byte") if manifest($folder)->{content}[0] eq manifest($folder)->{epoch}[0];
	return $err;
}

# A host as another one is.
sub clone { my ($from, $to) = @_; unlink glob "$to*"; system('cp', "$from$_", "$to$_") foreach '', '.mark', '.status'; return; }
sub copy_folder { my ($from, $to) = @_; system('rm', '-rf', "www/$to"); system('cp', '-r', "www/$from", "www/$to"); return; }

# ------------------------------------------------------------------------
# A list, each night
# ------------------------------------------------------------------------

publish('nights', 1, 1, 15000);
is((export_list('nights'))[0], 0, 'a list is exported');
my $length = -s whole_of('nights');
took('a host that begins', 'nights', 'a.bloom', "bloom $length");
clone('a.bloom', 'two.bloom');
clone('a.bloom', 'dsn.bloom');
ok(!defined manifest('nights')->{delta}, 'the first one has no delta');

publish('nights', 1, 151, 15150);
is((export_list('nights'))[0], 0, 'published again, with other keys for 1 %');
my $first = lengths('nights', 'delta');
cmp_ok($first, '<', $length / 8, 'the delta is short');
took('the night', 'nights', 'a.bloom', "delta $first");
is(missing('a.bloom', 151 .. 15150), 0, 'no key is missing');
cmp_ok(missing('a.bloom', 1 .. 150), '>', 140, 'and what went is gone');
clone('a.bloom', 'one.bloom');
copy_folder('nights', 'night_1');

publish('nights', 1, 301, 15300);
export_list('nights');
my $both = lengths('nights', 'delta');
is(@{ manifest('nights')->{delta} }, 2, 'after two nights there are two deltas');
took('a host that slept through one', 'nights', 'two.bloom', "delta $both");
took('and one that did not', 'nights', 'one.bloom', 'delta ' . ($both - $first));

publish('nights', 1, 301, 15400);
export_list('nights');
is(scalar @{ manifest('nights')->{step} }, 1, 'keys that only came are a step');
my $step = lengths('nights', 'step');
is(@{ manifest('nights')->{delta} }, 2, 'and deltas lead to the epoch still');
clone('a.bloom', 'one.bloom');
took('a host of the epoch before', 'nights', 'one.bloom', "step $step, delta " . ($both - $first)) if $step > 16384;
took('a host of the epoch before', 'nights', 'one.bloom', 'delta ' . ($both - $first)) if $step <= 16384;
is(missing('one.bloom', 301 .. 15400), 0, 'no key is missing');
clone('two.bloom', 'behind.bloom');
publish('nights', 1, 401, 15450);
export_list('nights');
is(scalar @{ manifest('nights')->{'old-step'} }, 1, 'the next epoch names the steps of the one before');
my ($last) = (map { (split / /)[3] } @{ manifest('nights')->{delta} })[-1];
took('a host that lacks one', 'nights', 'behind.bloom', "step $step, delta $last");
is(missing('behind.bloom', 401 .. 15450), 0, 'no key is missing');
my $all = lengths('nights', 'delta');
clone('dsn.bloom', 'a.bloom');
took('a host that slept through all nights', 'nights', 'a.bloom', "step $step, delta $all");
is((run('', 'status', '--quiet', 'a.bloom'))[0], 0, 'status is content');

# Who had it by a login stands on the chain, too.
publish('nights', 1, 451, 15500);
is((run('', 'pull', '--dsn', $dsn, '--list', 'nights', '--out', 'login.bloom'))[0], 0, 'a host by DSN');
export_list('nights');
publish('nights', 1, 501, 15550);
export_list('nights');
($last) = (map { (split / /)[3] } @{ manifest('nights')->{delta} })[-1];
fetched('nights');
took('which goes over to the URL', 'nights', 'login.bloom', "delta $last");

# What doesn't pay isn't kept: deltas beyond half of the whole, and a chain beyond all of it.
publish('nights', 1, 1000001, 1015000);
export_list('nights');
ok(!defined manifest('nights')->{delta}, 'with quite other keys there is no delta');
took('a host then', 'nights', 'login.bloom', 'bloom ' . -s whole_of('nights'));
foreach my $night (1 .. 12)
{
	publish('nights', 1, 1000001 + 1000 * $night, 1015000 + 1000 * $night);
	export_list('nights');
	cmp_ok(lengths('nights', 'delta'), '<=', -s whole_of('nights'), "night $night: the chain is shorter than the whole");
}
cmp_ok(@{ manifest('nights')->{delta} }, '>=', 2, 'and longer than a night');
foreach my $night (1 .. 10)
{
	publish('nights', 1, 1012001 + $night, 1027000 + $night);
	export_list('nights');
}
is(@{ manifest('nights')->{delta} }, 8, 'and no longer than eight');
my @named = sort map { (split / /)[4] . '.delta' } @{ manifest('nights')->{delta} };
cmp_ok(scalar(() = glob 'www/nights/*.delta'), '>', 8, 'deltas that nobody names any more are there for a day');
utime 0, 0, glob 'www/nights/*.delta';
export_list('nights');
is(join(' ', sort map { s{.*/}{}r } glob 'www/nights/*.delta'), join(' ', @named), 'and then go, but for those that are named');

# ------------------------------------------------------------------------
# Deltas that are missing, damaged, or lie
# ------------------------------------------------------------------------

# night_1 leads from what dsn.bloom has; each of these from there to a folder of its own.
my ($name) = manifest('night_1')->{delta}[0] =~ /(\w{64})/;
sub broken
{
	my ($case, $pattern, $edit, $expected) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	copy_folder('night_1', 'broken');
	clone('dsn.bloom', 'h.bloom');
	my $delta = $edit->("www/broken/$name.delta");
	# a delta that the manifest stands for
	if (defined $delta)
	{
		my $digest = sha256_hex($delta);
		spew("www/broken/$digest.delta", $delta);
		my $bytes = length $delta;
		spew('www/broken/manifest', slurp('www/broken/manifest') =~ s/^(delta 0 \d+ \d+) \d+ \w+/$1 $bytes $digest/mr);
	}
	my $err = took($case, 'broken', 'h.bloom', $expected // 'bloom ' . (-s whole_of('broken')) . ', delta ' . length($delta // slurp("www/broken/$name.delta")));
	like($err, $pattern, "$case: which is said");
	is(missing('h.bloom', 151 .. 15150), 0, "$case: no key is missing");
	return;
}

my $sound = slurp("www/night_1/$name.delta");
my $whole = -s whole_of('night_1');
broken('a missing delta', qr/404/, sub { unlink $_[0]; return undef }, "bloom $whole");
broken('a damaged delta', qr/is not what the manifest says/, sub { spew($_[0], substr($sound, 0, -1) . 'x'); return undef });
broken('a delta that is cut', qr/checksum/, sub { substr $sound, 0, -1 });
broken('a delta of nothing', qr/too short|does not start/, sub { 'x' x 104 });
broken('a delta of another list', qr/made from another/i, sub { my ($other) = glob 'www/nights/*.delta'; slurp($other) });

# All of it is right, but for where it leads: to a list that lacks a thousand keys.
publish('lie', 1, 1, 15000);
export_list('lie');
publish('lie', 1, 151, 14150);
export_list('lie');
ok(slurp(whole_of('lie')) ne slurp(whole_of('night_1')), 'a list with the same base and fewer keys');
my ($lie) = map { slurp("www/lie/$_.delta") } map { /(\w{64})/ } @{ manifest('lie')->{delta} };
broken('a delta that lies', qr/result is not what the manifest says/, sub { $lie });

# A host that follows: the whole comes once, and then nothing more.
sub begin_host { my ($folder, $file, @options) = @_; begin($file, program(), 'pull', '--url', "$url/$folder", '--allow-http', '--out', "hosts/$file", '--follow', '--every', '1', @options); return; }
sub looks { my ($folder) = @_; return scalar(() = substr(slurp('access.log'), $read) =~ m{GET /$folder/manifest }g); }
sub requests { my ($folder, $ending) = @_; return scalar(() = substr(slurp('access.log'), $read) =~ m{GET /$folder/\w{64}\.$ending }g); }

foreach my $case ([ 'damaged', 1 ], [ 'missing', 3 ])
{
	my ($what, $times) = @$case;
	copy_folder('night_1', 'loop');
	spew("www/loop/$name.delta", substr($sound, 0, -1) . 'x') if $what eq 'damaged';
	unlink "www/loop/$name.delta" if $what eq 'missing';
	spew('www/loop/manifest', slurp('www/loop/manifest') =~ s/^spread .*/spread 1/mr);
	clone('dsn.bloom', "hosts/$what");
	fetched('loop');
	begin_host('loop', $what);
	ok(wait_for(60, sub { missing("hosts/$what", 15001 .. 15150) == 0 }), "a host that follows, a $what delta: it has the new keys");
	my $before = looks('loop');
	ok(wait_for(30, sub { looks('loop') >= $before + 3 }), 'and looks again');
	is(requests('loop', 'delta'), $times, "after the delta was asked for $times times");
	is(requests('loop', 'bloom'), 1, 'the whole was fetched once');
	finish($what, 'TERM');
	ok(slurp("hosts/$what") eq slurp(whole_of('loop')), 'and is there');
}

# ------------------------------------------------------------------------
# A set of parts
# ------------------------------------------------------------------------

publish('set', 3, 1, 15000);
export_list('set');
pull('set', 'set.bloom');
fetched('set');
publish('set', 3, 151, 15150);
export_list('set');
is(@{ manifest('set')->{delta} }, 3, 'of a set each part has a delta');
($_, undef, my $err) = pull('set', 'set.bloom');
is("$_$err", '0', 'pulled');
is(fetched('set'), 'delta ' . lengths('set', 'delta'), 'and these are what is fetched');
is(missing('set.bloom', 151 .. 15150), 0, 'no key is missing');
is((run('', 'pull', '--dsn', $dsn, '--list', 'set', '--out', 'set.dsn'))[0], 0, 'by DSN');
sub checksum { my ($file) = @_; return (run('', 'status', $file))[1] =~ /^checksum\s+(\w+)/m ? $1 : "none of $file"; }
is(checksum('set.bloom'), checksum('set.dsn'), 'it is the same');
publish('set', 2, 151, 15150);
export_list('set');
ok(!defined manifest('set')->{delta}, 'to another number of parts no delta leads');
is((pull('set', 'set.bloom'))[0], 0, 'pulled');
like(fetched('set'), qr/^bloom \d+$/, 'by whole files');
is(missing('set.bloom', 151 .. 15150), 0, 'no key is missing');

# ------------------------------------------------------------------------
# An exporter that is killed between the files
# ------------------------------------------------------------------------

publish('killed', 1, 1, 15000);
export_list('killed');
pull('killed', 'killed.bloom');
fetched('killed');
foreach my $ending ('bloom', 'delta', 'manifest')
{
	state_of_kill($ending);
}

sub state_of_kill
{
	my ($ending) = @_;
	my $begin = { bloom => 151, delta => 301, manifest => 451 }->{$ending};
	publish('killed', 1, $begin, 15000 + $begin);
	my $before = manifest('killed')->{epoch}[0];
	is((export_list('killed', '--after', "case \"\$1\" in *$ending) kill -9 \$PPID;; esac"))[0], 'signal 9', "an exporter that is killed at its $ending");
	my $m = manifest('killed')->{epoch}[0];
	ok($ending eq 'manifest' ? $m > $before : $m == $before, 'the manifest is ' . ($ending eq 'manifest' ? 'new' : 'the old one'));
	is((pull('killed', 'killed.bloom'))[0], 0, 'which hosts take') if $ending ne 'manifest';
	is(fetched('killed'), '', 'and have') if $ending ne 'manifest';
	is((export_list('killed'))[0], 0, 'another exporter goes on');
	my ($now) = (map { (split / /)[3] } @{ manifest('killed')->{delta} })[-1];
	took("after a kill at its $ending", 'killed', 'killed.bloom', "delta $now");
	is(missing('killed.bloom', $begin .. 15000 + $begin), 0, 'no key is missing');
	return;
}

# ------------------------------------------------------------------------
# A live index
# ------------------------------------------------------------------------

sql('SET search_path = public, ext; CREATE TABLE users (id bigint); INSERT INTO users SELECT generate_series(1, 18000);'
	. ' CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 20000)');
spew('step.status', '0');
my @exporter = (program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/live', '--follow', '--every', '0.25', '--poll', '1', '--spread', '3600', '--quiet',
	'--after', "case \"\$1\" in *.step) exit \$(cat $here/step.status);; esac");
begin('exporter', @exporter);
ok(wait_for(30, sub { -e 'www/live/manifest' }), 'an exporter follows an index');
begin_host('live', 'live');
ok(wait_for(30, sub { -e 'hosts/live' && missing('hosts/live', 1 .. 18000) == 0 }), 'and a host');
is(manifest('live')->{spread}[0], 3600, 'whole files are spread over an hour');
my $next = 100000;

# Keys that are committed come to the host; of what was deleted before little is left.
sub arrive
{
	my ($case, $expected, @gone) = @_;
	my $first = $next;
	$next += 50;
	sql("INSERT INTO users SELECT generate_series($first, $first + 49)");
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(60, sub { missing('hosts/live', $first .. $first + 49) == 0 }), "$case: new keys arrive") || diag(slurp('.live.log'));
	is(missing('hosts/live', 1001 .. 18000), 0, "$case: no key is missing");
	cmp_ok(missing('hosts/live', @gone), '>', 0.9 * @gone, "$case: deleted keys are gone") if @gone;
	like(fetched('live'), $expected, "$case: by this");
	return;
}

arrive('to begin with', qr/^bloom \d+/);
sql('DELETE FROM users WHERE id <= 200; INSERT INTO users SELECT generate_series(50001, 50200)');
arrive('keys came, others were deleted', qr/^(step \d+)?$/);
sql('REINDEX INDEX users_filter');
arrive('a rebuild', qr/delta (\d+)$/, 1 .. 200);
cmp_ok(lengths('live', 'delta'), '<', (-s whole_of('live')) / 10, 'the delta is short');
is(missing('hosts/live', 50001 .. 50200), 0, 'and nothing is missing');
finish('exporter', 'KILL');
sql('DELETE FROM users WHERE id <= 300; REINDEX INDEX CONCURRENTLY users_filter');
begin('exporter', @exporter);
arrive('a rebuild while no exporter was there', qr/delta (\d+)$/, 1 .. 300);

# What the exporter had not announced when the index was rebuilt, no host has.
spew('step.status', '1');
sql('INSERT INTO users SELECT generate_series(60001, 60100)');
ok(wait_for(30, sub { -e '.exporter.log' && slurp('.exporter.log') =~ /--after failed for/ }), 'a step that could not be passed on');
my $epoch = manifest('live')->{epoch}[0];
sql('DELETE FROM users WHERE id <= 400; REINDEX INDEX users_filter');
ok(wait_for(30, sub { manifest('live')->{epoch}[0] > $epoch }), 'and then a rebuild');
spew('step.status', '0');
arrive('a step that was not announced', qr/delta (\d+)$/, 1 .. 400);
is(missing('hosts/live', 60001 .. 60100), 0, 'its keys are there');

# A host that slept while steps came and the index was rebuilt
finish('live', 'KILL');
my $waited = manifest('live')->{content}[0];
sql('INSERT INTO users SELECT generate_series(61001, 61100)');
ok(wait_for(30, sub { manifest('live')->{content}[0] > $waited }), 'a step that a host sleeps through');
$epoch = manifest('live')->{epoch}[0];
sql('DELETE FROM users WHERE id <= 500; REINDEX INDEX users_filter');
ok(wait_for(30, sub { manifest('live')->{epoch}[0] > $epoch }), 'before a rebuild');
cmp_ok(@{ manifest('live')->{'old-step'} // [] }, '>', 0, 'is named after it');
begin_host('live', 'live');
arrive('a host that slept', qr/^step \d+, delta (\d+)$/, 1 .. 500);
is(missing('hosts/live', 61001 .. 61100), 0, 'no key is missing');

# More bits than the host's serial has, as a kill may leave them: the delta must not be taken.
# The whole comes, though others have to wait for it.
SKIP:
{
	skip 'there is no folder in memory', 6 if !-e 'hosts/live.working';
	finish('live', 'KILL');
	my $copy = slurp('hosts/live.working');
	my $at = 4096 + 64 + 100;
	substr($copy, $at, 8) = "\xff" x 8;
	spew('hosts/live.working', $copy);
	begin_host('live', 'live', '--quiet');
	ok(wait_for(30, sub { slurp('.live.log') =~ /./ || looks('live') > 1 }), 'a working copy with bits too many is taken up');
	sql('DELETE FROM users WHERE id <= 600; REINDEX INDEX users_filter');
	ok(wait_for(30, sub { slurp('.live.log') =~ /doesn't fit: delta was made from/ }), 'a delta is refused') || diag(slurp('.live.log'));
	is(missing('hosts/live', 1001 .. 18000), 0, 'no key is missing while it waits for its turn');
	my $looked = looks('live');
	ok(wait_for(30, sub { looks('live') > $looked + 2 }), 'it looks again');
	is(requests('live', 'bloom'), 0, 'and waits');
	is(requests('live', 'delta'), 1, 'without trying the delta again');
	finish('live', 'KILL');
	unlink glob('hosts/live*'), map { readlink // () } 'hosts/live.working';
	begin_host('live', 'live');
	arrive('a host that begins does not wait', qr/^bloom \d+/, 1 .. 600);
}

# Another geometry: the whole, when it is the host's turn
finish($_, 'TERM') foreach 'live', 'exporter';
clone('hosts/live', 'geometry.bloom');
sql('SET search_path = public, ext; DROP INDEX users_filter; CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 40000); INSERT INTO users VALUES (70001)');
is((export_index('live', '--spread', '3600'))[0], 0, 'another geometry');
ok(!defined manifest('live')->{delta}, 'has no delta');
my $content = manifest('live')->{content}[0];
fetched('live');
begin_host('live', 'live');
ok(wait_for(30, sub { looks('live') > 2 }), 'a host that follows');
is(requests('live', '(?:bloom|delta)'), 0, 'waits for its turn');
is(missing('hosts/live', 1001 .. 18000), 0, 'with what it has');
ok(missing('hosts/live', 70001) || (run('', 'status', 'hosts/live'))[1] !~ /^serial\s+$content$/m, 'and does not tell the new serial');
finish('live', 'TERM');
took('one that looks once does not wait', 'live', 'geometry.bloom', 'bloom ' . -s whole_of('live'));
is(missing('geometry.bloom', 1001 .. 18000, 70001), 0, 'with all keys');

# ------------------------------------------------------------------------
# A bulk load
# ------------------------------------------------------------------------

sql('SET search_path = public, ext; DELETE FROM users; REINDEX INDEX users_filter');
is((export_index('bulk'))[0], 0, 'an empty index');
$whole = -s whole_of('bulk');
my $steps = 0;
foreach my $batch (1 .. 40)
{
	sql("INSERT INTO users SELECT generate_series($batch * 1000, $batch * 1000 + 999)");
	export_index('bulk');
	$steps += (split / /, manifest('bulk')->{step}[-1] // '0 0 0')[2];
}
cmp_ok($steps, '>', 3 * $whole, 'a load whose steps are longer than the whole, three times over,');
is(scalar(() = glob 'www/bulk/*.bloom'), 1, 'makes no whole file within the hour');
is((pull('bulk', 'bulk.bloom'))[0], 0, 'a host that begins then');
is(missing('bulk.bloom', 1000 .. 40999), 0, 'has all keys');
is((run('', 'status', '--quiet', 'bulk.bloom'))[0], 0, 'and is content');

# The same an hour later
my $hour = 3_600_000_000;
my ($from) = manifest('bulk')->{epoch}[0];
my $earlier = $from - $hour;
spew("www/bulk/$_", slurp("www/bulk/$_") =~ s/^(epoch |whole 0 |step )$from\b/$1$earlier/mgr) foreach 'manifest', '.state';
sql('INSERT INTO users SELECT generate_series(50000, 50009)');
is((export_index('bulk'))[0], 0, 'after an hour');
cmp_ok((split / /, manifest('bulk')->{whole}[0])[1], '>', $from, 'the whole is renewed');
is(scalar(() = glob 'www/bulk/*.bloom'), 2, 'as one file more');

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_epochs WITH (FORCE)');
done_testing();
