# Peak memory of a build: the filters, and a constant.  Shared memory counts in
# VmHWM, so this step has a server with little of it.

measure_memory() {
	local build keys bytes base kb what
	value "alter system set shared_buffers = '4MB'" >/dev/null
	restart_cluster
	make_source 10000000
	sql -c "create unlogged table kept (filter bloomfilter)" \
		-c "create statistics source_part on (bloom_part(id, 8)) from source" -c "analyze source"
	base=$(peak "select bloom_cardinality(bloom_agg(id, 1000000, 0.01)) from source where id <= 100")
	print "memory: VmHWM of the process that builds from 10^7 rows, over that of a build of 1.2 MB"
	print "  $(printf '%-34s %12s %12s %12s' build 'filters, MB' 'peak, MB' ratio)"
	while IFS='|' read -r what build bytes; do
		kb=$(peak "$build")
		print "  $(printf '%-34s %12s %12s %12s' "$what" "$(megabytes "$bytes")" \
			"$(compute "($kb - $base) * 1024 / 1e6 + 1.24" '%.1f')" \
			"$(compute "(($kb - $base) * 1024 + 1240000) / $bytes")")"
	done <<-END
		n = 10^7|select bloom_cardinality(bloom_agg(id, 10000000, 0.01)) from source|$(bytes_of 10000000)
		n = 10^8|select bloom_cardinality(bloom_agg(id, 100000000, 0.01)) from source|$(bytes_of 100000000)
		n = 4 * 10^8, few keys|select bloom_cardinality(bloom_agg(id, 400000000, 0.01)) from source|$(bytes_of 400000000)
		8 parts, n = 10^8|$(set_of 100000000 8)|$(bytes_of 100000000)
		n = 10^8, inserted|insert into kept select bloom_agg(id, 100000000, 0.01) from source|$(bytes_of 100000000)
		n = 10^8, leader of two processes|set max_parallel_workers_per_gather = 1; select bloom_cardinality(bloom_agg(id, 100000000, 0.01)) from source|$(bytes_of 100000000)
		n not given (list: 8 bytes a key)|select bloom_cardinality(bloom_agg(id)) from source|$((80000000 + $(bytes_of 10000000)))
	END
	sql -c "drop table source, kept"
	value "alter system reset shared_buffers" >/dev/null
	restart_cluster
}

bytes_of() {
	value "select bytes from bloom_sizing($1, 0.01)"
}

restart_cluster() {
	as_postgres "$PG_BIN/pg_ctl" -D "${CLUSTERS[-1]}" -l "${CLUSTERS[-1]}.log" -m fast -w restart >/dev/null
}
