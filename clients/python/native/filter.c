/*
 * filter.c
 *	  The type Filter: a filter, or a watched one, of the library.
 *
 * No Python code runs between hold and let_go, and the interpreter's lock is kept: so one
 * reader serves all threads, and a fork finds neither it inside nor a lock of the library
 * taken.  What hold gave is there until Python code runs again, to say what is wrong.
 */
#include "native.h"

#include <string.h>

typedef struct
{
	PyObject_HEAD
	bloomfilter *own;
	bloomfilter_watched *watched;
	bloomfilter_reader *reader; /* of watched, or of the watched one of base */
	PyObject   *base;			/* a filter whose state of one moment this one keeps */
	const bloomfilter *kept;	/* that state */
} Filter;

static PyObject *
raise_detail(int code, const bloomfilter_detail *detail)
{
	return raise_code(code, detail->text, detail->system_error);
}

static const bloomfilter *
hold(Filter *self)
{
	if (self->own != NULL)
		return self->own;
	if (self->kept != NULL)
		return self->kept;
	if (self->watched != NULL)
		return bloomfilter_reader_enter(self->reader);
	PyErr_SetString(PyExc_ValueError, "the filter is closed");
	return NULL;
}

static void
let_go(Filter *self)
{
	if (self->watched != NULL)
		bloomfilter_reader_leave(self->reader);
}

/* "bloomfilter holds integer keys, not text" */
static PyObject *
raise_ask(const bloomfilter *filter, int code, int key_type)
{
	bloomfilter_info info;
	char		held[BLOOMFILTER_KEYS_TEXT];
	char		text[200];

	if (code != BLOOMFILTER_ERR_KEY_TYPE)
		return raise_code(code, bloomfilter_strerror(code), 0);
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	PyOS_snprintf(text, sizeof text, "bloomfilter holds %s keys, not %s%s",
				  bloomfilter_describe_keys(&info, held), bloomfilter_key_type_name(key_type),
				  info.key_type == key_type ? " of other columns" : "");
	return raise_code(code, text, 0);
}

/* ---------------------------------------------------------------- questions */

/* Whether it may hold a key, and how that was looked up, if there is a text to be written; or -1. */
static int
ask(Filter *self, PyObject *asked, char *text)
{
	const bloomfilter *filter;
	Key			key;
	int			answer = -1;

	if (key_take(asked, &key) < 0)
		return -1;
	filter = hold(self);
	if (filter != NULL)
	{
		answer = text == NULL ? bloomfilter_contains(filter, key.type, key.bytes, (size_t) key.length) :
			bloomfilter_explain(filter, key.type, key.bytes, (size_t) key.length, text);
		let_go(self);
		if (text != NULL && answer == BLOOMFILTER_ERR_OTHER_PART)
			answer = 0;
		else if (answer < 0)
			raise_ask(filter, answer, key.type);
	}
	key_free(&key);
	return answer < 0 ? -1 : answer;
}

static int
filter_contains(PyObject *object, PyObject *key)
{
	return ask((Filter *) object, key, NULL);
}

static PyObject *
filter_contains_method(PyObject *object, PyObject *key)
{
	int			answer = filter_contains(object, key);

	return answer < 0 ? NULL : PyBool_FromLong(answer);
}

static PyObject *
list_of(const uint8_t *found, size_t count)
{
	PyObject   *list = PyList_New((Py_ssize_t) count);
	size_t		i;

	for (i = 0; list != NULL && i < count; i++)
		PyList_SetItem(list, (Py_ssize_t) i, PyBool_FromLong(found[i]));
	return list;
}

static int
ask_all(const bloomfilter *filter, const Keys *keys, uint8_t *found, size_t *answered)
{
	if (keys->type == BLOOMFILTER_KEY_INTEGER)
		return bloomfilter_contains_int64_batch(filter, keys->integers, keys->count, found, answered);
	if (keys->count > 0)
		return bloomfilter_contains_batch(filter, keys->type, keys->slices, keys->count, found, answered);
	return BLOOMFILTER_OK;
}

static PyObject *
answer_all(Filter *self, const Keys *keys)
{
	uint8_t    *found = PyMem_Malloc(keys->count + 1);
	const bloomfilter *filter = found == NULL ? NULL : hold(self);
	size_t		answered = 0;
	PyObject   *list = NULL;
	int			code;

	if (found == NULL)
		return PyErr_NoMemory();
	if (filter != NULL)
	{
		code = ask_all(filter, keys, found, &answered);
		let_go(self);
		if (code == BLOOMFILTER_OK)
			list = list_of(found, keys->count);
		else
		{
			raise_ask(filter, code, keys->type);
			set_error_index((Py_ssize_t) answered);
		}
	}
	PyMem_Free(found);
	return list;
}

static PyObject *
filter_contains_many(PyObject *object, PyObject *iterable)
{
	Keys		keys;
	PyObject   *list = keys_take(iterable, &keys) == 0 ? answer_all((Filter *) object, &keys) : NULL;

	keys_free(&keys);
	return list;
}

static PyObject *
filter_explain(PyObject *object, PyObject *key)
{
	char		text[BLOOMFILTER_EXPLAIN_TEXT];

	return ask((Filter *) object, key, text) < 0 ? NULL : PyUnicode_FromString(text);
}

/* ---------------------------------------------------------------- what it is */

/* describe(part) -> a dict of the package's Info and open_parts, by their names; of all parts for -1. */
static PyObject *
filter_describe(PyObject *object, PyObject *number)
{
	Filter	   *self = (Filter *) object;
	long		part = PyLong_AsLong(number);
	const bloomfilter *filter = PyErr_Occurred() ? NULL : hold(self);
	bloomfilter_info info;
	char		keys[BLOOMFILTER_KEYS_TEXT];
	char		checksum[20];
	int			code;

	if (filter == NULL)
		return NULL;
	code = bloomfilter_get_info(filter, (int) part, &info, sizeof info);
	let_go(self);
	if (code != BLOOMFILTER_OK)
		return raise_code(code, bloomfilter_strerror(code), 0);
	PyOS_snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long) info.checksum);
	return Py_BuildValue("{sK,sd,sK,sK,sI,sI,sK,sL,ss,sK,sd,sd,sd,sN,sI,sI,sI,ss,sN,sK,sI}",
						 "n", (unsigned long long) info.capacity, "p", info.rate,
						 "bits", (unsigned long long) info.total_bits, "bytes", (unsigned long long) info.total_bytes,
						 "hashes", info.probes, "block_bits", info.block_bits,
						 "blocks", (unsigned long long) info.blocks, "seed", (long long) info.seed,
						 "key_type", bloomfilter_describe_keys(&info, keys),
						 "bits_set", (unsigned long long) info.bits_set, "fill", info.fill,
						 "cardinality", info.estimated_keys, "fpr", info.estimated_rate,
						 "over_capacity", PyBool_FromLong(info.over_capacity != 0),
						 "part", info.part, "parts", info.parts, "format_version", info.version, "checksum", checksum,
						 "exact", PyBool_FromLong(info.exact != 0), "others", (unsigned long long) info.others,
						 "open_parts", info.open_parts);
}

/* tell() -> a dict of what the library's status has, by its names */
static PyObject *
filter_tell(PyObject *object, PyObject *unused)
{
	Filter	   *self = (Filter *) object;
	const bloomfilter *filter = hold(self);
	bloomfilter_status status;

	(void) unused;
	if (filter == NULL)
		return NULL;
	bloomfilter_get_status(filter, &status, sizeof status);
	let_go(self);
	return Py_BuildValue("{ss,ss,sK,si,si,sL,sL,sL,sL,sL,sL,sL,sK,sN,ss,ss,sK}",
						 "list", status.list, "identity", status.identity, "serial", (unsigned long long) status.serial,
						 "serial_kind", (int) status.serial_kind, "place", (int) status.place,
						 "true_at", (long long) status.true_at, "looked", (long long) status.looked,
						 "age", (long long) status.age, "every", (long long) status.every,
						 "heartbeat", (long long) status.heartbeat, "expires", (long long) status.expires,
						 "since", (long long) status.since, "failures", (unsigned long long) status.failures,
						 "superseded", PyBool_FromLong(status.superseded != 0),
						 "reason", status.reason, "message", status.message, "changes", (unsigned long long) status.changes);
}

static PyObject *
filter_to_bytes(PyObject *object, PyObject *unused)
{
	Filter	   *self = (Filter *) object;
	const bloomfilter *filter = hold(self);
	bloomfilter_info info;
	const void *bytes;
	size_t		length;
	PyObject   *result;
	int			code;

	(void) unused;
	if (filter == NULL)
		return NULL;
	bloomfilter_get_info(filter, -1, &info, sizeof info);
	code = info.open_parts > 1 ? BLOOMFILTER_ERR_ARGUMENT :
		bloomfilter_get_bytes(filter, 0, &bytes, &length);
	result = code == BLOOMFILTER_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t) length) : NULL;
	let_go(self);
	return code == BLOOMFILTER_OK ? result :
		raise_code(code, info.open_parts > 1 ? "a set of parts has no bytes of one filter" :
				   bloomfilter_strerror(code), 0);
}

static PyObject *
filter_write(PyObject *object, PyObject *args)
{
	Filter	   *self = (Filter *) object;
	const bloomfilter *filter;
	bloomfilter_detail detail;
	PyObject   *path;
	int			code;

	if (!PyArg_ParseTuple(args, "O&:write", PyUnicode_FSConverter, &path))
		return NULL;
	filter = hold(self);
	if (filter == NULL)
	{
		Py_DECREF(path);
		return NULL;
	}
	code = bloomfilter_write(filter, PyBytes_AsString(path), &detail);
	let_go(self);
	Py_DECREF(path);
	if (code != BLOOMFILTER_OK)
		return raise_detail(code, &detail);
	Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- life */

static Filter *
create(PyObject *type)
{
	allocfunc	allocate = (allocfunc) PyType_GetSlot((PyTypeObject *) type, Py_tp_alloc);

	return (Filter *) allocate((PyTypeObject *) type, 0);
}

/* _open(path, flags, watched, identity): the identity of a watched one's list, or None for any */
static PyObject *
filter_open(PyObject *type, PyObject *args)
{
	bloomfilter_detail detail = {0};
	PyObject   *path;
	unsigned	flags;
	const char *identity;
	int			watched;
	int			code;
	Filter	   *self = create(type);

	if (self == NULL ||
		!PyArg_ParseTuple(args, "O&Ipz:_open", PyUnicode_FSConverter, &path, &flags, &watched, &identity))
	{
		Py_XDECREF((PyObject *) self);
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	code = watched ? bloomfilter_watched_open(PyBytes_AsString(path), flags, identity, &self->watched, &detail) :
		bloomfilter_open(PyBytes_AsString(path), flags, &self->own, &detail);
	Py_END_ALLOW_THREADS
	Py_DECREF(path);
	if (code == BLOOMFILTER_OK && watched)
	{
		code = bloomfilter_reader_open(self->watched, &self->reader);
		PyOS_snprintf(detail.text, sizeof detail.text, "%s", bloomfilter_strerror(code));
	}
	if (code != BLOOMFILTER_OK)
	{
		raise_detail(code, &detail);
		Py_DECREF(self);
		return NULL;
	}
	return (PyObject *) self;
}

/* _from_bytes(data, flags) */
static PyObject *
filter_from_bytes(PyObject *type, PyObject *args)
{
	bloomfilter_detail detail;
	Py_buffer	view;
	unsigned	flags;
	int			code;
	Filter	   *self = create(type);

	if (self == NULL || !PyArg_ParseTuple(args, "y*I:_from_bytes", &view, &flags))
	{
		Py_XDECREF((PyObject *) self);
		return NULL;
	}
	code = bloomfilter_open_memory(view.buf, (size_t) view.len, flags | BLOOMFILTER_COPY, &self->own, &detail);
	PyBuffer_Release(&view);
	if (code == BLOOMFILTER_OK)
		return (PyObject *) self;
	Py_DECREF(self);
	return raise_detail(code, &detail);
}

static int
add_keys(bloomfilter_builder *builder, const Keys *keys)
{
	size_t		added = 0;
	int			code = BLOOMFILTER_OK;

	if (keys->type == BLOOMFILTER_KEY_INTEGER)
		code = bloomfilter_builder_add_int64_batch(builder, keys->integers, keys->count, &added);
	else if (keys->count > 0)
		code = bloomfilter_builder_add_batch(builder, keys->type, keys->slices, keys->count, &added);
	if (code == BLOOMFILTER_OK)
		return 0;
	raise_code(code, code == BLOOMFILTER_ERR_KEY_TYPE ? "rows have other columns than the first" :
			   bloomfilter_strerror(code), 0);
	set_error_index((Py_ssize_t) added);
	return -1;
}

/* _build(keys, n, p, seed, parts): for as many keys as there are if n is 0. */
static PyObject *
filter_build(PyObject *type, PyObject *args)
{
	PyObject   *iterable;
	unsigned long long n;
	unsigned long long seed;
	double		p;
	unsigned	parts;
	bloomfilter_builder *builder = NULL;
	bloomfilter_detail detail = {0};
	Filter	   *self = NULL;
	Keys		keys;
	int			code;

	if (!PyArg_ParseTuple(args, "OKdKI:_build", &iterable, &n, &p, &seed, &parts))
		return NULL;
	if (keys_take(iterable, &keys) < 0)
	{
		keys_free(&keys);
		return NULL;
	}
	code = bloomfilter_builder_create(n, p, seed, parts, &builder);
	if (code != BLOOMFILTER_OK)
		raise_code(code, bloomfilter_strerror(code), 0);
	else if (add_keys(builder, &keys) == 0 && (self = create(type)) != NULL &&
			 (code = bloomfilter_builder_finish(builder, &self->own, &detail)) != BLOOMFILTER_OK)
	{
		raise_detail(code, &detail);
		Py_CLEAR(self);
	}
	bloomfilter_builder_free(builder);
	keys_free(&keys);
	return (PyObject *) self;
}

/* _keep(type) -> a filter of that type that stays what a watched one is now */
static PyObject *
filter_keep(PyObject *object, PyObject *type)
{
	Filter	   *watched = (Filter *) object;
	Filter	   *self;

	self = create(type);
	if (self == NULL)
		return NULL;
	if (bloomfilter_reader_open(watched->watched, &self->reader) != BLOOMFILTER_OK)
	{
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	Py_INCREF(object);
	self->base = object;
	self->kept = bloomfilter_reader_enter(self->reader);
	return (PyObject *) self;
}

/* reload() and error(): the first looks now, the second tells of the last look. */
static PyObject *
filter_reload(PyObject *object, PyObject *unused)
{
	Filter	   *self = (Filter *) object;
	bloomfilter_detail detail;
	int			code;

	(void) unused;
	code = bloomfilter_watched_reload(self->watched, &detail);
	return code < 0 ? raise_detail(code, &detail) : PyBool_FromLong(code);
}

static PyObject *
filter_error(PyObject *object, PyObject *unused)
{
	Filter	   *self = (Filter *) object;
	bloomfilter_detail detail;

	(void) unused;
	if (bloomfilter_watched_error(self->watched, &detail) == BLOOMFILTER_OK)
		Py_RETURN_NONE;
	return PyUnicode_DecodeFSDefault(detail.text);
}

/* Those that keep a state of a watched one have a reference to it: it goes after them. */
static void
let_all_go(Filter *self)
{
	bloomfilter_reader_close(self->reader);
	bloomfilter_watched_close(self->watched);
	bloomfilter_close(self->own);
	self->reader = NULL;
	self->watched = NULL;
	self->own = NULL;
	self->kept = NULL;
	Py_CLEAR(self->base);
}

/* A watched one stays open, as others may keep a state of it. */
static PyObject *
filter_close(PyObject *object, PyObject *unused)
{
	(void) unused;
	if (((Filter *) object)->watched == NULL)
		let_all_go((Filter *) object);
	Py_RETURN_NONE;
}

static void
filter_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	freefunc	release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	let_all_go((Filter *) object);
	release(object);
	Py_DECREF(type);
}

static PyMethodDef filter_methods[] = {
	{"contains", filter_contains_method, METH_O,
	"Whether the filter may hold the key; `key in filter` is the same."},
	{"contains_many", filter_contains_many, METH_O, "One answer for each key, in their order."},
	{"explain", filter_explain, METH_O,
	"What a look-up of the key computes and sees, in the lines of SQL's bloom_explain."},
	{"to_bytes", filter_to_bytes, METH_NOARGS, "The bytes of a filter, as its file has them."},
	{"write", filter_write, METH_VARARGS, "Write its file: beside the path first, then renamed over it."},
	{"close", filter_close, METH_NOARGS, "Let go of the file. Questions are errors from then on. A watched filter stays open."},
	{"_describe", filter_describe, METH_O, NULL},
	{"_tell", filter_tell, METH_NOARGS, NULL},
	{"_keep", filter_keep, METH_O, NULL},
	{"_reload", filter_reload, METH_NOARGS, NULL},
	{"_error", filter_error, METH_NOARGS, NULL},
	{"_open", filter_open, METH_VARARGS | METH_CLASS, NULL},
	{"_from_bytes", filter_from_bytes, METH_VARARGS | METH_CLASS, NULL},
	{"_build", filter_build, METH_VARARGS | METH_CLASS, NULL},
	{NULL, NULL, 0, NULL}
};

static PyType_Slot filter_slots[] = {
	{Py_tp_dealloc, filter_dealloc},
	{Py_tp_methods, filter_methods},
	{Py_sq_contains, filter_contains},
	{0, NULL}
};

PyType_Spec filter_spec = {
	.name = "bloomfilter_reader._native.Filter",
	.basicsize = sizeof(Filter),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = filter_slots,
};
