"""What `isotope init` understands of somebody's data, and the overlay that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import polars as pl

from isotope.cli.tally import DataCounts, worded
from isotope.params import SPLITS
from isotope.params.pairs import NONE, ROWS, Rows
from isotope.parse.forms import Form
from isotope.parse.pairs import divided, read_data

# Texts of a picture, in the mean, from which on the first may ask for the others.
_SEVERAL_TEXTS = 1.5
_SHARES = {"validation": 0.1, "test": 0.1}
# With fewer pictures a tenth may be none.
_FEWEST = 100


@dataclass(frozen=True)
class UserAnswers:
    """What a user said: the data, where pictures lie, a form, and columns of roles."""

    table: str
    pictures: str | None = None
    form: str | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    languages: Sequence[str] = ()


class SetAside(NamedTuple):
    """A reason for which rows are set aside, or values left out, how often, and the first place."""

    reason: str
    times: int
    file: str
    row: int
    detail: str


class Rehearsal(NamedTuple):
    """What a run will make of the rows: pairs of each split, and what it sets aside."""

    pairs: Mapping[str, int]
    aside: Sequence[SetAside]


class Languages(NamedTuple):
    """The language of all texts, or of columns side by side, and what tells it."""

    language: str | None
    columns: Mapping[str, str]
    by: str

    def entry(self) -> dict[str, Any]:
        """Return the keys of the entry of `collect`."""
        several = {"languages": dict(self.columns)} if self.columns else {}
        return several | ({"language": self.language} if self.language else {})


@dataclass(frozen=True)
class Unused:
    """Columns that have no role and do not travel along, with why; and those of a refused role."""

    columns: Mapping[str, str]
    refused: Mapping[str, str]


@dataclass(frozen=True)
class Understanding:
    """How the data is understood: its form, roles, columns to keep, pictures, splits and counts."""

    question: UserAnswers
    paths: Sequence[Path]
    form: Form
    options: Mapping[str, Any]
    roles: Mapping[str, Sequence[str]]
    keep: Mapping[str, Sequence[str]]
    unused: Unused
    languages: Languages
    pictures: str | None
    counts: DataCounts
    rows: Sequence[Mapping[str, object]]

    def splits(self) -> dict[str, float] | None:
        """Return shares by hash, where the data has no split to search in."""
        if {"validation", "test"} & {*self.counts.splits}:
            return None
        count = self.counts.pictures_found
        pictures = self.counts.pictures if count is None else count
        return dict(_SHARES) if pictures >= _FEWEST else {"test": 1.0}

    def unmet(self) -> str:
        """Return the column whose words would stand for pictures if any text had one of them."""
        names, counts = worded(self.roles), self.counts
        return names[0] if names and counts.beside_words and not counts.with_a_word else ""

    def words(self) -> str:
        """Return what of the data stands for a picture in systems that read words.

        `captions` of a column, `first` (its other texts, of which the first of each language is a
        query), `objects`, or empty for nothing.
        """
        standing = {} if self.unmet() else self.roles
        if "caption" in standing:
            return "captions"
        if self.counts.in_one_language >= _SEVERAL_TEXTS:
            return "first"
        return "objects" if "objects" in standing else ""

    def entry(self) -> dict[str, Any]:
        """Return the entry of `collect`; what the form says itself is left out."""
        splits, columns = self.splits(), dict[str, Any]()
        for role, names in self.roles.items():
            default = self.form.roles.get(role)
            if [default] != [*names] and not (role == "split" and splits):
                columns[role] = [*names] if len(names) > 1 else names[0]
        words = self.words()
        columns |= {"caption": self.roles["objects"][0]} if words == "objects" else {}
        collection: dict[str, Any] = {"kind": "pairs", "data": self.question.table}
        collection |= {"form": self.question.form} if self.question.form else {}
        collection |= {"options": dict(self.options)} if self.options else {}
        collection |= {"pictures": self.pictures} if self.pictures else {}
        collection |= {"columns": columns} if columns else {}
        collection |= self.languages.entry()
        collection |= {"texts": "first"} if words == "first" else {}
        collection |= {"keep": {k: [*v] for k, v in self.keep.items()}} if self.keep else {}
        return collection | ({"splits": splits} if splits else {})

    def overlay(self, name: str) -> dict[str, Any]:
        """Return an overlay of params.yaml that runs systems which need neither network nor GPU.

        A system that would find nothing is left out: one of words where no picture has any, and
        one of vectors where there are no pixels either.
        """
        splits = self.splits() or self.counts.splits
        has_pixels, has_words = self.pictures != NONE, bool(self.words())
        model = {"kind": "hash", "dim": 256, "images": "pixels" if has_pixels else "captions"}
        fits = {"random": True, "bm25": has_words, "hash": has_pixels or has_words}
        systems = [system for system, is_fit in fits.items() if is_fit]
        return {
            "build": [name],
            "collect": {name: self.entry()},
            "models": {"hash": model},
            "systems": {"hash": {"kind": "dense", "model": "hash"}},
            "search": {
                "systems": systems,
                "settings": ["small"],
                "splits": [split for split in ("validation", "test") if splits.get(split)],
                "depth": 100,
            },
            "score": {"measures": ["MRR@10", "R@1", "R@10", "nDCG@10"]},
            "tabulate": {"system": "bm25" if has_words else systems[-1], "sizes": []},
        }

    def rehearsed(self) -> Rehearsal:
        """Return which pairs a run will use of the rows, and which it will set aside.

        Raises:
            As `parse.pairs.divided`.
        """
        rows = {key: value for key, value in self.entry().items() if key in ROWS}
        spec = Rows.of_plain(rows)
        with TemporaryDirectory(prefix="isotope-init-") as folder:
            tables = divided(read_data(self.paths, spec), spec, None, Path(folder))
            pairs, rejected = (
                pl.read_parquet(tables[n], glob=False) for n in ("pairs", "rejected")
            )
            usable = pairs.filter(pl.col("relevance").is_not_null())
            first = pl.first("file", "row", "detail")
            # A run looks for pictures when it has read the rows.
            lacks = dict.fromkeys(self.counts.missing, "missing_picture") | self.counts.undecodable
            why = pl.col("image_url").replace_strict(
                [*lacks], [*lacks.values()], default=None, return_dtype=pl.String
            )
            lost = usable.select("file", "row", reason=why, detail="image_url").drop_nulls("reason")
            counted = dict(usable.filter(why.is_null())["split"].value_counts().iter_rows())
            set_aside = pl.concat([rejected.select(lost.columns), lost])
            aside = set_aside.group_by("reason", maintain_order=True).agg(pl.len(), first)
        rows = sorted(aside.rows(), key=lambda row: (-row[1], row[0]))
        return Rehearsal(
            {s: counted[s] for s in SPLITS if s in counted}, [SetAside(*r) for r in rows]
        )
