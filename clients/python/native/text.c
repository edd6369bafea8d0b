/*
 * text.c
 *	  Keys from the text that PostgreSQL prints and reads: src/text for Python.
 */
#include "native.h"

#include "bf_text.h"

/* The bytes of a key, read into a new object; NULL with an exception. */
static PyObject *
read_key(int type, const char *text, Py_ssize_t length)
{
	size_t		room = bf_text_room(type, text, (size_t) length);
	PyObject   *buffer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t) room);
	bf_text_slice key;
	const char *reason;
	PyObject   *bytes = NULL;

	if (buffer == NULL)
		return NULL;
	reason = bf_text_key(type, text, (size_t) length,
						 (uint8_t *) PyBytes_AS_STRING(buffer), &key);
	if (reason != NULL)
		PyErr_SetString(PyExc_ValueError, reason);
	else
		bytes = PyBytes_FromStringAndSize(key.bytes, (Py_ssize_t) key.length);
	Py_DECREF(buffer);
	return bytes;
}

PyObject *
parse_text(PyObject *module, PyObject *args)
{
	const char *name;
	const char *text;
	Py_ssize_t	length;
	int			type;
	PyObject   *bytes;

	(void) module;
	if (!PyArg_ParseTuple(args, "sy#:parse_text", &name, &text, &length))
		return NULL;
	type = bf_text_type_of_name(name);
	if (type <= BF_KEY_NONE)
		return PyErr_Format(PyExc_LookupError, "unknown key type '%s'", name);
	bytes = read_key(type, text, length);
	return bytes == NULL ? NULL : Py_BuildValue("IN", bf_text_key_type(type), bytes);
}
