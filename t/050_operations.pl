# doc/OPERATIONS.md: each SQL block runs as it stands, in order, in a fresh
# database, and the patterns do what the page says of them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest qw(server_version);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'bloomfilter'
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'create database operations');

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('operations', $sql);
}

# What a block needs and this server lacks.
sub missing
{
	my ($sql) = @_;

	return 'statistics of expressions came with 14'
	  if $sql =~ /create statistics/ && server_version($node) < 14;
	return 'built without deltas'
	  if $sql =~ /bloom_diff/
	  && $node->psql('operations', 'select bloom_diff(bloom_create(1), bloom_create(1))') != 0;
	return undef;
}

foreach my $block (doc::sql_blocks('doc/OPERATIONS.md'))
{
	my $where = "$block->{section}, line $block->{line}";
	my $missing = missing($block->{sql});
  SKIP:
	{
		skip "$where: $missing", 1 if $missing;
		my ($status, $out, $err) =
		  $node->psql('operations', $block->{sql}, on_error_stop => 1);
		is("$status $err", '0 ', "$where runs without a message");
	}
}

# The look-ups, each for every member.
is(value(q{
select count(*) from account cross join lateral in_whitelist('account', id)
where found is not true}), 0, 'in_whitelist finds every key');
is(value(q{
select count(*) from account cross join lateral in_whitelist_or_day('account', id)
where found is not true}), 0, 'in_whitelist_or_day finds every key');
is(value(q{
select count(*) from account cross join lateral in_whitelist_now(id)
where found is not true}), 0, 'in_whitelist_now finds every key');
is(value(q{
select count(*) from generate_series(1, 99999) g
cross join lateral in_whitelist_part(g) where found is not true}), 0,
	'in_whitelist_part finds every key of its night');
is(value(q{select count(*) from in_whitelist('nobody', 1)}), 0,
	'a set that nobody published has no answer');

like(value(q{
explain (costs off) select found from in_whitelist_part(4711)}),
	qr/Scan .*on whitelist_part/, 'the function is taken into the calling query');

# An old generation was kept, and no more than that.
my $procedure = q{begin isolation level repeatable read;
call publish_account(4, 300000, 0.01, 42);
commit;};
value($procedure) for 1 .. 3;
is(value(q{select count(distinct generation) from whitelist_set_part where name = 'account'}),
	2, 'two generations are kept');
is(value(q{select distinct parts || ' ' || seed from whitelist_set}), '4 42',
	'the shape of a set may change');
is(value(q{
select count(*) from account cross join lateral in_whitelist('account', id)
where found is not true}), 0, 'no key is lost by the change');

# Nights without a rebuild leave behind what every night does, and the same bytes.
foreach my $night (1, 2)
{
	my ($first, $last) = (300000 + 1000 * $night, 300499 + 1000 * $night);
	my $told = value(qq{
insert into account select g, 'news' from generate_series($first, $last) g;
listen whitelist;
begin isolation level repeatable read;
call unite_account();
commit;});
	like($told, qr/notification "whitelist" with payload "account"/,
		"united night $night is told to listeners");
	is(value(qq{
select count(*) from generate_series($first, $last) g
cross join lateral in_whitelist('account', g) where found is not true}), 0,
		"and finds its keys");
	is(value(q{select count(distinct generation) from whitelist_set_part where name = 'account'}),
		2, 'two generations are kept');
	is(value(q{select s.generation - b.generation from whitelist_set s join whitelist_before b using (name)}),
		1, 'the night before is the way back');
}
is(value(q{
select bool_and(p.filter::bytea = r.filter::bytea) || ' ' || count(*)
from whitelist_set s
join whitelist_set_part p using (name, generation)
join (select bloom_part(id, 4, 42) as part,
		bloom_part_agg(id, 4, 300000, 0.01, 42) as filter
	from account group by 1) r using (part)}), 'true 4',
	'united nights are a rebuild of the same keys, byte for byte');

# What the job refuses.
sub refused
{
	my ($sql, $message, $name) = @_;
	my ($status, $out, $err) = $node->psql('operations', $sql);
	like($err, $message, $name);
}

my $generation = value('select generation from whitelist_set');
refused('call publish_account(4, 300000, 0.01)', qr/needs a repeatable read/,
	'READ COMMITTED is refused');
refused('call unite_account()', qr/needs a repeatable read/, 'also to unite');
refused(q{begin isolation level repeatable read;
insert into account select g, 'too many' from generate_series(400000, 700000) g;
call unite_account();
commit;}, qr/absent keys pass/, 'a union that is too full is not published');
refused(q{begin isolation level repeatable read;
call publish_account(4, 30000, 0.01);
commit;}, qr/absent keys pass/, 'a filter that is too full is not published');
refused(q{begin isolation level repeatable read;
delete from account where id > 3;
call publish_account(16, 30000, 0.01);
commit;}, qr/of 16 parts are there/, 'a set that is not whole is not published');
is(value('select generation from whitelist_set'), $generation,
	'a refused night leaves the old set in place');

# Two jobs at once: the second one waits, then fails.  Readers do neither.
my $job = "begin isolation level repeatable read;\ncall publish_account(4, 300000, 0.01, 42);\n";
my $first = $node->background_psql('operations', on_error_die => 1);
my $second = $node->background_psql('operations', on_error_stop => 0);
$first->query_safe($job);
$second->query_until(qr/started/, "\\echo started\n$job");
ok($node->poll_query_until('operations', q{
select count(*) = 1 from pg_stat_activity
where wait_event_type = 'Lock' and query like 'call publish_account%'}),
	'the second job waits for the first');
is(value(q{
set lock_timeout = '1ms';
select found from in_whitelist('account', 4711)}), 't', 'readers do not wait');
is(value('select generation from whitelist_set'), $generation, 'and see the old set');
$first->query_safe('commit');
$first->quit;
$second->query('commit');
like($second->{stderr}, qr/duplicate key|could not serialize/, 'the second job fails');
$second->quit;
is(value('select generation from whitelist_set'), $generation + 1, 'the set is the first job\'s');

# Empty parts of a small set, by the documented statement.
value(q{create table few as select id from account where id <= 3});
is(value(q{
select count(*) from (
	select bloom_part(id, 8) from few group by 1) p}) <= 3, 1, 'three keys, three parts at most');
is(value(q{
with empty as (
	select part, bloom_create_part(part, 8, 100, 0.01) as filter from generate_series(0, 7) part)
select count(*) || ' ' || count(*) filter (where t.part = e.part and t.parts = 8
	and t.bits_set = 0 and t.key_type = 'none' and bloom_verify(filter))
from empty e cross join lateral bloom_stats(filter) t}), '8 8', 'empty parts are parts');
is(value(q{
select bool_or(bloom_contains(bloom_create_part(part, 8, 100, 0.01), 'text of another type'))
from generate_series(0, 7) part
where part = bloom_part('text of another type'::text, 8)}), 'f', 'an empty part says no');

# bloom_progress without the library preloaded.
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
refused('select * from bloom_progress()', qr/progress of bloomfilter builds is not recorded/,
	'bloom_progress says what is missing');

$node->stop;
done_testing();
