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
shared_preload_libraries = 'pg_cron'
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

value(doc::operations_until('Publish'));
value(doc::text_block('doc/OPERATIONS.md', qr/create extension pg_cron/));
my ($schedule) = split /\n/, doc::text_block('doc/OPERATIONS.md', qr/cron\.schedule/);
$schedule =~ s/30 2 \* \* \*/* * * * */ or die 'no schedule';

# The list of last night is asked from many connections.
my $before = value('select serial from bloom_list');
my $clients = doc::ask_members($node, q{
\set k random(1, 99999)
select 1 / bloom_lookup('account', :k::bigint)::int;
});

# A listener, as an application server would be.
my $listener = $node->background_psql('postgres', on_error_die => 1);
$listener->query_safe('listen bloom_published');

my $job = value($schedule, extra_params => [ '-U', 'nightly' ]);
ok($job > 0, 'the job is scheduled');
ok($node->poll_query_until('postgres', q{
select count(*) > 0 from cron.job_run_details where status in ('succeeded', 'failed')}),
	'it ran');
is(value('select status || \': \' || return_message from cron.job_run_details order by runid limit 1') =~
	s/: .*CALL.*/: CALL/r, 'succeeded: CALL', 'and succeeded');
value("select cron.unschedule($job)", extra_params => [ '-U', 'nightly' ]);
cmp_ok(value('select serial from bloom_list'), '>', $before, 'another generation is current');
like($listener->query_safe('select 1'),
	qr/notification "bloom_published" with payload "\d{16} [0-9a-f-]{36}"/, 'the listener was told');
$listener->quit;

is(doc::stop_asking($clients), '', 'no error and no denied member');
is(value(q{select count(*) filter (where not bloom_lookup('account', id)) from account}), 0, 'every key is found in the new list');

# By cron: psql and its one argument.
my ($line) = doc::text_block('doc/OPERATIONS.md', qr/^30 2/) =~ /psql .* -c "(.*)"/;
$before = value('select serial from bloom_list');
command_ok([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c', $line ], 'the line of cron runs');
cmp_ok(value('select serial from bloom_list'), '>', $before, 'and publishes');

$node->stop;
done_testing();
