# bloomfilter: a PostgreSQL extension, built with PGXS.
#
#   make                        the extension
#   make install                into the PostgreSQL of PG_CONFIG
#   make installcheck           pg_regress and isolation tests, in the server of PGHOST
#   make prove_installcheck     TAP tests, which start servers of their own
#   make check-core             unit tests of the core, plain C
#   make OPTFLAGS=-march=native for this machine alone

EXTENSION = bloomfilter
# Where the sources are: here, or beside the Makefile of a VPATH build.
SOURCE := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(SOURCE)/bloomfilter.control)

MODULE_big = bloomfilter
objects = $(patsubst $(SOURCE)/%.c,%.o,$(sort $(wildcard $(SOURCE)/$(1)/*.c)))
CORE_OBJS = $(call objects,src/core)
PG_OBJS = $(call objects,src/pg) $(call objects,src/pg/*)
LIVE_OBJS = $(call objects,src/live)
OBJS = $(CORE_OBJS) $(PG_OBJS) $(LIVE_OBJS)

# The script of CREATE EXTENSION is written in parts, in the order of their dependences.  A part that
# ends with .in comes once for each word in its line "for:", which takes the place of @key@, and of these
# once for each line "form:", if it has some: what stands between | are @name@, @arguments@ and @comment@.
SQL_PARTS = $(addprefix $(SOURCE)/src/sql/,head.sql type.sql key.sql planner.sql filter.sql ship.sql aggregate.sql aggregate_key.sql.in operator.sql publish.sql guard.sql.in publish_agg.sql live.sql live_key.sql.in key_forms.sql.in key_arrays.sql.in change.sql rights.sql)
DATA_built = bloomfilter--$(EXTVERSION).sql
PGFILEDESC = "bloomfilter - Bloom filters as values"

# Fused multiply-add would size filters differently on machines that have it.
PG_CPPFLAGS = -I$(SOURCE)/src/core -I$(SOURCE)/src/pg -I$(SOURCE)/src -ffp-contract=off -DBLOOMFILTER_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = $(OPTFLAGS) -fno-semantic-interposition
# Our own names are bound inside, by the compiler too; from PostgreSQL 16 on PGXS hides them, which does the same.
SHLIB_LINK = -lm -Wl,-Bsymbolic

REGRESS = $(patsubst $(SOURCE)/sql/%.sql,%,$(sort $(wildcard $(SOURCE)/sql/*.sql)))
ISOLATION = $(patsubst $(SOURCE)/specs/%.spec,%,$(sort $(wildcard $(SOURCE)/specs/*.spec)))
ISOLATION_OPTS = --load-extension=bloomfilter
REGRESS_OPTS = --load-extension=bloomfilter --encoding=UTF8

DEPENDENCIES = $(OBJS:=.d) $(OBJS:.o=.bc.d)
EXTRA_CLEAN = $(DEPENDENCIES) built_for

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

bloomfilter--$(EXTVERSION).sql: $(SQL_PARTS) $(SOURCE)/bloomfilter.control $(SOURCE)/Makefile
	for part in $(SQL_PARTS); do \
		case $$part in \
		*.in) for key in $$(sed -n "s/^-- for: //p" $$part); do \
			{ grep "^-- form: " $$part || echo; } | while IFS='|' read -r name arguments comment; do \
				sed "/^-- form: /d; s/@name@/$${name#-- form: }/g; s/@arguments@/$$arguments/g; s/@comment@/$$comment/g; s/@key@/$$key/g" $$part || exit 1; \
			done || exit 1; done ;; \
		*) cat $$part ;; \
		esac || exit 1; \
	done >$@

# The server exports names that a core could clash with; ours stay inside.
$(CORE_OBJS): CFLAGS += -fvisibility=hidden

# The compiler writes down which headers an object and a file of bitcode were made from, and
# both are made anew when one of these changes.  PGXS does so for objects alone, and only where
# PostgreSQL was configured for it; its files would clash for sources of the same name.
COMPILE.c += -MMD -MP -MF $@.d
COMPILE.c.bc += -MMD -MP -MF $@.d
%.o: %.c
	$(COMPILE.c) -o $@ $<
%.bc: %.c
	$(COMPILE.c.bc) -o $@ $<
-include $(wildcard $(DEPENDENCIES))

# What was built for another PostgreSQL is made anew: built_for changes with what PG_CONFIG names.
built_for: FORCE
	@new="$$($(PG_CONFIG) --version) in $$($(PG_CONFIG) --includedir-server)"; \
	old=$$(cat $@ 2>/dev/null); \
	[ "$$old" = "$$new" ] || { \
		[ -z "$$old" ] || echo "building anew for $$new: what is here was built for $$old"; \
		echo "$$new" >$@; }
$(OBJS) $(OBJS:.o=.bc): built_for

# In a VPATH build there are no folders yet to put objects into.
ifneq ($(SOURCE),.)
$(shell mkdir -p $(sort $(dir $(OBJS))))
endif

# Apart from installcheck, as these take many minutes: PROVE_TESTS=t/FILE runs one.
prove_installcheck: export PERL5LIB := $(abspath $(SOURCE)/t/lib):$(PERL5LIB)
prove_installcheck:
	$(prove_installcheck)

# What needs no server, and what takes longer.
check-core:
	$(MAKE) -C $(SOURCE)/test/core check
	$(MAKE) -C $(SOURCE)/test/lib check

fuzz:
	$(MAKE) -C $(SOURCE)/test/fuzz run

bench:
	$(SOURCE)/bench/run

FORCE:

.PHONY: FORCE check-core fuzz bench prove_installcheck
