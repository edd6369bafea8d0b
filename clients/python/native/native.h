/*
 * native.h
 *	  What the files of the extension module share.
 *
 * The module serves the package and nobody else.  Keys of the builtin types become key
 * bytes here; all others, and every key that is refused, go through the package's
 * encode function, so that the rules and the messages exist once.
 */
#ifndef NATIVE_H
#define NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "libbloomfilter.h"

/* What the package gave the module: see setup in module.c. */
extern PyObject *encode_function;	/* key -> (key type, bytes), or raises */
extern PyObject *error_function;	/* (code, text, errno) -> an exception */

/* Raises what the package makes of a code; returns NULL. */
extern PyObject *raise_code(int code, const char *text, int system_error);

/* The same, said of the key with this number in a batch. */
extern void set_error_index(Py_ssize_t index);

/* One key.  bytes are in room or owner's. */
typedef struct
{
	int			type;
	const char *bytes;
	Py_ssize_t	length;
	uint8_t		room[8];
	PyObject   *owner;			/* to be released with key_free, or NULL */
} Key;

extern int	key_take(PyObject *object, Key *key);
extern void key_free(Key *key);

/* The keys of a batch, all of one type. */
typedef struct
{
	int			type;			/* BLOOMFILTER_KEY_NONE: there is no key */
	size_t		count;
	int64_t    *integers;		/* of type integer */
	bloomfilter_slice *slices;	/* of all others; until keys_take is done offsets */
	char	   *bytes;
	size_t		room;			/* of integers or slices, in keys */
	size_t		used;			/* of bytes */
	size_t		bytes_room;
} Keys;

/* Takes all keys of an iterable or of an array of numbers; to be freed in any case. */
extern int	keys_take(PyObject *iterable, Keys *keys);
extern void keys_free(Keys *keys);

/* The type Filter. */
extern PyType_Spec filter_spec;

#endif							/* NATIVE_H */
