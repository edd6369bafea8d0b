# packages.sh: what the programs that use the packages share; to be sourced by bash.

. "$(dirname "$0")/../checks.sh"

# Systems without documentation keep only the package's list.
lists_page() {
	dpkg -L "$1" | grep -qx "/usr/share/man/$2.gz"
}

# Even numbers, as in SQL and by the command line.  What passes of others depends on the keys
# alone, so it is the same each time: 3 and -42 do not.
build_even() {
	seq 2 2 2000 | bloomfilter build -t integer -n 1000 -p 0.001 "$1"
}
