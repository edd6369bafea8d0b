"""Building a filter from keys, by the C core: the same bytes as SQL's."""

import itertools
from typing import Any, Iterable, Optional, Tuple

from ._engine import require_native
from .errors import BloomFilterError
from .keys import encode, key_bytes

_MASK = 2**64 - 1


def build(
    keys: Iterable[Any], n: Optional[int], p: float, seed: int, model: Optional[bytes]
) -> bytes:
    """model: the header of a filter to be like, or None for n, p and seed."""
    native = require_native("building a filter")
    keys, key_type = _first_type(keys)
    if model is not None:
        seed = int.from_bytes(model[16:24], "little")
    _check_parameters(n, p, seed)
    hashes, different = native.hash_keys(keys, key_type, seed & _MASK, key_bytes)
    try:
        if model is None:
            model = native.start_for(max(different, 1) if n is None else n, p, seed & _MASK)
        return native.fill(model, key_type, hashes)
    except ValueError as error:
        raise BloomFilterError(str(error)) from None


def _first_type(keys: Iterable[Any]) -> Tuple[Iterable[Any], int]:
    """All keys, and the type of the first, which the others must have; 0 for none.

    An array stays one: its numbers are read where they lie.
    """
    if isinstance(keys, (str, bytes, bytearray)):
        raise TypeError(f"keys come in a list or another iterable, and one "
                        f"{type(keys).__name__} is one key")
    iterator = iter(keys)
    first = list(itertools.islice(iterator, 1))
    key_type = encode(first[0])[0] if first else 0
    return (itertools.chain(first, iterator) if iterator is keys else keys), key_type


def _check_parameters(n: Optional[int], p: float, seed: int) -> None:
    if n is not None and not 1 <= n < 2**63:
        raise ValueError(f"n is from 1 to 2^63 - 1 keys, not {n}")
    if not 0.0 < p < 1.0:
        raise ValueError(f"p is between 0 and 1, not {p}")
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"a seed has 64 bits: {seed}")
