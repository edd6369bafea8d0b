# doc/OPERATIONS.md: each SQL block runs as it stands, in order, in a fresh
# database, and the patterns do what the page says of them.  Its nightly job by pg_cron, while
# pgbench asks for known members.  And examples/changes-by-day.sql.
use BloomTest;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
wal_level = replica
max_replication_slots = 1
max_prepared_transactions = 2
});
my ($pkglibdir) = run_command([ 'pg_config', '--pkglibdir' ]);
my $with_cron = -e "$pkglibdir/pg_cron.so";
my $host = $node->host;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'pg_cron'
cron.database_name = 'operations'
cron.use_background_workers = on
cron.host = '$host'
max_worker_processes = 16
}) if $with_cron;
$node->start;
$node->safe_psql('postgres', 'create database operations');

sub value
{
	my ($sql, %options) = @_;
	return $node->safe_psql('operations', $sql, %options);
}

foreach my $block (doc::sql_blocks('doc/OPERATIONS.md'))
{
	my $where = "$block->{section}, line $block->{line}";
	my ($out, $err) = doc::shown($node, 'operations', $block->{sql});
	is($err, '', "$where runs without a message");
	next if !defined $block->{output} || $block->{sql} =~ /explain \(analyze/;
	is($out, $block->{output}, "$where: shows what the page shows");
}

# What the page says of the nights, after all of its statements.
is(value(q{
select count(*) from account
where not bloom_lookup('account', id)}), 0, 'no member is denied');
is(value(q{select string_agg(name, ', ' order by name) from bloom_published}), 'account', 'and one list is published');
is(value(q{
select count(*) from account join whitelist_part on name = 'account' and part = bloom_part(id, 8)
where id < 100000 and not bloom_contains(filter, id)}), 0, 'the set of one\'s own finds every key of its night');
like(value(q{explain (costs off) select part, bloom_part_agg(id, 8, 200000, 0.01)
from (select id, bloom_part(id, 8) as part from account offset '0') keys group by part}),
	qr/HashAggregate/, 'and is hashed, not sorted');

# The rights of the roles of the page, no more and no less: who publishes may look up and watch, too.
sub allowed
{
	my ($role, $sql) = @_;
	my ($status) = $node->psql('operations', "set role $role; $sql", on_error_stop => 1);
	return $status == 0;
}

my %may = (
	nightly => "call bloom_publish('of nightly', 'select id from account')",
	app => "select bloom_lookup('account', 1), bloom_lookup_each('account', '{1}')",
	filter_puller => 'select filter from bloom_list join bloom_list_part using (name)',
	watcher => 'select * from bloom_published');
foreach my $role (sort keys %may)
{
	foreach my $other (sort keys %may)
	{
		my $may = $role eq $other || ($role eq 'nightly' && $other ne 'filter_puller');
		is(allowed($role, $may{$other}) ? 1 : 0, $may ? 1 : 0, "$role and what is for $other");
	}
}
ok(allowed('nightly', "select bloom_explain('account', 1)"), 'nightly may explain');
ok(!allowed('app', "select bloom_explain('account', 1)"), 'app may not');
value(q{call bloom_drop('of nightly')});

# Each alert is silent where all is well, and speaks where it is not.
my ($monitoring) = grep { $_->{section} eq 'Watch' } doc::sql_blocks('doc/OPERATIONS.md');
my %alert = $monitoring->{sql} =~ /^-- (\d)\.[^\n]*\n(.*?;)/msg;
is(scalar(keys %alert), 9, 'there are nine alerts');
value(q{call bloom_publish('account', 'select id from account');
call bloom_publish('account', 'select id from account')});
is(value($alert{$_}), '', "alert $_ is silent") foreach sort keys %alert;
my %wrong = (
	1 => q{update bloom_generation set built_at = now() - interval '2 days'},
	2 => q{set bloomfilter.overflow = ignore; set client_min_messages = error;
		select 'published' from (select bloom_publish_filter('account', bloom_agg(id, 50000, 0.01)) from account) p},
	3 => q{select pg_create_physical_replication_slot('account', true)},
	4 => q{call bloom_publish('account', 'select id from account', "check" => false)},
	5 => q{call bloom_publish('account', 'select id from account where id <= 70000')},
	6 => q{update bloom_run set error = 'list was not published'},
	7 => q{call bloom_drop('account')},
	8 => q{update bloom_generation_part set tracked = true;
		insert into bloom_change select 'account', '\\x01000000'::bytea || int8send(g), true, 1 from generate_series(1, 100001) g},
	9 => q{insert into account select g, '' from generate_series(1000000, 1600000) g});
foreach my $number (sort keys %alert)
{
	like(value("begin isolation level repeatable read; $wrong{$number}; $alert{$number} rollback;"),
		qr/^(public\|)?account(_live)?(\||$)/m, "alert $number speaks");
}
value(q{select pg_drop_replication_slot('account')});

# Errors that are looked for by their text have it.
my $sources = join '', map { slurp_file($_) } glob(doc::root() . '/src/pg/*/*.c ' . doc::root() . '/src/core/*.c');
$sources =~ s/\\"/"/g;
my @texts = slurp_file(doc::root() . '/doc/RUNBOOK.md') =~ /^\| `([^`]*)`[^|]*\| [^|]*\| [^|]*\|$/mg;
my %elsewhere = map { $_ => 1 } ('permission denied for procedure bloom_publish',
	'permission denied for function bloom_lookup', "cannot execute \xe2\x80\xa6 in a read-only transaction");
my $looked_for = 0;
foreach my $text (@texts)
{
	next if $elsewhere{$text} || $text !~ /list|bloom|progress|stored/;
	my $pattern = join '[^\n]{1,80}?', map { quotemeta } split /\xe2\x80\xa6/, $text, -1;
	ok($sources =~ /$pattern/, "an error says: $text");
	$looked_for++;
}
cmp_ok($looked_for, '>=', 14, 'all of them were looked for');

# A way back that isn't there is an error, and a publisher in a block waits for nobody.
sub refused
{
	my ($sql, $message, $name) = @_;
	my ($status, $out, $err) = $node->psql('operations', $sql);
	like($err, $message, $name);
}

refused(q{call bloom_rollback('account'); call bloom_rollback('account')},
	qr/has no version before/, 'there is one way back');

# ------------------------------------------------------------------------
# The nightly job by pg_cron
# ------------------------------------------------------------------------

SKIP:
{
	skip 'pg_cron is not installed', 8 if !$with_cron;
	value(doc::text_block('doc/OPERATIONS.md', qr/create extension pg_cron/));
	my ($schedule) = split /\n/, doc::text_block('doc/OPERATIONS.md', qr/cron\.schedule/);
	$schedule =~ s/30 2 \* \* \*/* * * * */ or die 'no schedule';

	# The list of last night is asked from many connections.
	my $before = value('select serial from bloom_list');
	my $clients = doc::ask_members($node, 'operations', q{
\set k random(1, 99999)
select 1 / bloom_lookup('account', :k::bigint)::int;
});

	my $job = value($schedule, extra_params => [ '-U', 'nightly' ]);
	ok($job > 0, 'the job is scheduled');
	ok($node->poll_query_until('operations', q{
select count(*) > 0 from cron.job_run_details where status in ('succeeded', 'failed')}),
		'it ran');
	is(value('select status || \': \' || return_message from cron.job_run_details order by runid limit 1') =~
		s/: .*CALL.*/: CALL/r, 'succeeded: CALL', 'and succeeded');
	value("select cron.unschedule($job)", extra_params => [ '-U', 'nightly' ]);
	cmp_ok(value('select serial from bloom_list'), '>', $before, 'another generation is current');

	is(doc::stop_asking($clients), '', 'no error and no denied member');
	is(value(q{select count(*) filter (where not bloom_lookup('account', id)) from account}), 0, 'every key is found in the new list');

	# By cron: psql and its one argument.
	my ($line) = doc::text_block('doc/OPERATIONS.md', qr/^30 2/) =~ /psql .* -c "(.*)"/;
	$before = value('select serial from bloom_list');
	command_ok([ 'psql', '-X', '-q', '-d', $node->connstr('operations'), '-c', $line ], 'the line of cron runs');
	cmp_ok(value('select serial from bloom_list'), '>', $before, 'and publishes');
}

# ------------------------------------------------------------------------
# Changes by day
# ------------------------------------------------------------------------

$node->safe_psql('postgres', 'create database day');
my $example = slurp_file(doc::root() . '/examples/changes-by-day.sql');
is($node->safe_psql('day', $example), <<'EOC' =~ s/\n\z//r, 'a list says at each commit what its table says');
{t,f,t,f,f}
f
t
account|179200|20800|0|1000
0
EOC

# The page's recipes, in a database of their own.
$node->safe_psql('postgres', 'create database recipes');
$node->safe_psql('recipes', 'create extension bloomfilter');
foreach my $block (grep { $_->{section} eq 'Changes by day' } doc::sql_blocks('doc/OPERATIONS.md', 'text'))
{
	my (undef, $err) = doc::shown($node, 'recipes', $block->{sql});
	is($err, '', "line $block->{line} of OPERATIONS runs without a message");
}
is($node->safe_psql('recipes', <<'EOC'), "t|f\nf\nt|t|f", 'and they do what the page says');
do $$ begin perform ban(7); end $$;
select bloom_lookup('member', 6), bloom_lookup('member', 7);
select exists (select from device where bloom_lookup('active', id) <> active);
select bloom_lookup('suppressed', 'a@example.com'), bloom_lookup('suppressed', 'b@example.com'), bloom_lookup('suppressed', 'c@example.com');
EOC

done_testing();
