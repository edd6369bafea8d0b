/*
 * image.h
 *	  A list in memory: its parts, their sum, the bits that are new in it, and its changes by day.
 *
 * Nothing is taken out of changes by day but by another serial of the list.  So a server that lags,
 * or lost what it had committed, takes no change back.
 */
#ifndef CLI_IMAGE_H
#define CLI_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed_changes.h"
#include "feed_patch.h"

/* Positions of bits in a part, numbered from its first block on. */
typedef struct bit_positions
{
	uint64_t   *positions;
	size_t		count;
	size_t		room;
} bit_positions;

typedef struct list_image
{
	uint32_t	count;			/* of the parts; 0: there is none */
	feed_part  *parts;			/* headers as they lie in a followed file, and bits set as there are */
	uint8_t   **filters;		/* with room for their headers */
	uint8_t   **bodies;			/* in these */
	bit_positions *news;		/* of each part; unsorted */
	size_t		news_count;		/* of all */
	uint64_t	sum;			/* without the pieces that are touched */
	uint8_t   **touched;		/* a bit for each piece of each part */
} list_image;

/* Parts with these headers: of these filters, or without bits if filters is NULL. */
extern void image_create(list_image *image, const feed_part *parts, uint8_t *const *filters, uint32_t count);

/* Gets a whole filter, which is to be freed whatever comes.  Returns NULL, or what is wrong: "" if that was said. */
typedef const char *(*filter_getter) (void *state, uint32_t part, uint8_t **filter, uint64_t *length);

/* Of so many filters.  Returns NULL, or what is wrong with part *which; then it is as before. */
extern const char *image_read(list_image *image, uint32_t count, filter_getter get, void *state, uint32_t *which);
extern void image_free(list_image *image);

/* A part as a file of its own, with its whole header. */
extern const uint8_t *image_filter(list_image *image, uint32_t part, size_t *length);

/* Whether bits alone lead to filters with these headers. */
extern bool image_fits(const list_image *image, const feed_part *parts, uint32_t count);

/* Of all parts as files. */
extern uint64_t image_bytes(const list_image *image);

/* Of all parts together: n and keys in sum, the rate of false positives now, and the last part's p. */
extern feed_figures image_figures(const list_image *image);

/*
 * Sets the bits of length bytes from byte at on, and notes those that are new, if wanted.
 * Of an exact part that would end the program.
 */
extern void image_or(list_image *image, uint32_t part, uint64_t at, const uint8_t *bytes, uint64_t length,
					bool note);

/* A bit that it has is news. */
extern void image_note(list_image *image, uint32_t part, uint64_t position);

/* The sum of what it has now. */
extern uint64_t image_sum(list_image *image);

/*
 * What is new, as a patch takes it, one of each part, in new memory; valid until more
 * comes.
 */
extern feed_change *image_changes(list_image *image);

/* Forgets what is new. */
extern void image_forget_news(list_image *image);

/* ------------------------------------------------------------------------
 * Changes by day of a tracked list: all that were read since it was published
 * ------------------------------------------------------------------------ */

typedef struct entry_list
{
	feed_entry *entries;		/* united, but while some are added */
	size_t		count;
	size_t		room;
} entry_list;

typedef struct list_changes
{
	bool		tracked;		/* else all is empty */
	uint64_t	serial;			/* of the list */
	entry_list	all;
	entry_list	news;			/* of these, what was not passed on yet */
	uint64_t	lacking;		/* that the server had not, or older, when all were read last */
} list_changes;

extern void entries_add(entry_list *to, const feed_entry *entries, size_t count);
extern void entries_unite(entry_list *of);
extern void entries_free(entry_list *of);

/* Adds those of a file of changes that is right. */
extern void entries_add_file(entry_list *to, const uint8_t *file, uint64_t count);

/* Begins with the changes of a serial; of the same one it goes on. */
extern void changes_begin(list_changes *changes, uint64_t serial);

/* Takes what was read, which is united: what is new is news.  all: nothing was left out. */
extern void changes_add(list_changes *changes, const entry_list *read, bool all);

#endif							/* CLI_IMAGE_H */
