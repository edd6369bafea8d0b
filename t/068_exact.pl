# Exact lists: all keys of the query are looked up and compared with their booleans, whatever
# the share of members, the parts and the way of the build; strangers pass at the rate that was
# asked for; a look-up reads the blocks that it needs.  test/core/test_exact.c has few members, few
# others, all rates and levels that grow, sql/exact.sql all types of keys.
#
# EXACT_KEYS=10000000 has so many keys; else there are some hundred thousand at most.
use BloomTest;

my $keys = $ENV{EXACT_KEYS} // 40_000;
my $parallel = <<'EOC';
SET max_parallel_workers_per_gather = 1; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
EOC
my $serial = "SET max_parallel_workers_per_gather = 0;\n";

my %key = (id => 'id', row => 'ROW(id, name)');

# So many keys, of which a share are members: those whose number has a small hash.
sub make_keys
{
	my ($session, $count, $share) = @_;
	$session->query(<<"EOC");
DROP TABLE IF EXISTS universe;
CREATE TABLE universe AS SELECT g::bigint AS id, 'user ' || g AS name,
	(hashint8extended(g, 42) & 1048575) < 1048576 * $share AS member
FROM generate_series(1, $count) g;
VACUUM ANALYZE universe;
EOC
	return;
}

sub publish
{
	my ($session, $settings, $type, $more) = @_;
	return $session->query(
		"$settings CALL bloom_publish('$type', 'SELECT $key{$type}, member FROM universe', allow_shrink => true, allow_empty => true$more)");
}

# Keys that get another answer than their boolean, one by one and at once, and all keys.
sub wrong
{
	my ($session, $type) = @_;
	return $session->query(<<"EOC");
SELECT count(*) FILTER (WHERE bloom_lookup('$type', $key{$type}) <> member), count(*) FROM universe;
SELECT count(*) FROM (
	SELECT unnest(bloom_lookup_each('$type', array_agg($key{$type}))) AS found, unnest(array_agg(member)) AS member FROM universe GROUP BY id / 1000
) e WHERE found <> member;
EOC
}

# Strangers that pass, of 200000.
sub strangers
{
	my ($session) = @_;
	return $session->query("SELECT count(*) FROM generate_series(1, 200000) g WHERE bloom_lookup('id', -g::bigint)");
}

sub digest
{
	my ($session, $type) = @_;
	return $session->query("SELECT md5(string_agg(md5(bloomfilter_send(filter)), '' ORDER BY part)) FROM bloom_list_part WHERE name = '$type'");
}

my $node = new_node('exact');
my $session = session($node);

foreach my $share (0.0001, 0.5)
{
	make_keys($session, $keys, $share);
	foreach my $type (sort keys %key)
	{
		publish($session, $serial, $type, '');
		is(wrong($session, $type), "0|$keys\n0", "$keys keys, a share of $share members: $type");
	}
	# Six standard deviations of what a rate of 1 % lets in.
	my $passed = strangers($session);
	cmp_ok($passed, '<', 200_000 * 0.01 + 6 * sqrt(200_000 * 0.01), "$passed of 200000 strangers pass");

	# As the last one in parts, and in other processes.
	like($session->query("$parallel EXPLAIN SELECT count(id), bool_and(member) FROM universe"),
		qr/Workers Planned: 1/, 'there is a second process');
	foreach my $parts (1, 16)
	{
		$session->query("CALL bloom_drop('row')");
		publish($session, $serial, 'row', ", parts => $parts, seed => 7");
		my $digest = digest($session, 'row');
		is(wrong($session, 'row'), "0|$keys\n0", "in $parts parts");
		$session->query("CALL bloom_drop('row')");
		publish($session, $parallel, 'row', ", parts => $parts, seed => 7");
		is(digest($session, 'row'), $digest, "two processes make the same bytes, in $parts parts");
	}
}

# The n of the caller is far too small, and the query's rows are never counted.
make_keys($session, $keys, 0.3);
publish($session, $serial, 'id', ', n => 100');
is(wrong($session, 'id'), "0|$keys\n0", 'n was far too small');

# Blocks of the TOAST heap that look-ups read, without copies: one of a stranger, and at most three of a member.
{
	$session->query("SET max_parallel_workers_per_gather = 0; SET bloomfilter.cache_size = 0");
	make_keys($session, 430_000, 0.1);
	$session->query("CALL bloom_drop('id')");
	$session->query("CALL bloom_publish('id', 'SELECT id, member FROM universe')");
	my $bits = $session->query("SELECT bytes * 8.0 / rows FROM bloom_published WHERE name = 'id'");
	cmp_ok($bits, '<=', 1.35 * 11.2, 'by default a list has at most 1.35 times the bits that its keys need');
	$session->query("CALL bloom_publish('plain', 'SELECT id FROM universe WHERE member', p => 0.001)");
	my $blocks = sub {
		my ($list, $asked) = @_;
		my @counts;
		my $query = "SELECT count(bloom_lookup('$list', id)) FROM (SELECT id FROM $asked LIMIT 2000) s";
		$session->query($query);
		foreach my $again (1, 2)
		{
			$session->query('SELECT pg_stat_force_next_flush()');
			push @counts, $session->query("SELECT toast_blks_read + toast_blks_hit FROM pg_statio_all_tables WHERE relid = 'bloom_generation_part'::regclass");
			$session->query($query) if $again == 1;
		}
		return ($counts[1] - $counts[0]) / 2000;
	};
	my $stranger = $blocks->('id', '(SELECT -g AS id FROM generate_series(1::bigint, 2000) g) s');
	my $plain = $blocks->('plain', '(SELECT -g AS id FROM generate_series(1::bigint, 2000) g) s');
	my $member = $blocks->('id', 'universe WHERE member');
	note "blocks: a stranger $stranger, in a plain list $plain, a member $member";
	cmp_ok($stranger, '<', 1.1, 'a stranger reads one block');
	cmp_ok($stranger, '>=', 1, 'and one is counted');
	cmp_ok($member, '<', 2.2, 'a member reads two, and seldom a third');
	cmp_ok($member, '>', 1.9, 'and two are counted');
}

finish($node);
