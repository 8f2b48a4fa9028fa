from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from isotope.core.errors import BadParams
from isotope.core.prepare import ATOMIC, NONE
from isotope.params import SPLITS
from isotope.params.collect import CollectionKind
from isotope.params.messages import suggest
from isotope.params.pairs import KARPATHY, ROWS, OneOrMore, Rows, listed, sharing
from isotope.params.sections import Opt, Params, Rare
from isotope.schemas.collect import IMAGES, TEXTS

# The form of AToMiC's own files.
_ATOMIC = "atomic"
# Names that columns of the data may not bear in the collection's tables.
_OF_ROLES = ("date", "licence", "objects", "source_image_id")
_TAKEN = frozenset((*TEXTS.names, *IMAGES.names, *_OF_ROLES))


class Pairs(Rows, CollectionKind):
    """A collection of anybody's pictures and texts, made of one entry without SQL."""

    parsed: ClassVar[Sequence[str]] = ("pairs", "pairs.rejected")

    kind: Literal["pairs"]  # pyright: ignore[reportIncompatibleVariableOverride]
    pictures: Opt[OneOrMore] = None
    """Of kind pairs, a folder, zip or tar with the pictures, or several; `urls`: each is downloaded
    from its URL; `none`: no picture is read. By default they are in the data."""
    texts: Opt[Literal["all", "first", "first-of-several", "five", "language"]] = None
    """Of kind pairs, which texts of a picture are texts of the collection: all (the default), the
    first in each language, also only of pictures with several, the first five, or those in the
    collection's language; the others then represent the picture in systems that read text alone,
    where five are taken no others do."""
    corpus: Rare[Opt[Literal["shared", "split"]]] = None
    """Of kind pairs, whether splits share one corpus, so that a picture or text may be judged in
    several (`shared`), or each is in one split, and pairs that mix splits are set aside (`split`).
    By default shared where all pairs are judgements, rows that name their text by its id alone, as
    in BEIR."""

    @property
    def origin(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """By what words its pages speak of it; pairs of a source by parts are a published set."""
        return "own" if self.data else "wikipedia" if self.form == _ATOMIC else "published"

    @property
    def prepare(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How systems of words prepare its texts and captions: AToMiC's as its authors did."""
        return ATOMIC if self.form == _ATOMIC else NONE

    def check(self, where: str, params: Params) -> None:
        """Check what the entry's keys owe each other.

        Raises:
            BadParams: no data, a source of another name, a column under a name that the tables
                have, or two ways of finding a split.
        """
        name = where.rpartition(".")[2]
        if self.data is None and self.source is None:
            raise BadParams(where, "no key 'data'", "say where the rows are")
        if self.data is not None and self.source not in (None, name):
            problem = f"{self.source!r}, and the collection is called {name!r}"
            raise BadParams(f"{where}.source", problem, "leave it out: the data is its own source")
        if self.data is None and self.pictures is not None:
            remedy = f"say it in crawl.{self.source}, for all collections of the source"
            raise BadParams(f"{where}.pictures", "pictures of a source that is shared", remedy)
        _check_shared(where, self, sharing(params.collect, str(self.source)))
        columns = listed(self.columns and self.columns.text)
        columns += listed(self.columns and self.columns.caption)
        for column in self.languages or () if columns else ():
            if column not in columns:
                problem = f"{column!r} is no column of texts or captions"
                raise BadParams(f"{where}.languages", problem, suggest(column, columns))
        for side, names in self.keep or ():
            _check_kept(f"{where}.keep.{side}", names or [])
        _check_splits(where, self)


def _check_shared(where: str, entry: Pairs, sharing: Mapping[str, Pairs]) -> None:
    """Check that all collections of a source say the same of its rows, which are read once."""
    for name, other in sharing.items():
        for key in ROWS:
            if key != "data" and getattr(other, key) != getattr(entry, key):
                problem = f"{key!r} is another than in {name!r}, of the same source"
                raise BadParams(where, problem, "say the same in all collections of a source")


def _check_kept(where: str, names: Sequence[str]) -> None:
    lower = [name.lower() for name in names]
    twice = [name for name in names if lower.count(name.lower()) > 1]
    if twice:
        problem = f"{' and '.join(map(repr, twice))} differ by case alone"
        raise BadParams(where, problem, "rename one in the data")
    taken = [name for name in names if name.lower() in _TAKEN or name.startswith("_")]
    if taken:
        problem = f"{taken[0]!r} is a column of the collection's own tables"
        raise BadParams(where, problem, "rename it in the data")


def _check_splits(where: str, entry: Pairs) -> None:
    splits = entry.splits
    if splits is None:
        return
    if entry.columns and entry.columns.split:
        raise BadParams(where, "both `splits` and `columns.split`", "keep one of them")
    values = [getattr(splits, key) for key in (*SPLITS, KARPATHY)]
    lists, shares = ([v for v in values if isinstance(v, kind)] for kind in (str, int | float))
    if bool(lists) == bool(shares) or (lists and splits.seed is not None):
        problem = "both lists and shares" if lists else "neither lists nor shares"
        raise BadParams(f"{where}.splits", problem, "give files of names, or shares and a seed")
    if sum(shares) > 1:
        remedy = "give shares that add up to 1 at most; the rest trains"
        raise BadParams(f"{where}.splits", f"shares add up to {sum(shares):g}", remedy)
