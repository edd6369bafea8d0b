# lib.sh: what demo, test and bench share; to be sourced by bash.
#
# Everything happens in a scratch folder of its own: a copy of the tree, a private
# copy of the system's PostgreSQL to install into, and throw-away clusters on Unix
# sockets.  The system gets Debian packages and nothing else.  On exit the servers
# are stopped by their own pg_ctl and the folder is removed.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
	printf '== %s\n' "$*" >&2
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root or sudo to run: $*"
	fi
}

# PostgreSQL refuses to run as root.
as_postgres() {
	as_root runuser -u postgres -- env -C "$SCRATCH" HOME="$SCRATCH" "$@"
}

# install_packages NAME...: those that are missing.
install_packages() {
	local missing=() name
	for name in "$@"; do
		dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${missing[*]}"
	# Debian's packages would start a cluster of their own.
	if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		as_root mkdir -p /etc/postgresql-common
		echo 'create_main_cluster = false' |
			as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
	fi
	as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
	# Nor do we want its web server, or any other service, to be started.
	local policy=/usr/sbin/policy-rc.d status=0
	[ -e $policy ] && policy= || printf '#!/bin/sh\nexit 101\n' | as_root install -m 755 /dev/stdin $policy
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends -o Dpkg::Options::=--force-confold "${missing[@]}" \
		>/dev/null || status=$?
	[ -z "$policy" ] || as_root rm -f "$policy"
	return $status
}

# The PostgreSQL major that this Debian brings, unless PG_MAJOR says another.
find_pg_major() {
	if [ -z "${PG_MAJOR:-}" ]; then
		[ -n "$(apt-cache depends postgresql 2>/dev/null)" ] ||
			as_root apt-get update -qq >&2
		PG_MAJOR=$(apt-cache depends postgresql |
			sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
	fi
	[ -n "$PG_MAJOR" ] || die "this system has no package postgresql; set PG_MAJOR"
}

# What building and serving the extension takes.
install_postgres() {
	find_pg_major
	install_packages gcc make libxxhash-dev util-linux \
		"postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" postgresql-contrib
}

# extra_suites [CODENAME]: lines of apt for the other suites of this Debian, or of another
# release: updates and security. What is built here needs a server of the same minor
# release at least, and pg_upgrade one that knows what the older one's security fixes added.
extra_suites() {
	local codename
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) main' 'Created-By: Packages' |
		grep -E " $codename-(updates|security) main" | sort -u | sed "s/ $codename-/ ${1:-$codename}-/"
}

# setup_block SECTION: the commands of that section of doc/SETUP.md, which tests run as they stand.
setup_block() {
	sed -n "/^## $1\$/,/^## /{/^\`\`\`text/,/^\`\`\`\$/p}" "$ROOT/doc/SETUP.md" | grep -v '^```'
}

SCRATCH=
CLUSTERS=()

cleanup() {
	local data
	for data in "${CLUSTERS[@]}"; do
		as_postgres "$PG_BIN/pg_ctl" -D "$data" -m immediate stop >/dev/null 2>&1 || true
	done
	[ -z "$SCRATCH" ] || as_root rm -rf "$SCRATCH"
}

# copy_sources FROM TO: without what a build has left behind; src/pg/build is a folder of sources.
copy_sources() {
	mkdir "$2"
	(cd "$1" && tar cf - --exclude=.git --exclude=node_modules \
		--exclude='*.[od]' --exclude='*.bc' --exclude='*.so' --exclude='*.so.*' --exclude=./built_for --exclude=./build \
		--exclude='./test/*/build' --exclude='./clients/*/build' --exclude='./src/lib/build' .) |
		tar xf - -C "$2"
	as_root chown -R postgres "$2"
}

# Makes SCRATCH, owned by postgres, with a copy of the tree in SCRATCH/tree.
make_scratch() {
	SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/bloomfilter.XXXXXX")
	trap cleanup EXIT
	trap 'exit 130' INT TERM
	chmod 755 "$SCRATCH"
	copy_sources "$ROOT" "$SCRATCH/tree"
	as_root chown postgres "$SCRATCH"
}

# A private copy of the system's PostgreSQL, so that `make install` leaves the
# system alone.  Its programs find their own files.
copy_postgres() {
	local part
	for part in lib share; do
		as_postgres mkdir -p "$SCRATCH/pg/usr/$part/postgresql"
		as_postgres cp -r "/usr/$part/postgresql/$PG_MAJOR" "$SCRATCH/pg/usr/$part/postgresql/"
	done
	as_postgres mkdir -p "$SCRATCH/pg/usr/include"
	as_postgres ln -s /usr/include/postgresql "$SCRATCH/pg/usr/include/postgresql"
	PG_BIN=$SCRATCH/pg/usr/lib/postgresql/$PG_MAJOR/bin
}

# build_extension [MAKE ARGUMENT...]
build_extension() {
	as_postgres make -s -C "$SCRATCH/tree" -j2 PG_CONFIG="$PG_BIN/pg_config" with_llvm=no "$@" >&2
	as_postgres make -s -C "$SCRATCH/tree" PG_CONFIG="$PG_BIN/pg_config" with_llvm=no install >/dev/null
}

# start_cluster [SETTING...]: sets PGHOST, PGUSER and PGDATABASE.
start_cluster() {
	local data=${MEMORY:-$SCRATCH}/data${#CLUSTERS[@]} setting
	as_postgres "$PG_BIN/initdb" -D "$data" -A trust -U postgres -E UTF8 \
		--locale=C.UTF-8 >/dev/null
	CLUSTERS+=("$data")
	for setting in "listen_addresses = ''" "unix_socket_directories = '$SCRATCH'" "$@"; do
		echo "$setting" | as_postgres tee -a "$data/postgresql.conf" >/dev/null
	done
	as_postgres "$PG_BIN/pg_ctl" -D "$data" -l "$data.log" -w start >/dev/null
	export PGHOST=$SCRATCH PGUSER=postgres PGDATABASE=postgres PATH="$PG_BIN:$PATH"
}

# Its folder's name is the next one's.
stop_cluster() {
	as_postgres "$PG_BIN/pg_ctl" -D "${CLUSTERS[-1]}" -m fast -w stop >/dev/null
	as_postgres rm -rf "${CLUSTERS[-1]}"
	unset 'CLUSTERS[-1]'
}
