#!/bin/sh
# Runs test programs and counts their lines.
#
#	run.sh PROGRAM...
#
# A program that crashes, or that stops before its plan, counts as a failure.
passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for program in "$@"; do
	echo "# $program"
	"$program" > "$output" 2>&1
	status=$?
	if [ -n "$VERBOSE" ]; then
		cat "$output"
	else
		grep -v '^ok ' "$output"
	fi
	good=$(grep -c '^ok ' "$output")
	bad=$(grep -c '^not ok ' "$output")
	if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || ! grep -q '^1\.\.' "$output"; }; then
		echo "not ok - $program ended with status $status"
		bad=1
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
