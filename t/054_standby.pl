# Look-ups on a hot standby, while the primary publishes: no error and no member is
# ever denied.
use BloomTest;

require "$FindBin::Bin/050_doc.pm";

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
autovacuum_naptime = 1
hot_standby_feedback = on
});
$primary->start;
$primary->safe_psql('postgres', doc::operations_until('Publish'));
# The page's account has ids from 1 to 100000.
$primary->safe_psql('postgres', q{call bloom_publish('account', 'select id from account', parts => 8)});

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);

# A denied member, or an answer that is none, is a division by zero.
my $clients = doc::ask_members($standby, 'postgres', q{
\set k random(1, 100000)
select 1 / bloom_lookup('account', :k::bigint)::int;
});

# Swaps that change everything: the number of parts, the size, the seed.
my $last;
foreach my $night (1 .. 6)
{
	my ($parts, $n) = (1 + $night % 5, 200000 + 50000 * ($night % 3));
	$primary->safe_psql('postgres',
		"call bloom_publish('account', 'select id from account', parts => $parts, n => $n, seed => $night)");
	$primary->safe_psql('postgres', 'vacuum bloom_generation_part') if $night % 4 == 0;
	$primary->wait_for_catchup($standby);
	$last = $standby->safe_psql('postgres', 'select seed from bloom_list');
}
is($last, 6, 'the standby has seen the last swap');

is(doc::stop_asking($clients), '', 'no error and no denied member');
is($standby->safe_psql('postgres', q{select count(*) filter (where not bloom_lookup('account', id)) from account}),
	0, 'the standby finds every key');
my $bytes = q{select md5(string_agg(filter::text, ',' order by back, part)) from bloom_generation_part};
is($standby->safe_psql('postgres', $bytes), $primary->safe_psql('postgres', $bytes), 'the same bytes');
my ($status, $out, $err) = $standby->psql('postgres', q{call bloom_publish('account', 'select id from account')});
like($err, qr/read-only transaction/, 'a standby does not publish');

# A standby that is promoted goes on, with what came by day.
$standby->promote;
is($standby->safe_psql('postgres', q{select count(*) filter (where not bloom_lookup('account', id)) from account}),
	0, 'so it does after promotion');
my $serial = $standby->safe_psql('postgres', 'select serial from bloom_list');
cmp_ok($standby->safe_psql('postgres', q{
call bloom_publish('account', 'select id from account');
call bloom_rollback('account');
select serial from bloom_list}), '>', $serial, 'publishes itself then, and has the way back');

done_testing();
