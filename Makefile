# bloomfilter: a PostgreSQL extension, built with PGXS.
#
#   make                        the extension
#   make install                into the PostgreSQL of PG_CONFIG
#   make installcheck           pg_regress, isolation and TAP tests, needs a server
#   make check-core             unit tests of the core, plain C, with sanitizers
#   make OPTFLAGS=-march=native for this machine alone

EXTENSION = bloomfilter
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" bloomfilter.control)

MODULE_big = bloomfilter
CORE_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/core/*.c)))
PG_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/pg/*.c)))
OBJS = $(CORE_OBJS) $(PG_OBJS)

# Deltas (bloom_diff, bloom_apply) are compressed by libzstd, where it is installed.
WITH_ZSTD ?= $(shell printf '\043include <zstd.h>' | $(CC) -E - >/dev/null 2>&1 && echo yes)
ifeq ($(WITH_ZSTD),yes)
DELTA_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/delta/*.c)))
OBJS += $(DELTA_OBJS)
ZSTD_CPPFLAGS = -Isrc/delta -DBLOOMFILTER_ZSTD
ZSTD_LIBS = -lzstd
endif

# The script of CREATE EXTENSION is written in parts, in the order of their dependences.
SQL_PARTS = $(patsubst %,src/sql/%.sql,head type planner filter ship aggregate operator)
DATA_built = bloomfilter--$(EXTVERSION).sql
PGFILEDESC = "bloomfilter - Bloom filters as values"

# Fused multiply-add would size filters differently on machines that have it.
PG_CPPFLAGS = -Isrc/core -ffp-contract=off -DBLOOMFILTER_VERSION='"$(EXTVERSION)"' $(ZSTD_CPPFLAGS)
PG_CFLAGS = $(OPTFLAGS)
SHLIB_LINK = -lm $(ZSTD_LIBS)

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst specs/%.spec,%,$(sort $(wildcard specs/*.spec)))
ISOLATION_OPTS = --load-extension=bloomfilter
REGRESS_OPTS = --load-extension=bloomfilter --encoding=UTF8
TAP_TESTS = $(if $(wildcard t/*.pl),1)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

bloomfilter--$(EXTVERSION).sql: $(SQL_PARTS) bloomfilter.control
	cat $(SQL_PARTS) >$@

# The server exports names that a core could clash with; ours stay inside.
$(CORE_OBJS) $(DELTA_OBJS): CFLAGS += -fvisibility=hidden

$(OBJS): $(wildcard src/core/*.h src/delta/*.h src/pg/*.h)

# What needs no server, and what takes longer.
check-core:
	$(MAKE) -C test/core check
	$(MAKE) -C test/lib check
	$(MAKE) -C test/delta check

fuzz:
	$(MAKE) -C test/fuzz run

bench:
	bench/run

.PHONY: check-core fuzz bench
