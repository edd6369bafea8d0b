# checks.sh: what scripts of tests share; to be sourced by bash.

PASSED=0
FAILED=0

# What else is to be shown when a check fails.
show_more() {
	:
}

# passed PROPERTY, failed PROPERTY
passed() {
	PASSED=$((PASSED + 1))
	echo "ok - $1"
}

failed() {
	FAILED=$((FAILED + 1))
	echo "not ok - $1"
}

# check PROPERTY COMMAND...: holds if the command succeeds; it runs in this shell.
check() {
	local property=$1 log
	log=$(mktemp)
	shift
	if "$@" >"$log" 2>&1; then
		passed "$property"
	else
		failed "$property"
		tail -n 60 "$log" | sed 's/^/# /'
		show_more
	fi
	rm -f "$log"
}

# is PROPERTY EXPECTED FOUND
is() {
	if [ "$2" = "$3" ]; then
		passed "$1"
	else
		failed "$1"
		printf '# expected: %s\n# found: %s\n' "$2" "$3"
	fi
}

# The last line, and the status.
finish_checks() {
	echo "$PASSED passed, $FAILED failed"
	[ "$FAILED" = 0 ]
}
