/*
 * bytes.c
 *	  The core's functions over the bytes of filters: checking, describing and
 *	  building them.
 *
 * Errors that the caller's parameters can cause are raised as ValueError with a
 * sentence; the package gives them its own classes.
 */
#include "native.h"

#include "bf_bits.h"
#include "bf_bytes.h"
#include "bf_estimate.h"
#include "bf_hashlist.h"
#include "bf_sizing.h"

/* Where the checksum stands in a header. */
#define AT_CHECKSUM 56

/* Hashes that a list begins with: a page of memory. */
#define FIRST_HASHES 512

/* xxh64(data, seed) -> int */
static PyObject *
xxh64(PyObject *module, PyObject *args)
{
	Py_buffer	view;
	unsigned long long seed;
	uint64_t	hash;

	(void) module;
	if (!PyArg_ParseTuple(args, "y*K:xxh64", &view, &seed))
		return NULL;
	hash = bf_hash(view.buf, (size_t) view.len, seed);
	PyBuffer_Release(&view);
	return PyLong_FromUnsignedLongLong(hash);
}

/* Takes hold of a filter's bytes, of which the caller has checked the header. */
static int
take_filter(PyObject *object, Py_buffer *view)
{
	if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0)
		return -1;
	if (view->len >= BF_HEADER_BYTES)
		return 0;
	PyBuffer_Release(view);
	PyErr_SetString(PyExc_ValueError, "shorter than a header");
	return -1;
}

/* count_bits(filter) -> int; other threads run meanwhile */
static PyObject *
count_bits(PyObject *module, PyObject *object)
{
	Py_buffer	view;
	uint64_t	count;

	(void) module;
	if (take_filter(object, &view) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	count = bf_count_bits((const uint8_t *) view.buf + BF_HEADER_BYTES,
						  (uint64_t) view.len - BF_HEADER_BYTES, NULL);
	Py_END_ALLOW_THREADS
	PyBuffer_Release(&view);
	return PyLong_FromUnsignedLongLong(count);
}

/* checksum(filter) -> int; other threads run meanwhile */
static PyObject *
checksum(PyObject *module, PyObject *object)
{
	Py_buffer	view;
	uint64_t	sum;

	(void) module;
	if (take_filter(object, &view) < 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	sum = bf_checksum(view.buf, AT_CHECKSUM,
					  (const uint8_t *) view.buf + BF_HEADER_BYTES,
					  (uint64_t) view.len - BF_HEADER_BYTES, NULL);
	Py_END_ALLOW_THREADS
	PyBuffer_Release(&view);
	return PyLong_FromUnsignedLongLong(sum);
}

/* Reads the header of a filter whose first bytes are at hand. */
static int
read_start(PyObject *object, bf_header *header)
{
	Py_buffer	view;
	uint8_t		start[BF_HEADER_BYTES];
	uint64_t	blocks;

	if (take_filter(object, &view) < 0)
		return -1;
	memcpy(start, view.buf, sizeof start);
	PyBuffer_Release(&view);
	blocks = start[6] < 64 ? (uint64_t) bf_load_le(start + 8, 4) << start[6] : 0;
	if (bf_header_read(start, BF_HEADER_BYTES + blocks / 8, header) == BF_OK)
		return 0;
	PyErr_SetString(PyExc_ValueError, "not the header of a filter");
	return -1;
}

/* estimate(start) -> (cardinality, fpr, over_capacity) */
static PyObject *
estimate(PyObject *module, PyObject *object)
{
	bf_header	header;

	(void) module;
	if (read_start(object, &header) < 0)
		return NULL;
	return Py_BuildValue("ddO", bf_estimate_keys(&header), bf_estimate_rate(&header),
						 bf_over_capacity(&header) ? Py_True : Py_False);
}

/* ---------------------------------------------------------------- building */

static PyObject *
start_of(const bf_header *header)
{
	uint8_t		start[BF_HEADER_BYTES];

	bf_header_copy(header, start);
	return PyBytes_FromStringAndSize((const char *) start, sizeof start);
}

/* start_for(n, p, seed) -> the header of an empty filter, without a checksum */
static PyObject *
start_for(PyObject *module, PyObject *args)
{
	unsigned long long n;
	unsigned long long seed;
	double		p;
	bf_sizing	sizing;
	bf_header	header;

	(void) module;
	if (!PyArg_ParseTuple(args, "KdK:start_for", &n, &p, &seed))
		return NULL;
	if (!bf_size_for_rate(n, p, &sizing))
		return PyErr_Format(PyExc_ValueError, "no size reaches this rate for %llu keys", n);
	if (!bf_sizing_fits(&sizing))
		return PyErr_Format(PyExc_ValueError,
							"%llu keys at this rate don't fit one filter; the command line "
							"builds a set of parts: bloomfilter build --parts", n);
	header = bf_sizing_header(&sizing, seed);
	return start_of(&header);
}

/* A list of hashes that grows. */
typedef struct
{
	uint64_t   *hashes;
	size_t		count;
	size_t		room;
} HashList;

static int
append_hash(HashList *list, uint64_t hash)
{
	if (list->count == list->room)
	{
		size_t		room = list->room == 0 ? FIRST_HASHES : list->room * 2;
		uint64_t   *larger = PyMem_Realloc(list->hashes, room * sizeof *larger);

		if (larger == NULL)
		{
			PyErr_NoMemory();
			return -1;
		}
		list->hashes = larger;
		list->room = room;
	}
	list->hashes[list->count++] = hash;
	return 0;
}

static int
hash_all(KeyRun *run, const Hasher *hasher, HashList *list)
{
	uint64_t	hash;
	int			status;

	while ((status = key_run_next(run, hasher, &hash)) > 0)
		if (append_hash(list, hash) < 0)
			return -1;
	return status;
}

/*
 * hash_keys(keys, key_type, seed, key_bytes) -> (hashes, different): hashes are
 * bytes, in the order of the keys; different is how many different ones there are.
 */
static PyObject *
hash_keys(PyObject *module, PyObject *args)
{
	PyObject   *keys;
	unsigned long long seed;
	Hasher		hasher;
	HashList	list = {NULL, 0, 0};
	KeyRun		run;
	PyObject   *hashes = NULL;
	size_t		different;
	int			status;

	(void) module;
	if (!PyArg_ParseTuple(args, "OIKO:hash_keys", &keys, &hasher.key_type, &seed,
						  &hasher.key_bytes))
		return NULL;
	hasher.seed = seed;
	if (key_run_open(&run, &hasher, keys) < 0)
		return NULL;
	status = hash_all(&run, &hasher, &list);
	key_run_close(&run);
	if (status == 0)
		hashes = PyBytes_FromStringAndSize((const char *) list.hashes,
										   (Py_ssize_t) (list.count * sizeof *list.hashes));
	different = hashes == NULL ? 0 : bf_hashlist_unique(list.hashes, list.count, NULL);
	PyMem_Free(list.hashes);
	return hashes == NULL ? NULL : Py_BuildValue("Nn", hashes, (Py_ssize_t) different);
}

/* Adds hashes to an empty filter whose header is at start; -1 with an exception. */
static int
add_hashes(bf_header *header, uint8_t *blocks, const uint64_t *hashes, Py_ssize_t count)
{
	Py_ssize_t	i;

	for (i = 0; i < count; i++)
		if (!bf_in_part(header, hashes[i]))
		{
			PyErr_Format(PyExc_ValueError, "key %zd belongs to another part of the set", i);
			return -1;
		}
	bf_add_hashes(header, blocks, hashes, (size_t) count);
	return 0;
}

/*
 * fill(start, key_type, hashes) -> the bytes of a filter of start's shape that
 * holds the keys with these hashes and no others.
 */
static PyObject *
fill(PyObject *module, PyObject *args)
{
	PyObject   *start;
	unsigned	key_type;
	const char *hashes;
	Py_ssize_t	length;
	bf_header	header;
	PyObject   *filter;
	uint8_t    *bytes;

	(void) module;
	if (!PyArg_ParseTuple(args, "OIy#:fill", &start, &key_type, &hashes, &length) ||
		read_start(start, &header) < 0)
		return NULL;
	header.bits_set = 0;
	header.key_type = length == 0 ? BF_KEY_NONE : key_type;
	filter = PyBytes_FromStringAndSize(NULL, (Py_ssize_t) bf_total_bytes(&header));
	if (filter == NULL)
		return NULL;
	bytes = (uint8_t *) PyBytes_AS_STRING(filter);
	memset(bytes, 0, (size_t) bf_total_bytes(&header));
	/* The data of a bytes object begins at a multiple of 8 from the object. */
	if (add_hashes(&header, bytes + BF_HEADER_BYTES, (const uint64_t *) (const void *) hashes,
				   length / 8) < 0)
		Py_CLEAR(filter);
	else
		bf_header_write(&header, bytes + BF_HEADER_BYTES, NULL, bytes);
	return filter;
}

PyMethodDef module_functions[] = {
	{"xxh64", xxh64, METH_VARARGS, "XXH64 of bytes with a seed."},
	{"count_bits", count_bits, METH_O, "The number of 1 bits in a filter's blocks."},
	{"checksum", checksum, METH_O, "The checksum of a filter's bytes."},
	{"estimate", estimate, METH_O, "What a header says about the keys in the filter."},
	{"start_for", start_for, METH_VARARGS, "The header of an empty filter for n keys."},
	{"hash_keys", hash_keys, METH_VARARGS, "The hashes of keys."},
	{"parse_text", parse_text, METH_VARARGS, "A key from the text that PostgreSQL prints."},
	{"fill", fill, METH_VARARGS, "A filter of hashes."},
	{NULL, NULL, 0, NULL}
};
