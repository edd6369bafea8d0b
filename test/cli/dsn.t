# dsn.t
#	  bloomfilter pull --dsn: a published list and a live index, from the server into a file.
#
# The extension is in a schema that is on no search path, as it may be.

use CommandLine;
use Hosts;
use Server;

my $dsn = own_database('bloomfilter_cli_dsn');

sub pull { return run('', 'pull', '--dsn', $dsn, @_); }
sub publish_query { my ($name, $query) = @_; return sql("CALL bloom_publish('$name', '$query')"); }

# ------------------------------------------------------------------------
# A list
# ------------------------------------------------------------------------

publish_query('users', 'SELECT generate_series(1, 500)');
is((pull('--list', 'users', '--out', 'l.bloom'))[0], 0, 'a list is pulled');
is(lacks('l.bloom', 1 .. 500), 0, 'with all keys');
my $told = told('l.bloom');
is("$told->{exit} $told->{list} $told->{place}", '0 users here', 'status knows it');
is($told->{serial}, sql("SELECT serial FROM ext.bloom_list WHERE name = 'users'"), 'and its serial');
is($told->{identity}, sql("SELECT identity FROM ext.bloom_list WHERE name = 'users'"), 'and identity');
is((run('', 'contains', '--identity', uc $told->{identity}, 'l.bloom', '1'))[0], 0, 'which contains can insist on');
is((run('', 'contains', '--identity', '0f8fad5b-d9cb-469f-a165-70867728950e', 'l.bloom', '1'))[0], 2, 'and another one is an error');
my $inode = (stat 'l.bloom')[1];
publish_query('users', 'SELECT generate_series(1, 520)');
is((pull('--list', 'users', '--out', 'l.bloom'))[0], 0, 'keys that came');
is(lacks('l.bloom', 1 .. 520), 0, 'are there');
is((stat 'l.bloom')[1], $inode, 'set in the same file');
publish_query('users', 'SELECT generate_series(400, 520)');
is((pull('--list', 'users', '--out', 'l.bloom'))[0], 0, 'keys that went');
cmp_ok(count_of('l.bloom', 1 .. 399), '<', 20, 'are gone');
isnt((stat 'l.bloom')[1], $inode, 'in a new file');

# Never back, and no other list
publish_query('others', 'SELECT generate_series(1, 9)');
my $as_it_was = slurp('l.bloom');
my ($refused, undef, $why) = pull('--list', 'others', '--out', 'l.bloom');
is($refused, 1, 'another list is refused');
like($why, qr/^bloomfilter: "l\.bloom" is the list "users", not "others": remove it, or name another --out$/, 'with what to do on the host, and nothing about the server');
ok(slurp('l.bloom') eq $as_it_was, 'and the file stays as it is');
is((pull('--list', 'users', '--out', 'l.bloom'))[0], 0, 'the right one is not');
is(told('l.bloom')->{exit}, 0, 'and all is well');
my $serial = told('l.bloom')->{serial};
sql("UPDATE ext.bloom_generation SET serial = serial - 1000000 WHERE serial = $serial");
is((pull('--list', 'users', '--out', 'l.bloom'))[0], 1, 'a server that went back is refused');
like(told('l.bloom')->{wrong}, qr/back/, 'and status says why');
is(told('l.bloom')->{serial}, $serial, 'with the serial that it has');
is((pull('--list', 'users', '--out', 'l.bloom', '--allow-older'))[0], 0, 'unless it is told to');
is((pull('--list', 'nothing', '--out', 'n.bloom'))[0], 2, 'a list that there is not');
ok(!-e 'n.bloom', 'makes no file');
is(told('n.bloom')->{exit}, 1, 'and status says so');
refuses(qr/needs either --list or --index/, '', 'pull', '--dsn', $dsn, '--out', 'x');
refuses(qr/either --url or --dsn/, '', 'pull', '--out', 'x');
refuses(qr/are of --url/, '', 'pull', '--dsn', $dsn, '--list', 'l', '--allow-http', '--out', 'x');

# A list that is followed
begin('list', program(), 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'l.bloom', '--follow', '--quiet');
ok(wait_for(30, sub { told('l.bloom')->{every} eq '1' }), 'is looked at each second');
publish_query('users', 'SELECT generate_series(1, 600)');
ok(wait_for(30, sub { lacks('l.bloom', 1 .. 600) eq '0' }), 'what is published comes');
is(finish('list', 'TERM'), 0, 'and it ends when it is told to');
begin('list', program(), 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'l.bloom', '--follow', '--every', '3600', '--quiet');
ok(wait_for(30, sub { told('l.bloom')->{every} eq '3600' }), 'one that looks each hour');
unlink 'l.bloom';
ok(wait_for(30, sub { lacks('l.bloom', 1 .. 600) eq '0' }), 'puts a file that is removed back before that');
is(finish('list', 'TERM'), 0, 'and ends when it is told to, too');

# What was fetched waits for room, and another file of its serial comes meanwhile
mkdir '.m.bloom.new';
begin('list', program(), 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'm.bloom', '--follow', '--quiet');
ok(wait_for(30, sub { slurp('.list.log') =~ /cannot make/ }), 'a list that has no room');
kill 'STOP', process_of('list');
spew('m.bloom', slurp('l.bloom'));
overwrite('m.bloom', 4096 + 64, "\0" x 64);
rmdir '.m.bloom.new';
kill 'CONT', process_of('list');
ok(wait_for(30, sub { status_word('m.bloom') eq 'back' }), 'a copy that lacks keys is not taken for it');
is(finish('list', 'TERM'), 0, 'and it ends when it is told to');

# ------------------------------------------------------------------------
# An index
# ------------------------------------------------------------------------

make_index(20000);
is((pull('--index', 'users_filter', '--out', 'i.bloom'))[0], 0, 'an empty index');
is((run('', 'info', 'i.bloom'))[1] =~ /key_type\s+(\w+)/ ? $1 : '', 'integer', 'has its key type from the start');
begin('index', program(), 'pull', '--dsn', $dsn, '--index', 'users_filter', '--out', 'i.bloom', '--follow', '--every', '0.2', '--quiet');
ok(wait_for(30, sub { told('i.bloom')->{every} eq '1' }), 'is followed');
sql('INSERT INTO users SELECT generate_series(1, 1000)');
ok(wait_for(30, sub { lacks('i.bloom', 1 .. 1000) eq '0' }), 'keys come');
$inode = (stat 'i.bloom')[1];
sql('INSERT INTO users SELECT generate_series(1001, 1100)');
ok(wait_for(30, sub { lacks('i.bloom', 1 .. 1100) eq '0' }), 'and more');
is((stat 'i.bloom')[1], $inode, 'in the same file');
my $true_at = told('i.bloom')->{true_at};
ok(wait_for(30, sub { told('i.bloom')->{true_at} gt $true_at }), 'it is true up to now though nothing comes');
sql('DELETE FROM users WHERE id <= 1000');
sql('VACUUM users');
sql('REINDEX INDEX users_filter');
ok(wait_for(30, sub { count_of('i.bloom', 1 .. 1000) < 100 && lacks('i.bloom', 1001 .. 1100) eq '0' }), 'a rebuild is a new file');
# while it waits in a query, so that it is told why
sql(q{DO $$ BEGIN LOCK TABLE pg_extension; LOOP
	PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
	PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'bloomfilter%' AND wait_event_type = 'Lock';
	EXIT WHEN FOUND; END LOOP; END $$});
sql('INSERT INTO users VALUES (5555)');
ok(wait_for(30, sub { lacks('i.bloom', 5555) eq '0' }), 'a connection that is lost is made again');
like(slurp('.index.log'), qr/: the server refused: terminating connection due to administrator command$/m, 'and it says why it was');
is(finish('index', 'KILL'), 'signal 9', 'killed');
sql('INSERT INTO users VALUES (6666)');
is((pull('--index', 'users_filter', '--out', 'i.bloom'))[0], 0, 'the next one goes on');
is(lacks('i.bloom', 1001 .. 1100, 5555, 6666), 0, 'with all keys');
is((pull('--index', 'nothing', '--out', 'i.bloom'))[0], 2, 'an index that there is not');
is(lacks('i.bloom', 6666), 0, 'leaves the file');
like(told('i.bloom')->{wrong}, qr/no-look/, 'and status tells of it');

# An index of the same name in another database has other keys
my $other = own_database('bloomfilter_cli_dsn_other');
make_index(20000);
is((run('', 'pull', '--dsn', $other, '--index', 'users_filter', '--out', 'i.bloom'))[0], 1, 'is refused');
is(lacks('i.bloom', 1001 .. 1100, 5555, 6666), 0, 'and no key is lost');
like(told('i.bloom')->{wrong}, qr/identity/, 'status tells of it');
is((run('', 'pull', '--dsn', $other, '--index', 'users_filter', '--out', 'i.bloom', '--allow-older'))[0], 0, 'or another one by --allow-older');
is(count_of('i.bloom', 1001 .. 1100), 0, 'which is empty');

done_testing();
