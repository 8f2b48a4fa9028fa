"""Counts of a user's data by the roles of its columns: what is there, and what is wrong."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from isotope.cli.places import PictureNames
from isotope.parse.forms.texts import SPLIT_NAMES

_WORD = re.compile(r"\w+")


@dataclass
class DataCounts:
    """What is in the data, and what is wrong with it; `rows` counts unreadable ones too.

    `undecodable` are names of files that are there and have no pixels to read, with the status that
    a ledger will give them.
    """

    rows: int = 0
    unreadable: int = 0
    without_picture: int = 0
    without_text: int = 0
    pictures: int = 0
    pictures_found: int | None = None
    missing: list[str] = field(default_factory=list[str])
    undecodable: dict[str, str] = field(default_factory=dict[str, str])
    texts: int = 0
    repeated_text_ids: int = 0
    captions: tuple[int, float, int] = (0, 0.0, 0)
    in_one_language: float = 0.0
    beside_words: int = 0
    with_a_word: int = 0
    splits: dict[str, int] = field(default_factory=dict[str, int])
    mixed_splits: int = 0


def values_of(record: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the texts of a row's columns; a list has several."""
    values = (record.get(name) for name in names)
    flat = chain.from_iterable(v if isinstance(v, list) else [v] for v in values)
    return [str(v) for v in flat if v is not None and str(v).strip()]


def worded(roles: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the columns whose words may stand for a picture, beside its other texts."""
    return roles.get("caption") or roles.get("objects", ())


class Tally:
    """Counts of all rows; names and ids of pictures and texts are in memory.

    `languages` are those of single columns.
    """

    def __init__(
        self,
        roles: Mapping[str, Sequence[str]],
        pictures: PictureNames | None,
        languages: Mapping[str, str],
    ) -> None:
        self._roles, self._pictures, self._counts = roles, pictures, DataCounts()
        self._languages, self._spoken = languages, set[tuple[str, str]]()
        self._captions, self._ids = Counter[str](), Counter[str]()
        self._splits: dict[str, str] = {}
        self._mixed: set[str] = set()

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a row."""
        values = {role: values_of(record, names) for role, names in self._roles.items()}
        image = next(chain(values.get("image", []), values.get("image_id", [])), None)
        texts = values.get("text", [])
        self._counts.rows += 1
        self._counts.without_picture += image is None
        self._counts.without_text += not texts and not values.get("text_id")
        self._counts.texts += len(texts)
        self._ids.update(values.get("text_id", []))
        self._meet(texts, values_of(record, worded(self._roles)))
        if image is not None:
            self._captions[image] += len(texts)
            self._speak(image, record, next(iter(values.get("language", [])), ""))
        self._split(image, next(iter(values.get("split", [])), None))

    def _meet(self, texts: Sequence[str], words: Sequence[str]) -> None:
        """Count a row of texts and words that may stand for its picture, and if one is in both."""
        if texts and words:
            words_said, standing = (
                {*_WORD.findall(" ".join(side).casefold())} for side in (texts, words)
            )
            self._counts.beside_words += 1
            self._counts.with_a_word += not words_said.isdisjoint(standing)

    def _speak(self, image: str, record: Mapping[str, Any], language: str) -> None:
        """Note in which languages a picture has texts."""
        for name in self._roles.get("text", ()):
            if values_of(record, [name]):
                self._spoken.add((image, self._languages.get(name, language)))

    def _split(self, image: str | None, written: str | None) -> None:
        split = SPLIT_NAMES.get(written.lower(), written) if written else None
        if split is None:
            return
        self._counts.splits[split] = self._counts.splits.get(split, 0) + 1
        if image is not None and self._splits.setdefault(image, split) != split:
            self._mixed.add(image)

    def counts(self, unreadable: int, *, is_known: bool) -> DataCounts:
        """Return all; `is_known` tells whether it is known which pictures are there."""
        counts, caption_counts = self._counts, sorted(self._captions.values()) or [0]
        pictures = self._pictures
        problems = {n: pictures.problem(n) for n in sorted(self._captions)} if pictures else {}
        lost = {name: problem for name, problem in problems.items() if problem}
        missing = [name for name, problem in lost.items() if problem == "missing_picture"]
        counts.rows += unreadable
        counts.unreadable, counts.pictures = unreadable, len(self._captions)
        counts.pictures_found = len(self._captions) - len(lost) if is_known else None
        counts.missing = missing
        counts.undecodable = {n: why for n, why in lost.items() if why != "missing_picture"}
        counts.repeated_text_ids = sum(n > 1 for n in self._ids.values())
        counts.captions = (
            caption_counts[0],
            sum(caption_counts) / len(caption_counts),
            caption_counts[-1],
        )
        counts.in_one_language = sum(caption_counts) / (len(self._spoken) or 1)
        counts.mixed_splits = len(self._mixed)
        return counts
