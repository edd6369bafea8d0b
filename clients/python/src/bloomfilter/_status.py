"""What is known about a file that `bloomfilter pull` keeps."""

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Dict, Optional

_FIRST_LINE = "bloomfilter-status 1"
_MOST_BYTES = 16384
_ORIGIN = ("list", "identity", "serial", "built", "checksum")


@dataclass(frozen=True)
class Status:
    """Which content of which list a filter is, and how fresh.  None is what isn't known."""

    list: Optional[str] = None
    identity: Optional[str] = None
    """Of the list: a UUID."""
    serial: Optional[int] = None
    """Of the content: a later one is greater."""
    built: Optional[datetime] = None
    """On the server."""
    looked: Optional[datetime] = None
    """At the server, the last time that it went well."""
    changed: Optional[datetime] = None
    """The file, by pull."""
    true_at: Optional[datetime] = None
    """Of a working copy: what was committed before is in it."""
    failures: int = 0
    """Looks that failed since."""
    failed: Optional[datetime] = None
    error: Optional[str] = None
    """Of the last look that failed."""
    refused: Optional[str] = None
    """Why pull refused what the server has, in a word."""
    server: Optional[str] = None


def read_status(path: str, notes: Dict[str, str], checksum: str) -> Status:
    """Of the filter that was opened at path: with these notes in its manifest, if it
    has one, and this checksum."""
    values = _values(path)
    if "serial" in notes:
        origin = notes
    elif values.get("next_checksum") == checksum:
        origin = {name: values[f"next_{name}"] for name in _ORIGIN if f"next_{name}" in values}
    elif values.get("checksum") == checksum:
        origin = values
    else:
        origin = {}
    return Status(
        list=origin.get("list"),
        identity=origin.get("identity"),
        serial=_number(origin.get("serial")),
        built=_time(origin.get("built")),
        looked=_time(values.get("looked")),
        changed=_time(values.get("changed")),
        failures=_number(values.get("failures")) or 0,
        failed=_time(values.get("failed")),
        error=values.get("error"),
        refused=values.get("refused"),
        server=values.get("server"),
    )


def of_working(status: Status, identity: str, serial: int, looked: int, failures: int,
               true_at: int) -> Status:
    """The same with what a working copy tells; times are microseconds since 1970."""
    return replace(
        status,
        identity=identity,
        serial=serial,
        looked=_moment(looked) or status.looked,
        failures=failures,
        true_at=_moment(true_at),
    )


def notes_of(lines: "list[bytes]") -> Dict[str, str]:
    """What the notes of a manifest tell, "# name value"."""
    words = (line[2:].decode("utf-8", "replace").partition(" ") for line in lines
             if line.startswith(b"# "))
    return {name: value for name, _, value in words if name in _ORIGIN}


def _values(path: str) -> Dict[str, str]:
    try:
        with open(path + ".status", encoding="utf-8", errors="replace", newline="\n") as file:
            lines = file.read(_MOST_BYTES).split("\n")
    except OSError:
        return {}
    if lines[0] != _FIRST_LINE:
        return {}
    return {name: value for name, _, value in (line.partition(" ") for line in lines[1:])}


def _number(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _time(text: Optional[str]) -> Optional[datetime]:
    try:
        moment = datetime.strptime(text or "", "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return None
    return moment.replace(tzinfo=timezone.utc)


def _moment(microseconds: int) -> Optional[datetime]:
    try:
        return datetime.fromtimestamp(microseconds / 1e6, timezone.utc) if microseconds else None
    except (ValueError, OverflowError, OSError):
        return None
