"""The versions of a remote: what was pushed to each, push by push.

A remote has, besides the bytes in `files/`, a file for each push in `versions/NAME/`, which is
never changed: what was sent, by path, with digests. What a version has follows from its pushes in
their order; so two that run side by side lose nothing of each other. `index.json` lists them for
those who can't list a folder, and `versions/NAME.html` links every file, for people.
"""

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version as installed
from typing import Any, TypeVar, cast

from isotope.core.errors import CorruptFile, MissingFile, UnknownId
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.transfer import listing
from isotope.transfer.outputs import (
    LATEST_NS,
    Output,
    OutputFile,
    as_plain,
    file_of_plain,
    inner_path,
    is_selected,
    of_plain,
)
from isotope.transfer.remote import Remote

FOLDER, INDEX = "versions", "index.json"
FORMAT = 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}\.json")
_TIME = "%Y%m%dT%H%M%S.%fZ"
_SETTLED = 8
_T = TypeVar("_T")


@dataclass(frozen=True)
class Push:
    """What one command has sent: outputs, and what they were made by and of.

    It replaces what earlier pushes have of the same folders, as far as `paths` and `collection`
    name it. `provenance` is the file with Snakemake's record of each output, if there are any;
    `sources` are files of the project that jobs have read and no job makes, with their times.
    """

    paths: Sequence[str]
    collection: str | None
    outputs: Sequence[Output]
    provenance: OutputFile | None = None
    sources: Mapping[str, tuple[OutputFile, int]] = field(
        default_factory=dict[str, tuple[OutputFile, int]]
    )
    isotope: str = field(default_factory=lambda: installed("isotope-ir"))

    def left(self, earlier: Mapping[str, Output]) -> dict[str, Output]:
        """Return those of earlier outputs, by path, that a version still has after this push."""
        folders = {output.folder for output in self.outputs}
        return {
            path: output
            for path, output in earlier.items()
            if output.folder not in folders or not is_selected(path, self.paths, self.collection)
        }


@dataclass
class Version:
    """What a version has: its outputs by path, each with the push that sent it."""

    name: str
    pushes: Mapping[str, Push]

    def __post_init__(self) -> None:
        """Follow the pushes."""
        self.outputs = dict[str, Output]()
        self.sent_by = dict[str, Push]()
        for push in self.pushes.values():
            self.outputs = push.left(self.outputs)
            self.outputs |= {output.path: output for output in push.outputs}
            self.sent_by |= {output.path: push for output in push.outputs}

    @property
    def bytes(self) -> int:
        """The size of all outputs."""
        return sum(output.bytes for output in self.outputs.values())

    @property
    def moment(self) -> str:
        """When the last push to it began, UTC."""
        return max(self.pushes).partition(".")[0] if self.pushes else ""


def names(remote: Remote) -> list[str]:
    """Return the names of a remote's versions, sorted.

    Raises:
        MissingFile: nothing of isotope is there.
        CorruptFile, AccessDenied, FetchFailed: as `read`.
    """
    listed = sorted(_index(remote)) if remote.is_web else remote.folders(FOLDER)
    if not listed:
        remedy = "check the address, or push to it first"
        raise MissingFile(remote.address, "no version of any results", remedy)
    return listed


def read(remote: Remote, name: str) -> Version:
    """Return what a version has; one without pushes has nothing.

    Raises:
        CorruptFile: a file of the remote that is not what a push writes.
        AccessDenied, FetchFailed: a server that refuses, or can't be reached.
    """
    index = _index(remote).get(name, []) if remote.is_web else _pushes(remote, name)
    return Version(name, {file: _read_push(remote, f"{FOLDER}/{name}/{file}") for file in index})


def demand(remote: Remote, name: str) -> Version:
    """Return what a version has that is there.

    Raises:
        UnknownId: the remote has no such version.
        MissingFile, CorruptFile, AccessDenied, FetchFailed: as `names` and `read`.
    """
    available = names(remote)
    if name not in available:
        remedy = f"name one of {', '.join(available)} with --version"
        raise UnknownId(remote.address, f"no version {name!r}", remedy)
    return read(remote, name)


def write(remote: Remote, name: str, push: Push, before: Version) -> None:
    """Add a push to a version, and list it.

    Raises:
        AccessDenied, FetchFailed, MissingFile, DiskFull, Unwritable: as `Remote.write`.
    """
    moment = datetime.now(UTC)
    if before.pushes:
        last = datetime.strptime(max(before.pushes).partition("-")[0], _TIME).replace(tzinfo=UTC)
        moment = max(moment, last + timedelta(microseconds=1))
    file = f"{moment.strftime(_TIME)}-{secrets.token_hex(4)}.json"
    _send(remote, f"{FOLDER}/{name}/{file}", _as_json(_plain(push)))
    _list(remote, name)


def _list(remote: Remote, name: str) -> None:
    """Write what lists the remote, until it lists all that is there.

    Of two that list at a time the last one to write looks again afterwards, and sees the other's
    push.
    """
    for _ in range(_SETTLED):
        index = {name: _pushes(remote, name) for name in remote.folders(FOLDER)}
        content = _as_json({"format": FORMAT, "versions": index})
        pages = {f"{FOLDER}/{name}.html": listing.version_page(read(remote, name))}
        pages["index.html"] = listing.index_page(
            {name: len(pushes) for name, pushes in index.items()}
        )
        for page, text in pages.items():
            _send(remote, page, text.encode())
        _send(remote, INDEX, content)
        now = {name: _pushes(remote, name) for name in remote.folders(FOLDER)}
        if now == index and remote.read(INDEX) == content:
            return


def _pushes(remote: Remote, name: str) -> list[str]:
    """Return the files of the pushes to a version, in their order."""
    files = (path.rpartition("/")[2] for path in remote.sizes(f"{FOLDER}/{name}"))
    return sorted(file for file in files if _FILE.fullmatch(file))


def _index(remote: Remote) -> dict[str, list[str]]:
    content = remote.read(INDEX)
    return {} if content is None else _parsed(remote.address_of(INDEX), content, _of_index)


def _of_index(plain: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: sorted(file for file in files if _FILE.fullmatch(file))
        for name, files in plain["versions"].items()
        if NAME.fullmatch(name)
    }


def _read_push(remote: Remote, file: str) -> Push:
    content = remote.read(file)
    if content is None:
        raise MissingFile(remote.address_of(file), "listed, and not there", "push again")
    return _parsed(remote.address_of(file), content, _of_plain)


def _parsed(where: str, content: bytes, make: Callable[[Mapping[str, Any]], _T]) -> _T:
    """Return what is made of a file of JSON.

    Raises:
        CorruptFile: it is not what a push writes.
    """
    remedy = "remove it from the remote, and push again"
    try:
        plain = cast("Mapping[str, Any]", json_value(content))
        if plain["format"] != FORMAT:
            problem = f"format {plain['format']!r}, this isotope knows {FORMAT}"
            raise CorruptFile(where, problem, "install a newer isotope")
        return make(plain)
    except CorruptFile as error:
        raise CorruptFile(where, error.problem, error.remedy or remedy) from error
    except (Refused, KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"not what a push writes ({type(error).__name__}: {error})"
        raise CorruptFile(where, problem, remedy) from error


def _plain(push: Push) -> dict[str, Any]:
    sources = {
        path: {"bytes": file.bytes, **file.digests, "time_ns": time_ns}
        for path, (file, time_ns) in push.sources.items()
    }
    provenance = push.provenance
    return {
        **{"format": FORMAT, "isotope": push.isotope},
        **{"paths": [*push.paths], "collection": push.collection},
        "provenance": provenance and {"bytes": provenance.bytes, **provenance.digests},
        "sources": sources,
        "outputs": [as_plain(output) for output in push.outputs],
    }


def _of_plain(plain: Mapping[str, Any]) -> Push:
    provenance = plain["provenance"]
    return Push(
        [str(path) for path in plain["paths"]],
        None if plain["collection"] is None else str(plain["collection"]),
        [of_plain(output) for output in plain["outputs"]],
        file_of_plain(provenance) if provenance else None,
        {
            inner_path(path): (
                file_of_plain(fields),
                min(max(0, int(fields["time_ns"])), LATEST_NS),
            )
            for path, fields in plain["sources"].items()
        },
        str(plain["isotope"]),
    )


def _as_json(plain: object) -> bytes:
    return (json.dumps(plain, indent=1, ensure_ascii=False) + "\n").encode()


def _send(remote: Remote, name: str, content: bytes) -> None:
    remote.write(name, len(content), iter([content]))
