# What a night sends: deltas at some churn, and the time to make and apply them.

measure_ship() {
	local n=10000000 churn size all ms
	sql -c "create table ship as select bloom_agg(g::bigint, $n, 0.01) as filter from generate_series(1, $n) g"
	all=$(value "select (bloom_stats(filter)).bytes from ship")
	print "ship: 10^7 keys at 1 %, a filter of $(megabytes "$all") MB; so many keys replaced by others"
	print "  $(printf '%10s %14s %10s %12s %12s' churn 'delta, bytes' share 'diff, ms' 'apply, ms')"
	for churn in 0.001 0.01 0.1; do
		sql -c "create table next as select bloom_agg(g::bigint, $n, 0.01) as filter
				from generate_series(1 + ($churn * $n)::bigint, $n + ($churn * $n)::bigint) g" \
			-c "create table delta as select bloom_diff(ship.filter, next.filter) as delta from ship, next"
		[ "$(value "select bloom_apply(ship.filter, delta) = next.filter from ship, next, delta")" = t ] ||
			die "a delta does not lead from the old filter to the new one"
		size=$(value "select length(delta) from delta")
		ms=$(for i in 1 2 3; do milliseconds "select length(bloom_diff(ship.filter, next.filter)) from ship, next"; done | median)
		print "  $(printf '%10s %14s %9s%% %12.0f %12.0f' "$churn" "$size" "$(compute "$size * 100 / $all" '%.1f')" "$ms" \
			"$(for i in 1 2 3; do milliseconds "select (bloom_stats(bloom_apply(ship.filter, delta))).bytes from ship, delta"; done | median)")"
		sql -c "drop table next, delta"
	done
	sql -c "drop table ship"
	network_table "$n"
}

# delta_share KEYS P: a delta's share of the filter at 1 % churn.
delta_share() {
	value "
select round(length(bloom_diff(old.filter, new.filter))::numeric / (bloom_stats(new.filter)).bytes, 4)
from (select bloom_agg(g::bigint, $1, $2) as filter from generate_series(1, $1) g) old,
	(select bloom_agg(g::bigint, $1, $2) as filter from generate_series(1 + $1 / 100, $1 + $1 / 100) g) new"
}

# network_table KEYS: what a night sends, by the deltas' shares measured at so many keys.
network_table() {
	local p shares=
	for p in 0.01 0.001 0.0001; do
		shares+=${shares:+, }"($p, $(delta_share "$1" "$p"))"
	done
	print
	print "network of a night, computed: whole filters, which are random bits and don't compress, and deltas"
	print "at 1 % churn by the share measured for each p: $shares; sets of parts are sent whole"
	value "
select format('  %-6s %-7s %5s %11s %9s %11s %12s %9s %11s', 'keys', 'p', 'parts',
	'10 servers', '100', '1000', '10, deltas', '100', '1000')
union all
(select format('  10^%-3s %-7s %5s %11s %9s %11s %12s %9s %11s', e, p, s.parts,
	pg_size_pretty(s.bytes * 10), pg_size_pretty(s.bytes * 100), pg_size_pretty(s.bytes * 1000),
	d.delta[1], d.delta[2], d.delta[3])
from generate_series(6, 11) e cross join (values $shares) v(p, share)
cross join lateral bloom_sizing((10::numeric ^ e)::bigint, p) s
cross join lateral (select array_agg(case when s.parts > 1 then '-'
	else pg_size_pretty((s.bytes * servers * share)::bigint) end order by servers) as delta
	from unnest(array[10, 100, 1000]) servers) d
order by e, p desc)" | tee -a "$RESULTS"
}
