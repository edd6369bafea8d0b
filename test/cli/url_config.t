# url_config.t
#	  bloomfilter pull --config: a process for each of many lists.  Lists that fail beside lists
#	  that go on, and lists that come and go.
#
# Needs a server with the extension, nginx and minisign.  Everything listens on loopback.
# Each wait is for a condition.

use strict;
use warnings;

use FindBin;
use IO::Socket::INET;
use lib $FindBin::Bin;

use CommandLine;
use Digest::SHA qw(sha256_hex);
use Hosts;
use Server;
use Test::More;
use Time::HiRes;

my $dsn = own_database('bloomfilter_cli_url_config');
plan skip_all => 'minisign is not installed' if system('command -v minisign >/dev/null') != 0;
mkdir 'hosts';
my $port = free_port();
my $url = begin_nginx($port);

sub pull { return run('', 'pull', '--config', @_); }
sub add { my ($table, $first, $last) = @_; sql("INSERT INTO $table SELECT generate_series($first, $last)"); return; }
sub wrong { my ($file) = @_; return (run('', 'status', '--json', $file))[1] =~ /"wrong": \[(.*?)\]/ ? $1 : 'unknown'; }

# A list's lines: [name], its address, its file, and others.
sub list
{
	my ($name, $from, @lines) = @_;
	return join "\n", "[$name]", "url = $from", "out = hosts/$name.bloom", @lines, '', '';
}

foreach my $table ('a', 'b', 'c')
{
	sql("SET search_path = public, ext; CREATE TABLE $table (id bigint); CREATE INDEX ${table}_filter ON $table USING bloomfilter (id) WITH (n = 20000)");
	add($table, 1, 1000);
}
is(system('minisign -G -W -p right.pub -s right.key >/dev/null </dev/null'), 0, 'a key');
is(system('minisign -G -W -p wrong.pub -s wrong.key >/dev/null </dev/null'), 0, 'and another');
sub export { my ($table, @options) = @_; return run('', 'export', '--dsn', $dsn, '--index', "${table}_filter", '--to', "www/$table", '--poll', '1', @options); }
is((export($_, $_ eq 'c' ? ('--sign', 'right.key') : ()))[0], 0, "$_ is exported") foreach 'a', 'b', 'c';
my $head = "# for all\nallow-http\nevery = 1\n\n";

# ------------------------------------------------------------------------
# Files with errors
# ------------------------------------------------------------------------

# What a file's error is; and that nothing of the file begins.
sub is_wrong
{
	my ($name, $pattern, $text) = @_;
	spew('wrong.conf', $text . list('right', "$url/a", 'allow-http'));
	my ($status, $out, $err) = pull('wrong.conf', '--once');
	ok($status eq '2' && $err =~ /^bloomfilter: $pattern/m, "an error: $name") || diag("status $status: $err");
	like($err, qr/^bloomfilter: nothing of "wrong.conf" is taken before it is right$/m, 'which is told');
	is_deeply([ glob 'hosts/*' ], [], 'and nothing of the file begins');
	return;
}

my $x = list('x', "$url/a");
is_wrong('no line of any kind', '"wrong.conf", line 5: it is neither \[name\] nor name = value', "${head}such nonsense\n$x");
is_wrong('an unknown name', 'x: unknown option --color=red', $head . list('x', "$url/a", 'color = red'));
is_wrong('a number that is none', 'x: --every must be a number of seconds from 0.05 to 86400, not "soon"', $head . list('x', "$url/a", 'every = soon'));
is_wrong('a switch with a value', 'x: .*allow-http', $head . list('x', "$url/a", 'allow-http = maybe'));
is_wrong('no value', 'x: an option has no value', $head . list('x', "$url/a", 'name ='));
is_wrong('a key that is none', 'x: "RWQ" is neither a public key nor a file', $head . list('x', "$url/a", 'key = RWQ'));
is_wrong('a key for all that is none', 'x: "RWQ" is neither', $head . "key = RWQ\n$x");
is_wrong('a list without a file', 'x: --out and either --url or --dsn are needed', $head . "[x]\nurl = $url/a\n");
is_wrong('a list without a name', '"wrong.conf", line 5: ', $head . "[]\n" . $x =~ s/^\[x\]\n//r);
is_wrong('a name that does not end', '"wrong.conf", line 5: ', $head . "[x\n" . $x =~ s/^\[x\]\n//r);
is_wrong('http without being told', 'x: http: lets others change what comes: use https:, --key or --allow-http', $x);
is_wrong('a zero byte', '"wrong.conf", line 8: ', $head . list('x', "$url/a", "name = public.a_filter\0x"));
is_wrong('a folder for a file', 'x: --out must be a file\'s name', $head . $x =~ s/^out = .*/out = hosts\//mr);
is_wrong('another file of many lists', 'x: unknown option --config=wrong.conf', $head . list('x', "$url/a", 'config = wrong.conf'));
is_wrong('once and for ever', 'x: --allow-older is for once', $head . list('x', "$url/a", 'allow-older'));
like((pull('nothing'))[2], qr/cannot read "nothing": .*\n.*nothing of "nothing" is taken/, 'no file at all');
is((pull('nothing'))[0], 2, 'is an error that ends it');
spew('empty.conf', "# nothing\n");
like((pull('empty.conf'))[2], qr/there is no list in "empty.conf"/, 'and so is a file without a list');
refuses(qr/--config is given twice/, '', 'pull', '--config', 'a', '--config', 'b');

# ------------------------------------------------------------------------
# Once
# ------------------------------------------------------------------------

my $closed = 'http://127.0.0.1:' . free_port();
my $key = (split /\n/, slurp('wrong.pub'))[1];
my ($status, $out, $err);
my ($dead, $refused) = (list('dead', "$closed/dead"), list('refused', "$url/c", "key = $key"));
unlink glob 'hosts/*';
spew('once.conf', "$head$dead$refused" . list('a', "$url/a") . list('c', "$url/c", 'key = right.pub'));
($status, $out, $err) = pull('once.conf', '--once');
is($status, 2, 'with a list that fails, once ends with 2');
like($err, qr/^bloomfilter: dead: \Q$closed\E/m, 'messages begin with the list');
like($err, qr/^bloomfilter: refused: hosts\/refused.bloom: refused: it has no right signature/m, 'of each');
like($out, qr/^$_: hosts\/$_.bloom: serial \d+, full file/m, "and so do those of lists that come: $_") foreach 'a', 'c';
ok(has('hosts/a.bloom', 1 .. 1000) && has('hosts/c.bloom', 1 .. 1000), 'all others are pulled');
is(wrong('hosts/refused.bloom'), '"waiting"', 'status tells of the one that is refused');
spew('once.conf', "$head$refused" . list('a', "$url/a"));
is((pull('once.conf', '--once'))[0], 1, 'a refusal is 1');
spew('once.conf', $head . list('a', "$url/a") . "[l]\ndsn = $dsn\nindex = b_filter\nout = hosts/l.bloom\n");
is((pull('once.conf', '--once'))[0], 0, 'lists of web servers and of a database');
ok(has('hosts/l.bloom', 1 .. 1000), 'beside each other');

# ------------------------------------------------------------------------
# Lists that come and go
# ------------------------------------------------------------------------

unlink glob 'hosts/*';
sub children { my $parent = process_of('many'); return map { /^(\d+)/ } split /\n/, `ps -o pid= --ppid $parent | tr -d ' '`; }
sub says { my ($pattern) = @_; return slurp('.many.log') =~ $pattern; }
spew('many.conf', $head . list('a', "$url/a") . list('b', "$url/b") . $dead);
begin('many', program(), 'pull', '--config', 'many.conf');
ok(wait_for(30, sub { -e 'hosts/a.bloom' && -e 'hosts/b.bloom' && has('hosts/a.bloom', 1 .. 1000) && has('hosts/b.bloom', 1 .. 1000) }), 'lists are followed');
is(scalar(children()), 3, 'by a process each');
ok(wait_for(30, sub { says(qr/dead: \Q$closed\E/) }), 'one that fails says so');
kill 'KILL', children();
ok(wait_for(60, sub { says(qr/has ended by signal 9/) }), 'what is killed is noticed');
ok(wait_for(60, sub { children() == 3 }), 'and begun again');
add('a', 2000, 2049);
export('a');
ok(wait_for(60, sub { has('hosts/a.bloom', 2000 .. 2049) }), 'and keys come again');
spew('many.conf', $head . list('a', "$url/a") . list('c', "$url/c", 'key = right.pub'));
kill 'HUP', process_of('many');
ok(wait_for(60, sub { -e 'hosts/c.bloom' && has('hosts/c.bloom', 1 .. 1000) }), 'a list that is new begins');
ok(wait_for(60, sub { wrong('hosts/b.bloom') =~ /"removed"/ }), 'one that is gone is removed, says status');
ok(has('hosts/b.bloom', 1 .. 1000), 'and its file stays');
is(scalar(children()), 2, 'the others go on');
my @left = children();
spew('many.conf', $head . list('a', "$url/a", 'color = red'));
kill 'HUP', process_of('many');
ok(wait_for(60, sub { says(qr/unknown option --color=red.*\n.*nothing of "many.conf" is taken before it is right/) }), 'a file with an error');
is_deeply([ children() ], \@left, 'changes nothing');
is(finish('many', 'TERM'), 0, 'it ends when it is told to');
is(scalar(grep { kill 0, $_ } @left), 0, 'and so do all that follow');
spew('many.conf', $head . list('a', "$url/a"));
begin('many', program(), 'pull', '--config', 'many.conf', '--quiet');
ok(wait_for(30, sub { children() == 1 }), 'begun again');
@left = children();
finish('many', 'KILL');
ok(wait_for(30, sub { !grep { kill 0, $_ } @left }), 'where it is killed, who followed ends, too');
is((pull('many.conf', '--once'))[0], 0, 'and the list can be followed by others');

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_config WITH (FORCE)');
done_testing();
