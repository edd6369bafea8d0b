# exact_list.t
#	  Exact lists by pull --url and pull --dsn: whatever serial a host tells, it is right for
#	  every key that the query of that serial returned.
#
# A bit that is set in an exact filter without the others denies a member.  So after a
# restore, a failover, a fork, a change of kind and damage a host has the list, or an error
# with a word.  Needs a server with the extension and nginx.  Each wait is for a condition.

use CommandLine;
use Hosts;
use Server;
use XXH64;

my $database = 'bloomfilter_cli_exact';
my $dsn = own_database($database);
my $other = $dsn =~ s/dbname=\S+/dbname=${database}_2/r;
my $url = begin_nginx(free_port());
my %truth;
mkdir 'hosts';

sub export { my ($from, $folder, @options) = @_; return run('', 'export', '--dsn', $from, '--list', 'users', '--to', "www/$folder", '--poll', '1', @options); }
sub by_dsn { my ($from, $file, @options) = @_; return run('', 'pull', '--dsn', $from, '--list', 'users', '--out', $file, @options); }
sub serial { return sql(q{SELECT serial FROM ext.bloom_list WHERE name = 'users'}); }
sub wholes_fetched { return scalar(() = slurp('access.log') =~ m{GET /\w+/\w+\.bloom }g); }

# Publishes the users as they are now, and notes what is true of this serial.
sub publish_users
{
	my ($columns, @more) = @_;
	sql('CALL ext.bloom_publish(' . join(', ', q{'users'}, "'SELECT $columns'", @more) . ')');
	$truth{ serial() } = { map { split /\|/ } split /\n/, sql('SELECT id, active::int FROM users' . ($columns =~ /WHERE/ ? ' WHERE active' : '')) };
	return serial();
}
sub publish_exact { return publish_users('id, active FROM users', @_); }
sub publish_plain { return publish_users('id FROM users WHERE active', @_); }

# Keys for which a file is wrong, of those that the list of the serial that it tells knows.
sub wrong
{
	my ($file, $truth) = @_;
	$truth //= $truth{ told($file)->{serial} // '' } // return 'a serial that was never published';
	my ($status, $out, $err) = run(join('', map { "$_\n" } keys %$truth), 'contains', '-t', 'integer', $file);
	return $err if $status > 1;
	my %in = map { $_ => 1 } split /\n/, $out;
	return scalar grep { $truth->{$_} != ($in{$_} // 0) } keys %$truth;
}

# Once its follower has come to a serial; till then it is right for each that it tells.
sub comes_to
{
	my ($file, $serial) = @_;
	my ($wrong, $asked) = (0, 0);
	my $there = wait_for(60, sub {
		my $before = page_serial($file);
		return 0 if $before == $asked;
		my $now = wrong($file);
		$wrong = $now if $now ne '0' && $before == page_serial($file);
		$asked = $before;
		return $before == $serial;
	});
	return $there ? $wrong : 'it does not come';
}

sub all_have
{
	my ($name, $serial) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(comes_to("hosts/$_", $serial), 0, "$name: a host by $_ is right at each serial that it tells") foreach 'url', 'dsn';
	return;
}

# The folder, and a host of each kind that looks once.
sub agree
{
	my ($name, $serial) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, undef, $err) = export($dsn, 'users');
	is("$status$err", '0', "$name: exported");
	foreach my $host (['url', by_url('users', 'url')], ['dsn', by_dsn($dsn, 'dsn')])
	{
		is("$host->[1]$host->[3]" . told($host->[0])->{serial}, "0$serial", "$name: pulled by $host->[0], with the list's serial");
	}
	is(wrong('url') . (run('', 'verify', 'url'))[0], '00', "$name: 0 wrong, and sound");
	ok(substr(slurp('url'), 4096) eq substr(slurp('dsn'), 4096), "$name: the same bytes");
	return;
}

# ------------------------------------------------------------------------
# Hosts that look once
# ------------------------------------------------------------------------

sql(q{CREATE TABLE users AS SELECT g::int8 AS id, g % 4 = 0 AS active FROM generate_series(1, 6000) AS g});
agree('the first one', publish_exact());
like((run('', 'info', 'url'))[1], qr/exact/, 'info says that it is exact');
is(told('url')->{formats}, '1, 2', 'status says which formats this host reads');
like(slurp('access.log'), qr/"bloomfilter-pull\S* .*; formats 1, 2\)"/, 'and so does the log of the web server');
is(wholes_fetched(), 1, 'the whole came');
sql('UPDATE users SET active = NOT active WHERE id % 40 = 3');
agree('users that changed', publish_exact());
is(wholes_fetched(), 1, 'come as a flip');
like(slurp('www/users/manifest'), qr/^patch flip /m, 'of the manifest');
unlike(slurp('www/users/manifest'), qr/^(patch set|inline) /m, 'which has no set');
agree('the same users again', publish_exact());
is(wholes_fetched(), 1, 'are a flip of nothing');
is((export($dsn, 'users'))[0], 0, 'an exporter that begins');
is((manifest('users'))->{content}[0], serial(), 'goes on with what is there');
sql('INSERT INTO users SELECT g, g % 7 = 0 FROM generate_series(6001, 12000) AS g');
agree('levels of other sizes', publish_exact());
is(wholes_fetched(), 2, 'are a whole');
sql('DELETE FROM users WHERE id > 6000');
agree('three parts', publish_exact('parts => 3', 'allow_shrink => true'));
agree('sized for what is left', publish_exact());
my $wholes = wholes_fetched();
sql('UPDATE users SET active = NOT active WHERE id % 40 = 5');
agree('changes in three parts', publish_exact());
is(wholes_fetched(), $wholes, 'are a flip of each');

# ------------------------------------------------------------------------
# Hosts that follow
# ------------------------------------------------------------------------

begin('exporter', program(), 'export', '--dsn', $dsn, '--list', 'users', '--to', 'www/live', '--follow', '--every', '0.2', '--poll', '1', '--heartbeat', '2', '--quiet');
ok(wait_for(30, sub { -e 'www/live/manifest' }), 'an exporter follows');
begin('url', program(), 'pull', '--url', "$url/live", '--allow-http', '--out', 'hosts/url', '--follow', '--every', '0.2', '--quiet');
begin('dsn', program(), 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'hosts/dsn', '--follow', '--every', '0.2', '--quiet');
all_have('the first look', serial());
sql('UPDATE users SET active = NOT active WHERE id % 40 = 7');
all_have('a change', publish_exact());
sql('UPDATE users SET active = NOT active WHERE id % 40 = 9');
all_have('exact to plain', publish_plain('allow_type_change => true'));
sql('UPDATE users SET active = true WHERE id % 40 = 9');
all_have('plain and more keys', publish_plain());
like(slurp('www/live/manifest'), qr/^patch set /m, 'a set');
sql('UPDATE users SET active = NOT active WHERE id % 40 = 11');
all_have('plain to exact', publish_exact('allow_type_change => true'));
unlike(slurp('www/live/manifest'), qr/^patch /m, 'to which no patch leads');
sql(q{CALL ext.bloom_rollback('users')});
$truth{ serial() } = $truth{ (sort { $b <=> $a } keys %truth)[1] };
all_have('a rollback, to plain', serial());
publish_exact('allow_type_change => true');

# ------------------------------------------------------------------------
# Restored, failed over, forked
# ------------------------------------------------------------------------

# What another server has, that was made of this one's backup, or is behind.
finish($_, 'TERM') foreach 'exporter', 'dsn', 'url';
sql("DROP DATABASE IF EXISTS ${database}_2");
hang_up($dsn);
Server::speak_to(server_dsn(), sub { sql("CREATE DATABASE ${database}_2 TEMPLATE $database") });
sql('UPDATE users SET active = NOT active WHERE id % 40 = 13');
agree('before the restore', publish_exact());
my $manifest = slurp('www/users/manifest');
my ($status, undef, $err) = export($other, 'users');
is($status, 2, 'an older state of the list is not exported');
like($err, qr/older than/, 'and it is said why');
is(slurp('www/users/manifest'), $manifest, 'the folder is what it was');
is((by_dsn($other, 'dsn'))[0], 1, 'nor is it pulled');
is(status_word('dsn') . wrong('dsn'), 'back0', 'the host says so, and is right for the serial that it tells');
Server::speak_to($other, sub { sql('UPDATE users SET active = NOT active WHERE id % 40 = 17'); publish_exact() });
is((export($other, 'users'))[0], 0, 'what that server publishes later is exported');
is((by_url('users', 'url'))[0] . wrong('url'), '00', 'and right on a host that had the other one');
is((by_dsn($other, 'dsn'))[0] . wrong('dsn'), '00', 'also by --dsn');

# Two servers publish under one identity, and then even under one serial.
sql('UPDATE users SET active = NOT active WHERE id % 40 = 19');
publish_exact();
is((export($dsn, 'users'))[0], 0, 'the first server publishes again, into the same folder');
is((by_url('users', 'url'))[0] . wrong('url'), '00', 'a host has what the manifest says');
is((by_dsn($dsn, 'dsn'))[0] . wrong('dsn'), '00', 'also by --dsn');
my $serial = serial();
my $truth = Server::speak_to($other, sub {
	sql('UPDATE users SET active = NOT active WHERE id % 40 = 21');
	my $of = $truth{ publish_exact() };
	sql("UPDATE ext.bloom_list SET serial = $serial WHERE name = 'users'");
	return $of;
});
($status, undef, $err) = export($other, 'users');
is($status, 2, 'other bits under the same serial are not exported');
like($err, qr/two servers publish under one identity/, 'and it is said why');
is((by_dsn($other, 'dsn'))[0], 1, 'nor pulled');
is(status_word('dsn') . wrong('dsn'), 'back0', 'the host says so, and is right');
is((export($other, 'fork'))[0], 0, 'exported to a folder of their own');
is((by_url('fork', 'url'))[0] . wrong('url', $truth), '00', 'they are taken as a whole, as their sum is another one');

# ------------------------------------------------------------------------
# Other bits than those of the list
# ------------------------------------------------------------------------

sub damage { my ($file) = @_; overwrite($file, 4096 + 128 + 9, chr(ord(substr slurp($file), 4096 + 128 + 9, 1) ^ 85)); return; }

sql('UPDATE users SET active = NOT active WHERE id % 40 = 23');
publish_exact();
is((export($dsn, 'users'))[0] . (by_dsn($dsn, 'dsn'))[0] . (by_url('users', 'url'))[0], '000', 'hosts with the list');
foreach my $host (['url', sub { by_url('users', 'url') }], ['dsn', sub { by_dsn($dsn, 'dsn') }])
{
	my ($file, $pull) = @$host;
	damage($file);
	like(wrong($file), qr/checksum|bits set/, "$file: bits that were changed are an error for readers");
	$pull->() for 1 .. 2;
	is(wrong($file) . status_word($file), '0', "$file: healed by the whole");
	# the same, and it is of before this boot
	damage($file);
	my $who = substr(slurp($file), 0, 48) . 'x' x 16 . substr slurp($file), 64, 440;
	overwrite($file, 0, $who . pack 'Q<', xxh64($who));
	is(($pull->())[0] . wrong($file) . status_word($file), '00', "$file: healed after a boot, too");
}

done_testing();
