/*
 * libbloomfilter.h
 *	  Look keys up in the filters of the PostgreSQL extension bloomfilter,
 *	  and build them, without a server.
 *
 * This says what each function promises, libbloomfilter(3) how they are used together.  Files
 * are byte for byte those that SQL stores, sends and builds: doc/FORMAT.md.
 *
 * Results.  Functions that return int return BLOOMFILTER_OK (0), or 1 for
 * true, or one of the negative bloomfilter_error codes.  An error says nothing of
 * the key: test for < 0 before you test for 1.
 * Output parameters are set only on success, unless stated otherwise.
 *
 * Detail.  Functions that take a bloomfilter_detail fill it on an error with
 * what bloomfilter_strerror can't know: the file, errno.
 * NULL where nobody reads it.
 *
 * Threads.  There are no globals that change.  Functions that take a const
 * object may be called for it by any number of threads at once.  Functions that
 * take a non-const one need it for themselves, unless their comment says
 * otherwise.
 */
#ifndef LIBBLOOMFILTER_H
#define LIBBLOOMFILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is built with everything hidden but what is declared here. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ------------------------------------------------------------------------
 * Names and errors
 * ------------------------------------------------------------------------ */

/* What a filter holds.  SQL types that compare as equal share one key type. */
typedef enum bloomfilter_key_type
{
	BLOOMFILTER_KEY_NONE = 0,	/* no key was added yet */
	BLOOMFILTER_KEY_INTEGER = 1,
	BLOOMFILTER_KEY_TEXT = 2,
	BLOOMFILTER_KEY_BYTEA = 3,
	BLOOMFILTER_KEY_UUID = 4,
	BLOOMFILTER_KEY_NUMERIC = 5,
	BLOOMFILTER_KEY_FLOAT = 6,
	BLOOMFILTER_KEY_DATE = 7,
	BLOOMFILTER_KEY_TIMESTAMP = 8,
	BLOOMFILTER_KEY_TIMESTAMPTZ = 9,
	BLOOMFILTER_KEY_INET = 10,
	BLOOMFILTER_KEY_MACADDR = 11,
	BLOOMFILTER_KEY_ROW = 15	/* several columns, see bloomfilter_row */
} bloomfilter_key_type;

typedef enum bloomfilter_error
{
	BLOOMFILTER_OK = 0,

	/* Use of the library */
	BLOOMFILTER_ERR_NO_MEMORY = -1,
	BLOOMFILTER_ERR_SYSTEM = -2,	/* a system call failed: detail.system_error */
	BLOOMFILTER_ERR_ARGUMENT = -3,	/* a parameter is outside its range */

	/* It changes while it is read: BLOOMFILTER_COPY makes one that does not */
	BLOOMFILTER_ERR_FOLLOWED = -5,

	/* Asking and adding */
	BLOOMFILTER_ERR_KEY_TYPE = -10, /* the filter holds keys of another type */
	BLOOMFILTER_ERR_KEY = -11,	/* not a key of this type, e.g. invalid UTF-8 */
	BLOOMFILTER_ERR_OTHER_PART = -12,	/* the key belongs to a part not opened */

	/* Files of several parts, and files that are followed */
	BLOOMFILTER_ERR_PAGE = -20, /* its first page is damaged, or not for this length */
	BLOOMFILTER_ERR_SET = -21,	/* its parts are damaged, or not one whole set */
	BLOOMFILTER_ERR_CHANGES = -22,	/* its table of changes by day is damaged */
	BLOOMFILTER_ERR_LOST = -23, /* its follower found it damaged, or another program wrote to it */
	BLOOMFILTER_ERR_IDENTITY = -24, /* it is another list than the one that is insisted on */

	/* Building */
	BLOOMFILTER_ERR_TOO_LARGE = -30,	/* does not fit one filter: use parts */
	BLOOMFILTER_ERR_RATE = -31, /* no size reaches this rate */
	BLOOMFILTER_ERR_CONFLICT = -32, /* a key is a member and no member */

	/*
	 * The bytes are not a valid filter.  -100 minus the rule's number in section
	 * 7 of doc/FORMAT.md; the first rule that is broken is reported.
	 */
	BLOOMFILTER_ERR_FORMAT_LENGTH = -101,
	BLOOMFILTER_ERR_FORMAT_MAGIC = -102,
	BLOOMFILTER_ERR_FORMAT_VERSION = -103,
	BLOOMFILTER_ERR_FORMAT_HEADER_CHECKSUM = -104,	/* damage in the first 56 bytes */
	BLOOMFILTER_ERR_FORMAT_HASH = -105,
	BLOOMFILTER_ERR_FORMAT_PROBES = -106,
	BLOOMFILTER_ERR_FORMAT_BLOCK_BITS = -107,
	BLOOMFILTER_ERR_FORMAT_KEY_TYPE = -108,
	BLOOMFILTER_ERR_FORMAT_COLUMNS = -109,
	BLOOMFILTER_ERR_FORMAT_BLOCKS = -110,
	BLOOMFILTER_ERR_FORMAT_SIZE = -111,
	BLOOMFILTER_ERR_FORMAT_PARTS = -112,
	BLOOMFILTER_ERR_FORMAT_CAPACITY = -113,
	BLOOMFILTER_ERR_FORMAT_RATE = -114,
	BLOOMFILTER_ERR_FORMAT_BITS_SET = -115,
	BLOOMFILTER_ERR_FORMAT_EMPTY = -116,	/* bits are set, but no key type */
	BLOOMFILTER_ERR_FORMAT_CHECKSUM = -117,

	/* Of exact filters alone: section 17 */
	BLOOMFILTER_ERR_FORMAT_DIRECTORY = -118,	/* damage in bytes 64 to 127 */
	BLOOMFILTER_ERR_FORMAT_LEVELS = -119
} bloomfilter_error;

/* Of other languages any memory of 520 bytes will do: it begins with the text. */
typedef struct bloomfilter_detail
{
	char		text[512];		/* one line without capital and period */
	int			code;			/* the bloomfilter_error that was returned */
	int			system_error;	/* errno of BLOOMFILTER_ERR_SYSTEM, else 0 */
} bloomfilter_detail;

/*
 * The version of this header, for #if: 10000 times the first number, 100 times the
 * second, and the third.  1.0 is 10000.
 */
#define BLOOMFILTER_VERSION_NUMBER	10000

/* The version of the library that the program runs with, "1.0". */
extern const char *bloomfilter_version(void);

/* A constant sentence for a code, without capital and period.  Never NULL. */
extern const char *bloomfilter_strerror(int code);

/* "integer", "text" ...; "none" for 0; NULL for a number that is none. */
extern const char *bloomfilter_key_type_name(int key_type);

/* ------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------ */

/* One filter, or a whole set of parts that is asked like one filter. */
typedef struct bloomfilter bloomfilter;

/*
 * Read the bytes into memory instead of mapping the file (bloomfilter_open) or
 * instead of borrowing the caller's (bloomfilter_open_memory).
 */
#define BLOOMFILTER_COPY		0x01u

/*
 * Check only the header and the length, in constant time.  For files that were
 * checked before, when they came in: damage to the blocks then stays unseen and
 * may give wrong answers.
 */
#define BLOOMFILTER_SKIP_CHECK	0x02u

/*
 * Compare the bits of a followed file, too, with the sum in its page, and its changes by day.  A copy that was made
 * while it changed has another one, as a damaged file has.
 */
#define BLOOMFILTER_CHECK_BITS	0x04u

/*
 * Let bloomfilter_get_info count no bits: of a mapped file with a page of facts, whose headers
 * say nothing of them, bits_set and checksum are 0 then, and what follows from them.
 */
#define BLOOMFILTER_SKIP_COUNT	0x08u

/*
 * Opens the file at path: one filter, or one part of a set ("BLMF"), which answers only for the
 * keys that belong to it; or a filter of one or more parts behind a page of facts ("BLML"), as
 * "bloomfilter pull" keeps it or bloomfilter_write wrote it.  Folders, pipes and devices are
 * refused, as BLOOMFILTER_ERR_ARGUMENT.
 *
 * All rules of the format are checked here, once, checksums included, but not the bits of
 * a followed file, which change: keys come in while it is open, and of a tracked list may go, too.
 * When its follower begins a new file it stays what it was (status.superseded is not 0 then):
 * keep it open by bloomfilter_watched_open.
 *
 * The file is mapped, so nobody may write to it in place or cut it but the follower of its list:
 * see "Files that are replaced" in libbloomfilter(3).  With BLOOMFILTER_COPY nothing that happens
 * to it after this call matters: of a followed file that is the state of one serial.
 */
extern int	bloomfilter_open(const char *path, unsigned flags,
							 bloomfilter **filter, bloomfilter_detail *detail);

/*
 * Opens the bytes of one filter ("BLMF").  Without BLOOMFILTER_COPY they are used where
 * they are, and must stay there unchanged until bloomfilter_close.
 */
extern int	bloomfilter_open_memory(const void *bytes, size_t length,
									unsigned flags, bloomfilter **filter,
									bloomfilter_detail *detail);

/* Closes it.  No other thread may be using it.  NULL is allowed. */
extern void bloomfilter_close(bloomfilter *filter);

/* ------------------------------------------------------------------------
 * Asking
 *
 * Each returns 1 (true), 0 (false: surely not there), or an error: BLOOMFILTER_ERR_KEY_TYPE
 * where the filter holds keys of another type, BLOOMFILTER_ERR_KEY where the
 * value is none of the type, BLOOMFILTER_ERR_OTHER_PART where a single part is
 * open and the key belongs to another one.  A filter of key type none, which no
 * key was ever added to, answers 0 for keys of all types.
 *
 * They allocate nothing and lock nothing.
 * ------------------------------------------------------------------------ */

/*
 * By a key's bytes, as section 3 of doc/FORMAT.md defines them: of integers, floats, dates
 * and times 8 bytes, the lowest first, whatever the machine; of a text UTF-8, of which the
 * blanks at its end (U+0020 and nothing else) are left out.  Bytes that no key of the type
 * has (wrong length, invalid UTF-8, a numeric with trailing zeros) are refused, since no
 * filter can hold them.  bloomfilter_text_key makes the bytes of a text such as "1.50".
 */
extern int	bloomfilter_contains(const bloomfilter *filter, int key_type,
								 const void *bytes, size_t length);

extern int	bloomfilter_contains_int64(const bloomfilter *filter, int64_t value);

/* ------------------------------------------------------------------------
 * Keys of several columns
 *
 * SQL's ROW(tenant, email) is a key of type BLOOMFILTER_KEY_ROW.  Its bytes are
 * appended column by column, then asked for, or added, like those of any key:
 *
 *	uint8_t bytes[200];
 *	bloomfilter_row row = {bytes, sizeof bytes, 0};
 *
 *	bloomfilter_row_append_int64(&row, 7);
 *	bloomfilter_row_append(&row, BLOOMFILTER_KEY_TEXT, "x", 1);
 *	bloomfilter_contains(filter, BLOOMFILTER_KEY_ROW, row.bytes, row.length);
 *
 * A row whose columns are not of the types that the filter's rows have is refused
 * with BLOOMFILTER_ERR_KEY_TYPE, as keys of another type are.
 * ------------------------------------------------------------------------ */

/* A row in the making.  Set length to 0 to begin another one. */
typedef struct bloomfilter_row
{
	uint8_t    *bytes;			/* the caller's memory */
	size_t		room;			/* bytes that it has */
	size_t		length;			/* bytes that are taken */
} bloomfilter_row;

/* Bytes that a row takes for each column besides the column's own. */
#define BLOOMFILTER_COLUMN_BYTES 5

/*
 * Appends a column by its key bytes, of any type but row; a text's without the blanks
 * at its end.  BLOOMFILTER_ERR_KEY if these are none of the type, BLOOMFILTER_ERR_ARGUMENT
 * for the seventh column or where there is no room.  On an error the row is as before.
 */
extern int	bloomfilter_row_append(bloomfilter_row *row, int key_type,
								   const void *bytes, size_t length);
extern int	bloomfilter_row_append_int64(bloomfilter_row *row, int64_t value);

/* A key's bytes. */
typedef struct bloomfilter_slice
{
	const void *bytes;
	size_t		length;
} bloomfilter_slice;

/* ------------------------------------------------------------------------
 * Keys as text
 *
 * As PostgreSQL prints values and its casts read them: '2024-02-29', '10.0.0.1',
 * '1.50'.  doc/KEYS.md is the grammar.  No locale, time zone or clock matters.  A
 * text is read as PostgreSQL's own cast reads it or is refused with
 * BLOOMFILTER_ERR_KEY, and detail then says what is wrong with it.
 *
 * text_type is a bloomfilter_key_type or BLOOMFILTER_TEXT_REAL.
 * ------------------------------------------------------------------------ */

/*
 * The text of a column of type real, whose keys are of type float.  The real that
 * is nearest to 0.1 is another number than the double that is nearest to it: text
 * of such a column that is read as BLOOMFILTER_KEY_FLOAT is another key.
 */
#define BLOOMFILTER_TEXT_REAL	100

/* A key type's number by its name, or BLOOMFILTER_TEXT_REAL for "real". */
extern int	bloomfilter_text_type_of_name(const char *name);

/* The type of the keys: BLOOMFILTER_KEY_FLOAT for BLOOMFILTER_TEXT_REAL. */
extern int	bloomfilter_text_key_type(int text_type);

/* Room that is enough for the bytes of the key that a text is. */
extern size_t bloomfilter_text_room(int text_type, const char *text,
									size_t length);

/*
 * The bytes of the key that a text is.  They are written to buffer, which has
 * bloomfilter_text_room; those of BLOOMFILTER_KEY_TEXT, which need none, stay where the
 * text is.
 */
extern int	bloomfilter_text_key(int text_type, const char *text, size_t length,
								 void *buffer, size_t room,
								 bloomfilter_slice *key,
								 bloomfilter_detail *detail);

/* ------------------------------------------------------------------------
 * Asking for many keys at once
 *
 * The memory of several keys is fetched together, which is four times as fast
 * as one by one where the filter is larger than the processor's cache.
 *
 * found[i] becomes 1 or 0.  On an error *answered keys have been answered, and
 * the error is that of keys[*answered].  answered may be NULL.
 * ------------------------------------------------------------------------ */

extern int	bloomfilter_contains_batch(const bloomfilter *filter, int key_type,
									   const bloomfilter_slice *keys,
									   size_t count, uint8_t *found,
									   size_t *answered);
extern int	bloomfilter_contains_int64_batch(const bloomfilter *filter,
											 const int64_t *keys, size_t count,
											 uint8_t *found, size_t *answered);

/* ------------------------------------------------------------------------
 * Explaining a look-up
 *
 * What it computes and sees, in the lines of SQL's bloom_explain: doc/FORMAT.md, section
 * 16.  Where two programs answer differently, the first line that differs says why.
 * ------------------------------------------------------------------------ */

/* Room for the text, its zero byte included. */
#define BLOOMFILTER_EXPLAIN_TEXT 2048

/*
 * As bloomfilter_contains, and writes the lines to text, of which the last has no
 * newline.  text is written for BLOOMFILTER_ERR_OTHER_PART, too, and for no other error.
 */
extern int	bloomfilter_explain(const bloomfilter *filter, int key_type,
								const void *bytes, size_t length, char *text);

/* ------------------------------------------------------------------------
 * What is in it
 * ------------------------------------------------------------------------ */

/*
 * Of all parts of a set together: part is 0; probes and block_bits are those of part 0; the
 * capacity is the sum of theirs, each of which has some room to spare, rate the largest,
 * checksum a hash of theirs.
 *
 * An exact filter (format version 2) is right for each key that it was built of: true for
 * members, false for others; and true for at most rate of all other keys.  Its figures here
 * are those of its members' level, but for total_bytes.
 */
typedef struct bloomfilter_info
{
	uint32_t	version;		/* of the format */
	int			key_type;		/* bloomfilter_key_type */
	uint32_t	probes;			/* bits per key, k */
	uint32_t	block_bits;
	uint64_t	blocks;
	uint32_t	part;
	uint32_t	parts;			/* 1: a whole filter */
	uint32_t	open_parts;		/* 1, or parts where a set is open */
	uint32_t	over_capacity;	/* 1: holds surely more keys than it is sized for */
	uint64_t	seed;
	uint64_t	capacity;		/* n */
	double		rate;			/* p, promised at n keys */
	uint64_t	bits_set;
	uint64_t	total_bits;
	uint64_t	total_bytes;	/* headers included */
	uint64_t	checksum;
	double		fill;			/* bits_set / total_bits */
	double		estimated_keys;
	double		estimated_rate; /* expected rate with the keys it holds now */
	uint8_t		columns[8];		/* key types of a row's columns; 0 after the last */
	uint32_t	exact;			/* 1: right for each key of a universe (below) */
	uint32_t	reserved;		/* 0 */
	uint64_t	others;			/* keys of it that are no members, for which it was sized */
	uint64_t	changes;		/* of all parts: keys that were changed by day since it was published */
	uint64_t	slots;			/* of the table that has them; 0: there is none */
} bloomfilter_info;

/* Room for what bloomfilter_describe_keys writes. */
#define BLOOMFILTER_KEYS_TEXT 96

/* What keys it holds, "integer" or "row(integer, text)", written to text, which is returned. */
extern const char *bloomfilter_describe_keys(const bloomfilter_info *info, char *text);

/*
 * Fills info of one of the open parts, 0 to open_parts - 1, or for -1 of all together.  The
 * caller knows info_size, sizeof (bloomfilter_info), of it: later versions append fields.
 */
extern int	bloomfilter_get_info(const bloomfilter *filter, int part,
								 bloomfilter_info *info, size_t info_size);

/* The most parts that a set can have. */
#define BLOOMFILTER_MAX_PARTS 65535

/*
 * The bytes of one of the open parts, valid until bloomfilter_close.
 * BLOOMFILTER_ERR_FOLLOWED for a mapped "BLML", whose headers say nothing of the bits.
 */
extern int	bloomfilter_get_bytes(const bloomfilter *filter, uint32_t index,
								  const void **bytes, size_t *length);

/* ------------------------------------------------------------------------
 * A file that "bloomfilter pull" keeps
 * ------------------------------------------------------------------------ */

/* Whether a file is where its follower keeps it. */
typedef enum bloomfilter_place
{
	BLOOMFILTER_PLACE_NONE = 0, /* nobody follows it: a filter alone, or a set that was written */
	BLOOMFILTER_PLACE_HERE = 1, /* it is, since this boot */
	BLOOMFILTER_PLACE_OTHER_BOOT = 2,	/* the system was started anew since the follower's last write */
	BLOOMFILTER_PLACE_COPY = 3	/* a copy or a backup, or seen through another mount */
} bloomfilter_place;

/* Which of a file's serials may be believed. */
typedef enum bloomfilter_serial_kind
{
	BLOOMFILTER_SERIAL_NONE = 0,
	BLOOMFILTER_SERIAL_NOW = 1, /* of the last bits that the follower set */
	BLOOMFILTER_SERIAL_SAVED = 2,	/* of the last bits that are surely on the disk */
	BLOOMFILTER_SERIAL_BORN = 3 /* that the file was made with */
} bloomfilter_serial_kind;

/*
 * Times are microseconds since 1970 in UTC, durations microseconds; 0 and "" are what
 * isn't known or isn't so.  Of a filter that has no page of facts all is 0.
 */
typedef struct bloomfilter_status
{
	uint64_t	serial;			/* all that the list had at this serial is found */
	int64_t		true_at;		/* all that was committed before is found; only of SERIAL_NOW */
	int64_t		age;			/* since looked, by the clock that says more; -1: not known */
	char		reason[24];		/* what is wrong, in a word of doc/FEED.md; "": nothing */
	char		message[264];	/* which case it is, in a line */
	int32_t		place;			/* bloomfilter_place */
	int32_t		serial_kind;	/* bloomfilter_serial_kind */
	int64_t		looked;			/* the follower's last good look, by the host's clock */
	int64_t		every;			/* between two looks */
	int64_t		heartbeat;		/* between two signs of life of the exporter */
	int64_t		expires;		/* signed content is not to be trusted after this */
	int64_t		since;			/* reason is what it is */
	uint64_t	failures;		/* looks that failed since looked */
	uint64_t	superseded;		/* not 0: another file took this one's place */
	char		identity[40];	/* of the list: a UUID */
	char		list[216];		/* its name */
	uint64_t	changes;		/* keys that were changed by day since the list was published */
	uint64_t	changes_to;		/* all changes are there up to this serial of the exporter */
} bloomfilter_status;

/*
 * What the page of facts of an open filter says now; of a copy, serial and true_at are
 * those of the copy.  Where the follower wrote no reason this adds "old", if it did not look
 * for three times every, and "clock", if looked is more than a minute in the future.
 * status_size is sizeof (bloomfilter_status) of the caller, or of as many of its first fields as another
 * language declares.
 */
extern int	bloomfilter_get_status(const bloomfilter *filter, bloomfilter_status *status,
								   size_t status_size);

/* ------------------------------------------------------------------------
 * A filter that is replaced while it is asked
 *
 * Each thread that asks has a bloomfilter_reader of its own, and asks between enter and leave:
 *
 *		filter = bloomfilter_reader_enter(reader);
 *		answer = bloomfilter_contains_int64(filter, key);
 *		bloomfilter_reader_leave(reader);
 *
 * The filter that was entered stays open until leave, and its memory until the reader enters
 * again or is closed: close that of a thread which will be idle for long.  enter looks at the path
 * once a second, and at once where the filter's follower says that another file took its place; so
 * no thread is needed, and a process may fork.  The enter that finds another file opens and checks
 * it: a tenth of a second for 100 MB of a "BLMF", nothing that can be felt for a followed one.  If
 * that fails the old filter stays; where the bits of a mapped followed file can't be believed any
 * more, every question gets BLOOMFILTER_ERR_LOST until another file has the path.  An enter costs
 * some 10 ns: ask several questions between enter and leave where that matters.
 * ------------------------------------------------------------------------ */

typedef struct bloomfilter_watched bloomfilter_watched;
typedef struct bloomfilter_reader bloomfilter_reader;

/*
 * path and flags as for bloomfilter_open.  With BLOOMFILTER_COPY, a followed file is
 * copied anew when its serial has changed.  identity is NULL, or the UUID of the list, as
 * bloomfilter_status has it: a file of another one, or of none, is BLOOMFILTER_ERR_IDENTITY,
 * now and whenever it takes the path.
 */
extern int	bloomfilter_watched_open(const char *path, unsigned flags, const char *identity,
								  bloomfilter_watched **watched,
								  bloomfilter_detail *detail);

/*
 * Looks at the path now.  1: another filter is in place (or, of a copy, another serial); 0: it is
 * the same; an error: the old filter stays.  Any thread may call this at any time;
 * concurrent calls wait for each other, readers never do.  A relative path means
 * what it meant when the watched filter was opened.
 */
extern int	bloomfilter_watched_reload(bloomfilter_watched *watched,
									bloomfilter_detail *detail);

/* What the last look at the path ended with: BLOOMFILTER_OK, or an error and its detail. */
extern int	bloomfilter_watched_error(bloomfilter_watched *watched,
									  bloomfilter_detail *detail);

/* Closes it.  All its readers must have been closed before. */
extern void bloomfilter_watched_close(bloomfilter_watched *watched);

/* A reader for one thread at a time.  Any thread may open and close readers. */
extern int	bloomfilter_reader_open(bloomfilter_watched *watched,
									bloomfilter_reader **reader);
extern void bloomfilter_reader_close(bloomfilter_reader *reader);

/*
 * The current filter, until leave.  Never NULL.  Calls may be nested: inner ones
 * return the filter of the outermost.
 */
extern const bloomfilter *bloomfilter_reader_enter(bloomfilter_reader *reader);
extern void bloomfilter_reader_leave(bloomfilter_reader *reader);

/* ------------------------------------------------------------------------
 * Building
 *
 * The bytes depend on the keys and the parameters only, not on order and
 * repetition.
 * ------------------------------------------------------------------------ */

typedef struct bloomfilter_builder bloomfilter_builder;

/*
 * For n keys at a false-positive rate of at most p: one filter, or a set of so many parts;
 * 0 parts: the fewest that are enough, which may be one.
 *
 * n may be 0, of one filter alone: the number of different keys that come (at least 1).
 * Then 8 bytes or more per added key are kept until the end.
 */
extern int	bloomfilter_builder_create(uint64_t n, double p, uint64_t seed, uint32_t parts,
									   bloomfilter_builder **builder);

/*
 * For an exact filter: keys are added as members, and after bloomfilter_builder_others as
 * others.  8 bytes or more per key are kept until the end.  bloomfilter_builder_finish gives
 * BLOOMFILTER_ERR_CONFLICT where a key is both, or where a member and another have the same
 * hash: another seed helps the latter.
 */
extern int	bloomfilter_builder_create_exact(double p, uint64_t seed,
											 bloomfilter_builder **builder);
extern int	bloomfilter_builder_others(bloomfilter_builder *builder);

/* Frees it, finished or not.  NULL is allowed. */
extern void bloomfilter_builder_free(bloomfilter_builder *builder);

/*
 * Add a key.  The first one decides the key type; keys of another type are
 * refused with BLOOMFILTER_ERR_KEY_TYPE.  Otherwise as the bloomfilter_contains
 * functions of the same names.  A key that was refused has changed nothing.
 */
extern int	bloomfilter_builder_add(bloomfilter_builder *builder, int key_type,
									const void *bytes, size_t length);
extern int	bloomfilter_builder_add_int64(bloomfilter_builder *builder,
										  int64_t value);

/*
 * Add many keys.  On an error *added keys were added and the error is that of
 * keys[*added].  added may be NULL.
 */
extern int	bloomfilter_builder_add_batch(bloomfilter_builder *builder,
										  int key_type,
										  const bloomfilter_slice *keys,
										  size_t count, size_t *added);
extern int	bloomfilter_builder_add_int64_batch(bloomfilter_builder *builder,
												const int64_t *keys,
												size_t count, size_t *added);

/*
 * Makes the filter, in memory.  The builder is then empty and can only be freed.
 * On an error it is as before.  The filter is asked, written and closed like any
 * other, and doesn't need the builder.
 */
extern int	bloomfilter_builder_finish(bloomfilter_builder *builder,
									   bloomfilter **filter,
									   bloomfilter_detail *detail);

/* ------------------------------------------------------------------------
 * Writing
 *
 * In one step for everybody who opens path.  On an error path is as before, and no other file is
 * left; with one exception, where the folder can't be synced: see libbloomfilter(3), also for rights
 * and links.
 * ------------------------------------------------------------------------ */

/*
 * Writes an open filter: of one part as a "BLMF", of several as a "BLML" that nobody
 * follows and that never changes.  A followed file must have been opened with
 * BLOOMFILTER_COPY (else BLOOMFILTER_ERR_FOLLOWED): so one is copied to a file of its own.
 * What is written is the filter as it was published, without the changes by day that it has.
 */
extern int	bloomfilter_write(const bloomfilter *filter, const char *path,
							  bloomfilter_detail *detail);

/* Whether bloomfilter_write can begin: what it would refuse of path, before a filter is built. */
extern int	bloomfilter_can_write(const char *path, bloomfilter_detail *detail);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif							/* LIBBLOOMFILTER_H */
