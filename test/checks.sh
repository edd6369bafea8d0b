# checks.sh: what the programs that use the packages share; to be sourced by bash.

PASSED=0
FAILED=0

# What else is to be shown when a check fails.
show_more() {
	:
}

# check PROPERTY COMMAND...: holds if the command succeeds.
check() {
	local property=$1 output
	shift
	if output=$("$@" 2>&1); then
		PASSED=$((PASSED + 1))
		echo "ok - $property"
	else
		FAILED=$((FAILED + 1))
		echo "not ok - $property"
		[ -z "$output" ] || echo "$output" | tail -n 60 | sed 's/^/# /'
		show_more
	fi
}

# Systems without documentation keep only the package's list.
lists_page() {
	dpkg -L "$1" | grep -qx "/usr/share/man/$2.gz"
}

# The last line, and the status.
finish_checks() {
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" = 0 ]
}

# Even numbers, as in SQL and by the command line.  What passes of others depends on the keys
# alone, so it is the same each time: 3 and -42 do not.
build_even() {
	seq 2 2 2000 | bloomfilter build -t integer -n 1000 -p 0.001 "$1"
}
