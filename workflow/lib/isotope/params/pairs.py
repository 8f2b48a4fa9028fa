"""A collection of kind pairs in params.yaml: one entry, and what it means for earlier phases.

The entry says where pictures and texts lie, and which columns are what. `expand_entries` writes the
entries of acquire and crawl that follow from it, so that all phases see an ordinary source, which
bears the name of the collection.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, cast

from pydantic import Discriminator, Field, Tag

from isotope.params.sections import (
    BY_TYPE,
    Distinct,
    Integer,
    Language,
    Opt,
    Plain,
    Rare,
    Section,
    Share,
    Text,
)

# Parts of the source.
DATA, PICTURES, LISTS = "data", "pictures", "split-"
KARPATHY = "karpathy"
# Keys that say where rows are and how they are read, and all that say what they are.
FORM = ("data", "form", "options")
ROWS = (*FORM, "columns", "languages", "keep", "splits")
# Values of `pictures` that are no path.
URLS, NONE = "urls", "none"
IR_DATASETS = "ir_datasets:"
# A path with such an ending is a file even before it is there; one with none is a folder.
_FILES = frozenset(
    f".{ending}"
    for ending in (
        *("csv", "tsv", "txt", "token", "json", "jsonl", "ndjson", "parquet", "arrow", "trec"),
        *("zip", "tar", "tgz", "gz", "bz2", "zst", "xz", "jpg", "jpeg", "png", "webp"),
    )
)
Several = Annotated[Distinct[Text], Field(min_length=1)]
OneOrMore = Annotated[
    Annotated[Text, Tag("string")] | Annotated[Several, Tag("array")],
    BY_TYPE,
]


def _split_type(value: object) -> str | None:
    """Return the type of a value as JSON Schema has it; None for what is neither of the two."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return "string" if isinstance(value, str) else None


_ListOrShare = Annotated[
    Annotated[Text, Tag("string")] | Annotated[Share, Tag("number")], Discriminator(_split_type)
]


class Columns(Section):
    """The column of each role; a form has most of them itself."""

    image: Opt[Text] = None
    """Name of the picture's file, its path, its URL, or its bytes."""
    image_id: Rare[Opt[Text]] = None
    """The data's own id of the picture."""
    text: Opt[OneOrMore] = None
    """The text; several columns are several texts of one picture."""
    text_id: Opt[Text] = None
    """The data's own id of the text: rows with the same id have one text. Without it each text of
    each row is one of its own."""
    title: Rare[Opt[Text]] = None
    """Title of the text, or of its page."""
    section: Rare[Opt[Text]] = None
    """Title of the text's section of a page."""
    page_url: Rare[Opt[Text]] = None
    """Address of the text's page."""
    caption: Opt[OneOrMore] = None
    """Words that represent the picture in systems that read text alone; they are no queries."""
    split: Opt[Text] = None
    """train, validation or test; also dev, val, valid, restval and the like."""
    relevance: Rare[Opt[Text]] = None
    """Grade of the pair, a whole number from 0; 1 without it."""
    language: Opt[Text] = None
    """Language code of the text."""
    date: Rare[Opt[Text]] = None
    """Day of the picture: 1907-05-31, 19070531, 1907-05, or 1907."""
    licence: Rare[Opt[Text]] = None
    """Licence of the picture."""
    objects: Rare[Opt[Text]] = None
    """What the picture shows: a list, words between commas, semicolons or bars, or records with
    `synset` and a box."""


class Keep(Section):
    """Further columns that travel along, with their types."""

    image: Opt[Several] = None
    """Columns about the picture."""
    text: Opt[Several] = None
    """Columns about the text."""


class PairSplits(Section):
    """The split of each pair: lists of names, or shares by hash."""

    train: Opt[Text] = None
    """A text file with the names of this split, one a line."""
    validation: Opt[_ListOrShare] = None
    """Such a file, or a share of all pictures."""
    test: Opt[_ListOrShare] = None
    """Such a file, or a share of all pictures; the rest trains."""
    karpathy: Rare[Opt[Text]] = None
    """In place of lists, Karpathy's JSON that has the split of each picture."""
    seed: Rare[Opt[Integer]] = None
    """Seed of the hash; by default 0."""


class Rows(Section):
    """What the rows of a source are, of which all collections of kind pairs say the same."""

    data: Opt[OneOrMore] = None
    """Of kind pairs, where the rows are: a file, a folder, a pattern with `*`, a URL, several of
    these, or `ir_datasets:` and an id."""
    form: Opt[Text] = None
    """Of kind pairs, the form of the data; found by looking at it."""
    options: Rare[Opt[dict[str, Any]]] = None
    """Of kind pairs, options of the form, such as `delimiter` of csv."""
    columns: Opt[Columns] = None
    """Of kind pairs, the column of each role."""
    languages: Rare[Opt[dict[Text, Annotated[Language, Field(description="Its language.")]]]] = None
    """Of kind pairs, the language of single columns of texts or captions, such as
    `{caption_de: de}`; of other texts `columns.language` or `language` tells it."""
    keep: Rare[Opt[Keep]] = None
    """Of kind pairs, further columns that travel along."""
    splits: Opt[PairSplits] = None
    """Of kind pairs, lists of names, or shares by hash; without it, and without a column, all pairs
    are in the split test."""


def expand_entries(params: Plain) -> None:
    """Give every collection of kind pairs its entries of acquire and crawl.

    What the params have there already stays: limits of the crawl, an endpoint. To a source that is
    shared only lists of splits are added. Values of a wrong type are left to the checks of the
    schema.
    """
    for name, entry in list(_mapping(params.get("collect")).items()):
        if _mapping(entry).get("kind") == "pairs" and (listed(entry.get("data")) or _lists(entry)):
            entry.setdefault("source", name)
            source = name if "data" in entry else entry["source"]
            _add(params, {"acquire": {source: {"files": _files(entry)}}})
            if "data" in entry and entry.get("pictures") != NONE:
                _add(params, {"crawl": {source: {"shards": 1, **_pictures(entry)}}})


def _add(target: Plain, more: Plain) -> None:
    """Add what is not said, mappings key by key."""
    for key, value in more.items():
        current = target.setdefault(key, {} if isinstance(value, dict) else value)
        if isinstance(value, dict) and isinstance(current, dict):
            _add(cast(Plain, current), cast(Plain, value))


def _files(entry: Mapping[str, Any]) -> dict[str, list[str]]:
    data = [path for path in listed(entry.get("data")) if not path.startswith(IR_DATASETS)]
    pictures = [] if entry.get("pictures") in (URLS, NONE) else listed(entry.get("pictures"))
    parts = {part: paths for part, paths in ((DATA, data), (PICTURES, pictures)) if paths}
    return {**{part: [*map(_pattern, paths)] for part, paths in parts.items()}, **_lists(entry)}


def _lists(entry: Mapping[str, Any]) -> dict[str, list[str]]:
    lists = _mapping(entry.get("splits")).items()
    return {f"{LISTS}{split}": [path] for split, path in lists if isinstance(path, str)}


def _pictures(entry: Mapping[str, Any]) -> Plain:
    """Return what a crawl has to say of where its pictures are."""
    pictures = entry.get("pictures")
    part = DATA if pictures is None else PICTURES
    return {"of": ["pairs"]} if pictures == URLS else {"pictures": {"part": part}}


def _pattern(path: str) -> str:
    """Return the pattern of all files of a folder, and a file or pattern as it is."""
    if "*" in path or "://" in path:
        return path
    suffix = PurePosixPath(path).suffix.lower()
    is_folder = path.endswith("/") or Path(path).is_dir() or not (suffix or Path(path).is_file())
    is_folder &= suffix not in _FILES or Path(path).is_dir()
    return f"{path.rstrip('/')}/**" if is_folder else path


def sharing(collect: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the collections of kind pairs, by name, that are made of a source."""
    return {n: e for n, e in collect.items() if e.parsed and e.source == source}


def listed(value: object) -> list[str]:
    """Return one path or several; nothing for what is neither."""
    listed = cast(list[object], value) if isinstance(value, list) else [value]
    texts = [item for item in listed if isinstance(item, str)]
    return texts if len(texts) == len(listed) else []


def _mapping(value: object) -> Plain:
    return cast(Plain, value) if isinstance(value, dict) else {}
