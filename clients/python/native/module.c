/*
 * module.c
 *	  The extension module bloomfilter_reader._native: the library libbloomfilter for Python.
 */
#include "native.h"

#include "handle.h"

PyObject   *encode_function;
PyObject   *error_function;

PyObject *
raise_code(int code, const char *text, int system_error)
{
	PyObject   *error;

	if (code == BLOOMFILTER_ERR_NO_MEMORY)
		return PyErr_NoMemory();
	error = PyObject_CallFunction(error_function, "iNi", code, PyUnicode_DecodeFSDefault(text), system_error);
	if (error != NULL)
		PyErr_SetObject((PyObject *) Py_TYPE(error), error);
	Py_XDECREF(error);
	return NULL;
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

/* setup(encode, error): what the package gives the module when it is imported */
static PyObject *
setup(PyObject *module, PyObject *args)
{
	(void) module;
	if (!PyArg_ParseTuple(args, "OO:setup", &encode_function, &error_function))
		return NULL;
	Py_INCREF(encode_function);
	Py_INCREF(error_function);
	Py_RETURN_NONE;
}

/* The bytes of a key that is read into a new object; NULL with an exception. */
static PyObject *
read_key(int type, const char *text, size_t length)
{
	size_t		room = bloomfilter_text_room(type, text, length);
	PyObject   *buffer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t) room);
	bloomfilter_slice key;
	bloomfilter_detail detail;
	PyObject   *bytes = NULL;
	int			code;

	if (buffer == NULL)
		return NULL;
	code = bloomfilter_text_key(type, text, length, PyBytes_AsString(buffer), room, &key, &detail);
	if (code != BLOOMFILTER_OK)
		raise_code(code, detail.text, 0);
	else
		bytes = PyBytes_FromStringAndSize(key.bytes, (Py_ssize_t) key.length);
	Py_DECREF(buffer);
	return bytes;
}

/* parse(type name, text) -> (key type, bytes) */
static PyObject *
parse(PyObject *module, PyObject *args)
{
	const char *name;
	const char *text;
	Py_ssize_t	length;
	PyObject   *bytes;
	int			type;

	(void) module;
	if (!PyArg_ParseTuple(args, "sy#:parse", &name, &text, &length))
		return NULL;
	type = bloomfilter_text_type_of_name(name);
	if (type <= BLOOMFILTER_KEY_NONE || type == BLOOMFILTER_KEY_ROW)
		return PyErr_Format(PyExc_LookupError, "unknown key type '%s'", name);
	bytes = read_key(type, text, (size_t) length);
	return bytes == NULL ? NULL : Py_BuildValue("iN", bloomfilter_text_key_type(type), bytes);
}

/* is_key(key type, bytes) -> bool */
static PyObject *
is_key(PyObject *module, PyObject *args)
{
	const char *bytes;
	Py_ssize_t	length;
	size_t		own;
	uint32_t	kind;
	int			type;

	(void) module;
	if (!PyArg_ParseTuple(args, "iy#:is_key", &type, &bytes, &length))
		return NULL;
	own = (size_t) length;
	return PyBool_FromLong(lbf_key_check(type, bytes, &own, &kind) == BLOOMFILTER_OK);
}

static PyMethodDef module_functions[] = {
	{"setup", setup, METH_VARARGS, NULL},
	{"parse", parse, METH_VARARGS, NULL},
	{"is_key", is_key, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL}
};

static struct PyModuleDef module_def = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "bloomfilter_reader._native",
	.m_doc = "libbloomfilter for the package.",
	.m_size = -1,
	.m_methods = module_functions,
};

PyMODINIT_FUNC
PyInit__native(void)
{
	PyObject   *module = PyModule_Create(&module_def);
	PyObject   *type = module == NULL ? NULL : PyType_FromSpec(&filter_spec);

	if (type == NULL || PyModule_AddObject(module, "Filter", type) < 0 ||
		PyModule_AddIntConstant(module, "COPY", BLOOMFILTER_COPY) < 0 ||
		PyModule_AddIntConstant(module, "SKIP_CHECK", BLOOMFILTER_SKIP_CHECK) < 0)
	{
		Py_XDECREF(module);
		return NULL;
	}
	return module;
}
