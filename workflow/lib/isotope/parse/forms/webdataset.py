"""Tars of WebDataset: members that share a name up to its first dot are a sample.

Format: https://github.com/webdataset/webdataset, "the WebDataset format": `0001.jpg`, `0001.txt`
and `0001.json` follow each other.
"""

import json
import re
import tarfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.core.errors import CorruptFile
from isotope.parse.forms.base import Form, Picture, Rejection, refuse
from isotope.parse.forms.columns import Located, typed_values
from isotope.parse.forms.folder import renamed
from isotope.parse.forms.texts import files_of, is_picture, named

_MEMBER = re.compile(r"((?:.*/)?[^./]+)\.([^/]+)")
_META = re.compile(r"(^|/)__[^/]*__($|/)")
_TEXTS = ("txt", "text", "caption")
# Suffixes whose members are texts of a word or two, as WebDataset decodes them.
_WORDS = ("cls", "cls2", "index", "inx", "id", "label", "lang", "split", "url", "date", "licence")
_OWN = ("key", "image", "text")
_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2")


class WebDataset(Form):
    """Samples in tars, with pictures, texts and JSON."""

    name = "webdataset"
    roles: ClassVar[Mapping[str, str]] = {"image": "image", "text": "text"}

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix, and a first sample with anything beside its picture."""
        files = files_of(paths)
        return bool(files) and all(_is_tar(path) for path in files) and _has_texts(files[0])

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each picture of a sample; one without a picture has a row without.

        Columns are `key`, `image` (the tar's name, `/`, the member's), `text` (of .txt, .text or
        .caption, as a whole), those of .json, and one for each of .cls, .url and the like; of the
        JSON one that bears a name of ours becomes `json.name`. A member that comes again in a tar
        is rejected. `_row` is the number of the sample.

        Raises:
            CorruptFile: a tar that can't be read, or not to its end.
        """
        files = named(files_of(paths))
        passes = iter([rejected, []])

        def rows() -> Iterator[Located]:
            aside = next(passes)
            for path, name in files:
                yield from _rows(path, name, aside)

        yield from typed_values(rows)

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the members that are pictures."""
        for path, name in named(files_of(paths)):
            seen: set[str] = set()
            with _opened(path) as tar:
                for member in tar:
                    if _split(member) and is_picture(member.name) and member.name not in seen:
                        seen.add(member.name)
                        yield f"{name}/{member.name}", partial(_content, tar, member)


def _is_tar(path: Path) -> bool:
    return path.name.lower().endswith(_SUFFIXES)


def _has_texts(path: Path) -> bool:
    with _opened(path) as tar:
        _, _, sample = next(_samples(tar, path.name, []), (0, "", {}))
    return any(is_picture(f"x.{suffix}") for suffix in sample) and len(sample) > 1


def _rows(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    with _opened(path) as tar:
        for row, key, sample in _samples(tar, name, rejected):
            fields: dict[str, object] = {}
            for suffix, member in sample.items():
                try:
                    fields |= _fields(tar, member, suffix)
                except ValueError as error:
                    refuse(rejected, (name, row), f"{member.name}: {error}", "")
            images = [m.name for suffix, m in sample.items() if is_picture(f"x.{suffix}")]
            for image in images or [None]:
                own = {"key": key, "image": image and f"{name}/{image}", "text": None}
                yield name, row, own | fields


def _samples(
    tar: tarfile.TarFile, name: str, rejected: list[Rejection] | None
) -> Iterator[tuple[int, str, dict[str, tarfile.TarInfo]]]:
    """Yield number, key, and members by suffix, of each sample."""
    seen, number, current = set[str](), 0, ""
    sample: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        split = _split(member)
        if split is None:
            continue
        key, suffix = split
        if key != current:
            if sample:
                number += 1
                yield number, current, sample
            current, sample = key, {}
        if member.name in seen:
            refuse(rejected, (name, number + 1), f"{member.name} comes again", member.name)
        else:
            sample[suffix] = member
            seen.add(member.name)
    if sample:
        yield number + 1, current, sample


def _split(member: tarfile.TarInfo) -> tuple[str, str] | None:
    """Return key and suffix of a member that belongs to a sample."""
    found = _MEMBER.fullmatch(member.name)
    if not member.isfile() or found is None or _META.search(member.name):
        return None
    return found[1], found[2].lower()


def _fields(tar: tarfile.TarFile, member: tarfile.TarInfo, suffix: str) -> dict[str, object]:
    """Return what a member says, by column; nothing for pictures and what we have no words for.

    Raises:
        ValueError: no UTF-8; no record of JSON.
    """
    if suffix not in (*_TEXTS, *_WORDS, "json"):
        return {}
    text = _content(tar, member).decode("utf-8")
    if suffix != "json":
        return {"text" if suffix in _TEXTS else suffix: text.strip() or None}
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("no record of JSON")
    return renamed(cast(dict[str, object], value), _OWN)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return file.read() if file else b""


@contextmanager
def _opened(path: Path) -> Generator[tarfile.TarFile]:
    try:
        with tarfile.open(path) as tar:
            yield tar
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CorruptFile(path, f"no whole tar: {error}", "fetch it again") from error
