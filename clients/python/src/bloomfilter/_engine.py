"""The extension module, or what stands in for it.

BLOOMFILTER_PURE=1 tells to do without the module, as the tests do.
"""

import os
import warnings
from typing import Any

native: Any = None

if not os.environ.get("BLOOMFILTER_PURE"):
    try:
        from . import _native as native
    except ImportError:
        warnings.warn(
            "bloomfilter works without its extension module, which was not compiled when it was "
            "installed (that takes a C compiler and Python's headers): a question takes "
            "20 to 100 times as long, and neither keys from text nor building are there",
            RuntimeWarning,
            stacklevel=2,
        )

NATIVE = native is not None

if native is not None:
    from ._native import checksum, count_bits, xxh64
else:
    from ._hash import checksum, count_bits, xxh64

__all__ = ["NATIVE", "checksum", "count_bits", "native", "require_native", "xxh64"]


def require_native(what: str) -> Any:
    """The module, or an error that says what can't be done without it."""
    if native is None:
        raise NotImplementedError(
            f"{what} needs the extension module of bloomfilter, which is not compiled here"
        )
    return native
