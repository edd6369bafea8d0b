# Space and WAL of nights, and recovery after a crash behind one.

measure_nights() {
	local way bytes insert swap redo
	make_source 2000000
	print "nights: a filter of $(megabytes "$(bytes_of 10000000)") MB (n = 10^7) replaced by UPDATE; size of its table with TOAST and indexes"
	for way in "" "vacuum night"; do
		sql -c "create table night (name text primary key, filter bloomfilter not null)" \
			-c "alter table night set (toast.vacuum_truncate = false)" \
			-c "insert into night select 'x', bloom_agg(id, 10000000, 0.01) from source"
		for i in $(seq 10); do
			sql -c "update night set filter = (select bloom_agg(id, 10000000, 0.01) from source where id % 100 <> $i)"
			[ -z "$way" ] || sql -c "$way"
		done
		print "  after 10 nights, ${way:-no vacuum}: $(megabytes "$(value "select pg_total_relation_size('night')")") MB"
		[ -n "$way" ] || print "  then one vacuum: $(sql -c 'vacuum night'; megabytes "$(value "select pg_total_relation_size('night')")") MB"
		[ -n "$way" ] || sql -c "drop table night"
	done

	bytes=$(bytes_of 10000000)
	sql -c checkpoint
	swap=$(wal "$(swap 11)")
	print "  WAL of a swap right after a checkpoint: $(megabytes "$swap") MB"
	print "  WAL of the next swap:                   $(megabytes "$(wal "$(swap 12)")") MB"
	sql -c "vacuum night" -c checkpoint
	insert=$(wal "insert into night select 'y', filter from night where name = 'x'")
	print "  WAL of an INSERT of the same filter:    $(megabytes "$insert") MB"
	print "  WAL of a DELETE after a checkpoint:     $(sql -c checkpoint; megabytes "$(wal "delete from night where name = 'y'")") MB"
	print "  WAL of the vacuum:                      $(megabytes "$(wal "vacuum night")") MB"

	sql -c checkpoint -c "insert into night select 'big', bloom_agg(id, 100000000, 0.01) from source"
	as_postgres "$PG_BIN/pg_ctl" -D "${CLUSTERS[-1]}" -m immediate -w stop >/dev/null
	as_postgres "$PG_BIN/pg_ctl" -D "${CLUSTERS[-1]}" -l "${CLUSTERS[-1]}.log" -w start >/dev/null
	redo=$(sed -n 's/.*redo done.*elapsed: \([0-9.]*\) s.*/\1/p' "${CLUSTERS[-1]}.log" | tail -1)
	print "  redo after a crash behind the INSERT of 124 MB: $redo s"
	[ "$(value "select bool_and(bloom_verify(filter)) from night")" = t ] || die "the filter is damaged after recovery"
	sql -c "drop table night" -c "drop table if exists source"

	print
	print "WAL of a night, to each standby, computed: $(compute "$insert / $bytes") to $(compute "$swap / $bytes") times the filters;"
	print "and the redo of it all after a crash, at $(compute "$redo / 124" '%.4f') s per MB"
	value "
select format('  %-6s %-7s %12s %12s %12s', 'keys', 'p', 'new values', 'at most', 'redo')
union all
(select format('  10^%-3s %-7s %12s %12s %10s s', e, p, pg_size_pretty((s.bytes * $insert / $bytes)::bigint),
	pg_size_pretty((s.bytes * $swap / $bytes)::bigint), round((s.bytes * $swap / $bytes / 1e6 * $redo / 124)::numeric, 1))
from generate_series(6, 11) e cross join unnest(array[0.01, 0.001, 0.0001]) p
cross join lateral bloom_sizing((10::numeric ^ e)::bigint, p) s
order by e, p desc)" | tee -a "$RESULTS"
}

swap() {
	echo "update night set filter = (select bloom_agg(g::bigint, 10000000, 0.01)
		from generate_series(1, 2000000) g where g % 100 <> $1)"
}
