/*
 * export_folder.h
 *	  What the files that keep an exporter's folder share.
 */
#ifndef CLI_EXPORT_FOLDER_H
#define CLI_EXPORT_FOLDER_H

#include "export.h"
#include "feed_files.h"

/* export_folder.c: notes of which build the epoch is. */
extern bool export_write_state(const exporter *e, uint64_t epoch);

/* A step of the folder, for a copy, in new memory; NULL if it isn't whole. */
extern uint8_t *export_load_step(const exporter *e, const feed_copy *copy, const feed_file *file, bf_step *step);

/* Makes *copy the content that the manifest of the folder announces; false if files of it are missing or damaged. */
extern bool export_load_published(const exporter *e, feed_copy *copy);

/* export_content.c: runs the user's command for a file; true if there is none or it ends with 0. */
extern bool export_run_after(const exporter *e, const char *name);

/* Writes a file under the name of its content, notes it in *file, and runs the user's command. */
extern bool export_write_content(exporter *e, const feed_piece *pieces, int count, const char *ending, feed_file *file);

/* Whether hosts take a manifest of this length; said if not. */
extern bool export_fits(size_t length);

/* Whole files of all parts, into next->wholes. */
extern bool export_write_wholes(exporter *e, feed_manifest *next, export_reason reason);

/*
 * Where files are lost, whole files take their place.  The steps behind the last lost one
 * stay, so that hosts that have it need nothing.
 */
extern bool export_write_anew(exporter *e, feed_manifest *next);

/* The step from the published content to the copy as it is. */
extern bool export_write_step(exporter *e, feed_manifest *next);

/* export_chain.c: what leads from older epochs to the one that begins, into next->chain. */
extern bool export_write_chain(exporter *e, feed_manifest *next);

/* Takes away what of the chain nobody can use any more. */
extern void export_trim_chain(feed_manifest *next);

/* export_publish.c: the false-positive rate now. */
extern double export_rate(const feed_copy *copy);

/* export_sweep.c: files that the last manifest named and this one doesn't get their day from now on. */
extern void export_touch_unnamed(const exporter *e, const feed_manifest *next);

/* Looks now and then whether all files that the manifest names are there, with their lengths. */
extern bool export_is_lost(exporter *e);

/* The same of the chain alone, now. */
extern bool export_is_chain_lost(const exporter *e, const feed_manifest *next);

/* Deletes what has had its day, now and then. */
extern void export_sweep(exporter *e);

#endif							/* CLI_EXPORT_FOLDER_H */
