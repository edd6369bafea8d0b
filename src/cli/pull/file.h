/*
 * file.h
 *	  The file of a followed list on a host, FILE, and a lock beside it.
 *
 * The file is nothing yet (EMPTY), of a follower before this boot, or a copy (FOREIGN), or
 * what this boot's followers made (MINE).  Only the latter is ever written to: bits are
 * set in it, through one descriptor, and then the serial that has them is stored.  All else
 * makes a new file, which takes the name when it is whole and synced.
 *
 * What the descriptor leads to is believed only as long as it has the name, the length and
 * the page that were written last; what others did to it meanwhile is found by file_check,
 * and healed by a copy of the bits if these are right, else by the whole list.
 *
 * Functions that return bool say what is wrong before they return false; reason
 * is that in one word then.
 */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "image.h"
#include "system.h"

typedef enum file_state
{
	FILE_EMPTY,
	FILE_FOREIGN,
	FILE_MINE
} file_state;

/* What a file of a list has. */
typedef struct file_content
{
	int			fd;				/* -1: none */
	feed_who	who;
	feed_part  *parts;
	feed_now	now;			/* what is stored; of FOREIGN what it may tell */
	feed_table	table;			/* of changes by day, of a tracked list */
	uint8_t    *slots;			/* the same; NULL: there is none */
} file_content;

/* A file whose bits are set or flipped, and the sum that follows them. */
typedef struct file_bits
{
	const file_content *of;
	bool		flip;
	uint64_t	sum;
	int			error;			/* of what was put into it, as a patch is read */

	/* The piece that is changed */
	const feed_part *part;		/* NULL: none */
	uint64_t	at;				/* in the part's body */
	size_t		length;
	uint64_t	was;			/* what it added to the sum */
	size_t		first;			/* bytes that changed: from this one ... */
	size_t		end;			/* ... to before this one */
	uint8_t		bytes[FEED_PAGE];
} file_bits;

typedef struct list_file
{
	const char *path;
	char	   *folder_name;
	int			folder;			/* -1: not open */
	char	   *name;			/* in it; the two below are made of it */
	char	   *lock_file;
	char	   *new_file;
	int			lock;
	ino_t		lock_inode;
	uint8_t		boot[FEED_BOOT_BYTES];	/* this one */
	const char *reason;			/* why the last call failed */

	/* FILE */
	file_state state;
	file_content kept;			/* without descriptor, parts and slots where there is no file any more */
	uint64_t	writes;
	feed_how	how;
	struct timespec written;	/* when the file was written last, by this process */
	bool		leave;			/* it was to be replaced, by a follower that ended before: maybe as a disk failed */
	bool		lost;			/* its bits are not what they should be: a whole is needed */
	double		adopted;		/* when a copy of FOREIGN was tried last, else 0 */
	double		check_due;		/* when all of it is to be read again */

	/* Saving */
	bool		in_memory;		/* FILE is on tmpfs */
	pid_t		saver;			/* 0: none */
	feed_content saving;
	uint64_t	saving_inode;
	uint64_t	saved;			/* serial that is on the disk */
	double		save_began;

	file_content made;			/* .FILE.new: who has its layout and epoch alone */
} list_file;

/* ------------------------------------------------------------------------
 * file.c
 * ------------------------------------------------------------------------ */

/* Finds out what is here, and keeps it from other followers; *file is all zeros before. */
extern bool file_open(list_file *file, const char *path);

/*
 * Whether FILE is what this process made it; heals it if it isn't, and makes a copy of a
 * file that others made.  *over: nothing can be done any more, the follower has to end.
 */
extern bool file_check(list_file *file, bool *over);

/* Once a day, at no certain hour, and at first: compares all of FILE with its own sum; false: it is lost. */
extern bool file_check_sum(list_file *file);

/* After a write of this process; whether another one wrote to FILE since; and whether the page is still its own. */
extern void file_wrote(list_file *file);
extern bool file_was_written(const list_file *file);
extern bool file_has_page(const list_file *file);

/* Notes how a look went: reason is "" if well; looked: FILE has what the server has. */
extern void file_note(list_file *file, bool looked, const char *reason, const char *text);

/* FILE's bits are not what they should be: its readers are told, and a whole is needed.  False. */
extern bool file_lose(list_file *file, const char *reason, const char *text);

/* Tells who reads FILE that another one takes its name (FEED_REPLACED), or 0 if none does. */
extern void file_supersede(list_file *file, uint64_t value);

/* All are false: why the last call failed, and what is said of FILE; the last one with errno. */
extern bool file_refuse(list_file *file, const char *reason, const char *text);
extern bool file_refuse_list(list_file *file, const char *name, const char *wanted);
extern bool file_trouble(list_file *file, const char *what);

extern void file_close(list_file *file);

/* Lets go of a descriptor, parts and slots. */
extern void content_close(file_content *content);

/* ------------------------------------------------------------------------
 * new_file.c
 * ------------------------------------------------------------------------ */

/* Begins .FILE.new, of parts of these lengths: they lie where made.parts says. */
extern bool new_file_begin(list_file *file, const feed_part *parts, uint32_t count);

/* Writes a part's header, as files of parts have them. */
extern bool new_file_header(list_file *file, const feed_part *part);

/* Makes it what FILE is, with the sum of what was written. */
extern bool new_file_copy(list_file *file);

/* It is whole: it becomes FILE, of this name, identity and epoch, tracked or not. */
extern bool new_file_end(list_file *file, const feed_who *as, const feed_now *now);

extern void new_file_drop(list_file *file);

/*
 * The same bits in a file of its own, and the same changes and more, of which the file has all of this row up to here
 * then.  NULL, 0 and 0: whatever the old one lacks comes at the next look, as all files of changes of the row.
 */
extern bool file_again(list_file *file, const entry_list *more, uint64_t id, uint64_t to);

/* ------------------------------------------------------------------------
 * bits.c
 * ------------------------------------------------------------------------ */

/*
 * The front of an exact part, which the sum is of, and then positions of the part in rising
 * order; false with errno.  In an exact part no bit is set, they are only flipped.
 */
extern bool bits_front(file_bits *bits, uint32_t part, const uint8_t *front);
extern bool bits_put(file_bits *bits, uint32_t part, uint64_t position);
extern bool bits_end(file_bits *bits);

/* Between these two bits are set in FILE, which is MINE. */
extern bool file_set_begin(list_file *file, file_bits *bits);
extern bool file_set_end(list_file *file, file_bits *bits, const feed_now *now);

/* The sum of a file's parts, whose headers must be as they are known; false with errno. */
extern bool parts_sum(const file_content *of, uint64_t *sum);

/* ------------------------------------------------------------------------
 * file_changes.c: the table of changes by day
 * ------------------------------------------------------------------------ */

/* Reads the table, if there is one; false with errno. */
extern bool table_read(list_file *file);

/* Goes on with that of a file that is MINE; false if it is damaged. */
extern bool table_go_on(list_file *file);

/* Whether it still is as it was stored. */
extern bool table_is_right(const list_file *file);

/* Adds what is in its slots. */
extern void table_entries(const list_file *file, entry_list *entries);

/* Sets entries in FILE, which is MINE, or makes a new file where the table would be full. */
extern bool table_set(list_file *file, const entry_list *entries, uint64_t id, uint64_t to);

/* The table of the new file, which gets no other: of these entries, which are united. */
extern bool new_file_table(list_file *file, entry_list *entries, uint64_t id, uint64_t to);

/* ------------------------------------------------------------------------
 * save.c
 * ------------------------------------------------------------------------ */

/* Each second or so: saves FILE if that is due, and notes how saving ended. */
extern void file_save(list_file *file);

/* Saves it and waits, for a while. */
extern void file_save_last(list_file *file);

#endif							/* CLI_FILE_H */
