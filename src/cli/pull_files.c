/*
 * pull_files.c
 *	  Fetching whole filters into the files that applications open.
 *
 * A filter is fetched to a temporary file beside its target, opened from there,
 * which checks all of it, and renamed.  The parts of a set are fetched to such
 * files too, under a temporary manifest; the library then writes the set, with
 * the names and in the order that let nobody see half of it.
 */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "paths.h"
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
			memcmp(bytes, set->filters[i].bytes, BF_HEADER_BYTES) != 0)
			return false;
	}
	return true;
}

/* Opens what was fetched, so that all of it is checked. */
static bloomfilter *
open_fetched(const char *path, const remote_set *set)
{
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (bloomfilter_open(path, 0, &filter, &detail) < 0)
		complain("what the server sent is no filter: %s", detail.text);
	else if (is_remote(filter, set))
		return filter;
	else
	{
		complain("what the server sent is another filter than it said");
		bloomfilter_close(filter);
	}
	return NULL;
}

static bool
fetch_file(const pull_plan *plan, PGconn *connection,
		   const remote_filter *filter, temp_file *file, transfer_state *transfer)
{
	return temp_file_create(file, plan->out) &&
		remote_fetch(plan, connection, filter, file, transfer) &&
		temp_file_sync(file);
}

static bool
fetch_single(const pull_plan *plan, PGconn *connection, const remote_set *set,
			 transfer_state *transfer)
{
	temp_file	file = {-1, NULL};
	bloomfilter *filter = NULL;
	bool		went_well;

	went_well = fetch_file(plan, connection, &set->filters[0], &file, transfer) &&
		(filter = open_fetched(file.path, set)) != NULL &&
		temp_file_rename(&file, plan->out);
	bloomfilter_close(filter);
	temp_file_remove(&file);
	return went_well;
}

/* A manifest of temporary files. */
static bool
write_manifest(const pull_plan *plan, const temp_file *parts, uint32_t count,
			   temp_file *manifest)
{
	static const char first_line[] = "bloomfilter-set 1";
	const char *line = first_line;
	uint64_t	length = 0;
	uint32_t	i;

	if (!temp_file_create(manifest, plan->out))
		return false;
	for (i = 0;; i++)
	{
		if (!temp_file_write(manifest, line, strlen(line), length) ||
			!temp_file_write(manifest, "\n", 1, length + strlen(line)))
			return false;
		length += strlen(line) + 1;
		if (i == count)
			return true;
		line = name_of(parts[i].path);
	}
}

static bool
write_set(const pull_plan *plan, const bloomfilter *filter)
{
	bloomfilter_detail detail;

	if (bloomfilter_write(filter, plan->out, &detail) >= 0)
		return true;
	complain("%s", detail.text);
	return false;
}

static bool
fetch_parts(const pull_plan *plan, PGconn *connection, const remote_set *set,
			temp_file *files, transfer_state *transfer)
{
	uint32_t	i;

	for (i = 0; i < set->count; i++)
		if (!fetch_file(plan, connection, &set->filters[i], &files[i], transfer))
			return false;
	return true;
}

static bool
fetch_set(const pull_plan *plan, PGconn *connection, const remote_set *set,
		  transfer_state *transfer)
{
	temp_file  *files = allocate(NULL, set->count, sizeof *files);
	temp_file	manifest = {-1, NULL};
	bloomfilter *filter = NULL;
	bool		went_well;
	uint32_t	i;

	memset(files, 0, set->count * sizeof *files);
	went_well = fetch_parts(plan, connection, set, files, transfer) &&
		write_manifest(plan, files, set->count, &manifest) &&
		(filter = open_fetched(manifest.path, set)) != NULL &&
		write_set(plan, filter);
	bloomfilter_close(filter);
	temp_file_remove(&manifest);
	for (i = 0; i < set->count; i++)
		temp_file_remove(&files[i]);
	free(files);
	return went_well;
}

bool
fetch_files(const pull_plan *plan, PGconn *connection, const remote_set *set)
{
	transfer_state transfer = {{0}, 0, remote_bytes(set)};
	bool		went_well;

	progress_start(&transfer.bar, "pull", "bytes", plan->progress);
	if (plan->set)
		went_well = fetch_set(plan, connection, set, &transfer);
	else
		went_well = fetch_single(plan, connection, set, &transfer);
	progress_end(&transfer.bar);
	return went_well;
}
