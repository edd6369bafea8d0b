# Build time by number of keys, one process.  Processor time gives the line for the
# capacity table: other programs on the machine don't change it.

measure_build() {
	local n count build seconds set fit points=""
	print "build: one process, bigint keys of an unlogged table in cache, 1 %, median of 3"
	print "  $(printf '%12s %12s %14s %14s %14s' keys 'build, s' 'processor, s' 'ns/key' 'count(id) ns')"
	for n in $SIZES; do
		make_source "$n"
		sql -c "vacuum source"
		build=$(build_of "$n")
		known "$n" "$(value "$build")"
		count=$(median_cpu "select count(id) from source")
		seconds=$(median_cpu "$build")
		print "  $(printf '%12d %12.2f %14.2f %14.0f %14.0f' "$n" "$(compute "$(milliseconds "$build") / 1e3" %f)" \
			"$seconds" "$(compute "$seconds * 1e9 / $n" %f)" "$(compute "$count * 1e9 / $n" %f)")"
		points="$points$n $seconds\n"
		sql -c "drop table source"
	done
	fit=$(printf "$points" | awk '{ x += $1; y += $2; xx += $1 * $1; xy += $1 * $2; n++ }
		END { b = (n * xy - x * y) / (n * xx - x * x); printf "%.9f %.3f", b * 1e9, (y - b * x) / n }')
	print "  fit: processor seconds = $(compute "${fit% *}" '%.0f') ns * keys + ${fit#* } (least squares)"
	n=10000000
	make_source "$n"
	sql -c "vacuum source"
	set=$(compute "$(median_cpu "$(set_of "$n" 8)") * 1e9 / $n" '%.0f')
	print "  a set of 8 parts over $n keys, whose rows are grouped: $set ns/key"
	sql -c "drop table source"
	capacity_table "${fit% *}" "$set"
}

# build_of KEYS: one filter, or as many parts as it takes.
build_of() {
	local parts
	parts=$(value "select parts from bloom_sizing($1, 0.01)")
	if [ "$parts" = 1 ]; then
		echo "select bloom_cardinality(bloom_agg(id, $1, 0.01)) from source"
	else
		set_of "$1" "$parts"
	fi
}

# known KEYS CARDINALITY: ends the run if that is no estimate of so many keys.
known() {
	[ "$(compute "$2 > 0.99 * $1 && $2 < 1.01 * $1" %d)" = 1 ] || die "a filter of $1 keys seems to hold $2"
}

# capacity_table NS_PER_KEY NS_PER_KEY_OF_A_SET
capacity_table() {
	print
	print "capacity: bytes and parts from bloom_sizing, time of one core at $(compute "$1" '%.0f') ns per key, of sets $2"
	value "
select format('  %-6s %-7s %10s %8s %10s %14s', 'keys', 'p', 'bytes', 'parts', 'build', 'memory, 1 part')
union all
(select format('  10^%-3s %-7s %10s %8s %10s %14s', e, p, pg_size_pretty(s.bytes), s.parts,
	case when t < 120 then round(t, 1) || ' s' when t < 7200 then round(t / 60) || ' min'
		else round(t / 3600, 1) || ' h' end,
	pg_size_pretty(s.bytes / s.parts))
from generate_series(6, 11) e
cross join unnest(array[0.01, 0.001, 0.0001]) p
cross join lateral bloom_sizing((10::numeric ^ e)::bigint, p::float8) s
cross join lateral (select (10::numeric ^ e) * case when s.parts > 1 then $2 else $1 end / 1e9) b(t)
order by e, p desc)" | tee -a "$RESULTS"
}
