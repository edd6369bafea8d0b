# Look-ups on a hot standby, while the primary swaps the set: no error and no
# member is ever denied.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
autovacuum_naptime = 1
hot_standby_feedback = on
});
$primary->start;
$primary->safe_psql('postgres', doc::operations_until('Every night'));
# The page's account has ids from 1 to 100000.
$primary->safe_psql('postgres', q{
begin isolation level repeatable read;
call publish_account(8, 200000, 0.01);
commit;});

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);

# A denied member, or an answer that is none, is a division by zero.
my $clients = doc::ask_members($standby, q{
\set k random(1, 100000)
select 1 / (count(*) filter (where found))::int from in_whitelist('account', :k);
});

# Swaps that change everything: the number of parts, the size, the seed.
my $last;
foreach my $night (1 .. 12)
{
	my ($parts, $n) = (1 + $night % 5, 200000 + 50000 * ($night % 3));
	$primary->safe_psql('postgres', qq{
begin isolation level repeatable read;
call publish_account($parts, $n, 0.01, $night);
commit;});
	$primary->safe_psql('postgres', 'vacuum whitelist_set_part') if $night % 4 == 0;
	$primary->wait_for_catchup($standby);
	$last = $standby->safe_psql('postgres', 'select seed from whitelist_set');
}
is($last, 12, 'the standby has seen the last swap');

is(doc::stop_asking($clients), '', 'no error and no denied member');
is($standby->safe_psql('postgres', q{
select count(*) from account cross join lateral in_whitelist('account', id)
where found is not true}), '0', 'the standby finds every key');
is($standby->safe_psql('postgres', 'select md5(string_agg(filter::text, \',\' order by generation, part)) from whitelist_set_part'),
	$primary->safe_psql('postgres', 'select md5(string_agg(filter::text, \',\' order by generation, part)) from whitelist_set_part'),
	'the same bytes');

# A standby that is promoted goes on, with what came by day.
$standby->promote;
is($standby->safe_psql('postgres', q{
select count(*) from account cross join lateral in_whitelist('account', id)
where found is not true}), '0', 'so it does after promotion');

$standby->stop;
$primary->stop;
done_testing();
