/*
 * keys.c
 *	  From Python's values to key bytes.
 */
#include "native.h"

#include <stdbool.h>
#include <string.h>

#include "bf_bytes.h"
#include "bf_key.h"

void
key_free(Key *key)
{
	Py_CLEAR(key->owner);
}

/* The key's bytes are in its room. */
static int
took_word(Key *key, int type)
{
	key->type = type;
	key->bytes = (const char *) key->room;
	key->length = 8;
	return 0;
}

/* A key as the package encodes it, or the error that it raises. */
static int
take_any(PyObject *object, Key *key)
{
	PyObject   *pair = PyObject_CallFunctionObjArgs(encode_function, object, NULL);
	PyObject   *bytes;
	char	   *start;

	if (pair == NULL)
		return -1;
	if (!PyArg_ParseTuple(pair, "iS", &key->type, &bytes) ||
		PyBytes_AsStringAndSize(bytes, &start, &key->length) < 0)
	{
		Py_DECREF(pair);
		return -1;
	}
	key->bytes = start;
	key->owner = pair;
	return 0;
}

static int
take_integer(PyObject *object, Key *key)
{
	int			overflow;
	long long	value = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (overflow != 0)
		return take_any(object, key);
	bf_key_integer(value, key->room);
	return took_word(key, BLOOMFILTER_KEY_INTEGER);
}

static int
take_text(PyObject *object, Key *key)
{
	key->bytes = PyUnicode_AsUTF8AndSize(object, &key->length);
	if (key->bytes == NULL)
	{
		PyErr_Clear();
		return take_any(object, key);
	}
	key->type = BLOOMFILTER_KEY_TEXT;
	return 0;
}

static int
take_bytes(PyObject *object, Key *key)
{
	char	   *start;

	if (PyBytes_AsStringAndSize(object, &start, &key->length) < 0)
		return -1;
	key->type = BLOOMFILTER_KEY_BYTEA;
	key->bytes = start;
	return 0;
}

/*
 * Exact types only: a subclass may mean another key type (a bool is an int) or
 * change its own bytes.  The caller holds object while it uses the key.
 */
int
key_take(PyObject *object, Key *key)
{
	key->owner = NULL;
	if (PyLong_CheckExact(object))
		return take_integer(object, key);
	if (PyUnicode_CheckExact(object))
		return take_text(object, key);
	if (PyBytes_CheckExact(object))
		return take_bytes(object, key);
	if (!PyFloat_CheckExact(object))
		return take_any(object, key);
	bf_key_float(PyFloat_AsDouble(object), key->room);
	return took_word(key, BLOOMFILTER_KEY_FLOAT);
}

/* ---------------------------------------------------------------- batches */

void
keys_free(Keys *keys)
{
	PyMem_Free(keys->integers);
	PyMem_Free(keys->slices);
	PyMem_Free(keys->bytes);
}

/* Makes room for more members of an array that has used of room. */
static bool
grow(void **array, size_t size, size_t used, size_t more, size_t *room)
{
	size_t		wanted = *room == 0 ? 256 : *room;
	void	   *larger;

	if (used + more <= *room)
		return true;
	while (wanted < used + more)
		wanted *= 2;
	larger = PyMem_Realloc(*array, wanted * size);
	if (larger == NULL)
	{
		PyErr_NoMemory();
		return false;
	}
	*array = larger;
	*room = wanted;
	return true;
}

static bool
add_integer(Keys *keys, const Key *key)
{
	if (!grow((void **) &keys->integers, sizeof keys->integers[0], keys->count, 1, &keys->room))
		return false;
	keys->integers[keys->count++] = (int64_t) bf_load_le64((const uint8_t *) key->bytes);
	return true;
}

static bool
add_bytes(Keys *keys, const Key *key)
{
	size_t		length = (size_t) key->length;

	if (!grow((void **) &keys->slices, sizeof keys->slices[0], keys->count, 1, &keys->room) ||
		!grow((void **) &keys->bytes, 1, keys->used, length, &keys->bytes_room))
		return false;
	if (length > 0)
		memcpy(keys->bytes + keys->used, key->bytes, length);
	keys->used += length;
	keys->slices[keys->count++].length = length;
	return true;
}

static bool
add(Keys *keys, const Key *key)
{
	if (keys->type == BLOOMFILTER_KEY_NONE)
		keys->type = key->type;
	if (keys->type != key->type)
	{
		char		text[100];

		PyOS_snprintf(text, sizeof text, "keys of one call are of one type, %s or %s",
					  bloomfilter_key_type_name(keys->type), bloomfilter_key_type_name(key->type));
		raise_code(BLOOMFILTER_ERR_KEY_TYPE, text, 0);
		set_error_index((Py_ssize_t) keys->count);
		return false;
	}
	return key->type == BLOOMFILTER_KEY_INTEGER ? add_integer(keys, key) : add_bytes(keys, key);
}

static int
take_iterable(PyObject *iterable, Keys *keys)
{
	PyObject   *iterator = PyObject_GetIter(iterable);
	PyObject   *object;

	if (iterator == NULL)
		return -1;
	while ((object = PyIter_Next(iterator)) != NULL)
	{
		Key			key;
		bool		added = false;

		if (key_take(object, &key) < 0)
			set_error_index((Py_ssize_t) keys->count);
		else
		{
			added = add(keys, &key);
			key_free(&key);
		}
		Py_DECREF(object);
		if (!added)
			break;
	}
	Py_DECREF(iterator);
	return PyErr_Occurred() ? -1 : 0;
}

/*
 * The numbers of an array as Python's own, in a list; NULL, without an exception, for
 * what is no array or has numbers of another machine's order.
 */
static PyObject *
numbers_of(PyObject *iterable)
{
	PyObject   *view = PyObject_CheckBuffer(iterable) ? PyMemoryView_FromObject(iterable) : NULL;
	PyObject   *list = view == NULL ? NULL : PyObject_CallMethod(view, "tolist", NULL);

	PyErr_Clear();
	Py_XDECREF(view);
	return list;
}

int
keys_take(PyObject *iterable, Keys *keys)
{
	PyObject   *numbers;
	int			result;
	size_t		i;
	size_t		at = 0;

	memset(keys, 0, sizeof *keys);
	if (PyUnicode_Check(iterable) || PyBytes_Check(iterable) || PyByteArray_Check(iterable))
	{
		PyErr_SetString(PyExc_TypeError, "keys come in a list or another iterable, "
						"and one text or bytes object is one key");
		return -1;
	}
	numbers = numbers_of(iterable);
	result = take_iterable(numbers == NULL ? iterable : numbers, keys);
	Py_XDECREF(numbers);
	for (i = 0; keys->slices != NULL && i < keys->count; at += keys->slices[i++].length)
		keys->slices[i].bytes = keys->bytes == NULL ? "" : keys->bytes + at;
	return result;
}
