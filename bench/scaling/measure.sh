# measure.sh: how the steps of run measure; to be sourced.

sql() {
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}

value() {
	psql -XAtq -v ON_ERROR_STOP=1 -c "$1"
}

print() {
	printf '%s\n' "$*" | tee -a "$RESULTS"
}

# milliseconds SQL: of the last statement, without the connection.
milliseconds() {
	printf '%s\n' '\timing on' "$1;" | psql -X -q -v ON_ERROR_STOP=1 | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -1
}

# median: of the lines of stdin.
median() {
	sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# spread: lowest and highest of the lines of stdin.
spread() {
	sort -g | awk 'NR == 1 { low = $1 } { high = $1 } END { print low " to " high }'
}

# compute EXPRESSION [FORMAT]
compute() {
	awk "BEGIN { printf \"${2:-%.2f}\", ($1) }"
}

# tps SQL [SECONDS]: pgbench, prepared, one client for each of two cores, as a core that
# falls asleep between two statements would be measured by its waking up; :k is a random
# bigint up to :keys.
tps() {
	printf '%s\n' "\\set k random(1, ${KEYS:-1000000000})" "$1;" |
		as_postgres tee "$SCRATCH/ask.sql" >/dev/null
	pgbench -n -M prepared -c 2 -j 2 -T "${2:-3}" -f "$SCRATCH/ask.sql" |
		sed -n 's/^tps = \([0-9]*\).*/\1/p'
}

# peak SQL: VmHWM in kB of a fresh server process after it.
peak() {
	as_root true
	printf '%s\n' 'select pg_backend_pid() as pid \gset' "$1;" '\setenv PID :pid' \
		'\! grep VmHWM /proc/$PID/status' |
		psql -XAtq -v ON_ERROR_STOP=1 | sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p'
}

# cpu SQL: seconds of processor that a fresh server process took for it.
cpu() {
	printf '%s\n' 'select pg_backend_pid() as pid \gset' "$1;" '\setenv PID :pid' \
		'\! cut -d" " -f14,15 /proc/$PID/stat' |
		psql -XAtq -v ON_ERROR_STOP=1 | awk -v hz="$(getconf CLK_TCK)" 'END { print ($1 + $2) / hz }'
}

# median_cpu SQL: of three times.
median_cpu() {
	local i
	for i in 1 2 3; do cpu "$1"; done | median
}

# make_source KEYS: table source (id bigint) of the numbers from 1 on.
make_source() {
	sql -c "create unlogged table source as select g::bigint as id from generate_series(1, $1) g"
}

# set_of KEYS PARTS: the statement that builds a set from source, in one line.
set_of() {
	echo "set enable_sort = off; select sum(bloom_cardinality(f)) from (select bloom_part_agg(id, $2, $1, 0.01) as f from source group by bloom_part(id, $2)) p"
}

# wal SQL: bytes of WAL that it writes.
wal() {
	local before
	before=$(value 'select pg_current_wal_insert_lsn()')
	sql -c "$1" >/dev/null
	value "select pg_current_wal_insert_lsn() - '$before'"
}

megabytes() {
	compute "$1 / 1e6" '%.1f'
}
