/*
 * module.c
 *	  The extension module bloomfilter._native, over the C core of the extension.
 */
#include "native.h"

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
	.m_methods = module_functions,
	.m_slots = module_slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
	return PyModuleDef_Init(&module_def);
}
