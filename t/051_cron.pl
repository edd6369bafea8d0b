# The nightly job by pg_cron, as doc/OPERATIONS.md has it, while pgbench asks for
# known members: no error and no wrong "no".

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;

my ($library) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'pg_cron is not installed' unless -e "$library/pg_cron.so";

my $host = $node->host;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'pg_cron, bloomfilter'
cron.use_background_workers = on
cron.host = '$host'
max_worker_processes = 16
});
$node->start;

sub value
{
	my ($sql, %options) = @_;
	return $node->safe_psql('postgres', $sql, %options);
}

value(doc::operations_until('Every night'));
value(doc::text_block('doc/OPERATIONS.md', qr/create extension pg_cron/));
my ($schedule) = split /\n/, doc::text_block('doc/OPERATIONS.md', qr/cron\.schedule/);
$schedule =~ s/30 2 \* \* \*/* * * * */ or die 'no schedule';

# The set of last night is asked from many connections.
my $before = value('select generation from whitelist_set');
my $clients = doc::ask_members($node, q{
\set k random(1, 99999)
select 1 / (count(*) filter (where found))::int from in_whitelist('account', :k);
});

# A listener, as an application server would be.
my $listener = $node->background_psql('postgres', on_error_die => 1);
$listener->query_safe('listen whitelist');

my $job = value($schedule, extra_params => [ '-U', 'nightly' ]);
ok($job > 0, 'the job is scheduled');
ok($node->poll_query_until('postgres', q{
select count(*) > 0 from cron.job_run_details where status in ('succeeded', 'failed')}),
	'it ran');
is(value('select status || \': \' || return_message from cron.job_run_details order by runid limit 1') =~
	s/: .*CALL.*/: CALL/r, 'succeeded: CALL', 'and succeeded');
value("select cron.unschedule($job)", extra_params => [ '-U', 'nightly' ]);
cmp_ok(value('select generation from whitelist_set'), '>', $before, 'another generation is asked');
like($listener->query_safe('select 1'),
	qr/notification "whitelist" with payload "account"/, 'the listener was told');
$listener->quit;

is(doc::stop_asking($clients), '', 'no error and no denied member');
is(value(q{
select count(*) from account cross join lateral in_whitelist('account', id)
where found is not true}), 0, 'every key is found in the new set');

# A job without the role's setting fails and changes nothing.
my $generation = value('select generation from whitelist_set');
my ($status, $out, $err) = $node->psql('postgres', 'call publish_account(8, 200000, 0.01)');
like($err, qr/needs a repeatable read/, 'READ COMMITTED is refused');
is(value('select generation from whitelist_set'), $generation, 'the set is as before');

$node->stop;
done_testing();
