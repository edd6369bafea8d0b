# How the tests of core, feed and library are built: all their sources with sanitizers, once for each
# way there is.

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
OUT := $(ROOT)/build/test-lib

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -Wvla -pedantic -Werror
TEST_CFLAGS := -std=c11 -g -O1 -ffp-contract=off -fno-omit-frame-pointer -pthread $(WARNINGS)
TEST_CPPFLAGS := -I$(ROOT)/src/core -I$(ROOT)/src/text -I$(ROOT)/src/feed -I$(ROOT)/src/lib -I$(ROOT)/test/lib -I$(ROOT)/test/core -I$(ROOT)/test/tap \
	-DVECTORS='"$(ROOT)/test/vectors"' -DBLOOMFILTER_VERSION='"test"'

SOURCES := $(wildcard $(ROOT)/src/core/*.c $(ROOT)/src/text/*.c $(ROOT)/src/feed/*.c $(ROOT)/src/lib/*.c) \
	$(addprefix $(ROOT)/test/lib/,files.c tsv.c make_filters.c make_list.c) \
	$(ROOT)/test/core/support.c $(ROOT)/test/tap/tap.c
INNER := $(patsubst $(ROOT)/%.c,%.o,$(SOURCES))

# Objects of all sources by compiler $(1) with sanitizers $(2) in folder $(3), and
# the programs $(4), each of one source.
define build_with
$(OUT)/$(3)/%.o: $(ROOT)/%.c
	@mkdir -p $$(@D)
	$(1) $$(TEST_CFLAGS) $(2) $$(TEST_CPPFLAGS) -MMD -MP -c $$< -o $$@

$(foreach program,$(4),$(OUT)/$(3)/test/$(program)): %: %.o $(addprefix $(OUT)/$(3)/,$(INNER))
	$(1) $(2) -pthread $$(LINK_$$(notdir $$@)) -o $$@ $$^ -lm

-include $(foreach object,$(INNER),$(OUT)/$(3)/$(object:.o=.d)) \
	$(foreach program,$(4),$(OUT)/$(3)/test/$(program).d)
.SECONDARY:
endef
