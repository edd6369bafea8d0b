/*
 * keys.c
 *	  From Python's values to hashes.
 */
#include "native.h"

#include <string.h>

#include "bf_bytes.h"

/* Characters of a text that is encoded on the stack. */
#define SHORT_TEXT 256

/* The hash of a key's own bytes as the package makes them, or raises. */
static int
hash_any(const Hasher *hasher, PyObject *key, uint64_t *hash)
{
	PyObject   *bytes = PyObject_CallFunction(hasher->key_bytes, "OI", key,
											  hasher->key_type);
	char	   *data;
	Py_ssize_t	length;

	if (bytes == NULL)
		return -1;
	if (PyBytes_AsStringAndSize(bytes, &data, &length) < 0)
	{
		Py_DECREF(bytes);
		return -1;
	}
	*hash = bf_hash(data, (size_t) length, hasher->seed);
	Py_DECREF(bytes);
	return 0;
}

static uint64_t
hash_int64(const Hasher *hasher, int64_t value)
{
	uint8_t		bytes[8];

	bf_key_integer(value, bytes);
	return bf_hash_8(bytes, hasher->seed);
}

static uint64_t
hash_double(const Hasher *hasher, double value)
{
	uint8_t		bytes[8];

	bf_key_float(value, bytes);
	return bf_hash_8(bytes, hasher->seed);
}

static int
hash_integer(const Hasher *hasher, PyObject *key, uint64_t *hash)
{
	int			overflow;
	long long	value = PyLong_AsLongLongAndOverflow(key, &overflow);

	if (overflow != 0)
		return hash_any(hasher, key, hash);
	*hash = hash_int64(hasher, value);
	return 0;
}

/* The UTF-8 of a character, of which there are the bytes returned; 0 for a surrogate. */
static int
encode_character(Py_UCS4 c, uint8_t *to)
{
	if (c < 0x80)
	{
		to[0] = (uint8_t) c;
		return 1;
	}
	if (c < 0x800)
	{
		to[0] = (uint8_t) (0xc0 | c >> 6);
		to[1] = (uint8_t) (0x80 | (c & 0x3f));
		return 2;
	}
	if (c >= 0xd800 && c < 0xe000)
		return 0;
	if (c < 0x10000)
	{
		to[0] = (uint8_t) (0xe0 | c >> 12);
		to[1] = (uint8_t) (0x80 | (c >> 6 & 0x3f));
		to[2] = (uint8_t) (0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (uint8_t) (0xf0 | c >> 18);
	to[1] = (uint8_t) (0x80 | (c >> 12 & 0x3f));
	to[2] = (uint8_t) (0x80 | (c >> 6 & 0x3f));
	to[3] = (uint8_t) (0x80 | (c & 0x3f));
	return 4;
}

/* Whether a text's characters can be read; before 3.12 some old ones can't. */
static int
is_ready(PyObject *text)
{
#if PY_VERSION_HEX < 0x030C0000
	return PyUnicode_IS_READY(text);
#else
	(void) text;
	return 1;
#endif
}

/*
 * Python would encode other text than ASCII into an object, or keep a copy of its
 * UTF-8 with the text for ever.
 */
static int
hash_text(const Hasher *hasher, PyObject *key, uint64_t *hash)
{
	uint8_t		bytes[SHORT_TEXT * 4];
	Py_ssize_t	length = PyUnicode_GET_LENGTH(key);
	int			kind;
	const void *characters;
	size_t		end = 0;
	Py_ssize_t	i;

	if (length > SHORT_TEXT)
		return hash_any(hasher, key, hash);
	kind = PyUnicode_KIND(key);
	characters = PyUnicode_DATA(key);
	for (i = 0; i < length; i++)
	{
		int			count = encode_character(PyUnicode_READ(kind, characters, i),
											 bytes + end);

		if (count == 0)
			return hash_any(hasher, key, hash);
		end += (size_t) count;
	}
	*hash = bf_hash(bytes, bf_key_text(bytes, end), hasher->seed);
	return 0;
}

static int
hash_ascii(const Hasher *hasher, PyObject *key, uint64_t *hash)
{
	const void *text = PyUnicode_DATA(key);

	*hash = bf_hash(text, bf_key_text(text, (size_t) PyUnicode_GET_LENGTH(key)),
					hasher->seed);
	return 0;
}

/*
 * Exact types only: a subclass may mean another key type (a bool is an int) or
 * change its own bytes.
 */
int
hash_key(const Hasher *hasher, PyObject *key, uint64_t *hash)
{
	switch (hasher->key_type)
	{
		case BF_KEY_INTEGER:
			if (PyLong_CheckExact(key))
				return hash_integer(hasher, key, hash);
			break;
		case BF_KEY_TEXT:
			if (PyUnicode_CheckExact(key) && PyUnicode_IS_COMPACT_ASCII(key))
				return hash_ascii(hasher, key, hash);
			if (PyUnicode_CheckExact(key) && is_ready(key))
				return hash_text(hasher, key, hash);
			break;
		case BF_KEY_BYTEA:
			if (PyBytes_CheckExact(key))
			{
				*hash = bf_hash(PyBytes_AS_STRING(key),
								(size_t) PyBytes_GET_SIZE(key), hasher->seed);
				return 0;
			}
			break;
		case BF_KEY_FLOAT:
			if (PyFloat_CheckExact(key))
			{
				*hash = hash_double(hasher, PyFloat_AS_DOUBLE(key));
				return 0;
			}
			break;
	}
	return hash_any(hasher, key, hash);
}

/* ---------------------------------------------------------------- batches */

/*
 * What the numbers of a buffer are: 'i', 'u', 'f', or 0 where they are no numbers
 * that are read here.  Their size is the buffer's itemsize, and they are in this
 * machine's order.
 */
static char
kind_of_format(const char *format, Py_ssize_t size)
{
	const uint16_t one = 1;
	char		native = *(const uint8_t *) &one == 1 ? '<' : '>';

	if (format == NULL)
		return 0;
	if (*format == '@' || *format == '=' || *format == native)
		format++;
	if (format[0] == '\0' || format[1] != '\0')
		return 0;
	if (strchr("bhilq", format[0]) != NULL && size <= 8)
		return 'i';
	if (strchr("BHILQ", format[0]) != NULL && size <= 8)
		return 'u';
	return (format[0] == 'f' && size == 4) || (format[0] == 'd' && size == 8) ? 'f' : 0;
}

/* Whether keys is an array of numbers that the filter's keys can be; keeps hold of it. */
static int
open_view(KeyRun *run, const Hasher *hasher, PyObject *keys)
{
	if (!PyObject_CheckBuffer(keys))
		return 0;
	if (PyObject_GetBuffer(keys, &run->view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0)
	{
		PyErr_Clear();
		return 0;
	}
	run->kind = run->view.ndim == 1 ?
		kind_of_format(run->view.format, run->view.itemsize) : 0;
	if ((run->kind == 'f' && hasher->key_type == BF_KEY_FLOAT) ||
		(run->kind != 'f' && run->kind != 0 && hasher->key_type == BF_KEY_INTEGER))
		return 1;
	PyBuffer_Release(&run->view);
	return 0;
}

int
key_run_open(KeyRun *run, const Hasher *hasher, PyObject *keys)
{
	run->at = 0;
	run->iterator = NULL;
	if (PyUnicode_Check(keys) || PyBytes_Check(keys) || PyByteArray_Check(keys))
	{
		PyErr_Format(PyExc_TypeError, "keys come in a list or another iterable, "
					 "and one %s is one key", Py_TYPE(keys)->tp_name);
		return -1;
	}
	if (open_view(run, hasher, keys))
		return 0;
	run->iterator = PyObject_GetIter(keys);
	return run->iterator == NULL ? -1 : 0;
}

void
key_run_close(KeyRun *run)
{
	if (run->iterator == NULL)
		PyBuffer_Release(&run->view);
	Py_CLEAR(run->iterator);
}

/* A number of so many bytes, with zeros before it. */
static uint64_t
load_unsigned(const char *from, Py_ssize_t size)
{
	uint8_t		u8;
	uint16_t	u16;
	uint32_t	u32;
	uint64_t	u64;

	switch (size)
	{
		case 1:
			memcpy(&u8, from, 1);
			return u8;
		case 2:
			memcpy(&u16, from, 2);
			return u16;
		case 4:
			memcpy(&u32, from, 4);
			return u32;
		default:
			memcpy(&u64, from, 8);
			return u64;
	}
}

static int64_t
load_signed(const char *from, Py_ssize_t size)
{
	uint64_t	value = load_unsigned(from, size);

	if (size < 8 && value >> (8 * size - 1) != 0)
		value |= ~UINT64_C(0) << (8 * size);
	return (int64_t) value;
}

static double
load_float(const char *from, Py_ssize_t size)
{
	float		narrow;
	double		wide;

	if (size == 4)
	{
		memcpy(&narrow, from, 4);
		return narrow;
	}
	memcpy(&wide, from, 8);
	return wide;
}

/* An unsigned number beyond bigint's is refused where all such are. */
static int
hash_unsigned(const Hasher *hasher, uint64_t value, uint64_t *hash)
{
	PyObject   *key;
	int			status;

	if (value <= INT64_MAX)
	{
		*hash = hash_int64(hasher, (int64_t) value);
		return 0;
	}
	key = PyLong_FromUnsignedLongLong(value);
	if (key == NULL)
		return -1;
	status = hash_any(hasher, key, hash);
	Py_DECREF(key);
	return status;
}

static int
next_of_view(KeyRun *run, const Hasher *hasher, uint64_t *hash)
{
	const char *from = (const char *) run->view.buf + run->at * run->view.strides[0];
	Py_ssize_t	size = run->view.itemsize;

	if (run->at == run->view.shape[0])
		return 0;
	if (run->kind == 'u')
		return hash_unsigned(hasher, load_unsigned(from, size), hash) < 0 ? -1 : 1;
	*hash = run->kind == 'f' ? hash_double(hasher, load_float(from, size)) :
		hash_int64(hasher, load_signed(from, size));
	return 1;
}

static int
next_of_iterator(KeyRun *run, const Hasher *hasher, uint64_t *hash, int *is_key_error)
{
	PyObject   *key = PyIter_Next(run->iterator);
	int			status;

	if (key == NULL)
		return PyErr_Occurred() ? -1 : 0;
	status = hash_key(hasher, key, hash);
	Py_DECREF(key);
	*is_key_error = status < 0;
	return status < 0 ? -1 : 1;
}

int
key_run_next(KeyRun *run, const Hasher *hasher, uint64_t *hash)
{
	int			is_key_error = run->iterator == NULL;
	int			status = run->iterator == NULL ? next_of_view(run, hasher, hash) :
		next_of_iterator(run, hasher, hash, &is_key_error);

	if (status < 0 && is_key_error)
		set_error_index(run->at);
	run->at += status > 0;
	return status;
}

void
set_error_index(Py_ssize_t index)
{
	PyObject   *type;
	PyObject   *error;
	PyObject   *traceback;
	PyObject   *number;

	PyErr_Fetch(&type, &error, &traceback);
	PyErr_NormalizeException(&type, &error, &traceback);
	number = PyLong_FromSsize_t(index);
	/* Only the package's own errors have the attribute. */
	if (number == NULL || !PyObject_HasAttrString(error, "index") ||
		PyObject_SetAttrString(error, "index", number) < 0)
		PyErr_Clear();
	Py_XDECREF(number);
	PyErr_Restore(type, error, traceback);
}
