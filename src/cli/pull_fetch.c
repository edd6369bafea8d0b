/*
 * pull_fetch.c
 *	  From the server's filters to the file that applications open.
 *
 * Each part is made from the old one by a delta, if the server offers one that fits,
 * or else fetched, and goes to the library's writer, which checks all of it and
 * puts the set in place when it is complete.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "output.h"
#include "pull.h"

bool
is_remote(const bloomfilter *filter, const remote_set *set)
{
	uint32_t	i;

	if (filter_info(filter, -1).open_parts != set->count)
		return false;
	for (i = 0; i < set->count; i++)
	{
		const void *bytes;
		size_t		length;

		if (bloomfilter_get_bytes(filter, i, &bytes, &length) < 0 ||
			memcmp(bytes, set->filters[i].bytes, BLOOMFILTER_HEADER_BYTES) != 0)
			return false;
	}
	return true;
}

/* Where the bytes go: to the writer, or to memory until they may be printed. */
typedef struct transfer
{
	bloomfilter_writer *writer;
	uint8_t    *memory;
	size_t		length;			/* of what is in memory */
	progress_bar bar;
	uint64_t	done;
	uint64_t	total;
	uint64_t	fetched;		/* bytes of filters that came */
	uint64_t	delta_bytes;	/* bytes of deltas that came instead */
	uint32_t	deltas;			/* parts that they made */
} transfer;

static bool
refuse(const char *problem, int code)
{
	if (code <= BLOOMFILTER_ERR_FORMAT_LENGTH)
		complain("what the server sent is no filter: %s", problem);
	else
		complain("%s", problem);
	return false;
}

static bool
put(transfer *target, const void *bytes, size_t length)
{
	bloomfilter_detail detail;
	int			code = BLOOMFILTER_OK;

	if (target->writer != NULL)
		code = bloomfilter_writer_append(target->writer, bytes, length, &detail);
	else
	{
		memcpy(target->memory + target->length, bytes, length);
		target->length += length;
	}
	if (code < 0)
		return refuse(detail.text, code);
	target->done += length;
	progress_update(&target->bar, target->done, target->done, target->total);
	return true;
}

/* A chunk_function. */
static bool
put_chunk(void *state, const void *bytes, size_t length)
{
	transfer   *target = state;

	target->fetched += length;
	return put(target, bytes, length);
}

/* ------------------------------------------------------------------------
 * A part without fetching it
 * ------------------------------------------------------------------------ */

typedef enum made
{
	MADE,
	NOT_MADE,					/* the filter must be fetched */
	FAILED
} made;

static made
no_delta(const pull_plan *plan, const char *why)
{
	if (!stop_requested())
		report(plan, "no delta, since %s: fetching the whole filter", why);
	return NOT_MADE;
}

/* Why a delta doesn't lead from the old filter to the new one, or NULL. */
static const char *
misfit(const bloomfilter *old, const remote_filter *new, const void *delta,
	   size_t length)
{
	bloomfilter_delta_info info;
	int			code = bloomfilter_get_delta_info(delta, length, &info, sizeof info);

	if (code < 0)
		return bloomfilter_strerror(code);
	if (info.old_checksum != filter_info(old, -1).checksum)
		return "the server's is for another old filter than the file";
	if (info.new_checksum != new->info.checksum)
		return "the server's is for another new filter than the query's";
	return NULL;
}

static made
apply(const pull_plan *plan, const bloomfilter *old, const remote_filter *new,
	  const void *delta, size_t length, transfer *target)
{
	const char *why = misfit(old, new, delta, length);
	bloomfilter *filter;
	bloomfilter_detail detail;
	const void *bytes;
	size_t		bytes_length;
	bool		went_well;

	if (why != NULL)
		return no_delta(plan, why);
	if (bloomfilter_apply(old, delta, length, &filter, &detail) < 0)
		return no_delta(plan, detail.text);
	bloomfilter_get_bytes(filter, 0, &bytes, &bytes_length);
	went_well = put(target, bytes, bytes_length);
	bloomfilter_close(filter);
	target->deltas++;
	target->delta_bytes += length;
	return went_well ? MADE : FAILED;
}

static made
make_by_delta(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
			  const remote_set *set, uint32_t part, transfer *target)
{
	PGresult   *rows;
	made		result;

	if (plan->list == NULL && plan->delta_query == NULL)
		return NOT_MADE;
	/* of a list a missing delta is nothing unusual */
	if (old == NULL)
		return plan->list != NULL ? NOT_MADE : no_delta(plan, "there is no old filter");
	rows = remote_delta(plan, connection, set, part);
	if (rows == NULL)
		return plan->list != NULL ? NOT_MADE : no_delta(plan, "the query gives none");
	result = apply(plan, old, &set->filters[part], PQgetvalue(rows, 0, 0),
				   (size_t) PQgetlength(rows, 0, 0), target);
	PQclear(rows);
	return result;
}

/* A part of an open filter alone, without a copy; NULL if it has no such part. */
static bloomfilter *
part_of(const bloomfilter *filter, const remote_set *set, uint32_t part)
{
	bloomfilter *alone;
	const void *bytes;
	size_t		length;

	if (filter == NULL || filter_info(filter, -1).open_parts != set->count ||
		bloomfilter_get_bytes(filter, part, &bytes, &length) < 0 ||
		bloomfilter_open_memory(bytes, length, BLOOMFILTER_SKIP_CHECK, &alone, NULL) < 0)
		return NULL;
	return alone;
}

/* The part as it was before, or what a delta makes of it. */
static made
make_of_old(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
			const remote_set *set, uint32_t part, transfer *target)
{
	bloomfilter *old_part = part_of(old, set, part);
	const void *bytes;
	size_t		length;
	made		result;

	if (old_part != NULL && bloomfilter_get_bytes(old_part, 0, &bytes, &length) >= 0 &&
		memcmp(bytes, set->filters[part].bytes, BLOOMFILTER_HEADER_BYTES) == 0)
		result = put(target, bytes, length) ? MADE : FAILED;
	else
		result = make_by_delta(plan, connection, old_part, set, part, target);
	bloomfilter_close(old_part);
	return result;
}

/* ------------------------------------------------------------------------
 * All parts
 * ------------------------------------------------------------------------ */

static bool
fetch_parts(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
			const remote_set *set, transfer *target)
{
	uint32_t	i;

	for (i = 0; i < set->count; i++)
	{
		made		result = make_of_old(plan, connection, old, set, i, target);

		if (result == MADE)
			continue;
		if (result == FAILED || stop_requested() ||
			!remote_fetch(plan, connection, set, i, put_chunk, target))
			return false;
	}
	return true;
}

static void
report_fetched(const pull_plan *plan, const remote_set *set,
			   const transfer *target, double seconds)
{
	char		size[SCALE_TEXT_BYTES];
	char		what[96] = "";

	if (set->serial[0] != '\0')
		snprintf(what, sizeof what, "serial %s, ", set->serial);
	if (target->deltas > 0)
	{
		scale(size, (double) target->delta_bytes, true);
		if (set->count == 1)
			report(plan, "%supdated by a delta of %s, checksum %016" PRIx64, what, size,
				   set->filters[0].info.checksum);
		else
			report(plan, "%supdated %" PRIu32 " of %" PRIu32 " parts by deltas of %s in %.2f s",
				   what, target->deltas, set->count, size, seconds);
		return;
	}
	scale(size, (double) target->fetched, true);
	if (plan->set || set->count > 1)
		report(plan, "%spulled %" PRIu32 " parts, %s, in %.2f s", what, set->count,
			   size, seconds);
	else
		report(plan, "%spulled %s in %.2f s, checksum %016" PRIx64, what, size, seconds,
			   set->filters[0].info.checksum);
}

/* In the manifest, which so tells of itself what it is. */
static bool
note_list(const pull_plan *plan, const remote_set *set, transfer *target)
{
	const struct
	{
		const char *name;
		const char *value;
	}			notes[] = {
		{"list", plan->list}, {"identity", set->identity}, {"serial", set->serial}, {"built", set->built}
	};
	bloomfilter_detail detail;
	size_t		i;

	/* a note is one line, whatever somebody calls his list */
	for (i = strchr(plan->list == NULL ? "" : plan->list, '\n') != NULL;
		 plan->list != NULL && i < sizeof notes / sizeof notes[0]; i++)
		if (bloomfilter_writer_note(target->writer, notes[i].name, notes[i].value, &detail) < 0)
		{
			complain("%s", detail.text);
			return false;
		}
	return true;
}

static bool
fetch_to_file(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
			  const remote_set *set, transfer *target)
{
	bloomfilter_detail detail;
	bool		went_well;

	if (bloomfilter_writer_begin(plan->out, set->count, &target->writer, &detail) < 0)
	{
		complain("%s", detail.text);
		return false;
	}
	went_well = note_list(plan, set, target) &&
		fetch_parts(plan, connection, old, set, target);
	if (went_well && !stop_requested() &&
		bloomfilter_writer_commit(target->writer, &detail) < 0)
	{
		complain("%s", detail.text);
		went_well = false;
	}
	bloomfilter_writer_free(target->writer);
	return went_well && !stop_requested();
}

/* Nothing is printed before all of it was checked. */
static bool
fetch_to_stdout(const pull_plan *plan, PGconn *connection, const remote_set *set,
				transfer *target)
{
	bloomfilter *filter;
	bloomfilter_detail detail;
	bool		went_well;

	target->memory = allocate(NULL, target->total, 1);
	went_well = fetch_parts(plan, connection, NULL, set, target);
	if (went_well)
	{
		int			code = bloomfilter_open_memory(target->memory, target->length, 0, &filter, &detail);

		went_well = code >= 0 || refuse(detail.text, code);
	}
	if (went_well)
	{
		bloomfilter_close(filter);
		output_bytes((const char *) target->memory, target->length);
		output_flush();
	}
	free(target->memory);
	return went_well;
}

bool
fetch(const pull_plan *plan, PGconn *connection, const bloomfilter *old,
	  const remote_set *set)
{
	double		begin = monotonic_seconds();
	transfer	target;
	bool		went_well;

	memset(&target, 0, sizeof target);
	target.total = remote_bytes(set);
	progress_start(&target.bar, "pull", "bytes", plan->progress);
	if (plan->to_stdout)
		went_well = fetch_to_stdout(plan, connection, set, &target);
	else
		went_well = fetch_to_file(plan, connection, old, set, &target);
	progress_end(&target.bar);
	if (went_well)
		report_fetched(plan, set, &target, monotonic_seconds() - begin);
	return went_well;
}
