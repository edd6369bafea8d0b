# Logical replication carries filters, as text and in binary form, and a change of
# another column doesn't send them again.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $table = q{
create extension bloomfilter;
create table whitelist (name text, part int, filter bloomfilter, built_at timestamptz,
	primary key (name, part));
-- its rows are found by comparing whole rows, filters included
create table keyless (note text, filter bloomfilter);
alter table keyless replica identity full;
};
$publisher->safe_psql('postgres', $table . q{
insert into whitelist
select 'whole', 0, bloom_agg(g, 100000, 0.01), now() from generate_series(1, 100000) g;
insert into whitelist
select 'set', bloom_part(g, 4), bloom_part_agg(g, 4, 100000, 0.01), now()
from generate_series(1, 100000) g group by 2;
insert into keyless select 'new', bloom_add(bloom_create(100000), g) from generate_series(1, 2) g;
call bloom_publish('account', 'select generate_series(1, 50000)', parts => 2);
create publication whitelist for all tables;
});

is($publisher->safe_psql('postgres', 'select count(*) from bloom_definition'), 1, 'the publisher keeps a query');

# What a night and a day change, one after the other.
my @changes = (
	[ 'an update of the filter', q{
update whitelist set filter = bloom_add(filter, -1) where name = 'whole'} ],
	[ 'an update of another column', q{
update whitelist set built_at = built_at + interval '1 day'} ],
	[ 'an update of a row that has no key but itself', q{
update keyless set note = note || ' again' where filter @> 1} ],
	[ 'a swap of a set', q{
begin;
delete from whitelist where name = 'set';
insert into whitelist
select 'set', bloom_part(g, 3), bloom_part_agg(g, 3, 200000, 0.001), now()
from generate_series(1, 150000) g group by 2;
commit} ],
	[ 'a night', q{call bloom_publish('account', 'select generate_series(1, 60000)', parts => 2)} ],
	[ 'the way back', q{call bloom_rollback('account')} ],
	[ 'another night', q{call bloom_publish('account', 'select generate_series(1, 60000)', parts => 3)} ]);

my $content = q{
select md5(string_agg(name || part || filter::text || built_at, ',' order by name, part)),
	(select md5(string_agg(g || p.part::text || p.filter::text, ',' order by back, part))
	from bloom_generation g
	join bloom_generation_part p using (name, back)),
	(select string_agg(note || md5(filter::text), ',' order by note) from keyless)
from whitelist};
my $dsn = $publisher->connstr . ' dbname=postgres';

# 13 has no binary form.
foreach my $binary ('false', 'true')
{
	my $node = PostgreSQL::Test::Cluster->new("subscriber_$binary");
	$node->init;
	$node->start;
	$node->safe_psql('postgres', $table . qq{
create subscription whitelist_$binary connection '$dsn' publication whitelist
	with (binary = $binary)});
	$node->wait_for_subscription_sync($publisher, "whitelist_$binary");
	is($node->safe_psql('postgres', $content), $publisher->safe_psql('postgres', $content),
		"binary = $binary: the first copy");
	# Who owns lists is not said by replication, neither by the first copy nor by changes.
	my $owned = q{select (select query from bloom_definition where name = 'account') is not null, count(*) from bloom_owner};
	is($node->safe_psql('postgres', $owned), 't|0', "binary = $binary: a query comes, and nobody has accepted it");
	foreach my $change (@changes)
	{
		$publisher->safe_psql('postgres', $change->[1]);
		$publisher->wait_for_catchup("whitelist_$binary");
		is($node->safe_psql('postgres', $content), $publisher->safe_psql('postgres', $content),
			"binary = $binary: $change->[0]");
	}
	is($node->safe_psql('postgres', $owned), 't|0', "binary = $binary: nor after changes");
	my ($status, $out, $err) = $node->psql('postgres', q{call bloom_refresh('account')});
	like($err, qr/list "account" has no owner here/, "binary = $binary: so it is not run");
	$node->safe_psql('postgres', q{call bloom_alter('account', owner => current_user)});
	is($node->safe_psql('postgres', $owned), 't|1', "binary = $binary: until somebody does");
	$publisher->safe_psql('postgres', q{call bloom_publish('account', 'select generate_series(1, 60001)')});
	$publisher->wait_for_catchup("whitelist_$binary");
	is($node->safe_psql('postgres', $owned), 't|0', "binary = $binary: another query is another one to accept");
	$node->safe_psql('postgres', q{call bloom_alter('account', owner => current_user)});
	$publisher->safe_psql('postgres', q{call bloom_drop('account')});
	$publisher->wait_for_catchup("whitelist_$binary");
	is($node->safe_psql('postgres', q{select (select count(*) from bloom_definition), (select count(*) from bloom_owner)}), '0|0',
		"binary = $binary: a list that is dropped is nobody's");
	$publisher->safe_psql('postgres', q{call bloom_publish('account', 'select generate_series(1, 60000)', parts => 3)});
	$publisher->wait_for_catchup("whitelist_$binary");
	is($node->safe_psql('postgres', 'select bool_and(bloom_verify(filter)) from whitelist'),
		't', "binary = $binary: whole");
	is($node->safe_psql('postgres', q{
select count(*) from generate_series(1, 150000) g
join whitelist on name = 'set' and part = bloom_part(g, 3)
where not bloom_contains(filter, g)}), '0', "binary = $binary: no key is missing");
	is($node->safe_psql('postgres', q{select count(*) filter (where not bloom_lookup('account', g)) from generate_series(1, 60000) g}),
		0, "binary = $binary: the subscriber asks the list");
	$node->safe_psql('postgres', "drop subscription whitelist_$binary");
	$node->stop;
}

$publisher->stop;
done_testing();
