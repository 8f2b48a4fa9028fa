"""What is verified: a collection with its report, where it was built, or a release by itself.

Both have the same parts: runs by cell and system, judgements, scores by query, tests between
systems, and the words that BM25 reads. A release has them as TREC files and JSON lines.
"""

import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from gzip import BadGzipFile
from gzip import open as gzip_open
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import polars as pl
import yaml

from isotope.core import lucene, runs
from isotope.core.errors import CorruptFile, EmptyTable, MissingFile, TruncatedFile
from isotope.core.grid import WITHHELD, RunKey, id_column, id_columns
from isotope.core.prepare import NONE
from isotope.core.schemas import FIVE_FIELDS, STEP
from isotope.params.collect import CollectionKind
from isotope.params.root import Params
from isotope.params.sections import COLLECTIONS, Kind, SystemKind, kind_of
from isotope.release import manifest
from isotope.report import registry

_SUFFIX = ".trec.gz"
_MARK = "ir_metadata."
_SPLITS = ("train", "validation", "test", "other")
Run = tuple[RunKey, str]


class Subject(Protocol):
    """A collection or a release; `folder` is where its files are named from."""

    @property
    def name(self) -> str:
        """The collection's name."""
        ...

    @property
    def folder(self) -> Path:
        """What the paths of its files are relative to."""
        ...

    @property
    def scores(self) -> Path:
        """Scores by query (schemas.score.SCORES)."""
        ...

    @property
    def languages(self) -> Mapping[str, str]:
        """The languages of `texts` and of the captions of `images`."""
        ...

    def runs(self) -> dict[Run, Path]:
        """The judged runs, in the order of their paths."""
        ...

    def hits(self, path: Path) -> pl.DataFrame:
        """A run: query_id, doc_id, rank, score."""
        ...

    def qrels(self, cell: RunKey) -> pl.DataFrame:
        """The judgements of a cell's queries: query_id, doc_id, relevance."""
        ...

    def tests(self) -> pl.DataFrame:
        """The tests between systems (schemas.score.SIGNIFICANCE without `collection`)."""
        ...

    def entries(self) -> dict[str, SystemKind]:
        """What is known of the systems: their params, by name."""
        ...

    def words(self, side: str, fields: list[str], prepare: str) -> pl.DataFrame:
        """What BM25 reads of one side: id, split, contents; `prepare` is one of `core.prepare`."""
        ...


@dataclass(frozen=True)
class Built:
    """A collection that was built below `folder`, with what params.yaml says of it now."""

    name: str
    folder: Path
    params: Params = field(repr=False)

    @property
    def scores(self) -> Path:
        """Scores by query."""
        return self.folder / f"results/score/{self.name}.parquet"

    @property
    def tables(self) -> Path:
        """The folder of the report's tables."""
        return self.folder / "results/tables" / self.name

    @property
    def pages(self) -> Path:
        """The folder of the report's pages."""
        return self.folder / "results/report" / self.name

    @cached_property
    def entry(self) -> CollectionKind | None:
        """What the params say of the collection; nothing if they don't know it."""
        return self.params.collect.get(self.name)

    @property
    def is_known(self) -> bool:
        """Whether the params know the collection: those of another run may not."""
        return self.entry is not None

    @property
    def unknown(self) -> str:
        """Why something is not compared of a collection that the params do not know."""
        return f"the params do not know {self.name}: name its overlay (--configfile)"

    @cached_property
    def pool(self) -> tuple[str, str]:
        """The setting and the split that its report is about: by the params, or its record where
        these do not know it.
        """
        if self._registered:
            return self._registered.setting, self._registered.split
        search = self.params.search
        return search.settings[0], search.splits[0]

    @cached_property
    def _registered(self) -> registry.Record | None:
        """The record of a collection that the params do not know, if it has one."""
        record = self.folder / registry.RECORD.format(collection=self.name)
        return registry.read([record])[0] if not self.is_known and record.is_file() else None

    @property
    def languages(self) -> Mapping[str, str]:
        """The languages of texts and captions, as the plan has them."""
        language = self.entry.language if self.entry else "en"
        return {"texts": language, "images": (self.entry and self.entry.captions) or language}

    def table(self, name: str) -> Path:
        """A table of the collection: texts, images or qrels."""
        return self.folder / "data/collect" / self.name / f"{name}.parquet"

    def runs(self) -> dict[Run, Path]:
        """The judged runs: all that were scored, so none of a split without any judgement."""
        top = self.folder / "results/search" / self.name
        judged = {
            *pl.read_parquet(_demand_file(self.table("qrels")), columns=["split"], glob=False)[
                "split"
            ]
        }
        scored = (
            pl.scan_parquet(self.scores, glob=False).select("system").unique().collect()["system"]
        )
        paths = sorted(path for path in top.glob("*/*/*/*.parquet") if WITHHELD not in path.parts)
        runs = ((RunKey.from_path(path), path.stem, path) for path in paths if path.stem in scored)
        return {(cell, system): path for cell, system, path in runs if cell.split in judged}

    def hits(self, path: Path) -> pl.DataFrame:
        """A run, checked while it is read."""
        return runs.read_run(path)

    def qrels(self, cell: RunKey) -> pl.DataFrame:
        """The judgements of a split, in the direction of the task."""
        query, doc = id_columns(cell.task)
        qrels = pl.read_parquet(_demand_file(self.table("qrels")), glob=False).filter(
            split=cell.split
        )
        return qrels.select(query_id=query, doc_id=doc, relevance="relevance")

    def tests(self) -> pl.DataFrame:
        """The tests between systems."""
        path = self.folder / f"results/score/{self.name}.significance.parquet"
        return pl.read_parquet(_demand_file(path), glob=False).drop("collection")

    def entries(self) -> dict[str, SystemKind]:
        """The systems of the params, on this collection."""
        kind: type[Kind] | None = type(self.entry) if self.entry else None
        if self._registered:
            kind = kind_of(COLLECTIONS, self._registered.kind, CollectionKind)
        prepare = getattr(kind, "prepare", NONE)
        return {name: entry.on(prepare) for name, entry in self.params.systems.items()}

    def words(self, side: str, fields: list[str], prepare: str) -> pl.DataFrame:
        """What BM25 reads of a table of the collection."""
        how: dict[str, Any] = {"language": self.languages["images"], "fields": fields}
        words = lucene.contents(side, _demand_file(self.table(side)), **how, prepare=prepare)
        return words.select("id", "split", "contents")


@dataclass(frozen=True)
class ReleaseSubject:
    """A release: a folder that `isotope.release.collection` has filled."""

    folder: Path

    @cached_property
    def manifest(self) -> manifest.Manifest:
        """What the release says of itself."""
        return manifest.read_manifest(self.folder)

    @property
    def name(self) -> str:
        """The collection's name."""
        return self.manifest.collection

    @property
    def languages(self) -> Mapping[str, str]:
        """The languages of texts and captions."""
        return self.manifest.languages

    @property
    def is_small(self) -> bool:
        """Whether it is the small form of a release, whose pools have other scores."""
        return (self.folder / "lite.csv").is_file()

    @property
    def scores(self) -> Path:
        """Scores by query."""
        return self.folder / manifest.FOLDER / manifest.QUERIES

    def runs(self) -> dict[Run, Path]:
        """All runs of the release."""
        paths = sorted((self.folder / "runs").glob(f"*/*/*/*{_SUFFIX}"))
        return {(RunKey.from_path(path), _system(path)): path for path in paths}

    def hits(self, path: Path) -> pl.DataFrame:
        """A run, with the ranks that it states."""
        return runs.read_trec_ranks(path)

    def qrels(self, cell: RunKey) -> pl.DataFrame:
        """The judgements of a split and task, as TREC qrels have them."""
        return runs.read_trec_qrels(self.folder / f"qrels/{cell.split}/{cell.task}.qrels")

    def tests(self) -> pl.DataFrame:
        """The tests between systems."""
        path = _demand_file(self.folder / manifest.FOLDER / manifest.SIGNIFICANCE)
        kinds = {"t": pl.Float64(), "p": pl.Float64(), "p_bonferroni": pl.Float64()}
        return _csv(path, {**kinds, "difference": pl.Float64()})

    def means(self) -> pl.DataFrame:
        """The means of all cells."""
        path = _demand_file(self.folder / manifest.FOLDER / manifest.MEANS)
        return _csv(path, {"queries": pl.Int64(), "value": pl.Float64()})

    def entries(self) -> dict[str, SystemKind]:
        """The params of the systems, from what stands beside their runs (ir-metadata).

        Systems of which nothing is said there, or of a kind that is not known here, are left out.
        """
        kinds = dict[str, SystemKind]()
        for (_, system), path in self.runs().items():
            with suppress(LookupError):
                kinds[system] = SystemKind.of_spec(_head(path)["params"])
        return kinds

    def words(self, side: str, fields: list[str], prepare: str) -> pl.DataFrame:
        """What BM25 reads: the JSON lines as they are, or fields of the Parquet files.

        Raises:
            EmptyTable: a side without Parquet rows, by which splits are known.
        """
        key = id_column(side)
        rows = pl.concat([self._rows(side, split) for split in _SPLITS])
        if rows.is_empty():
            raise EmptyTable(self.folder / side, "no rows", "a release without them has no pools")
        if prepare != NONE or not self._is_as_lines(side, fields):
            return self._contents(side, rows, fields, prepare)
        lines = _lines(self.folder / f"{side}.jsonl.gz")
        ids = rows.select(pl.col(key).alias("id"), "split")
        return ids.join(lines, on="id", how="left").select("id", "split", "contents")

    def _rows(self, side: str, split: str) -> pl.DataFrame:
        """The rows of a split, without pictures."""
        rows = pl.scan_parquet(_demand_file(self.folder / side / f"{split}.parquet"), glob=False)
        return rows.drop("image", strict=False).with_columns(split=pl.lit(split)).collect()

    def _is_as_lines(self, side: str, fields: list[str]) -> bool:
        if side == "texts":
            return fields == list(FIVE_FIELDS)
        return self.languages["images"] == self.languages["texts"]

    def _contents(
        self, side: str, rows: pl.DataFrame, fields: list[str], prepare: str
    ) -> pl.DataFrame:
        if side == "texts":
            rows = rows.with_columns(hierarchy=pl.col("hierachy").list.join(STEP))
        with TemporaryDirectory(prefix="isotope-words-") as folder:
            table = Path(folder) / f"{side}.parquet"
            rows.write_parquet(table)
            how: dict[str, Any] = {"language": self.languages["images"], "fields": fields}
            contents = lucene.contents(side, table, **how, prepare=prepare)
        return contents.select("id", "split", "contents")


def _system(path: Path) -> str:
    return path.name.removesuffix(_SUFFIX)


def _demand_file(path: Path) -> Path:
    if not path.is_file():
        raise MissingFile(path, "no such file", "build or release the collection again")
    return path


def _csv(path: Path, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Read a table whose other columns are words.

    Raises:
        CorruptFile: no such table, or a number that is none.
    """
    try:
        return pl.read_csv(path, schema_overrides=dict(kinds), infer_schema=False, glob=False)
    except pl.exceptions.PolarsError as error:
        problem = f"no table of numbers ({str(error).partition(chr(10))[0]})"
        raise CorruptFile(path, problem, "release it again, or fetch it again") from error


def _head(path: Path) -> dict[str, Any]:
    """Return what the file beside a run, or else its head, says of its system, if there is one."""
    beside = path.with_name(path.name.removesuffix(_SUFFIX) + runs.METADATA)
    if beside.is_file():
        lines = [beside.read_text(encoding="utf-8")]
    else:
        with gzip_open(path, "rt", encoding="utf-8") as file:
            head = [line[2:] for line in takewhile(lambda line: line.startswith("# "), file)]
        lines = [line for line in head if not line.startswith(_MARK)]
    try:
        return yaml.safe_load("".join(lines))["method"]["retrieval"][0]
    except (yaml.YAMLError, KeyError, IndexError, TypeError):
        return {}


def _lines(path: Path) -> pl.DataFrame:
    """Read JSON lines of doc_id and text: id, contents.

    Raises:
        TruncatedFile, CorruptFile: a damaged gzip; a line that is not such JSON.
    """
    ids, texts = list[str](), list[str]()
    try:
        with gzip_open(_demand_file(path), "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                ids.append(row["doc_id"])
                texts.append(row["text"])
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise TruncatedFile(path, f"damaged gzip ({error})", "fetch it again") from error
    except (ValueError, KeyError, TypeError) as error:
        number = len(ids) + 1
        problem = f"line {number} is no JSON with doc_id and text"
        raise CorruptFile(f"{path}:{number}", problem, "fetch it again") from error
    return pl.DataFrame(
        {"id": ids, "contents": texts}, schema={"id": pl.String(), "contents": pl.String()}
    )
