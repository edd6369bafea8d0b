# doc/HOSTS.md, doc/RUNBOOK.md, doc/SETUP.md, doc/DRIVERS.md, doc/RECIPES.md and doc/man/bloomfilter.1: the
# statements and commands that other tests don't take from there run as they stand, and show what the page
# shows.  Folders, addresses and servers are those of the test.
use BloomTest;
use BloomTest::Pull;
use IO::Socket::INET;
use IPC::Run;

require "$FindBin::Bin/050_doc.pm";

my $program = BloomTest::Pull::program();
plan skip_all => 'no command line bloomfilter' if !defined $program;
my ($nginx) = grep { -x } '/usr/sbin/nginx', '/usr/bin/nginx';
plan skip_all => 'nginx or minisign is not installed' if !$nginx || system('command -v minisign >/dev/null') != 0;

my $node = PostgreSQL::Test::Cluster->new('pages');
$node->init(allows_streaming => 1);
$node->start;
$node->safe_psql('postgres', 'create database app');
$node->safe_psql('app', doc::operations_until('Publish'));
$node->safe_psql('app', q{
alter role nightly login;
call bloom_drop('account');
set role nightly;
call bloom_publish('account', 'select id from account');
call bloom_publish('account', 'select id from account');
reset role;
create index account_live on account using bloomfilter (id);
create table users as select generate_series(1, 20000) as id;
create index users_filter on users using bloomfilter (id);
call bloom_publish('users', 'select id from users');
create table customers as select id from users;
call bloom_publish('whitelist', 'select id from customers')});

my $home = PostgreSQL::Test::Utils::tempdir_short();
my $port = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')->sockport;
my ($programs) = $program =~ m{^(.*)/};
@ENV{qw(PATH PGHOST PGPORT PGDATABASE DSN)} = ("$programs:$ENV{PATH}", $node->host, $node->port, 'app', 'dbname=app');
chdir $home or die "$home: $!";

# Ends its followers with the test.
my %running;
END
{
	my $status = $?;
	$_->kill_kill foreach values %running;
	$? = $status;
}

sub in_shell
{
	my ($command) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'bash', '-c', $command ], '<', \undef, '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

# A command that stays, until it has made a file, or a web server answers.
sub begin
{
	my ($command, $file) = @_;
	my $log = '';
	$running{$command} = IPC::Run::start([ 'bash', '-c', "exec $command" ], '<', \undef, '>&', \$log);
	eventually(sub { $file ? -e $file : IO::Socket::INET->new("127.0.0.1:$port") }, "begins: $command") or diag($log);
	return;
}

sub end
{
	my ($command) = @_;
	my $run = delete $running{$command};
	$run->signal('TERM');
	eval { $run->finish };
	return;
}

sub texts { my ($page) = @_; return map { $_->{sql} } doc::sql_blocks($page, 'text'); }

# Commands of a block, each in one line.
sub commands { my ($block) = @_; return map { s/\\\n\s*//gr } $block =~ /^((?:bloomfilter|psql|PGOPTIONS)\b(?:.*\\\n)*.*)$/mg; }

# ------------------------------------------------------------------------
# doc/RUNBOOK.md
# ------------------------------------------------------------------------

$node->safe_psql('app', q{select pg_create_physical_replication_slot('away', true)});
my ($status, $out, $err) = in_shell('bloomfilter pull --dsn "" --list account --out account.bloom');
is("$status$err", '0', 'a file of the list');
my $statements = 0;
foreach my $block (texts('doc/RUNBOOK.md'))
{
	if (my ($explain, @more) = $block =~ /^=# (.*?;)/mg)
	{
		my ($of_page) = $block =~ /\n\n(.*)/s;
		my $names = sub { join ' ', $_[0] =~ /^(\w+) /mg };
		my $by_sql = $node->safe_psql('app', "set role nightly; $explain");
		is($node->safe_psql('app', "set role nightly; $_"), $by_sql, "$_ says the same") foreach @more;
		foreach my $command ($block =~ /^\$ (.*?) *#/mg)
		{
			($status, $out, $err) = in_shell($command);
			is("$status$err$out", "0$by_sql\n", "$command says what SQL says");
			$statements++;
		}
		is($names->($by_sql), $names->($of_page), 'in the lines of the page');
		next;
	}
	if ($block =~ /^ERROR/)
	{
		# The messages, of lists as the page has them.
		my @errors = map {
			my (undef, undef, $said) = $node->psql('app', $_);
			map { s/^psql:<stdin>:\d+: //r } $said =~ /^((?:psql:\S+ )?(?:ERROR|DETAIL): .*)/mg
		  } "call bloom_publish('users', 'select id from users where id <= 100')",
		  "call bloom_publish('users', 'select id::text from users')";
		my $plain = sub { doc::shape($_[0], $home) =~ s/: +/: /gr =~ s/about \d+/about N/gr };
		is($plain->(join "\n", @errors[ 0 .. 2 ]) . "\n", $plain->($block), 'errors of a list that shrank, or changed its kind');
		next;
	}
	foreach my $command (commands($block))
	{
		($status, $out, $err) = in_shell($command =~ s/ +-- .*//r);
		is("$status$err", '0', $command);
		$statements++;
	}
	my $sql = $block =~ s/^PGOPTIONS.*\n//mr;
	my $role = $sql =~ /^call/m ? 'set role nightly;' : '';
	($out, $err) = doc::shown($node, 'app', "$role\n" . ($sql =~ s/\xe2\x80\xa6/away/gr));
	is($err, '', "runs without a message: $sql");
	$statements += () = $sql =~ /;/g;
}
cmp_ok($statements, '>=', 9, 'RUNBOOK.md has statements');
my ($reindex) = grep { /reindex index concurrently/ } map { $_->{sql} } doc::sql_blocks('doc/RUNBOOK.md', '');
foreach my $statement ($reindex =~ /^(.*?;)/mg)
{
	is(($node->psql('app', $statement))[0], 0, $statement);
}
my ($others) = slurp_file(doc::root() . '/doc/RUNBOOK.md') =~ /`(select format.*?) \\gexec`/s;
my $before = $node->safe_psql('app', 'select string_agg(identity::text, $$ $$ order by name) from bloom_list');
doc::shown($node, 'app', "$others \\gexec\n");
isnt($node->safe_psql('app', 'select string_agg(identity::text, $$ $$ order by name) from bloom_list'), $before,
	'the lists of a copy become others');

# ------------------------------------------------------------------------
# doc/HOSTS.md
# ------------------------------------------------------------------------

$node->safe_psql('app', 'alter role filter_puller login; grant select on users to filter_puller');
mkdir $_ foreach qw(run www www/lists);
my @hosts = texts('doc/HOSTS.md');

# The page's places, and the test's.
sub here
{
	my ($command) = @_;
	$command =~ s/host=db1,db2 dbname=shop/dbname=app/g;
	$command =~ s{/run/bloomfilter}{$home/run}g;
	$command =~ s{/srv/lists}{$home/www/lists}g;
	$command =~ s{/etc/bloomfilter/}{$home/}g;
	$command =~ s{https://lists\.example\.com/(\w+)}{http://127.0.0.1:$port/lists/$1};
	$command .= ' --allow-http' if $command =~ /--url http:/;
	return $command;
}

my ($nginx_lines) = grep { /^location/ } @hosts;
append_to_file('nginx.conf', join("\n", $> == 0 ? 'user root;' : '', 'daemon off;', "pid $home/nginx.pid;", 'events { }',
	"http { access_log off; client_body_temp_path $home/b; proxy_temp_path $home/p; fastcgi_temp_path $home/f; uwsgi_temp_path $home/u; scgi_temp_path $home/s;",
	"server { listen 127.0.0.1:$port; root $home/www;", $nginx_lines, '} }', ''));
begin("$nginx -p $home -e $home/nginx.log -c $home/nginx.conf");

sub shows
{
	my ($page, $shown) = @_;
	my ($command, $of_page) = $page =~ /^\$ ([^\n]*)\n(.*)/s;
	(undef, $out, undef) = in_shell(here($command));
	my $wanted = doc::shape($of_page, $home);
	my $got = doc::shape($out, $home);
	return is($got, $wanted, "shows what the page shows: $command");
}

my ($by_login) = grep { /pull --dsn/ } @hosts;
my ($of_file, $of_folder) = grep { /^\$ bloomfilter status/ } @hosts;
foreach my $command (map { here($_) } commands($by_login))
{
	unlink glob('run/*');
	begin($command, 'run/users.bloom');
	shows($of_file) if $command =~ /--index/;
	is((in_shell('bloomfilter contains run/users.bloom 42'))[1], "42\n", 'and has its keys');
	end($command);
}
unlink glob('run/*');
my ($by_web) = grep { /^bloomfilter export/ } @hosts;
my ($export, $pull) = map { here($_) } commands($by_web);
in_shell('minisign -G -W -p lists.pub -s users.key');
begin("$export --sign users.key", 'www/lists/users/manifest');
begin($pull, 'run/users.bloom');
is((in_shell('bloomfilter contains run/users.bloom 42'))[1], "42\n", 'a host over the web has the keys');
shows($of_folder);
is((in_shell("bash -c 'exec 3<>/dev/tcp/127.0.0.1/$port; printf \"GET /lists/users/.status HTTP/1.0\\r\\n\\r\\n\" >&3; head -n 1 <&3'"))[1]
  =~ /403/ ? 1 : 0, 1, 'the web server keeps the status to itself');

# ------------------------------------------------------------------------
# doc/SETUP.md, doc/DRIVERS.md, and the manual page
# ------------------------------------------------------------------------

my ($without) = commands((grep { /COPY/ } texts('doc/SETUP.md'))[0]);
($status, $out, $err) = in_shell($without);
is("$status$err", '0', $without);
is((in_shell('bloomfilter contains users.bloom 42'))[1], "42\n", 'and its file has the keys');

my ($of_part) = grep { /whitelist_part/ } texts('doc/DRIVERS.md');
$node->safe_psql('app', q{create table whitelist_part as select part, bloom_part_agg(id, 8, 200000, 0.01) as filter
from (select id, bloom_part(id, 8) as part from users offset '0') keys group by part});
is($node->safe_psql('app', "prepare part as $of_part; execute part('42')"), 't', 'a parameter beside bloom_part');

my ($examples) = slurp_file(doc::root() . '/doc/man/bloomfilter.1') =~ /^\.SH EXAMPLES\n(.*?)^\.SH/ms;
append_to_file("$home/$_", "one\ntwo\n") foreach qw(known.txt addresses.txt);
my @examples = map { s/\\-/-/gr =~ s/\\e$/\\/mgr =~ s/\\\n\s*//gr } $examples =~ /^\.RS\n(.*?)^\.RE/msg;
is(@examples, 3, 'the manual page has three examples');
mkdir 'filters';
foreach my $command (split /\n(?! )/, join '', map { here($_) =~ s{/srv/filters}{filters}gr } @examples)
{
	if ($command =~ /--follow/)
	{
		begin($command, 'filters/whitelist.bloom');
		in_shell('cp filters/whitelist.bloom .');
		next;
	}
	($status, $out, $err) = in_shell($command);
	is("$status$err", $command =~ /--invert/ ? '1' : '0', $command);
}

# ------------------------------------------------------------------------
# doc/RECIPES.md: each block, in order
# ------------------------------------------------------------------------

# The page makes the role app itself.
$node->safe_psql('postgres', 'alter role app rename to app_of_operations; create database recipes');
$node->safe_psql('recipes', 'create extension bloomfilter');
mkdir 'recipes';
chdir 'recipes' or die;
my $ran = 0;
foreach my $block (doc::blocks('doc/RECIPES.md'))
{
	my $where = "RECIPES.md, line $block->{line}, $block->{section}";
	($status, $out, $err) = $block->{mark} eq 'sql' ? (0, doc::shown($node, 'recipes', $block->{sql})) : in_shell("set -eo pipefail; $block->{sql}");
	is("$status$err", '0', "$where: neither errors nor warnings");
	is($out, $block->{output} // '', "$where: shows what the page shows");
	$ran++;
}
cmp_ok($ran, '>=', 9, 'RECIPES.md has recipes');
is($node->safe_psql('recipes', q{
select count(*) filter (where not is_blocked(host(net)::inet)) from blocked}), '0', 'the first address of each blocked network is blocked');
done_testing();
