# Cost of a look-up by the size of the filter, from 1 MB to 500 MB.

measure_flat() {
	local mb round sizes="1 4 16 64 128 256 500"
	sql -c "create table flat (mb int primary key, filter bloomfilter not null)"
	for mb in $sizes; do
		sql -c "insert into flat select $mb, bloom_agg(g::bigint, $mb * 1000000 / 124 * 100, 0.01)
			from generate_series(1, least($mb * 800000, 4000000)) g"
	done
	sql -c "vacuum analyze flat" -c "create extension if not exists pg_prewarm" \
		-c "select pg_prewarm(reltoastrelid) from pg_class where relname = 'flat'" >/dev/null
	for round in 1 2 3 4 5 6 7 8 9; do
		for mb in $sizes; do
			tps "select bloom_contains(filter, :k::bigint) from flat where mb = $mb" 1 >>"$SCRATCH/flat.$mb"
		done
		tps "select :k::bigint" 1 >>"$SCRATCH/flat.nothing"
	done
	print "flat: two clients, look-ups by prepared statement, median of 9 interleaved rounds"
	print "  $(printf '%8s %14s %14s %20s' MB 'look-ups/s' 'us of one' 'look-ups/s, range')"
	for mb in $sizes; do
		print "  $(printf '%8s %14s %14s %20s' "$mb" "$(median <"$SCRATCH/flat.$mb")" \
			"$(compute "2e6 / $(median <"$SCRATCH/flat.$mb")" '%.1f')" "$(spread <"$SCRATCH/flat.$mb")")"
		echo "$mb $(compute "2e6 / $(median <"$SCRATCH/flat.$mb")" '%.2f')" >>"$SCRATCH/flat.points"
	done
	print "  select :k: $(median <"$SCRATCH/flat.nothing") ($(spread <"$SCRATCH/flat.nothing"))"
	print "  slowest to fastest size: $(awk '{ print $2 }' "$SCRATCH/flat.points" | sort -g |
		awk 'NR == 1 { low = $1 } { high = $1 } END { printf "%.2f", high / low }')"
	print "  look-ups/s of one core: $(compute "$(sort -g "$SCRATCH"/flat.[0-9]* | median) / 2" '%.0f') (median of all sizes and rounds)"
	plot_flat "$(compute "2e6 / $(median <"$SCRATCH/flat.nothing")")"
	sql -c "drop table flat"
}

# plot_flat US_OF_NOTHING
plot_flat() {
	gnuplot <<-END
		set terminal svg size 640,360 font "sans,12" background "white"
		set output "$HERE/flat.svg"
		set title "A look-up costs the same for every size of the filter"
		set logscale x
		set xlabel "filter, MB"
		set ylabel "statement, microseconds"
		set yrange [0:*]
		set key bottom right
		plot "$SCRATCH/flat.points" using 1:2 with linespoints pointtype 7 title "bloom\\\\_contains", \
			$1 with lines dashtype 2 title "select :k"
	END
}
