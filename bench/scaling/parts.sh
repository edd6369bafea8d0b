# A set of 8 parts over 4 * 10^7 keys: size, rate, look-ups beside a single filter,
# and building it with two processes.

measure_parts() {
	local n=40000000 i one two single set build half_build
	make_source "$n"
	sql -c "create statistics source_part on (bloom_part(id, 8)) from source" \
		-c "vacuum analyze source" \
		-c "create table one (name text primary key, filter bloomfilter not null)" \
		-c "create table part (name text, part int, filter bloomfilter not null, primary key (name, part))"
	build="select bloom_part(id, 8), bloom_part_agg(id, 8, $n, 0.01) from source group by bloom_part(id, 8)"

	print "parts: 8 parts over 4 * 10^7 keys, p = 0.01; builds in turns, medians of 7"
	for i in 1 2 3 4 5 6 7; do
		milliseconds "with p as materialized ($build) select count(*) from p" >>"$SCRATCH/one"
		milliseconds "set max_parallel_workers_per_gather = 1;
			with p as materialized ($build) select count(*) from p" >>"$SCRATCH/two"
		halves "$n" >>"$SCRATCH/halves"
	done
	one=$(median <"$SCRATCH/one")
	two=$(median <"$SCRATCH/two")
	print "  one process:                     $(compute "$one / 1e3") s ($(spread <"$SCRATCH/one") ms)"
	print "  parallel plan, two processes:    $(compute "$two / 1e3") s ($(spread <"$SCRATCH/two") ms), $(compute "$one / $two") x"
	two=$(median <"$SCRATCH/halves")
	print "  two sessions, half of the rows each, united: $(compute "$two / 1e3") s ($(spread <"$SCRATCH/halves") ms), $(compute "$one / $two") x"

	half_build="select bloom_part(id, 8), bloom_part_agg(id, 8, $n, 0.01) from source
		where ctid < '($(half_of_pages),0)' group by bloom_part(id, 8)"
	one=$(median_cpu "select count(*) from ($build offset 0) p")
	two=$(median_cpu "select count(*) from ($half_build offset 0) p")
	print "  processor time of the one process: $one s, for half of the rows: $two s, $(compute "$one / $two") x"

	sql -c "insert into one select 'x', bloom_agg(id, $n, 0.01) from source" \
		-c "insert into part select 'x', * from ($build) p" -c "vacuum analyze one" -c "vacuum analyze part"
	print "  single filter, bytes:            $(value "select (bloom_stats(filter)).bytes from one")"
	print "  set, bytes:                      $(value "select sum((bloom_stats(filter)).bytes) from part")"
	print "  members of 4 * 10^7 missing:     $(missing)"
	print "  rate on 10^6 absent keys, set:   $(rate_of_set)"
	print "  rate on 10^6 absent keys, one:   $(value "select avg(bloom_contains(filter, -g)::int) from one, generate_series(1, 1000000) g")"

	for i in 1 2 3 4 5 6 7; do
		KEYS=$n tps "select bloom_contains(filter, :k::bigint) from one where name = 'x'" 3 >>"$SCRATCH/single"
		KEYS=$n tps "select bloom_contains(filter, :k::bigint) from part where name = 'x' and part = bloom_part(:k::bigint, 8)" 3 >>"$SCRATCH/set"
		KEYS=$n tps "select :k::bigint" 2 >>"$SCRATCH/nothing"
	done
	single=$(median <"$SCRATCH/single")
	set=$(median <"$SCRATCH/set")
	print "  look-ups/s, single filter:       $single ($(spread <"$SCRATCH/single"))"
	print "  look-ups/s, set:                 $set ($(spread <"$SCRATCH/set")), $(compute "$set / $single") x"
	print "  select :k:                       $(median <"$SCRATCH/nothing") ($(spread <"$SCRATCH/nothing"))"
	sql -c "drop table source, one, part"
}

# The same set by two sessions, each over half of the table's pages.
halves() {
	local half start
	half=$(half_of_pages)
	sql -c "create unlogged table half (part int, filter bloomfilter)"
	start=$(date +%s%N)
	for range in "ctid < '($half,0)'" "ctid >= '($half,0)'"; do
		sql -c "insert into half select bloom_part(id, 8), bloom_part_agg(id, 8, $1, 0.01)
			from source where $range group by bloom_part(id, 8)" &
	done
	wait
	sql -c "create unlogged table whole as select part, bloom_union_agg(filter) as filter from half group by part"
	compute "($(date +%s%N) - $start) / 1e6" '%.3f'
	echo
	sql -c "drop table half, whole"
}

half_of_pages() {
	value "select relpages / 2 from pg_class where relname = 'source'"
}

missing() {
	value "select sum((select count(*) from source where bloom_part(id, 8) = part and not bloom_contains(filter, id))) from part"
}

rate_of_set() {
	value "select sum((select count(*) from generate_series(1, 1000000) g where bloom_part(-g, 8) = part and bloom_contains(filter, -g))) / 1e6 from part"
}
