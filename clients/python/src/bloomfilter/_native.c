/*
 * _native.c
 *	  The look-up of the Python package, over the C core of the extension.
 *
 * One type, Prober: the filters of a set, of which some may be missing.  It does
 * what _pure.py does.  Keys of the builtin types are hashed here; all others,
 * and every key that is refused, go through the package's key_bytes function, so
 * that the rules and the messages exist once.
 *
 * Python code has validated the filters.  Headers are read again here, by the
 * core's own rules, because the memory safety of this file rests on them.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bf_filter.h"
#include "bf_key.h"

#if defined(__GNUC__)
#define prefetch(address) __builtin_prefetch(address)
#else
#define prefetch(address) ((void) (address))
#endif

typedef struct
{
	bf_header	header;
	Py_buffer	view;			/* view.obj is NULL if the filter is missing */
} File;

typedef struct
{
	PyObject_HEAD
	File	   *files;			/* one for each part */
	Py_ssize_t	parts;
	uint64_t	seed;
	int			key_type;
	PyObject   *key_bytes;		/* (key, key_type) -> bytes, or raises */
	PyObject   *missing_part;	/* (part), raises */
} Prober;

/* A key's hash and the filter to ask for it. */
typedef struct
{
	const File *file;
	uint64_t	hash;
} Question;

/* ---------------------------------------------------------------- keys */

/* The hash of a key's own bytes as the package makes them, or raises. */
static int
hash_any(Prober *self, PyObject *key, uint64_t *hash)
{
	PyObject   *bytes = PyObject_CallFunction(self->key_bytes, "Oi", key,
											  self->key_type);
	char	   *data;
	Py_ssize_t	length;

	if (bytes == NULL)
		return -1;
	if (PyBytes_AsStringAndSize(bytes, &data, &length) < 0)
	{
		Py_DECREF(bytes);
		return -1;
	}
	*hash = bf_hash(data, (size_t) length, self->seed);
	Py_DECREF(bytes);
	return 0;
}

static int
hash_integer(Prober *self, PyObject *key, uint64_t *hash)
{
	uint8_t		bytes[8];
	int			overflow;
	long long	value = PyLong_AsLongLongAndOverflow(key, &overflow);

	if (overflow != 0)
		return hash_any(self, key, hash);
	bf_key_integer(value, bytes);
	*hash = bf_hash_8(bytes, self->seed);
	return 0;
}

static int
hash_float(Prober *self, PyObject *key, uint64_t *hash)
{
	uint8_t		bytes[8];

	bf_key_float(PyFloat_AS_DOUBLE(key), bytes);
	*hash = bf_hash_8(bytes, self->seed);
	return 0;
}

static int
hash_text(Prober *self, PyObject *key, uint64_t *hash)
{
	Py_ssize_t	length;
	const char *data = PyUnicode_AsUTF8AndSize(key, &length);

	if (data == NULL)
		return -1;
	*hash = bf_hash(data, (size_t) length, self->seed);
	return 0;
}

/*
 * Exact types only: a subclass may mean another key type (a bool is an int) or
 * change its own bytes.
 */
static int
hash_key(Prober *self, PyObject *key, uint64_t *hash)
{
	switch (self->key_type)
	{
		case BF_KEY_INTEGER:
			if (PyLong_CheckExact(key))
				return hash_integer(self, key, hash);
			break;
		case BF_KEY_TEXT:
			if (PyUnicode_CheckExact(key) && PyUnicode_IS_COMPACT_ASCII(key))
				return hash_text(self, key, hash);
			break;
		case BF_KEY_BYTEA:
			if (PyBytes_CheckExact(key))
			{
				*hash = bf_hash(PyBytes_AS_STRING(key),
								(size_t) PyBytes_GET_SIZE(key), self->seed);
				return 0;
			}
			break;
		case BF_KEY_FLOAT:
			if (PyFloat_CheckExact(key))
				return hash_float(self, key, hash);
			break;
	}
	return hash_any(self, key, hash);
}

/* The hash of a key and its filter; raises if there is none. */
static int
make_question(Prober *self, PyObject *key, Question *question)
{
	uint32_t	part;
	PyObject   *result;

	if (hash_key(self, key, &question->hash) < 0)
		return -1;
	part = self->parts == 1 ? 0 :
		bf_part_of(question->hash, (uint32_t) self->parts);
	question->file = &self->files[part];
	if (question->file->view.obj != NULL)
		return 0;
	result = PyObject_CallFunction(self->missing_part, "I", (unsigned) part);
	if (result != NULL)
	{
		Py_DECREF(result);
		PyErr_SetString(PyExc_SystemError, "missing_part did not raise");
	}
	return -1;
}

static const uint8_t *
blocks_of(const File *file)
{
	return (const uint8_t *) file->view.buf + BF_HEADER_BYTES;
}

static int
answer(const Question *question)
{
	return bf_contains(&question->file->header, blocks_of(question->file),
					   question->hash);
}

/* Ask for the memory of all probes; those of a 64-byte block lie together. */
static void
prefetch_question(const Question *question)
{
	const bf_header *header = &question->file->header;
	const uint8_t *block = blocks_of(question->file) +
		bf_block_offset(header, question->hash);
	uint64_t	probe = bf_probe_start(question->hash);
	unsigned	probes = header->log2_block_bits == BF_MIN_LOG2_BLOCK ?
		1 : header->probes;

	for (; probes > 0; probes--)
	{
		prefetch(&block[bf_probe_bit(probe, header->log2_block_bits) >> 3]);
		probe = bf_probe_next(probe);
	}
}

/* ---------------------------------------------------------------- methods */

static int
prober_contains(PyObject *object, PyObject *key)
{
	Question	question;

	if (make_question((Prober *) object, key, &question) < 0)
		return -1;
	return answer(&question);
}

static PyObject *
prober_contains_method(PyObject *object, PyObject *key)
{
	int			found = prober_contains(object, key);

	return found < 0 ? NULL : PyBool_FromLong(found);
}

/* Up to BF_BATCH questions from an iterator; -1 with an exception. */
static int
take_batch(Prober *self, PyObject *iterator, Question *questions)
{
	int			count = 0;
	PyObject   *key;

	while (count < BF_BATCH && (key = PyIter_Next(iterator)) != NULL)
	{
		int			status = make_question(self, key, &questions[count]);

		Py_DECREF(key);
		if (status < 0)
			return -1;
		prefetch_question(&questions[count++]);
	}
	return PyErr_Occurred() ? -1 : count;
}

static int
append_answers(PyObject *list, const Question *questions, int count)
{
	int			i;

	for (i = 0; i < count; i++)
		if (PyList_Append(list, answer(&questions[i]) ? Py_True : Py_False) < 0)
			return -1;
	return 0;
}

static PyObject *
prober_contains_many(PyObject *object, PyObject *keys)
{
	PyObject   *iterator = PyObject_GetIter(keys);
	PyObject   *list = iterator == NULL ? NULL : PyList_New(0);
	int			count = list == NULL ? -1 : BF_BATCH;

	while (count == BF_BATCH)
	{
		Question	questions[BF_BATCH];

		count = take_batch((Prober *) object, iterator, questions);
		if (count > 0 && append_answers(list, questions, count) < 0)
			count = -1;
	}
	Py_XDECREF(iterator);
	if (count < 0)
		Py_CLEAR(list);
	return list;
}

/* ---------------------------------------------------------------- life */

/* Takes hold of a buffer and reads its header; the file's own, not the caller's. */
static int
open_file(Prober *self, PyObject *buffer)
{
	Py_buffer	view;
	bf_header	header;
	File	   *file;

	if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0)
		return -1;
	if (bf_header_read(view.buf, (uint64_t) view.len, &header) != BF_OK ||
		(self->files != NULL && (header.parts != self->parts ||
								 header.seed != self->seed)))
	{
		PyErr_SetString(PyExc_ValueError, "not the filters of one set");
		PyBuffer_Release(&view);
		return -1;
	}
	if (self->files == NULL)
	{
		self->parts = header.parts;
		self->seed = header.seed;
		self->files = PyMem_Calloc(header.parts, sizeof(File));
	}
	file = self->files == NULL ? NULL : &self->files[header.part];
	if (file == NULL || file->view.obj != NULL)
	{
		PyBuffer_Release(&view);
		if (file == NULL)
			PyErr_NoMemory();
		else
			PyErr_SetString(PyExc_ValueError, "a part is there twice");
		return -1;
	}
	file->header = header;
	file->view = view;
	return 0;
}

static int
open_files(Prober *self, PyObject *buffers)
{
	Py_ssize_t	count = PySequence_Size(buffers);
	Py_ssize_t	i;

	if (count == 0)
		PyErr_SetString(PyExc_ValueError, "no filter is given");
	if (count <= 0)
		return -1;
	for (i = 0; i < count; i++)
	{
		PyObject   *buffer = PySequence_GetItem(buffers, i);
		int			status = buffer == NULL ? -1 : open_file(self, buffer);

		Py_XDECREF(buffer);
		if (status < 0)
			return -1;
	}
	return 0;
}

static PyObject *
prober_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"headers", "buffers", "key_type", "key_bytes",
	"missing_part", NULL};
	PyObject   *headers;
	PyObject   *buffers;
	PyObject   *key_bytes;
	PyObject   *missing_part;
	int			key_type;
	Prober	   *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOiOO:Prober", names,
									 &headers, &buffers, &key_type, &key_bytes,
									 &missing_part))
		return NULL;
	self = (Prober *) type->tp_alloc(type, 0);
	if (self == NULL)
		return NULL;
	self->key_type = key_type;
	Py_INCREF(key_bytes);
	self->key_bytes = key_bytes;
	Py_INCREF(missing_part);
	self->missing_part = missing_part;
	if (open_files(self, buffers) < 0)
		Py_CLEAR(self);
	return (PyObject *) self;
}

static int
prober_traverse(PyObject *object, visitproc visit, void *arg)
{
	Prober	   *self = (Prober *) object;
	Py_ssize_t	i;

#if PY_VERSION_HEX >= 0x03090000
	Py_VISIT(Py_TYPE(object));
#endif
	Py_VISIT(self->key_bytes);
	Py_VISIT(self->missing_part);
	for (i = 0; self->files != NULL && i < self->parts; i++)
		Py_VISIT(self->files[i].view.obj);
	return 0;
}

/*
 * The buffers hold no Python code and so close no cycle that only this type
 * could break; they stay until the object goes, so that no cleared object can
 * be asked.
 */
static int
prober_clear(PyObject *object)
{
	(void) object;
	return 0;
}

static void
prober_dealloc(PyObject *object)
{
	Prober	   *self = (Prober *) object;
	PyTypeObject *type = Py_TYPE(object);
	Py_ssize_t	i;

	PyObject_GC_UnTrack(object);
	for (i = 0; self->files != NULL && i < self->parts; i++)
		if (self->files[i].view.obj != NULL)
			PyBuffer_Release(&self->files[i].view);
	PyMem_Free(self->files);
	Py_XDECREF(self->key_bytes);
	Py_XDECREF(self->missing_part);
	type->tp_free(object);
	Py_DECREF(type);
}

/* ---------------------------------------------------------------- module */

static PyMethodDef prober_methods[] = {
	{"contains", prober_contains_method, METH_O,
	"Whether the filter may hold the key; `key in filter` is the same."},
	{"contains_many", prober_contains_many, METH_O,
	"One answer for each key, in their order."},
	{NULL, NULL, 0, NULL}
};

static PyType_Slot prober_slots[] = {
	{Py_tp_new, prober_new},
	{Py_tp_dealloc, prober_dealloc},
	{Py_tp_traverse, prober_traverse},
	{Py_tp_clear, prober_clear},
	{Py_tp_methods, prober_methods},
	{Py_sq_contains, prober_contains},
	{0, NULL}
};

static PyType_Spec prober_spec = {
	.name = "bloomfilter._native.Prober",
	.basicsize = sizeof(Prober),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.slots = prober_slots,
};

static int
module_exec(PyObject *module)
{
	PyObject   *type = PyType_FromSpec(&prober_spec);

	if (type == NULL)
		return -1;
	if (PyModule_AddObject(module, "Prober", type) < 0)
	{
		Py_DECREF(type);
		return -1;
	}
	return 0;
}

static PyModuleDef_Slot module_slots[] = {
	{Py_mod_exec, module_exec},
	{0, NULL}
};

static struct PyModuleDef module_def = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "bloomfilter._native",
	.m_doc = "The look-up of the package, compiled.",
	.m_size = 0,
	.m_slots = module_slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
	return PyModuleDef_Init(&module_def);
}
