"""Tars of WebDataset: members that share a name up to its first dot are a sample.

Format: https://github.com/webdataset/webdataset, "the WebDataset format": `0001.jpg`, `0001.txt`
and `0001.json` follow each other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.intake.archives import Member, is_tar, members
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.parse.forms.base import Form, Picture, Rejection, refuse
from isotope.parse.forms.columns import Located, renamed, typed_values
from isotope.parse.forms.texts import files_of, is_picture, named

_MEMBER = re.compile(r"((?:.*/)?[^./]+)\.([^/]+)")
_META = re.compile(r"(^|/)__[^/]*__($|/)")
_TEXTS = ("txt", "text", "caption")
# Suffixes whose members are texts of a word or two, as WebDataset decodes them.
_WORDS = ("cls", "cls2", "index", "inx", "id", "label", "lang", "split", "url", "date", "licence")
_COLUMNS = ("key", "image", "text")


class WebDataset(Form):
    """Samples in tars, with pictures, texts and JSON."""

    name = "webdataset"
    roles: ClassVar[Mapping[str, str]] = {"image": "image", "text": "text"}

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix, and a first sample with anything beside its picture."""
        files = files_of(paths)
        return bool(files) and all(is_tar(path) for path in files) and _has_texts(files[0])

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each picture of a sample; one without a picture has a row without.

        Columns are `key`, `image` (the tar's name, `/`, the member's), `text` (of .txt, .text or
        .caption, as a whole), `alt` of .alt.txt and the like, those of .json, and one for each of
        .cls, .url and the like; of the JSON one that bears a name of ours becomes `json.name`.
        A member that comes again in a tar is rejected. `_row` is the number of the sample.

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
            member_names: set[str] = set()
            for member in members(path):
                if _split(member) and is_picture(member.name) and member.name not in member_names:
                    member_names.add(member.name)
                    yield f"{name}/{member.name}", member.read


@dataclass
class _Sample:
    """What a sample's members say: their names by suffix, and columns of those that are read."""

    number: int
    key: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    fields: dict[str, object] = field(default_factory=dict[str, object])


def _has_texts(path: Path) -> bool:
    sample = next(_samples(path, path.name, []), None)
    return sample is not None and len(sample.names) > 1 and bool(_pictures(sample))


def _pictures(sample: _Sample) -> list[str]:
    return [name for suffix, name in sample.names.items() if is_picture(f"x.{suffix}")]


def _rows(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    for sample in _samples(path, name, rejected):
        for image in _pictures(sample) or [None]:
            columns = {"key": sample.key, "image": image and f"{name}/{image}", "text": None}
            yield name, sample.number, columns | sample.fields


def _samples(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[_Sample]:
    """Yield the samples of a tar; a member that can't be read, or comes again, is rejected."""
    member_names, sample = set[str](), _Sample(1, "")
    for member in members(path):
        split = _split(member)
        if split is None:
            continue
        key, suffix = split
        if key != sample.key:
            if sample.names:
                yield sample
            sample = _Sample(sample.number + bool(sample.names), key)
        if member.name in member_names:
            refuse(rejected, (name, sample.number), f"{member.name} comes again", member.name)
            continue
        member_names.add(member.name)
        sample.names[suffix] = member.name
        try:
            sample.fields |= _fields(member, suffix)
        except Refused as error:
            refuse(rejected, (name, sample.number), f"{member.name}: {error.reason}", "")
    if sample.names:
        yield sample


def _split(member: Member) -> tuple[str, str] | None:
    """Return key and suffix of a member that belongs to a sample."""
    match = _MEMBER.fullmatch(member.name)
    if match is None or _META.search(member.name):
        return None
    return match[1], match[2].lower()


def _fields(member: Member, suffix: str) -> dict[str, object]:
    """Return what a member says, by column; nothing for pictures and what we have no words for.

    Raises:
        Refused: as `Member.read`; no UTF-8; no record of JSON.
    """
    other, _, kind = suffix.rpartition(".")
    is_text = kind in _TEXTS and other not in (*_COLUMNS, *_WORDS)
    if not is_text and suffix not in (*_WORDS, "json"):
        return {}
    data = member.read()
    if suffix == "json":
        value = json_value(data)
        if not isinstance(value, dict):
            raise Refused("no record of JSON")
        return renamed(cast(dict[str, object], value), _COLUMNS)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"not UTF-8: {error.reason} at byte {error.start}") from error
    return {(other or "text") if is_text else suffix: text.strip() or None}
