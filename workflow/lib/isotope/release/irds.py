"""Releases as data sets of the package ir_datasets, whose names are those of `isotope.irds`."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import (
    BaseDocs,
    BaseQueries,
    BaseScoredDocs,
    GenericScoredDoc,
    TrecQrels,
)
from ir_datasets.indices import Docstore
from ir_datasets.util import LocalDownload

from isotope.core.errors import MissingFile
from isotope.core.grid import TASKS, id_column, pool_splits
from isotope.core.languages import is_spoken
from isotope.core.progress import log
from isotope.core.runs import read_trec_qrels
from isotope.core.schemas import CAPTION_FIELDS, SEVERAL
from isotope.params.messages import suggest
from isotope.release.about import EARLIER, NAME, is_earlier, read_about
from isotope.release.words import SPLITS, Pool, pool_items, shared_pool

ROOT_VARIABLE = "ISOTOPE_RELEASES"
_DEFAULT = "results/release"
_ROWS = 1024
_Ids = frozenset[str] | None


class TextDoc(NamedTuple):
    """A text as a document: the five fields, its page's address and categories."""

    doc_id: str
    page_title: str
    section_title: str
    hierarchy: tuple[str, ...]
    context_section_description: str
    context_page_description: str
    page_url: str
    category: tuple[str, ...]

    def default_text(self) -> str:
        """Return the five fields in one string."""
        return _joined(self[1], self[2], *self[3], self[4], self[5])


class TextQuery(NamedTuple):
    """A text as a query: as `TextDoc`."""

    query_id: str
    page_title: str
    section_title: str
    hierarchy: tuple[str, ...]
    context_section_description: str
    context_page_description: str
    page_url: str
    category: tuple[str, ...]

    def default_text(self) -> str:
        """Return the five fields in one string."""
        return _joined(self[1], self[2], *self[3], self[4], self[5])


class ImageDoc(NamedTuple):
    """An image as a document: address, captions in the collection's language, WebP bytes or b""."""

    doc_id: str
    image_url: str
    captions: str
    image: bytes

    def default_text(self) -> str:
        """Return the captions."""
        return self.captions


class ImageQuery(NamedTuple):
    """An image as a query: as `ImageDoc`."""

    query_id: str
    image_url: str
    captions: str
    image: bytes

    def default_text(self) -> str:
        """Return the captions."""
        return self.captions


_CLASSES: dict[tuple[str, str], Any] = {
    ("texts", "doc"): TextDoc,
    ("texts", "query"): TextQuery,
    ("images", "doc"): ImageDoc,
    ("images", "query"): ImageQuery,
}
_CONTEXTS = ("context_section_description", "context_page_description")
_COLUMNS = {
    "texts": [
        *("text_id", "page_title", "section_title", "hierachy", *_CONTEXTS),
        *("page_url", "category"),
    ],
    "images": ["image_id", "image_url", "language", *CAPTION_FIELDS, "image"],
}


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


class ReleaseItems(NamedTuple):
    """Texts or images of some splits of a release, all or those with these ids."""

    folder: Path
    side: str
    splits: tuple[str, ...]
    ids: _Ids
    language: str

    def rows(self, cls: Any) -> Iterator[Any]:  # noqa: ANN401 (one of _CLASSES)
        """Yield them split by split as tuples of a class of this module."""
        for path in self._paths():
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS, columns=_COLUMNS[self.side]):
                    for row in batch.to_pylist():
                        if self.ids is None or row[id_column(self.side)] in self.ids:
                            yield self._record(cls, row)

    def some(self, cls: Any, ids: Iterable[str]) -> Iterator[Any]:  # noqa: ANN401 (as above)
        """Yield those with some ids, in the order of the files; row groups without are not read."""
        chosen = set(ids) if self.ids is None else set(ids) & self.ids
        files: Any = ds.dataset(self._paths(), format="parquet")
        is_chosen = ds.field(id_column(self.side)).isin(sorted(chosen))
        for batch in files.to_batches(columns=_COLUMNS[self.side], filter=is_chosen):
            for row in batch.to_pylist():
                yield self._record(cls, row)

    def total(self) -> int:
        """Return how many there are."""
        key = id_column(self.side)
        if self.ids is None:
            return sum(pq.read_metadata(path).num_rows for path in self._paths())
        chosen_rows = (
            pl.scan_parquet(p, glob=False).filter(pl.col(key).is_in(self.ids))
            for p in self._paths()
        )
        return sum(rows.select(pl.len()).collect().item() for rows in chosen_rows)

    def _paths(self) -> list[Path]:
        return [self.folder / self.side / f"{split}.parquet" for split in self.splits]

    def _record(self, cls: Any, row: dict[str, Any]) -> Any:  # noqa: ANN401 (as above)
        if self.side == "images":
            captions = _captions(row, self.language)
            return cls(row["image_id"], row["image_url"] or "", captions, row["image"] or b"")
        words = [row[name] or "" for name in _COLUMNS["texts"][4:7]]
        path, categories = (tuple(row[name] or ()) for name in ("hierachy", "category"))
        titles = [row[name] or "" for name in ("page_title", "section_title")]
        return cls(row["text_id"], *titles, path, *words, categories)


def _captions(row: dict[str, Any], language: str) -> str:
    spoken = [n for n, code in enumerate(row["language"] or ()) if is_spoken(code, language)]
    return _joined(*((row[name] or [""] * (n + 1))[n] for name in CAPTION_FIELDS for n in spoken))


class DocumentRows:
    """An iterator over documents that can be cut, as ir_datasets wants: `docs_iter()[10:20]`."""

    def __init__(self, items: ReleaseItems, cls: Any) -> None:  # noqa: ANN401 (as above)
        """Yield `items` as tuples of `cls`."""
        self._items, self._cls = items, cls
        self._rows = items.rows(cls)

    def __iter__(self) -> "DocumentRows":
        return self

    def __next__(self) -> Any:  # noqa: ANN401 (a document)
        return next(self._rows)

    def __getitem__(self, key: int | slice) -> Any:  # noqa: ANN401 (a document, or several)
        size = self._items.total()
        if isinstance(key, slice):
            return islice(self._items.rows(self._cls), *key.indices(size))
        position = range(size)[key]
        return next(islice(self._items.rows(self._cls), position, None))


class Docs(BaseDocs):
    """Documents of a release."""

    def __init__(self, items: ReleaseItems, language: str | None) -> None:
        """Serve `items`, whose words are in `language` (None for several)."""
        self._items, self._language = items, language

    def docs_iter(self) -> DocumentRows:
        """Return an iterator over them."""
        return DocumentRows(self._items, self.docs_cls())

    def docs_cls(self) -> Any:  # noqa: ANN401 (a class of this module)
        """Return TextDoc or ImageDoc."""
        return _CLASSES[self._items.side, "doc"]

    def docs_store(self) -> "Store":
        """Return what looks documents up by id."""
        return Store(self._items, self.docs_cls())

    def docs_count(self) -> int:
        """Return how many there are."""
        return self._items.total()

    def docs_namespace(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return what ids are unique in: the release and the side."""
        return f"isotope/{self._items.folder.name}/{self._items.side}"

    def docs_lang(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the language."""
        return self._language


class Store(Docstore):
    """Looks documents up in the Parquet files of a release."""

    def __init__(self, items: ReleaseItems, cls: Any) -> None:  # noqa: ANN401 (as above)
        """Look up `items` as tuples of `cls`."""
        super().__init__(cls)
        self._items, self._cls = items, cls

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Any]:
        """Yield the documents with these ids that are there."""
        return self._items.some(self._cls, doc_ids)


class ReleaseQueries(BaseQueries):
    """Queries of a release."""

    def __init__(self, items: ReleaseItems, language: str | None) -> None:
        """Serve `items`, whose words are in `language` (None for several)."""
        self._items, self._language = items, language

    def queries_iter(self) -> Iterator[Any]:
        """Return an iterator over them."""
        return self._items.rows(self.queries_cls())

    def queries_cls(self) -> Any:  # noqa: ANN401 (a class of this module)
        """Return TextQuery or ImageQuery."""
        return _CLASSES[self._items.side, "query"]

    def queries_count(self) -> int:
        """Return how many there are."""
        return self._items.total()

    def queries_namespace(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return what ids are unique in: the release and the side."""
        return f"isotope/{self._items.folder.name}/{self._items.side}"

    def queries_lang(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the language."""
        return self._language


class ReleaseCandidates(BaseScoredDocs):
    """The pools of single queries of a small release."""

    def __init__(self, path: Path) -> None:
        """Serve schemas.release.LITE_POOLS."""
        self._path = path

    def scoreddocs_path(self) -> str:
        """Return the file."""
        return str(self._path)

    def scoreddocs_iter(self) -> Iterator[GenericScoredDoc]:
        """Yield the documents of each query; the score is 1 over the best rank, or 0."""
        rows = pl.read_parquet(self._path, glob=False).select("query_id", "doc_id", "rank")
        for query, doc, rank in rows.iter_rows():
            yield GenericScoredDoc(query, doc, 1 / rank if rank else 0.0)


def folder_of(collection: str) -> Path:
    """Return the release of a collection.

    Raises:
        MissingFile: no such release; the error says where it was looked for and what is there.
    """
    root = Path(os.environ.get(ROOT_VARIABLE, _DEFAULT))
    if (root / collection / NAME).is_file():
        return root / collection
    releases = sorted(path.parent.name for path in root.glob(f"*/{NAME}"))
    problem = f"no release {collection!r} in {root.absolute()}"
    remedy = suggest(collection, releases) if releases else "run `snakemake --cores all release`"
    raise MissingFile(
        ROOT_VARIABLE, problem, f"{remedy}; {ROOT_VARIABLE} names the folder of releases"
    )


def dataset(name: str, groups: Sequence[str | None]) -> Dataset:
    """Return the data set of an id that matched the pattern, as ir_datasets asks for it.

    Raises:
        As `folder_of`.
    """
    collection, side, split, task, setting = groups
    folder = folder_of(str(collection))
    if side:
        return Dataset(_docs(folder, side, SPLITS, None))
    return _judged(folder, str(split), str(task), setting)


def _judged(folder: Path, split: str, task: str, setting: str | None) -> Dataset:
    about, pools, sides = read_about(folder), _pools(folder), TASKS[task]
    ids = pool_items(pools, split, sides.documents) if setting is None else None
    searched = [name for name in pool_splits(setting or "small", split) if name in SPLITS]
    if ids is None:
        ids = shared_pool(folder, sides.documents, searched)
    splits = SPLITS if ids is not None else searched
    qrels = folder / f"qrels/{split}/{task}.qrels"
    if not qrels.is_file():
        splits_there = sorted(path.parent.name for path in folder.glob(f"qrels/*/{task}.qrels"))
        problem = f"no judgements of {task} in split {split!r}"
        raise MissingFile(
            qrels, problem, f"name one of {', '.join(splits_there) or 'another collection'}"
        )
    asked = frozenset(read_trec_qrels(qrels)["query_id"])
    language = _language(about, sides.queries)
    queries = ReleaseItems(folder, sides.queries, tuple(SPLITS), asked, about["captions"])
    grades = about["statistics"]["grades"]
    meanings = {int(g): "belong together" if int(g) > 0 else "judged, not so" for g in grades}
    pooled = folder / f"pools/{split}/{task}.parquet"
    return Dataset(
        _docs(folder, sides.documents, tuple(splits), ids),
        ReleaseQueries(queries, language),
        TrecQrels(LocalDownload(qrels, mkdir=False), meanings),
        ReleaseCandidates(pooled) if pooled.is_file() and setting is None else None,
    )


@cache
def _docs(folder: Path, side: str, splits: tuple[str, ...], ids: _Ids) -> Docs:
    """Return one handler for the same documents, which ir_datasets compares."""
    about = read_about(folder)
    if is_earlier(about):
        log.warning("%s: %s", folder, EARLIER)
    return Docs(ReleaseItems(folder, side, splits, ids, about["captions"]), _language(about, side))


def _language(about: dict[str, Any], side: str) -> str | None:
    codes = about["languages"] if side == "texts" else [about["captions"]]
    return codes[0] if len(codes) == 1 and codes[0] != SEVERAL else None


def _pools(folder: Path) -> dict[tuple[str, str], Pool]:
    paths = sorted(folder.glob("pools/*/*.parquet"))
    tables = {(p.parent.name, p.stem): pl.read_parquet(p, glob=False) for p in paths}
    return {k: Pool(frozenset(t["query_id"]), frozenset(t["doc_id"])) for k, t in tables.items()}
