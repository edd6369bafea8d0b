# url_node.t
#	  From a live index, and from a set of parts, to a process of Node that follows the folder
#	  itself: what pull --url does, without a host's follower.
#
# Needs a server with the extension, nginx, minisign, Node, and its module built.  Everything
# listens on loopback.  Each wait is for a condition.

use strict;
use warnings;

use File::Basename qw(dirname);
use Cwd qw(abs_path);
use FindBin;
use lib $FindBin::Bin;
use IPC::Open2;

# before CommandLine leaves the folder
my $node;
BEGIN { $node = abs_path("$FindBin::Bin/../../clients/node"); }

use CommandLine;
use Hosts;
use Server;
use Test::More;

plan skip_all => 'Node is not installed, or clients/node/build-wasm was not run'
  if system('command -v node >/dev/null') != 0 || !-e "$node/build/wasm.js";
my $dsn = own_database('bloomfilter_cli_url_node');
plan skip_all => 'minisign is not installed' if system('command -v minisign >/dev/null') != 0;

my $port = free_port();
my $url = begin_nginx($port);

# A process that follows; its answers come line by line.
package Following
{
	sub new
	{
		my ($class, @arguments) = @_;
		my $child = IPC::Open2::open2(my $out, my $in, 'node', "$node/test/follow-url.js", @arguments);
		return bless { child => $child, out => $out, in => $in }, $class;
	}

	sub ask
	{
		my ($self, $line) = @_;
		syswrite $self->{in}, "$line\n";
		my $answer = readline($self->{out}) // 'it has ended';
		chomp $answer;
		return $answer;
	}

	# A word of its status as text; of JSON so much is enough.
	sub status
	{
		my ($self, $word) = @_;
		return $self->ask('status') =~ /"$word":"?([^",}]*)/ ? $1 : undef;
	}

	sub finish
	{
		my ($self) = @_;
		close $self->{in};
		waitpid $self->{child}, 0;
		return $?;
	}
}

$SIG{PIPE} = 'IGNORE';
my $followed;
END { my $status = $?; kill 'KILL', $followed->{child} if defined $followed; $? = $status; }

sub exporter
{
	begin('exporter', program(), 'export', '--dsn', $dsn, @_, '--follow', '--every', '0.25', '--heartbeat', '1', '--quiet');
	return;
}

my $next = 1000;

# Keys that were committed are there soon, and none of them is false once its serial was told.
sub arrive
{
	my ($name) = @_;
	my ($first, $last) = ($next, $next + 49);
	$next += 50;
	sql("INSERT INTO users SELECT generate_series($first, $last)");
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(60, sub { $followed->ask("has $first $last") eq 'yes' }), "keys arrive: $name") || diag($followed->ask('status'));
	return;
}

system("minisign -G -W -p a.pub -s a.key >/dev/null </dev/null") == 0 or die;
my $key = (split /\n/, slurp('a.pub'))[1];
sql('SET search_path = public, ext; CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 20000)');
my @index = ('--index', 'users_filter', '--to', 'www/users', '--sign', 'a.key', '--poll', '1');
is((run('', 'export', '--dsn', $dsn, @index))[0], 0, 'an empty index is exported');
$followed = Following->new("$url/users", 200, $key);
is($followed->ask('has 1 1'), 'no', 'and followed');
is($followed->status('list'), 'public.users_filter', 'by its name');
exporter(@index);
arrive('to begin with');
my $wholes = () = slurp('access.log') =~ m{GET /users/\w+\.bloom }g;
arrive('by steps');
is(scalar(() = slurp('access.log') =~ m{GET /users/\w+\.bloom }g), $wholes, 'and nothing else');
finish('exporter', 'KILL');
exporter(@index);
arrive('an exporter that was killed');

finish('nginx', 'TERM');
ok(wait_for(30, sub { $followed->status('failures') > 0 }), 'status tells of looks that fail');
is($followed->ask("has 1000 " . ($next - 1)), 'yes', 'and what was there is there');
begin_nginx($port);
arrive('after the web server was gone');
is($followed->status('failures'), 0, 'and status is content');

# An older manifest that is put in place again
finish('exporter', 'TERM');
my $older = slurp('www/users/manifest');
sql('INSERT INTO users VALUES (900)');
is((run('', 'export', '--dsn', $dsn, @index))[0], 0, 'one look of an exporter');
ok(wait_for(30, sub { $followed->ask('has 900 900') eq 'yes' }), 'a key more');
my $serial = $followed->status('serial');
my $newer = slurp('www/users/manifest');
spew('www/users/manifest', $older);
ok(wait_for(60, sub { ($followed->status('refused') // '') eq 'back' }), 'an older manifest is refused');
is($followed->status('serial'), $serial, 'and the serial stays');
is($followed->ask('has 900 900'), 'yes', 'and so do the keys');
spew('www/users/manifest', $newer =~ s/^poll .*/poll 2/mr);
ok(wait_for(60, sub { ($followed->status('refused') // '') eq 'signature' }), 'one that was changed, too');
spew('www/users/manifest', $newer);
ok(wait_for(60, sub { $followed->status('failures') eq '0' }), 'the right one is taken');
exporter(@index);

foreach my $statement ('REINDEX INDEX users_filter', 'REINDEX INDEX CONCURRENTLY users_filter',
	'INSERT INTO users SELECT generate_series(1000000, 1080000)', 'TRUNCATE users')
{
	sql($statement);
	arrive($statement);
}
is($followed->ask('kept 1000 1099'), 'yes', 'who kept the first filter has it still');
is($followed->ask('has 1000000 1000999'), 'no', 'what was removed is gone');

# A whole file that is damaged: the old filter stays, until the exporter writes it anew.
finish('exporter', 'TERM');
sql('REINDEX INDEX users_filter');
rename 'www/users', 'www/aside' or die;
is((run('', 'export', '--dsn', $dsn, @index))[0], 0, 'a folder that was lost is written anew');
my ($digest) = manifest('users')->{whole}[0] =~ /(\w{64})/;
my $content = slurp("www/users/$digest.bloom");
spew("www/users/$digest.bloom", substr($content, 0, -1) . 'x');
ok(wait_for(60, sub { ($followed->status('error') // '') =~ /is not what the manifest says/ }), 'a damaged file is refused')
  || diag($followed->ask('status'));
is($followed->ask("has " . ($next - 50) . " " . ($next - 1)), 'yes', 'and the old filter answers');
spew("www/users/$digest.bloom", $content);
exporter(@index);
arrive('with the right file');
is($followed->finish(), 0, 'it ends with its input');
finish('exporter', 'TERM');

# A set of parts that is published, then with more keys, then with others
publish('parts', 3, 1, 1000);
my @list = ('--list', 'parts', '--to', 'www/parts', '--poll', '1');
is((run('', 'export', '--dsn', $dsn, @list))[0], 0, 'a set is exported');
$followed = Following->new("$url/parts", 200);
is($followed->ask('has 1 1000'), 'yes', 'and followed');
exporter(@list);
publish('parts', 3, 1, 2000);
ok(wait_for(60, sub { $followed->ask('has 1 2000') eq 'yes' }), 'more keys arrive');
publish('parts', 3, 5001, 6000);
ok(wait_for(60, sub { $followed->ask('has 5001 6000') eq 'yes' }), 'and others');
is($followed->ask('has 1 1000'), 'no', 'in the place of those before');
is($followed->ask('kept 1 1000'), 'yes', 'which are in the filter before');
my $published = sql("SET search_path = public, ext; SELECT max(serial) FROM bloom_list WHERE name = 'parts'");
is($followed->status('serial'), $published, 'its serial is the list\'s');
is($followed->finish(), 0, 'and it ends');
undef $followed;
finish('exporter', 'TERM');

done_testing;
