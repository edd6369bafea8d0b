# Logical replication carries filters, as text and in binary form, and a change of
# another column doesn't send them again.
use BloomTest;

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
select 'whole', 0, bloom_agg(g, 10000, 0.01), now() from generate_series(1, 10000) g;
insert into whitelist
select 'set', bloom_part(g, 4), bloom_part_agg(g, 4, 10000, 0.01), now()
from generate_series(1, 10000) g group by 2;
insert into keyless select 'new', bloom_add(bloom_create(10000), g) from generate_series(1, 2) g;
call bloom_publish('account', 'select generate_series(1, 5000)', parts => 2);
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
select 'set', bloom_part(g, 3), bloom_part_agg(g, 3, 20000, 0.001), now()
from generate_series(1, 15000) g group by 2;
commit} ],
	[ 'a night', q{call bloom_publish('account', 'select generate_series(1, 6000)', parts => 2)} ],
	[ 'the way back', q{call bloom_rollback('account')} ],
	[ 'another night', q{call bloom_publish('account', 'select generate_series(1, 6000)', parts => 3)} ]);

my $content = q{
select md5(string_agg(name || part || filter::text || built_at, ',' order by name, part)),
	(select md5(string_agg(g || p.part::text || p.filter::text, ',' order by back, part))
	from bloom_generation g
	join bloom_generation_part p using (name, back)),
	(select string_agg(note || md5(filter::text), ',' order by note) from keyless)
from whitelist};
my $dsn = $publisher->connstr . ' dbname=postgres';

# Who owns lists is not said by replication, neither by the first copy nor by changes.
my $owned = q{select (select query from bloom_definition where name = 'account') is not null, count(*) from bloom_owner};
my @subscribers;

# What the publisher does, and what is then the same on both.
sub on_publisher
{
	my ($sql) = @_;
	$publisher->safe_psql('postgres', $sql);
	$publisher->wait_for_catchup("whitelist_$_->[0]") foreach @subscribers;
	return;
}

sub on_both
{
	my ($sql, $expected, $name) = @_;
	is($_->[1]->safe_psql('postgres', $sql), $expected, "binary = $_->[0]: $name") foreach @subscribers;
	return;
}

foreach my $binary ('false', 'true')
{
	my $node = PostgreSQL::Test::Cluster->new("subscriber_$binary");
	$node->init;
	$node->start;
	$node->safe_psql('postgres', $table . qq{
create subscription whitelist_$binary connection '$dsn' publication whitelist
	with (binary = $binary)});
	push @subscribers, [ $binary, $node ];
}
$_->[1]->wait_for_subscription_sync($publisher, "whitelist_$_->[0]") foreach @subscribers;
on_both($content, $publisher->safe_psql('postgres', $content), 'the first copy');
on_both($owned, 't|0', 'a query comes, and nobody has accepted it');
foreach my $change (@changes)
{
	on_publisher($change->[1]);
	on_both($content, $publisher->safe_psql('postgres', $content), $change->[0]);
}
on_both($owned, 't|0', 'nor after changes');
foreach my $subscriber (@subscribers)
{
	my ($binary, $node) = @$subscriber;
	my ($status, $out, $err) = $node->psql('postgres', q{call bloom_refresh('account')});
	like($err, qr/list "account" has no owner here/, "binary = $binary: so it is not run");
	$node->safe_psql('postgres', q{call bloom_alter('account', owner => current_user)});
}
on_both($owned, 't|1', 'until somebody does');
on_publisher(q{call bloom_publish('account', 'select generate_series(1, 6001)')});
on_both($owned, 't|0', 'another query is another one to accept');
$_->[1]->safe_psql('postgres', q{call bloom_alter('account', owner => current_user)}) foreach @subscribers;
on_publisher(q{call bloom_drop('account')});
on_both(q{select (select count(*) from bloom_definition), (select count(*) from bloom_owner)}, '0|0', 'a list that is dropped is nobody\'s');
on_publisher(q{call bloom_publish('account', 'select generate_series(1, 6000)', parts => 3)});
on_both('select bool_and(bloom_verify(filter)) from whitelist', 't', 'whole');
on_both(q{
select count(*) from generate_series(1, 15000) g
join whitelist on name = 'set' and part = bloom_part(g, 3)
where not bloom_contains(filter, g)}, '0', 'no key is missing');
on_both(q{select count(*) filter (where not bloom_lookup('account', g)) from generate_series(1, 6000) g}, 0, 'the subscriber asks the list');
done_testing();
