/*
 * prober.c
 *	  The type Prober: the filters of a set, of which some may be missing.  It does
 *	  what _pure.py does.
 *
 * Python code has validated the filters.  Headers are read again here, by the
 * core's own rules, because the memory safety of this file rests on them.
 */
#include "native.h"

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
	Hasher		hasher;			/* owns its key_bytes */
	PyObject   *missing_part;	/* (part), raises */
	int			asking;			/* questions that are not answered yet */
	int			closed;
} Prober;

/* A key's hash and the filter to ask for it. */
typedef struct
{
	const File *file;
	uint64_t	hash;
} Question;

/* ---------------------------------------------------------------- questions */

static void
release_files(Prober *self)
{
	Py_ssize_t	i;

	for (i = 0; self->files != NULL && i < self->parts; i++)
		if (self->files[i].view.obj != NULL)
			PyBuffer_Release(&self->files[i].view);
}

/* Each question and batch is between begin and end: their keys may run Python code. */
static int
begin(Prober *self)
{
	if (self->closed)
	{
		PyErr_SetString(PyExc_ValueError, "the filter is closed");
		return -1;
	}
	self->asking++;
	return 0;
}

/* The last one frees the files if the filter was closed meanwhile. */
static void
end(Prober *self)
{
	if (--self->asking == 0 && self->closed)
		release_files(self);
}

/* The filter that a hash belongs to; raises if it is missing. */
static int
find_file(Prober *self, Question *question)
{
	uint32_t	part = self->parts == 1 ? 0 :
		bf_part_of(question->hash, (uint32_t) self->parts);
	PyObject   *result;

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
	Prober	   *self = (Prober *) object;
	Question	question;
	int			found = -1;

	if (begin(self) < 0)
		return -1;
	if (hash_key(&self->hasher, key, &question.hash) == 0 &&
		find_file(self, &question) == 0)
		found = answer(&question);
	end(self);
	return found;
}

static PyObject *
prober_contains_method(PyObject *object, PyObject *key)
{
	int			found = prober_contains(object, key);

	return found < 0 ? NULL : PyBool_FromLong(found);
}

/* Up to BF_BATCH questions; -1 with an exception. */
static int
take_batch(Prober *self, KeyRun *run, Question *questions)
{
	int			count = 0;
	int			status = 1;

	while (count < BF_BATCH &&
		   (status = key_run_next(run, &self->hasher, &questions[count].hash)) > 0)
	{
		if (find_file(self, &questions[count]) < 0)
		{
			set_error_index(run->at - 1);
			return -1;
		}
		prefetch_question(&questions[count++]);
	}
	return status < 0 ? -1 : count;
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

/* Appends the answers to all keys of a run; -1 with an exception. */
static int
answer_run(Prober *self, KeyRun *run, PyObject *list)
{
	int			count = BF_BATCH;

	while (count == BF_BATCH)
	{
		Question	questions[BF_BATCH];

		count = take_batch(self, run, questions);
		if (count > 0 && append_answers(list, questions, count) < 0)
			return -1;
	}
	return count < 0 ? -1 : 0;
}

static PyObject *
prober_contains_many(PyObject *object, PyObject *keys)
{
	Prober	   *self = (Prober *) object;
	KeyRun		run;
	PyObject   *list = NULL;

	if (begin(self) < 0)
		return NULL;
	if (key_run_open(&run, &self->hasher, keys) == 0)
	{
		list = PyList_New(0);
		if (list != NULL && answer_run(self, &run, list) < 0)
			Py_CLEAR(list);
		key_run_close(&run);
	}
	end(self);
	return list;
}

static PyObject *
prober_close(PyObject *object, PyObject *unused)
{
	Prober	   *self = (Prober *) object;

	(void) unused;
	if (!self->closed)
	{
		self->closed = 1;
		if (self->asking == 0)
			release_files(self);
	}
	Py_RETURN_NONE;
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
								 header.seed != self->hasher.seed)))
	{
		PyErr_SetString(PyExc_ValueError, "not the filters of one set");
		PyBuffer_Release(&view);
		return -1;
	}
	if (self->files == NULL)
	{
		self->parts = header.parts;
		self->hasher.seed = header.seed;
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
	unsigned	key_type;
	Prober	   *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOIOO:Prober", names,
									 &headers, &buffers, &key_type, &key_bytes,
									 &missing_part))
		return NULL;
	self = (Prober *) type->tp_alloc(type, 0);
	if (self == NULL)
		return NULL;
	self->hasher.key_type = key_type;
	Py_INCREF(key_bytes);
	self->hasher.key_bytes = key_bytes;
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
	Py_VISIT(self->hasher.key_bytes);
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

	PyObject_GC_UnTrack(object);
	release_files(self);
	PyMem_Free(self->files);
	Py_XDECREF(self->hasher.key_bytes);
	Py_XDECREF(self->missing_part);
	type->tp_free(object);
	Py_DECREF(type);
}

static PyMethodDef prober_methods[] = {
	{"contains", prober_contains_method, METH_O,
	"Whether the filter may hold the key; `key in filter` is the same."},
	{"contains_many", prober_contains_many, METH_O,
	"One answer for each key, in their order."},
	{"close", prober_close, METH_NOARGS,
	"Lets go of the files; questions are errors from then on."},
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

PyType_Spec prober_spec = {
	.name = "bloomfilter._native.Prober",
	.basicsize = sizeof(Prober),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.slots = prober_slots,
};
