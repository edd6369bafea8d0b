#!/bin/sh
# names.sh: what the library shows to the programs that are linked with it, built as
# distributions do, with link-time optimization. Prints TAP.
cd "$(dirname "$0")/../.." || exit 1
out=build/test-lib/names
count=0

# check NAME COMMAND...: holds if the command succeeds.
check() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >"$out.log" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		sed 's/^/# /' "$out.log" | head -20
	fi
}

functions() {
	sed -n 's/^extern .*\b\(bloomfilter_[a-z0-9_]*\)(.*/\1/p' src/lib/libbloomfilter.h | sort -u
}

shown_by_static() {
	nm -g --defined-only "$out/libbloomfilter.a" | awk 'NF == 3 { print $3 }' | sort -u >"$out.static"
	functions | diff - "$out.static"
}

shown_by_shared() {
	nm -D --defined-only "$out/libbloomfilter.so" | awk '$2 == "T" { print $3 }' | sort -u >"$out.shared"
	functions | sed 's/$/@@BLOOMFILTER_1/' | diff - "$out.shared"
}

# A program may have functions of its own that are called as our inner ones.
program() {
	cat >"$out.c" <<-END
		#include "libbloomfilter.h"
		int bf_any_parse(void);
		int bf_hash(void);
		int bf_any_parse(void) { return 1; }
		int bf_hash(void) { return 2; }
		int main(void) { return bloomfilter_version()[0] == 0 || bf_any_parse() + bf_hash() != 3 ||
			bloomfilter_open("/", 0, 0, 0) != BLOOMFILTER_ERR_ARGUMENT || BLOOMFILTER_VERSION_NUMBER < 10000; }
	END
	gcc -O1 -flto=auto -Isrc/lib -o "$out.program" "$out.c" "$out/libbloomfilter.a" -pthread -lm &&
		"$out.program"
}

mkdir -p "$out"
check "the library builds for linking with optimization" \
	make -s -C src/lib BUILD="$PWD/$out" CFLAGS="-O0 -flto=auto -ffat-lto-objects" LDFLAGS=-flto=auto
check "the static library shows its functions and nothing else" shown_by_static
check "the shared library shows its functions, each with its version" shown_by_shared
check "a program's own names don't meet the library's" program
echo "1..$count"
