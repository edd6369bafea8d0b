from typing import Any, Callable, Iterable, List, NoReturn, Sequence

from ._format import Buffer, Header

class Prober:
    def __new__(
        cls,
        headers: Sequence[Header],
        buffers: Sequence[Buffer],
        key_type: int,
        key_bytes: Callable[[Any, int], bytes],
        missing_part: Callable[[int], NoReturn],
    ) -> "Prober": ...
    def __contains__(self, key: Any) -> bool: ...
    def contains(self, key: Any) -> bool: ...
    def contains_many(self, keys: Iterable[Any]) -> List[bool]: ...
