"""A filter that is replaced by newer ones while threads ask it."""

import logging
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import _source
from ._source import PathLike
from ._status import Status
from .errors import BloomFilterError
from .filter import BloomFilter
from .info import Info

_log = logging.getLogger("bloomfilter")

# Between two looks of `wait`, and between two lines about a lasting error.
_WAIT_SECONDS = 0.1
_REPEAT_SECONDS = 60.0


class WatchedBloomFilter:
    """A filter that is replaced by newer ones while threads ask it.

    Each question is answered by one whole filter, the old or the new one.
    `reload` takes what is there now; `follow` does it by itself, every so often.
    """

    def __init__(self, path: PathLike, *, verify: bool = True, copy: bool = False) -> None:
        # The path stays right when the program changes its folder.  It is not
        # normalised, as a folder in it may be a link.
        self._path = os.path.join(os.getcwd(), os.fsdecode(path))
        self._options = {"verify": verify, "copy": copy}
        self._reloading = threading.Lock()
        self._following = threading.Lock()
        self._follower: Optional[_Follower] = None
        self._current, self._source = BloomFilter._open(path, **self._options)
        _all.add(self)

    @property
    def current(self) -> BloomFilter:
        """The filter of this moment; keep it to ask several questions of one."""
        return self._current

    @property
    def info(self) -> Info:
        return self._current.info

    @property
    def status(self) -> Status:
        """Which content of which list it is, and how fresh."""
        return self._current.status

    @classmethod
    def wait(
        cls, path: PathLike, timeout: float, *, verify: bool = True, copy: bool = False
    ) -> "WatchedBloomFilter":
        """The same as soon as there is a file, for a service that starts before the
        first one has come.  After `timeout` seconds the last error is raised."""
        path = os.path.join(os.getcwd(), os.fsdecode(path))
        until = time.monotonic() + timeout
        while True:
            try:
                return cls(path, verify=verify, copy=copy)
            except (FileNotFoundError, BloomFilterError):
                left = until - time.monotonic()
                if left <= 0:
                    raise
                time.sleep(min(left, _WAIT_SECONDS))

    def reload(self) -> bool:
        """Take what is at the path now; say whether that is another filter.

        Where no file was replaced (device, inode, size, time and header are the
        same) nothing is read.  On any error the old filter stays and the error
        is raised.
        """
        with self._reloading:
            if _source.find_source(self._path) == self._source:
                return False
            current, self._source = BloomFilter._open(self._path, **self._options)
            changed = current._differs(self._current)
            # One assignment: readers see the old filter or the new one.  Files with the
            # same bytes are taken, too: they may have replaced damaged ones.
            self._current = current
            return changed

    def follow(
        self,
        every: float = 1.0,
        *,
        on_change: Optional[Callable[[BloomFilter], None]] = None,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> None:
        """Reload every so many seconds, in a thread of its own, until `close`.

        `on_change` is told of each new filter, `on_error` of each error; without
        it an error is logged when it is another one than the time before, and a
        lasting one again each minute.  A forked child follows, too.
        """
        if not every > 0:
            raise ValueError("seconds between two looks are more than 0")
        follower = _Follower(self, every, on_change, on_error)
        with self._following:
            before, self._follower = self._follower, follower
            follower.start()
        if before is not None:
            before.stop()

    def close(self) -> None:
        """End following.  The current filter stays and answers."""
        with self._following:
            follower, self._follower = self._follower, None
        if follower is not None:
            follower.stop()

    def __enter__(self) -> "WatchedBloomFilter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _reopen, (self._path, self._options)

    def __contains__(self, key: Any) -> bool:
        return key in self._current

    def contains(self, key: Any) -> bool:
        return key in self._current

    def explain(self, key: Any) -> str:
        """As `BloomFilter.explain`, of the current filter."""
        return self._current.explain(key)

    def contains_many(self, keys: Iterable[Any]) -> List[bool]:
        return self._current.contains_many(keys)

    def _after_fork(self) -> None:
        """In a child: another thread of the parent may have held the lock, and no
        thread but one has come along."""
        self._reloading = threading.Lock()
        self._following = threading.Lock()
        follower = self._follower
        if follower is not None:
            self.follow(follower.every, on_change=follower.on_change, on_error=follower.on_error)


def _reopen(path: PathLike, options: Dict[str, bool]) -> WatchedBloomFilter:
    return WatchedBloomFilter(path, **options)


class _Follower:
    """The thread behind `follow`.  It ends when nobody holds the filter any more."""

    def __init__(
        self,
        watched: WatchedBloomFilter,
        every: float,
        on_change: Optional[Callable[[BloomFilter], None]],
        on_error: Optional[Callable[[Exception], None]],
    ) -> None:
        self.every = every
        self.on_change = on_change
        self.on_error = on_error
        self._watched = weakref.ref(watched)
        self._over = threading.Event()
        self._last_error: Optional[str] = None
        self._again = 0.0  # when the same error is logged again
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="bloomfilter-follow", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        # After a fork thread and event are the parent's.
        if self._pid != os.getpid():
            return
        self._over.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self.every):
            watched = self._watched()
            if watched is None:
                return
            self._look(watched)
            del watched

    def _look(self, watched: WatchedBloomFilter) -> None:
        """One reload.  Whatever goes wrong, the next look comes."""
        try:
            changed = watched.reload()
        except Exception as error:
            self._report(error)
            return
        self._last_error = None
        if changed and self.on_change is not None:
            self._call(self.on_change, watched.current)

    def _report(self, error: Exception) -> None:
        if self.on_error is not None:
            self._call(self.on_error, error)
        elif str(error) != self._last_error or time.monotonic() >= self._again:
            self._again = time.monotonic() + _REPEAT_SECONDS
            _log.warning("the filter stays the old one: %s", error)
        self._last_error = str(error)

    def _call(self, function: Callable[[Any], None], argument: Any) -> None:
        try:
            function(argument)
        except Exception:
            _log.exception("a function that was given to follow failed")


_all: "weakref.WeakSet[WatchedBloomFilter]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for watched in list(_all):
        watched._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
