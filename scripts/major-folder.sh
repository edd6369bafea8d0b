# major-folder.sh: a Debian in a folder that has another PostgreSQL major beside this
# system's own; to be sourced by bash after lib.sh.
#
# Debian brings one major with each of its releases. The folder is the newer of the two
# releases, with the older one as a second source, from which comes only what the newer
# one has no more: its PostgreSQL and the libraries that this one alone needs. So both
# majors run in one root, as pg_upgrade wants it.

FOLDER=

# The releases that have a major, newest first.
major_suites() {
	case $1 in
		17) SUITES=(trixie bookworm) ;;
		18) SUITES=(forky bookworm) ;;
		19) SUITES=(sid experimental bookworm) ;;
		*) return 1 ;;
	esac
}

# The mirror that this system's apt uses.
mirror() {
	local codename uri
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $codename" | head -n 1)
	echo "${uri%/}"
}

# setup_commands: what doc/SETUP.md says to build and install from source.
setup_commands() {
	setup_block 'The extension'
	setup_block 'The library and the command line'
}

# major_folder MAJOR [--keep FOLDER]: sets FOLDER, and makes it unless it was kept.
# pg_cron is not there for every major.
major_folder() {
	local major=$1 packages suffix= suite sources=() newest=() url
	major_suites "$major" || die "usage: $(basename "$0") 17|18|19 [--keep FOLDER]"
	[ "$major" != "$PG_MAJOR" ] || die "$major is this system's own"
	FOLDER=$SCRATCH/major
	[ "${2:-}" != --keep ] || FOLDER=${3:?--keep needs a folder}
	[ ! -e "$FOLDER/srv/made" ] || return 0
	[ "$major" != 19 ] || suffix=/experimental
	url=$(mirror)
	for suite in "${SUITES[@]}"; do
		sources+=("deb $url $suite main")
	done
	# Of releases that have such suites.
	mapfile -t newest < <(extra_suites; [ "${SUITES[0]}" != trixie ] || extra_suites trixie)
	packages=ca-certificates,libipc-run-perl,python3-xxhash
	packages+=$(setup_commands | sed -n 's/^apt-get install//p' | tr -d '\n' | tr ' ' ,)
	packages+=,postgresql-$major$suffix,postgresql-server-dev-$major$suffix,postgresql-$PG_MAJOR
	[ -z "$suffix" ] || packages+=,libpq5$suffix,libpq-dev$suffix
	say "making a folder with PostgreSQL $PG_MAJOR and $major"
	as_root mmdebstrap --quiet --variant=apt --include="$packages" \
		--setup-hook='mkdir -p "$1"/etc/postgresql-common; echo "create_main_cluster = false" >"$1"/etc/postgresql-common/createcluster.conf' \
		--customize-hook="chroot \"\$1\" apt-get install -y --no-install-recommends postgresql-$major-cron || echo no pg_cron" \
		--dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' \
		"${SUITES[0]}" "$FOLDER" "${sources[@]}" "${newest[@]}" >&2
	as_root touch "$FOLDER/srv/made"
}

# inside COMMAND: runs it in the folder, with processes, a /proc and shared memory of its
# own, so that its servers end with it.  Process 1 there is bash, which buries what a
# killed server leaves behind; the last "exit" keeps it from becoming a su, that doesn't.
inside() {
	as_root env -u TMPDIR unshare --mount --pid --ipc --fork bash -c "
		mount -t proc proc '$FOLDER/proc'
		mount -t tmpfs tmpfs '$FOLDER/dev/shm'
		exec chroot '$FOLDER' bash -c '$1
			exit'"
}

# build_inside MAJOR: a fresh copy of the scratch tree as /srv/tree, built for the major and
# installed there by the lines of doc/SETUP.md, without a warning.
build_inside() {
	as_root rm -rf "$FOLDER/srv/tree"
	as_root cp -r "$SCRATCH/tree" "$FOLDER/srv/tree"
	setup_commands | grep -v -e ^apt-get -e ^psql | as_root tee "$FOLDER/srv/setup" >/dev/null
	inside "
		set -e
		cd /srv/tree
		export PG_CONFIG=/usr/lib/postgresql/$1/bin/pg_config
		export MAKEFLAGS=\"-s -j2 -- with_llvm=no\" COPT=\"-Wall -Werror\"
		. /srv/setup >/dev/null
		bloomfilter --version
		chown -R postgres /srv/tree"
}
