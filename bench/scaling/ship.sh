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
		[ "$churn" != 0.01 ] || DELTA_SHARE=$(compute "$size / $all" '%.4f')
		sql -c "drop table next, delta"
	done
	sql -c "drop table ship"
	print
	print "network of a night at 1 % churn, computed from the bytes above (no compression of whole filters: they are random bits)"
	value "
select format('  %-6s %12s %12s %12s %12s', 'keys', 'servers', 'whole', 'deltas', 'parts')
union all
(select format('  10^%-3s %12s %12s %12s %12s', e, servers, pg_size_pretty(s.bytes * servers),
	pg_size_pretty((s.bytes * servers * $DELTA_SHARE)::bigint), s.parts)
from generate_series(6, 11) e cross join unnest(array[10, 100, 1000]) servers
cross join lateral bloom_sizing((10::numeric ^ e)::bigint, 0.01) s
order by e, servers)" | tee -a "$RESULTS"
}
