/*
 * bf_kernel.c
 *	  Which version of the hot operations this processor runs.
 */
#include "bf_kernel.h"

const bf_kernel_functions *bf_kernel = &bf_portable_kernel;

#ifdef BF_HAVE_AVX2
static bool
has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

const bf_kernel_functions *
bf_usable_kernel(unsigned i)
{
	if (i == 0)
		return &bf_portable_kernel;
#ifdef BF_HAVE_AVX2
	if (i == 1 && has_avx2())
		return &bf_avx2_kernel;
#endif
	return NULL;
}

/* Before main, or when a server loads the library: no thread can see it change. */
__attribute__((constructor))
static void
choose_kernel(void)
{
	unsigned	i;

	for (i = 0; bf_usable_kernel(i) != NULL; i++)
		bf_kernel = bf_usable_kernel(i);
}
