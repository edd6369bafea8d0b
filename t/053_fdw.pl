# Three databases hold a partition each, as other servers would.  Each builds its own filter: only
# filters travel, and the result is the local build's, byte for byte.
use BloomTest;

require "$FindBin::Bin/050_doc.pm";

my @regions = qw(east north west);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
create extension bloomfilter;
create extension postgres_fdw;
create table member (region text not null, id bigint not null, word text not null)
	partition by list (region);
});

foreach my $i (0 .. $#regions)
{
	my $region = $regions[$i];
	$node->safe_psql('postgres', "create database $region");

	# Every third key, and some that all three have.
	$node->safe_psql($region, qq{
create extension bloomfilter;
create table member (region text not null, id bigint not null, word text not null);
insert into member
select '$region', id, 'word ' || id from generate_series(1, 6000) id
where id % 3 = $i or id % 100 = 0;
create statistics member_part on (bloom_part(id, 4)) from member;
analyze member;
});
	my ($host, $port) = ($node->host, $node->port);
	$node->safe_psql('postgres', qq{
create server $region foreign data wrapper postgres_fdw
	options (host '$host', port '$port', dbname '$region', extensions 'bloomfilter',
		use_remote_estimate 'true', async_capable 'true');
create user mapping for current_user server $region;
create foreign table member_$region partition of member for values in ('$region')
	server $region options (table_name 'member');
});
}

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', "set enable_partitionwise_aggregate = on;\n$sql");
}

# All remote statements of a plan.
sub remote_sql
{
	my ($sql) = @_;
	return value("explain (verbose, costs off) $sql") =~ /Remote SQL: (.*)/g;
}

# The form of a query with what each server must be sent, and the local build.
sub builds_remotely
{
	my ($name, $sql, $sent, $local) = @_;
	my @remote_sql = remote_sql($sql);

	is(scalar(@remote_sql), 3, "$name: three servers are asked");
	like($_, $sent, "$name: it builds by itself") foreach @remote_sql;
	is(value("select md5(string_agg(q::text, ',' order by q::text)) from ($sql) q"),
		value("select md5(string_agg(q::text, ',' order by q::text)) from ($local) q"),
		"$name: the same bytes as the local build");
}

# The local build has the rows here.
$node->safe_psql('postgres', q{
create table gathered as select * from member;
});
is(value('select count(*) from gathered'), value('select count(*) from member'),
	'the rows are gathered');

foreach my $key (qw(id word))
{
	builds_remotely("$key by partition", qq{
select bloom_union_agg(f) from (
	select bloom_agg($key, 60000, 0.01) as f from member group by region) r},
		qr/^SELECT (region, )?public\.bloom_agg\($key, 60000::bigint, 0\.01::double precision\).* GROUP BY/,
		"select bloom_agg($key, 60000, 0.01) from gathered");
}

my ($of_page) = doc::text_block('doc/OPERATIONS.md', qr/bloom_union_agg/) =~ /^(select .*);$/ms;
builds_remotely('as doc/OPERATIONS.md has it', $of_page, qr/^SELECT (region, )?public\.bloom_agg\(id, 300000::bigint, 0\.01/,
	'select bloom_agg(id, 300000, 0.01) from gathered');

builds_remotely('a where clause', q{
select bloom_union_agg(f) from (
	select bloom_agg(id, 60000, 0.01) as f from member where id < 3000 group by region) r},
	qr/bloom_agg\(.* WHERE \(\(id < 3000\)\) GROUP BY/,
	'select bloom_agg(id, 60000, 0.01) from gathered where id < 3000');

builds_remotely('union all', join(' union all ', map { qq{
select bloom_agg(id, 60000, 0.01) as f from member_$_} } @regions) =~
	s/(.*)/select bloom_union_agg(f) from ($1) r/sr,
	qr/^SELECT public\.bloom_agg\(id, 60000::bigint, 0\.01::double precision\) FROM public\.member$/,
	'select bloom_agg(id, 60000, 0.01) from gathered');

# Without statistics the planner takes the parts for too many to be worth it.
builds_remotely('a set of parts', q{
select part, bloom_union_agg(f) from (
	select region, bloom_part(id, 4) as part, bloom_part_agg(id, 4, 60000, 0.01) as f
	from member group by region, bloom_part(id, 4)) r
group by part},
	qr/public\.bloom_part_agg\(id, 4, 60000::bigint, 0\.01::double precision\).* GROUP BY/,
	'select bloom_part(id, 4), bloom_part_agg(id, 4, 60000, 0.01) from gathered group by 1');

like(value(q{
explain (verbose, costs off) select bloom_union_agg(f) from (
	select bloom_agg(id, 60000, 0.01) as f from member group by region) r}),
	qr/Async Foreign Scan/, 'the servers build at the same time');

# Rows that other servers wrote have their transactions' numbers, which mean nothing here.
$node->safe_psql('postgres', q{
create table here as select 1 as id;
call bloom_publish('here', 'select id from here');
call bloom_publish('gathered', 'select id from member')});
is($node->safe_psql('postgres', 'select name, built_xmin is null from bloom_list order by 1'), "gathered|t\nhere|f",
	'built_xmin is of lists of rows of this server');

# Filters that remote servers keep can be united there, too, and be asked there.
$node->safe_psql($_, q{
create table whitelist as
select id % 2 as half, bloom_agg(id, 60000, 0.01) as filter from member group by 1}) foreach @regions;
$node->safe_psql('postgres', qq{
create foreign table whitelist_$_ (half bigint, filter bloomfilter) server $_
	options (table_name 'whitelist')}) foreach @regions;
builds_remotely('stored filters', 'select bloom_union_agg(f) from (' . join(' union all ', map { qq{
select bloom_union_agg(filter) as f from whitelist_$_} } @regions) . ') r',
	qr/^SELECT public\.bloom_union_agg\(filter\) FROM public\.whitelist$/,
	'select bloom_agg(id, 60000, 0.01) from gathered');
my ($asked) = remote_sql('select half from whitelist_east where bloom_contains(filter, 42::bigint) and bloom_cardinality(filter) > 1 and bloom_fpr(filter) < 1');
like($asked, qr/^SELECT half FROM .*public\.bloom_contains\(filter, 42::bigint\).*public\.bloom_cardinality\(filter\).*public\.bloom_fpr\(filter\)/,
	'what is asked of a filter is sent, not the filter');

# A subquery as n is asked here, once, and sent as a parameter.
my $subquery = q{
select bloom_union_agg(f) from (
	select bloom_agg(id, (select 60000::bigint), 0.01) as f from member group by region) r};
like($_, qr/bloom_agg\(id, \$1::bigint/, 'a subquery as n is a parameter') foreach remote_sql($subquery);
is(value("select md5(q::text) from ($subquery) q"),
	value('select md5(q::text) from (select bloom_agg(id, 60000, 0.01) from gathered) q'),
	'and the result is the same');
# Other servers' rows may be old: a list of them can't be tracked.
my (undef, undef, $refused) = $node->psql('postgres', q{call bloom_track('gathered')});
like($refused, qr/list "gathered" can't be tracked, since its query reads rows that may be old/, 'a list of foreign rows is not tracked');
# What is not sent: the rows travel.
$node->safe_psql('postgres', qq{alter server $_ options (drop extensions)}) foreach @regions;
unlike(join("\n", remote_sql(q{select bloom_agg(id, 60000, 0.01) from member group by region})),
	qr/bloom_agg/, 'without the option extensions nothing of ours is sent');

done_testing();
