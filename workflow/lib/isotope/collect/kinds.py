"""The kinds of collections that have keys, or answers to what a kind can do, of their own.

A class is found by the value of its key `kind`. A kind that needs neither is a folder of
`workflow/sql/collect/` and has no class.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.prepare import ATOMIC
from isotope.params import SPLITS
from isotope.params.messages import suggest
from isotope.params.pairs import KARPATHY, ROWS, Columns, Keep, OneOrMore, Splits, listed, sharing
from isotope.params.phases import CollectionKind
from isotope.params.references import Member, Source
from isotope.params.sections import (
    Distinct,
    Language,
    NotNegative,
    Opt,
    Params,
    Section,
    Share,
    Text,
    Whole,
)
from isotope.schemas.collect import IMAGES, TEXTS

# Names that columns of the data may not bear in the collection's tables.
_OF_ROLES = ("date", "licence", "objects", "source_image_id")
_TAKEN = frozenset((*TEXTS.names, *IMAGES.names, *_OF_ROLES))


class Wikipedia(CollectionKind):
    """A collection of a snapshot of Wikipedia: sections, images, and which belong together."""

    is_snapshot: ClassVar[bool] = True
    # What img2dataset makes unless told otherwise, and what AToMiC's published pictures have.
    side_px: ClassVar[int | None] = 256
    origin: ClassVar[str] = "wikipedia"
    prepare: ClassVar[str] = ATOMIC

    kind: Literal["wikipedia"]  # pyright: ignore[reportIncompatibleVariableOverride]


class Atomic(CollectionKind):
    """AToMiC as published: sections of Wikipedia, its images, and which belong together."""

    origin: ClassVar[str] = "wikipedia"
    prepare: ClassVar[str] = ATOMIC

    kind: Literal["atomic"]  # pyright: ignore[reportIncompatibleVariableOverride]


class Union(CollectionKind):
    """A collection of collections, one a language."""

    is_union: ClassVar[bool] = True
    origin: ClassVar[str] = "wikipedia"

    kind: Literal["union"]  # pyright: ignore[reportIncompatibleVariableOverride]
    of: Opt[Annotated[Distinct[Member], Field(min_length=2)]] = Field(
        default=None,
        description="Collections of kind wikipedia, one a language, that a collection of kind union"
        " joins.",
    )


class Ticrc(CollectionKind):
    """A collection of the sets of the text-image challenge, as its organisers cut them."""

    kind: Literal["ticrc"]  # pyright: ignore[reportIncompatibleVariableOverride]
    source_splits: Opt[Annotated[Distinct[Text], Field(min_length=1)]] = Field(
        default=None,
        description="Of kind ticrc, the challenge's own sets to collect, such as train2 or test-B: "
        "names of the folders of the source's files. By default all of them.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check the names of sets: the name of a set is that of its files' folder.

        A folder with `*` may have any name.

        Raises:
            BadParams: a set that the source does not have.
        """
        files = params["acquire"].get(self.source, {}).get("files", {})
        listed = [
            file for split in ("train", "validation", "test") for file in files.get(split, [])
        ]
        urls = [file if isinstance(file, str) else str(file["url"]) for file in listed]
        folders = sorted({PurePosixPath(url).parent.name for url in urls})
        unknown = [name for name in self.source_splits or () if name not in folders]
        if unknown and not any("*" in folder for folder in folders):
            found = f"unknown name {unknown[0]!r}"
            raise BadParams(f"{where}.source_splits", found, suggest(unknown[0], folders))


class Question(Section):
    """A template of questions for one category."""

    category: Text = Field(
        description="A super-category of the labels, or `*` for those without a template of their "
        "own."
    )
    question: Text = Field(description="The question, such as `what is the species of this bird?`.")


class Recognition(Section):
    """Recognition of entities: a classification data set whose labels are a snapshot's articles."""

    fills: ClassVar[bool] = True

    knowledge: Source = Field(
        description="The snapshot; where it is not crawled, pictures of its infoboxes may come with"
        " the labels'."
    )
    questions: Annotated[list[Question], Field(min_length=1)] = Field(
        description="Templates; each picture has a question from one of its category's."
    )
    unseen_share: Share = Field(
        description="Share of the entities that are excluded from training, drawn by the hash of "
        "their id."
    )
    unseen_categories: Distinct[str] = Field(
        description="Super-categories whose entities are all excluded from training."
    )
    seed: Whole = Field(description="Seed of the draw.")
    k1: NotNegative = Field(default=1.5, description="Term saturation of BM25 over names.")
    b: Share = Field(default=0.75, description="Length normalisation of BM25 over names.")
    tokenizer: Text = Field(
        default="words",
        description="words, or a WordPiece tokenizer, as in a system of kind `answers`.",
    )


class OvenLabels(CollectionKind):
    """A collection of questions on labelled pictures."""

    kind: Literal["oven-labels"]  # pyright: ignore[reportIncompatibleVariableOverride]
    recognition: Opt[Recognition] = Field(
        default=None,
        description="How a collection of kind oven-labels is made of a classification data set "
        "and a "
        "snapshot whose articles are the entities.",
    )


class Pairs(CollectionKind):
    """A collection of anybody's pictures and texts, made of one entry without SQL."""

    parsed: ClassVar[Sequence[str]] = ("pairs", "pairs.rejected")
    origin: ClassVar[str] = "own"

    kind: Literal["pairs"]  # pyright: ignore[reportIncompatibleVariableOverride]
    data: Opt[OneOrMore] = Field(
        default=None,
        description="Of kind pairs, where the rows are: a file, a folder, a pattern with `*`, a "
        "URL, several of these, or `ir_datasets:` and an id.",
    )
    form: Opt[Text] = Field(
        default=None, description="Of kind pairs, the form of the data; found by looking at it."
    )
    options: Opt[dict[str, Any]] = Field(
        default=None, description="Of kind pairs, options of the form, such as `delimiter` of csv."
    )
    pictures: Opt[OneOrMore] = Field(
        default=None,
        description="Of kind pairs, a folder, zip or tar with the pictures, or several; `urls`: "
        "each is downloaded from its URL; `none`: no picture is read. By default they "
        "are in the data.",
    )
    columns: Opt[Columns] = Field(
        default=None, description="Of kind pairs, the column of each role."
    )
    languages: Opt[dict[Text, Annotated[Language, Field(description="Its language.")]]] = Field(
        default=None,
        description="Of kind pairs, the language of single columns of texts or captions, such as "
        "`{caption_de: de}`; of other texts `columns.language` or `language` tells it.",
    )
    keep: Opt[Keep] = Field(
        default=None, description="Of kind pairs, further columns that travel along."
    )
    splits: Opt[Splits] = Field(
        default=None,
        description="Of kind pairs, lists of names, or shares by hash; without it, and without "
        "a column, all pairs are in the split test.",
    )
    texts: Opt[Literal["all", "first", "first-of-several", "five", "language"]] = Field(
        default=None,
        description="Of kind pairs, which texts of a picture are texts of the collection: all "
        "(the default), the first in each language, also only of pictures with several, the first "
        "five, or those in the collection's language; the others then represent the picture in "
        "systems that read text alone, where five are taken no others do.",
    )

    corpus: Opt[Literal["shared", "split"]] = Field(
        default=None,
        description="Of kind pairs, whether splits share one corpus, so that a picture or text may "
        "be judged in several (`shared`), or each is in one split, and pairs that mix splits are "
        "set aside (`split`). By default shared where all pairs are judgements, rows that name "
        "their text by its id alone, as in BEIR.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check what the entry's keys owe each other.

        Raises:
            BadParams: no data, a source of another name, a column under a name that the tables
                have, or two ways of finding a split.
        """
        own = where.rpartition(".")[2]
        if self.data is None and self.source is None:
            raise BadParams(where, "no key 'data'", "say where the rows are")
        if self.data is not None and self.source not in (None, own):
            found = f"{self.source!r}, and the collection is called {own!r}"
            raise BadParams(f"{where}.source", found, "leave it out: the data is its own source")
        if self.data is None and self.pictures is not None:
            remedy = f"say it in crawl.{self.source}, for all collections of the source"
            raise BadParams(f"{where}.pictures", "pictures of a source that is shared", remedy)
        self._check_shared(where, params)
        self._check_languages(where)
        self._check_kept(where)
        self._check_splits(where)

    def _check_shared(self, where: str, params: Params) -> None:
        """Check that all collections of a source say the same of its rows, which are read once."""
        every = sharing(params, str(self.source))
        said = {name: {k: e.get(k) for k in ROWS if k != "data"} for name, e in every.items()}
        own = said.get(where.rpartition(".")[2])
        for name, other in said.items():
            unlike = [key for key, value in other.items() if own and value != own[key]]
            if unlike:
                found = f"{unlike[0]!r} is another than in {name!r}, of the same source"
                raise BadParams(where, found, "say the same in all collections of a source")

    def _check_languages(self, where: str) -> None:
        said = [self.columns.text, self.columns.caption] if self.columns else []
        columns = [name for each in said for name in listed(each)]
        for name in self.languages or ():
            if columns and name not in columns:
                found = f"{name!r} is no column of texts or captions"
                raise BadParams(f"{where}.languages", found, suggest(name, columns))

    def _check_kept(self, where: str) -> None:
        for side in ("image", "text"):
            names = (getattr(self.keep, side) if self.keep else None) or []
            twice = [n for n in names if [m.lower() for m in names].count(n.lower()) > 1]
            if twice:
                found = f"{' and '.join(map(repr, twice))} differ by case alone"
                raise BadParams(f"{where}.keep.{side}", found, "rename one in the data")
            for name in names:
                if name.lower() in _TAKEN or name.startswith("_"):
                    found = f"{name!r} is a column of the collection's own tables"
                    raise BadParams(f"{where}.keep.{side}", found, "rename it in the data")

    def _check_splits(self, where: str) -> None:
        if self.splits is None:
            return
        if self.columns and self.columns.split:
            found = "both `splits` and `columns.split`"
            raise BadParams(where, found, "keep one of them")
        values = [getattr(self.splits, key) for key in (*SPLITS, KARPATHY)]
        lists, shares = ([v for v in values if isinstance(v, of)] for of in (str, int | float))
        if bool(lists) == bool(shares) or (lists and self.splits.seed is not None):
            found = "both lists and shares" if lists else "neither lists nor shares"
            raise BadParams(f"{where}.splits", found, "give files of names, or shares and a seed")
        if sum(shares) > 1:
            remedy = "give shares that add up to 1 at most; the rest trains"
            raise BadParams(f"{where}.splits", f"shares add up to {sum(shares):g}", remedy)
