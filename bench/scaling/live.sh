# Live filters by number of keys: an index of an unlogged table that holds every number
# from 1 to n, built by one process and by two.

measure_live() {
	local n sizes="10000000 100000000"
	[[ " $SIZES" != *" 1000000000"* ]] || sizes="$sizes 1000000000"
	print "live: indexes of bigint keys at 1 %, built with n given, one build each"
	for n in $sizes; do
		make_source "$n"
		sql -c "vacuum source"
		measure_live_index "$n"
		sql -c "drop table source"
	done
}

# measure_live_index KEYS: of the table source.
measure_live_index() {
	local alone two create="create index source_live on source using bloomfilter (id) with (n = $1)"
	local memory="set maintenance_work_mem = '1GB'"
	two=$(milliseconds "$memory; set max_parallel_maintenance_workers = 1; $create")
	sql -c "drop index source_live"
	alone=$(milliseconds "$memory; $create")
	print "  $1 keys, table of $(value "select pg_size_pretty(pg_relation_size('source'))"):"
	print "    built by one process:        $(compute "$alone / 1e3" '%.1f') s, $(compute "$alone * 1e6 / $1" '%.0f') ns a key"
	print "    built by two:                $(compute "$two / 1e3" '%.1f') s, $(compute "$alone / $two") x"
	print "    bytes, pages of overflow:    $(value "select pg_relation_size('source_live') || ', ' || overflow_pages from bloom_index_stats('source_live')")"
	print "    members missing, of a sample: $(value "select count(*) filter (where not bloom_index_contains('source_live', id)) || ' of ' || count(*) from source tablesample system (100.0 * 1000000 / $1)")"
	print "    rate on 10^6 absent keys:    $(value "select avg(bloom_index_contains('source_live', -g)::int) from generate_series(1::bigint, 1000000) g")"
	print "    look-ups/s:                  $(KEYS=$1 tps "select bloom_index_contains('source_live', :k::bigint)" 10)"
	print "    keys/s, 1000 a statement:    $(compute "1000 * $(KEYS=$1 tps "select cardinality(array_positions(bloom_index_contains_each('source_live', array(select :k::bigint * i % $1 + 1 from generate_series(1, 1000) i)), true))" 10)" '%.0f')"
}
