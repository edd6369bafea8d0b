/*
 * native.h
 *	  What the files of the extension module share.
 *
 * The module serves the package and nobody else: its arguments come from the
 * package's own Python.  Keys of the builtin types are hashed in C; all others,
 * and every key that is refused, go through the package's key_bytes function, so
 * that the rules and the messages exist once.
 */
#ifndef NATIVE_H
#define NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bf_filter.h"
#include "bf_key.h"

/* How keys become hashes. */
typedef struct
{
	unsigned	key_type;		/* as bf_header has it */
	uint64_t	seed;
	PyObject   *key_bytes;		/* (key, key_type) -> bytes, or raises */
} Hasher;

/* The keys of a batch: of an iterator, or of an array of numbers as it lies. */
typedef struct
{
	PyObject   *iterator;		/* NULL: view has the keys */
	Py_buffer	view;
	char		kind;			/* 'i', 'u' or 'f': what the numbers of view are */
	Py_ssize_t	at;				/* keys taken */
} KeyRun;

/* The hash of one key; -1 with an exception. */
extern int	hash_key(const Hasher *hasher, PyObject *key, uint64_t *hash);

/* keys is any iterable of keys.  To be closed if 0 is returned. */
extern int	key_run_open(KeyRun *run, const Hasher *hasher, PyObject *keys);

/* 1: the hash of the next key; 0: that was all; -1: an exception that knows its index. */
extern int	key_run_next(KeyRun *run, const Hasher *hasher, uint64_t *hash);

extern void key_run_close(KeyRun *run);

/* Gives the exception that is set the index of the key that it is about. */
extern void set_error_index(Py_ssize_t index);

/* The type Prober. */
extern PyType_Spec prober_spec;

/* parse_text(type, text) -> (key_type, bytes); why it is no key comes as a ValueError. */
extern PyObject *parse_text(PyObject *module, PyObject *args);

/* The functions of the module. */
extern PyMethodDef module_functions[];

#endif							/* NATIVE_H */
