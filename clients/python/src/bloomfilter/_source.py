"""Where filters come from: a file, the files of a manifest, bytes."""

import mmap
import os
import re
import stat
from typing import Any, BinaryIO, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _working
from ._format import HEADER_BYTES, Buffer, Header, check_blocks, read_header
from ._status import notes_of
from .errors import BloomFilterError, InvalidFilterError, InvalidSetError

PathLike = Union[str, "os.PathLike[str]"]

# What a file was when it was looked at: device, inode, size, time, first bytes.
# None where it is not there.
Stamp = Optional[Tuple[int, int, int, int, bytes]]

MANIFEST_NAME = "manifest"
_MANIFEST_MAGIC = b"bloomfilter-set "
_MANIFEST_FIRST_LINE = b"bloomfilter-set 1"
_MAX_PARTS = 65535

# A name of 255 bytes and its line end for each part.
_MANIFEST_MAX_BYTES = 32 + _MAX_PARTS * 256

# A name that promises what is in its file, which a part of another build is not.
_NAME_WITH_CHECKSUM = re.compile(r"\.([0-9a-f]{16})\.bloom$")

# How often a set may be replaced while it is being opened.
_MOST_ATTEMPTS = 8

# The first bytes of a filter as base64, as a driver gives it as text.
_BASE64_MAGIC = "QkxNR"

# No waiting for a pipe's other end, no handle passed to other programs.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class Filter(NamedTuple):
    """One checked filter."""

    header: Header
    data: Buffer


class Source(NamedTuple):
    """What a path names, and what its files were before anything else was read.

    Two sources that are equal name the same bytes.
    """

    path: str
    names: Optional[List[str]]  # of a manifest; None for a filter
    stamps: Tuple[Stamp, ...]
    working: _working.Stamp  # of its working copy
    notes: Dict[str, str]  # of a manifest


class Opened(NamedTuple):
    filters: List[Filter]
    source: Source
    working: Optional[_working.Working]  # that the filters lie in


def find_source(path: PathLike) -> Source:
    """Look at a file or a manifest; a folder is its file `manifest`."""
    path = os.fsdecode(path)
    is_folder = os.path.isdir(path)
    if is_folder:
        path = _manifest_of(path)
    with open(path, "rb", opener=_opener) as file:
        stamp = _stamp_of(file, path)
        if not is_folder and not stamp[-1].startswith(_MANIFEST_MAGIC):
            return Source(path, None, (stamp,), _working.look(path), {})
        text = stamp[-1] + file.read(_MANIFEST_MAX_BYTES)
    try:
        names = _manifest_names(text)
    except InvalidSetError as error:
        error.path = path
        raise
    files = [os.path.join(os.path.dirname(path), name) for name in names]
    first = _stamp(files[0])
    try:
        _check_count(first, len(files))
    except InvalidSetError as error:
        error.path = path
        raise
    stamps = (stamp, first, *(_stamp(file) for file in files[1:]))
    return Source(path, names, stamps, _working.look(path), notes_of(text.split(b"\n")))


def _check_count(first: Stamp, count: int) -> None:
    """A manifest of many lines is believed when the first part's header says the same,
    before the other files are looked at."""
    if first is None:
        return
    try:
        header = read_header(first[-1], first[2])
    except InvalidFilterError:
        return  # it is raised again when the file is opened
    if header.parts != count:
        raise InvalidSetError(f"{count} filters of a set of {header.parts} parts")


def _manifest_of(folder: str) -> str:
    manifest = os.path.join(folder, MANIFEST_NAME)
    if not os.path.lexists(manifest):
        error = InvalidSetError("a folder is opened by its file 'manifest', and it has none")
        error.path = folder
        raise error
    return manifest


def read_path(path: PathLike, verify: bool, copy: bool) -> Opened:
    """One filter, or all filters of a set in part order.

    Between the reading of a manifest and of its parts, a writer may put a new
    one in its place and delete the old parts: then it is read again.
    """
    attempt = 1
    while True:
        source = find_source(path)
        try:
            return _open_source(source, verify, copy)
        except (OSError, BloomFilterError):
            if attempt == _MOST_ATTEMPTS or not _was_replaced(path, source):
                raise
        attempt += 1


def _open_source(source: Source, verify: bool, copy: bool) -> Opened:
    """The working copy, where there is one in use, or else the files themselves."""
    if source.working is not None:
        checksums = _stated_checksums(source)
        found = None if checksums is None else _working.open_working(source.path, checksums)
        if found is not None:
            working, parts = found
            serial = working.serial  # before the blocks: a copy has everything of it
            if not copy:
                return Opened([Filter(*part) for part in parts], source, working)
            copies = [_check(_working.snapshot(data), False) for _, data in parts]
            return Opened(copies, source, _working.Copied(working, serial))
        if find_source(source.path) != source:
            raise BloomFilterError("the working copy was replaced while it was opened")
    return Opened(_read_source(source, verify, copy), source, None)


def _stated_checksums(source: Source) -> Optional[List[int]]:
    """What the headers of the files say; None where a file has none."""
    stamps = source.stamps if source.names is None else source.stamps[1:]
    starts = [stamp[-1] for stamp in stamps if stamp is not None]
    if len(starts) < len(stamps) or any(len(start) < HEADER_BYTES for start in starts):
        return None
    return [int.from_bytes(start[56:64], "little") for start in starts]


def _was_replaced(path: PathLike, source: Source) -> bool:
    try:
        return find_source(path) != source
    except (OSError, BloomFilterError):
        return False


def read_bytes(data: Any, verify: bool) -> Filter:
    if isinstance(data, str):
        raise TypeError(
            "a filter comes as bytes, and this is a str: a driver gives base64 text for a "
            "bloomfilter column, and bytes for filter::bytea"
        )
    # What can change under us is copied; bytes can't.
    data = data if type(data) is bytes else bytes(data)
    if data.startswith(_BASE64_MAGIC.encode()):
        raise InvalidFilterError("magic", "not a valid filter: this is base64 text of one; select "
                                 "filter::bytea")
    return _check(data, verify)


def check_set(filters: Sequence[Filter]) -> None:
    """Refuse what is not exactly one whole set in part order."""
    if not filters:
        raise InvalidSetError("no filter is there")
    first = filters[0].header
    if first.parts != len(filters):
        raise InvalidSetError(f"{len(filters)} filters of a set of {first.parts} parts")
    for part, (header, _) in enumerate(filters):
        if header.parts != first.parts or header.seed != first.seed:
            raise InvalidSetError("filters of different sets")
        if header.part != part:
            raise InvalidSetError(f"part {header.part} is where part {part} should be")
    common_key_type(filters)


def common_key_type(filters: Sequence[Filter]) -> int:
    """The key type of all filters that hold keys; 0 if none does."""
    types = {filter_.header.kind for filter_ in filters} - {0}
    if len(types) > 1:
        raise InvalidSetError("filters of different key types")
    return types.pop() if types else 0


def _opener(path: str, _flags: int) -> int:
    return os.open(path, _OPEN_FLAGS)


def _regular_status(file: BinaryIO, path: str) -> os.stat_result:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        error = InvalidFilterError("short", "not a regular file")
        error.path = path
        raise error
    return status


def _stamp_of(file: BinaryIO, path: str) -> Tuple[int, int, int, int, bytes]:
    """Leaves the file behind the bytes of a header."""
    status = _regular_status(file, path)
    start = file.read(HEADER_BYTES)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, start)


def _stamp(path: str) -> Stamp:
    try:
        with open(path, "rb", opener=_opener) as file:
            return _stamp_of(file, path)
    except (OSError, BloomFilterError):
        return None


def _check(data: Buffer, verify: bool) -> Filter:
    header = read_header(bytes(data[:HEADER_BYTES]), len(data))
    check_blocks(header, data, verify)
    return Filter(header, data)


def _read_open_file(file: BinaryIO, length: int, verify: bool, copy: bool) -> Filter:
    # The header is checked against the file's length before anything is
    # allocated or mapped.
    start = file.read(HEADER_BYTES)
    read_header(start, length)
    if copy:
        return _check(start + file.read(length - len(start)), verify)
    try:
        mapped = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
    except ValueError as error:  # it shrank since its length was taken
        raise InvalidFilterError("size", f"not a valid filter: {error}") from error
    return _check(memoryview(mapped), verify)


def _read_file(path: str, verify: bool, copy: bool) -> Filter:
    """A file that must be a filter itself; errors name it."""
    try:
        with open(path, "rb", opener=_opener) as file:
            length = _regular_status(file, path).st_size
            return _read_open_file(file, length, verify, copy)
    except BloomFilterError as error:
        error.path = path
        raise


def _read_member(path: str, verify: bool, copy: bool) -> Filter:
    member = _read_file(path, verify, copy)
    promised = _NAME_WITH_CHECKSUM.search(path)
    if promised and int(promised[1], 16) != member.header.checksum:
        error = InvalidSetError("is another filter than its name says")
        error.path = path
        raise error
    return member


def _read_source(source: Source, verify: bool, copy: bool) -> List[Filter]:
    if source.names is None:
        return [_read_file(source.path, verify, copy)]
    folder = os.path.dirname(source.path)
    filters = [_read_member(os.path.join(folder, name), verify, copy) for name in source.names]
    try:
        check_set(filters)
    except InvalidSetError as error:
        error.path = source.path
        raise
    return filters


def _manifest_names(text: bytes) -> List[str]:
    first, *lines = text.removesuffix(b"\n").split(b"\n")
    names = [line for line in lines if not line.startswith(b"#")]
    if first != _MANIFEST_FIRST_LINE:
        raise InvalidSetError("manifest does not begin with the line 'bloomfilter-set 1'")
    if not 1 <= len(names) <= _MAX_PARTS:
        raise InvalidSetError("manifest must name 1 to 65535 parts")
    for name in names:
        if not name or name in (b".", b"..") or b"/" in name or b"\0" in name:
            raise InvalidSetError(f"manifest has a bad file name: {name!r}")
    return [os.fsdecode(name) for name in names]
