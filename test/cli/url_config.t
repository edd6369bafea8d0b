# url_config.t
#	  bloomfilter pull --config: many lists in one process.  Lists that fail beside lists that
#	  go on, lists that come, change and go, a slow server, and one connection for all.
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
my $head = "# for all\nallow-http = on\nevery = 1\n\n";

# ------------------------------------------------------------------------
# Files with errors
# ------------------------------------------------------------------------

# What a file's one error is, at which line; and that nothing of its list begins.
sub wrong_line
{
	my ($name, $line, $pattern, $text) = @_;
	spew('wrong.conf', $text);
	my ($status, $out, $err) = pull('wrong.conf', '--once');
	ok($status eq '2' && $err =~ /^bloomfilter: "wrong.conf", line $line: $pattern/m, "an error: $name") || diag("status $status: $err");
	ok(!-e 'hosts/x.bloom', 'and nothing of that list begins');
	unlink glob 'hosts/*';
	return;
}

my $x = list('x', "$url/a");
wrong_line('no line of any kind', 5, qr/"nonsense" is neither \[name\] nor name = value/, "${head}nonsense\n$x");
wrong_line('an unknown name', 8, qr/unknown name "color"/, $head . list('x', "$url/a", 'color = red'));
wrong_line('a number that is none', 8, qr/every must be a number of seconds from 0.05 to 86400, not "soon"/, $head . list('x', "$url/a", 'every = soon'));
wrong_line('a switch that is none', 8, qr/no-agent must be on or off, not "maybe"/, $head . list('x', "$url/a", 'no-agent = maybe'));
wrong_line('no value', 8, qr/name has no value/, $head . list('x', "$url/a", 'name ='));
wrong_line('a value twice', 8, qr/url is given twice/, $head . list('x', "$url/a", "url = $url/b"));
wrong_line('a key that is none', 8, qr/"RWQ" is neither a public key nor a file/, $head . list('x', "$url/a", 'key = RWQ'));
wrong_line('a name of one list for all', 5, qr/url belongs to one list/, $head . "url = $url/a\n$x");
wrong_line('a key for all that is none: none of them begins', 5, qr/"RWQ" is neither/, $head . "key = RWQ\n$x");
wrong_line('a list without a file', 5, qr/out and either url or dsn are needed/, $head . "[x]\nurl = $url/a\n");
wrong_line('a list without a name', 5, qr/a list begins with its name in brackets/, $head . "[]\n" . $x =~ s/^\[x\]\n//r);
wrong_line('a name that does not end', 5, qr/a list begins with its name in brackets/, $head . "[x\n" . $x =~ s/^\[x\]\n//r);
wrong_line('http without being told', 1, qr/http: lets others change what comes: use https:, key or allow-http/, $x);
wrong_line('a zero byte', 8, qr/the line has a zero byte/, $head . list('x', "$url/a", "name = public.a_filter\0x"));
wrong_line('a folder for a file', 5, qr/out must be a file's name/, $head . $x =~ s/^out = .*/out = hosts\//mr);
like((pull('nothing'))[2], qr/cannot read "nothing": .*\n.*there is no list in "nothing" that could be followed/, 'no file at all');
is((pull('nothing'))[0], 2, 'is an error that ends it');
spew('empty.conf', "# nothing\n");
is((pull('empty.conf'))[0], 2, 'and so is a file without a list');
refuses(qr/--config is given twice/, '', 'pull', '--config', 'a', '--config', 'b');

spew('twice.conf', $head . list('a', "$url/a") . list('b', "$url/b") =~ s/b\.bloom/.\/a.bloom/r . list('a', "$url/b") =~ s/a\.bloom/c.bloom/r);
my ($status, $out, $err) = pull('twice.conf', '--once');
like($err, qr/^bloomfilter: "twice.conf", line 9: the list of "twice.conf", line 5, has the same out$/m, 'a file of two lists is an error of the second');
like($err, qr/^bloomfilter: "twice.conf", line 13: the list of "twice.conf", line 5, has the same name$/m, 'a name of two lists, too');
is($status, 2, 'which the exit status tells');
ok(has('hosts/a.bloom', 1 .. 1000) && !-e 'hosts/c.bloom', 'but the first one is pulled');

# ------------------------------------------------------------------------
# Once
# ------------------------------------------------------------------------

my $closed = 'http://127.0.0.1:' . free_port();
my $key = (split /\n/, slurp('wrong.pub'))[1];
my ($dead, $refused) = (list('dead', "$closed/dead"), list('refused', "$url/c", "key = $key"));
unlink glob 'hosts/*';
spew('once.conf', "$head$dead$refused" . list('a', "$url/a") . list('c', "$url/c", 'key = right.pub'));
($status, $out, $err) = pull('once.conf', '--once');
is($status, 2, 'with a list that fails, once ends with 2');
like($err, qr/^bloomfilter: dead: \Q$closed\E/m, 'messages begin with the list');
like($err, qr/^bloomfilter: refused: hosts\/refused.bloom: refused: it has no right signature/m, 'of each');
like($out, qr/^$_: hosts\/$_.bloom: serial \d+, whole/m, "and so do those of lists that come: $_") foreach 'a', 'c';
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
ok(wait_for(60, sub { says(qr/was ended by signal 9/) }), 'what is killed is noticed');
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
spew('many.conf', "nonsense\n");
ok(wait_for(60, sub { says(qr/nothing of it is taken before it is right/) }), 'a file with an error, noticed by itself,');
is(scalar(children()), 2, 'changes nothing');
my @left = children();
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
