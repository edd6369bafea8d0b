"""Where filters come from: a file, the files of a manifest or folder, bytes."""

import mmap
import os
import re
import stat
from typing import List, NamedTuple, Sequence, Union

from ._format import HEADER_BYTES, Buffer, Header, check_blocks, read_header
from .errors import InvalidFilterError, InvalidSetError

PathLike = Union[str, "os.PathLike[str]"]

MANIFEST_NAME = "manifest"
_MANIFEST_MAGIC = b"bloomfilter-set "
_MANIFEST_FIRST_LINE = b"bloomfilter-set 1"
_MAX_PARTS = 65535

# A name of 255 bytes and its line end for each part.
_MANIFEST_MAX_BYTES = 32 + _MAX_PARTS * 256

# A name that promises what is in its file, which a part of another build is not.
_NAME_WITH_CHECKSUM = re.compile(r"\.([0-9a-f]{16})\.bloom$")

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


def read_path(path: PathLike, verify: bool, copy: bool) -> List[Filter]:
    """One filter, or all filters of a set in part order."""
    path = os.fsdecode(path)
    if os.path.isdir(path):
        return _read_folder(path, verify, copy)
    with open(path, "rb", opener=_opener) as file:
        length = _regular_size(file.fileno(), path)
        start = file.read(HEADER_BYTES)
        if not start.startswith(_MANIFEST_MAGIC):
            return [_read_open_file(file, start, length, verify, copy)]
        names = _manifest_names(start + file.read(_MANIFEST_MAX_BYTES))
    return _read_members(os.path.dirname(path), names, verify, copy)


def read_bytes(data: Union[bytes, bytearray, memoryview], verify: bool) -> Filter:
    # What can change under us is copied; bytes can't.
    return _check(data if type(data) is bytes else bytes(data), verify)


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
    types = {filter_.header.key_type_number for filter_ in filters} - {0}
    if len(types) > 1:
        raise InvalidSetError("filters of different key types")
    return types.pop() if types else 0


def _opener(path: str, _flags: int) -> int:
    return os.open(path, _OPEN_FLAGS)


def _regular_size(descriptor: int, path: str) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidFilterError("short", f"not a regular file: {path!r}")
    return status.st_size


def _check(data: Buffer, verify: bool) -> Filter:
    header = read_header(bytes(data[:HEADER_BYTES]), len(data))
    check_blocks(header, data, verify)
    return Filter(header, data)


def _read_open_file(file, start: bytes, length: int, verify: bool, copy: bool) -> Filter:
    # The header is checked against the file's length before anything is
    # allocated or mapped.
    read_header(start, length)
    if copy:
        return _check(start + file.read(length - len(start)), verify)
    try:
        mapped = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
    except ValueError as error:  # it shrank since its length was taken
        raise InvalidFilterError("size", f"not a valid filter: {error}") from error
    return _check(memoryview(mapped), verify)


def _read_member(path: str, verify: bool, copy: bool) -> Filter:
    """A file of a set, which must be a filter itself; errors name it."""
    try:
        with open(path, "rb", opener=_opener) as file:
            length = _regular_size(file.fileno(), path)
            member = _read_open_file(file, file.read(HEADER_BYTES), length, verify, copy)
    except InvalidFilterError as error:
        raise InvalidFilterError(error.rule, f"{os.path.basename(path)}: {error}") from error
    promised = _NAME_WITH_CHECKSUM.search(path)
    if promised and int(promised[1], 16) != member.header.checksum:
        raise InvalidSetError(f"{os.path.basename(path)}: is another filter than its name says")
    return member


def _read_folder(path: str, verify: bool, copy: bool) -> List[Filter]:
    manifest = os.path.join(path, MANIFEST_NAME)
    if os.path.lexists(manifest):
        with open(manifest, "rb", opener=_opener) as file:
            _regular_size(file.fileno(), manifest)
            names = _manifest_names(file.read(_MANIFEST_MAX_BYTES + 1))
        return _read_members(path, names, verify, copy)
    names = [name for name in os.listdir(path) if name.endswith(".bloom") and name[0] != "."]
    filters = [_read_member(os.path.join(path, name), verify, copy) for name in names]
    filters.sort(key=lambda filter_: filter_.header.part)
    check_set(filters)
    return filters


def _read_members(folder: str, names: Sequence[str], verify: bool, copy: bool) -> List[Filter]:
    filters = [_read_member(os.path.join(folder, name), verify, copy) for name in names]
    check_set(filters)
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
