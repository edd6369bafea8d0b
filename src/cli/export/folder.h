/*
 * folder.h
 *	  An exported list: a folder that any web server serves.
 *
 * What is new goes into files named by their content, and then into the manifest that
 * names them: a patch, or whole files where an epoch begins.  What a kill leaves between
 * the two is named by nobody and goes after a day.
 *
 * Functions that return bool say what is wrong before they return false.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "feed_manifest.h"
#include "feed_sign.h"
#include "feed_values.h"
#include "source.h"

/* What unfinished files begin with. */
#define FOLDER_UNFINISHED ".tmp-"

typedef struct folder_plan
{
	const char *to;				/* the folder */
	const char *name;			/* NULL: as the server calls it */
	const char *identity;		/* NULL: the folder's, the list's, or a new one */
	const char *after;			/* command, or NULL */
	bool		follow;
	bool		new_source;
	uint64_t	poll;			/* seconds, for the manifest; 0: as the list needs it */
	uint64_t	spread;			/* the same */
	uint64_t	heartbeat;		/* seconds after which an unchanged manifest is renewed; 0: never */
	uint64_t	expires;		/* seconds; 0: manifests don't expire */
	uint64_t	keep_days;		/* days for which whoever stores the files keeps them, at least */
	feed_key	keys[FEED_MOST_KEYS];
	size_t		key_count;
} folder_plan;

/* What was done since the program began. */
typedef struct folder_counts
{
	uint64_t	bits;
	uint64_t	patches;
	uint64_t	patch_bytes;
	uint64_t	changes;		/* entries of files of changes, and their bytes */
	uint64_t	change_bytes;
	uint64_t	wholes[WHOLE_REASONS];
	uint64_t	files;			/* of the folder */
	uint64_t	bytes;
	uint64_t	exported;		/* when the manifest was replaced */
} folder_counts;

/* Whole files that a child makes and passes on. */
typedef struct folder_renewal
{
	pid_t		child;			/* 0: none */
	feed_file  *files;			/* that it makes, in memory shared with it */
	uint32_t	count;
	double		failed;			/* when the last one did; monotonic seconds */
} folder_renewal;

/* What .state said at first: it belongs to the manifest of the same epoch. */
typedef struct folder_state
{
	char		system[64];
	uint8_t		identity[FEED_IDENTITY_BYTES];
	uint64_t	epoch;
	int64_t		build;
} folder_state;

typedef struct list_folder
{
	const folder_plan *plan;
	int			folder;
	int			lock;
	folder_state state;
	bool		state_known;
	feed_manifest manifest;		/* the one that is there; serial 0: none */
	uint64_t	exporter;		/* this process, in manifests */
	bool		resumed;		/* what was there has been read */
	bool		passed_on;		/* the manifest was written by this process, and the command ran */
	size_t		manifest_length;
	uint64_t	clock;			/* wall clock and boot clock, when the first was right last */
	uint64_t	boot_clock;
	double		exported;		/* when; monotonic seconds */
	double		swept;
	bool		lost;			/* one that the manifest names is not there */
	folder_renewal renewal;
	folder_counts counts;
} list_folder;

/* ------------------------------------------------------------------------
 * folder.c: what it has at first
 * ------------------------------------------------------------------------ */

/* Opens and locks it, and reads its manifest, or ends the program; *f is all zeros before. */
extern void folder_open(list_folder *f, const folder_plan *plan);
extern void folder_close(list_folder *f);

/*
 * Before the first look, when the server is known: fills the image with what is in the
 * folder, if that is sound, and then news->build is of which build of an index.
 */
extern bool folder_resume(list_folder *f, list_news *news);

/* Makes *image the content that the manifest announces; false if files of it are missing or damaged. */
extern bool folder_load(list_folder *f, list_image *image);

/* A patch of the folder for these parts, in new memory; NULL if it isn't whole. */
extern uint8_t *folder_load_patch(const list_folder *f, const list_image *image, const feed_file *file, feed_patch *patch);

/* Notes of which build the manifest's epoch is. */
extern bool folder_write_state(const list_folder *f, const list_news *news, const feed_manifest *of);

/* ------------------------------------------------------------------------
 * folder_update.c: what is new
 * ------------------------------------------------------------------------ */

/* Exports what is new; *exported: there was something, and it is in the folder's manifest. */
extern bool folder_export(list_folder *f, list_news *news, bool *exported);

/* ------------------------------------------------------------------------
 * folder_content.c: patches and whole files
 * ------------------------------------------------------------------------ */

/*
 * Writes a file: under another name, synced, renamed, and the folder synced.  Says what is
 * wrong before it returns false.
 */
extern bool folder_write(int folder, const char *name, mode_t mode, const void *bytes, size_t length);

/* Whether a file is what a manifest says of it: its bytes in new memory, else NULL. */
extern uint8_t *folder_read_file(int folder, const feed_file *file, feed_kind kind);

/* Writes a file under the name of its content, notes it in *file, and passes it on, from when on its age counts. */
extern bool folder_write_content(const list_folder *f, const void *bytes, size_t length, feed_kind kind, feed_file *file);

/* Whole files of all parts, as they are now. */
extern bool folder_write_wholes(list_folder *f, list_image *image, feed_manifest *next, whole_reason reason);

/* The same into files, of this serial. */
extern bool folder_make_wholes(const list_folder *f, list_image *image, uint64_t serial, feed_file *files);

/*
 * Where files are lost, whole files take their place.  The patches behind the last lost
 * one stay, so that hosts that have it need nothing.
 */
extern bool folder_write_anew(list_folder *f, list_image *image, feed_manifest *next);

/* The patch from the exported content to the image as it is. */
extern bool folder_write_set(list_folder *f, list_image *image, feed_manifest *next);

/* What leads from the content before to the epoch that begins, if it is shorter than the whole. */
extern bool folder_write_flip(list_folder *f, list_image *image, feed_manifest *next);

/* Keeps a file's bytes for the manifest, in place of what was there, if they are at most so many; else frees them. */
extern void folder_inline(uint8_t **inlined, size_t *inlined_length, uint8_t *bytes, size_t length, size_t most);

/* How many of the last of these files become one: from the first that has twice its length behind it. */
extern size_t folder_count_merged(const feed_file *files, size_t count);

/* Takes away patches that nobody needs or that are too many. */
extern void folder_trim(const list_folder *f, feed_manifest *next);

/* Whether hosts take a manifest of this length; said if not. */
extern bool folder_fits(size_t length);

/* ------------------------------------------------------------------------
 * folder_changes.c: changes by day
 * ------------------------------------------------------------------------ */

/* Adds those of a manifest's files from this one on; false if some are missing or damaged. */
extern bool folder_load_changes(const list_folder *f, const feed_manifest *of, size_t first, entry_list *all);

/* Whether a file of changes is to be passed on again: see folder_is_old. */
extern bool folder_changes_are_old(const list_folder *f);

/* What is new of them, as a file and its line; or all of them, as a row that begins. */
extern bool folder_write_changes(list_folder *f, const list_changes *changes, bool anew, feed_manifest *next);

/* ------------------------------------------------------------------------
 * renew.c: whole files for hosts that begin
 * ------------------------------------------------------------------------ */

/* Begins to renew whole files, if it is time. */
extern void folder_renew(list_folder *f, list_image *image);

/* Takes those that a child has made into next; true if there were any. */
extern bool folder_add_renewed(list_folder *f, feed_manifest *next);

/* Ends the child. */
extern void folder_stop_renewing(list_folder *f);

/* ------------------------------------------------------------------------
 * after.c: the user's command
 * ------------------------------------------------------------------------ */

/* Runs it for a file; true if there is none or it ends with 0. */
extern bool folder_run_after(const list_folder *f, const char *name);

/* ------------------------------------------------------------------------
 * sweep.c: files that nobody can need any more
 * ------------------------------------------------------------------------ */

/* Files that the last manifest named and this one doesn't get their day from now on. */
extern void folder_touch_unnamed(const list_folder *f, const feed_manifest *next);

/* Now and then: deletes what has had its day, counts what stays, and notes if a file is lost that the manifest names. */
extern void folder_sweep(list_folder *f);

/* Whether a file was passed on so long ago that whoever stores it may soon delete it. */
extern bool folder_is_old(const list_folder *f, const feed_file *file, feed_kind kind);

/* ------------------------------------------------------------------------
 * export.c: FOLDER/.status, what an exporter tells of itself, which bloomfilter status shows
 *
 * A text file: a first line that says so, then a line for each value, after its name and its
 * status_unit.  What isn't known is "" or 0.
 * ------------------------------------------------------------------------ */

#define EXPORT_STATUS ".status"
#define EXPORT_STATUS_FIRST_LINE "bloomfilter-export-status 2"
#define EXPORT_STATUS_BYTES 8192

#endif							/* CLI_FOLDER_H */
