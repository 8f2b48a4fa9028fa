"""Folders of BEIR and MTEB: a corpus, queries, and qrels that tie them by their ids.

Formats: https://github.com/beir-cellar/beir (corpus.jsonl, queries.jsonl, qrels/test.tsv), and the
data sets of https://github.com/embeddings-benchmark/mteb: the same three as folders of Parquet or
JSON lines, where documents or queries may be pictures.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import BadParams, MissingColumn, MissingFile
from isotope.params.messages import suggest
from isotope.parse.forms import delimited, embedded
from isotope.parse.forms.base import FILE, ROW, Form, Picture, Rejection, refuse
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.json_lines import records
from isotope.parse.forms.texts import files_of, named, root_of, suffix

_PART = re.compile(r"(?:(?P<config>.+)-)?(?P<kind>corpus|queries|query|qrels|default)")
_SHARD = re.compile(r"-\d+-of-\d+.*")
_KINDS = {"query": "queries", "default": "qrels"}
_IDS = {
    "query": ("query-id", "query_id", "qid"),
    "corpus": ("corpus-id", "corpus_id", "docid", "doc_id"),
    "score": ("score", "relevance"),
}
_TABLES = (".jsonl", ".json", ".tsv", ".parquet")
_MOST = 2**31
_COLUMNS = pa.schema(
    [
        *(("image_id", pa.string()), ("image", pa.string()), ("caption", pa.string())),
        *(("text_id", pa.string()), ("title", pa.string()), ("text", pa.string())),
        *(("relevance", pa.int32()), ("split", pa.string())),
        *(("language", pa.string()), ("metadata", pa.string())),
    ]
)


class Beir(Form):
    """Documents, queries and judgements in tables of their own."""

    name = "beir"
    roles: ClassVar[Mapping[str, str]] = {
        **{"image_id": "image_id", "image": "image", "caption": "caption"},
        **{"text_id": "text_id", "title": "title", "text": "text"},
        **{"relevance": "relevance", "split": "split", "language": "language"},
    }
    options: ClassVar[Mapping[str, str]] = {
        "config": "Which of several sets, as `en` of en-corpus, en-queries and en-qrels."
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by files or folders called corpus, queries and qrels."""
        kinds = {kind for _, kind, _ in _parts(paths)}
        return {"corpus", "queries"} <= kinds

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each document, then each query, then each judgement.

        Documents are pictures and queries texts, unless the queries have pictures and the documents
        none. A document without a picture stands in the place of one, by its words: `caption` is
        its title and text. The split of a judgement is the name of its file.

        Raises:
            MissingFile: no corpus, queries or qrels.
            MissingColumn: judgements without ids or grades.
            BadParams: several sets, and `options` names none of them.
            CorruptFile: as JSON lines, TSV and Parquet.
        """
        folder = _folder(paths, options)
        rows = _rows(folder, rejected)
        yield from batches(rows, _COLUMNS)

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the pictures in Parquet files of the side that has them."""
        folder = _folder(paths, options)
        side = folder.queries if _asks_by_picture(folder) else folder.corpus
        tables = [embedded.parquet(*table) for table in side if suffix(table[0]) == ".parquet"]
        yield from embedded.pictures(tables)


_Files = list[tuple[Path, str]]


@dataclass(frozen=True)
class _Folder:
    """The files of each table, with their names."""

    corpus: _Files
    queries: _Files
    qrels: _Files


def _parts(paths: Sequence[Path]) -> list[tuple[str | None, str, Path]]:
    """Return set, table and path of each file that belongs to one."""
    root, parts = root_of(paths), list[tuple[str | None, str, Path]]()
    for path in files_of(paths):
        if suffix(path) not in _TABLES:
            continue
        relative = path.relative_to(root)
        steps = [*relative.parts[:-1], _SHARD.sub("", relative.name.partition(".")[0])]
        named_by = next((m for m in map(_PART.fullmatch, steps) if m), None)
        if named_by:
            kind = named_by["kind"]
            parts.append((named_by["config"], _KINDS.get(kind, kind), path))
    return parts


def _folder(paths: Sequence[Path], options: Mapping[str, Any]) -> _Folder:
    parts, config = _parts(paths), options.get("config")
    configs = sorted({name or "" for name, _, _ in parts})
    if config is None and len(configs) > 1:
        problem = f"sets {', '.join(name or '(no name)' for name in configs)}"
        raise BadParams("options.config", problem, "name the one to read")
    if config is not None and config not in configs:
        raise BadParams("options.config", f"no set {config!r}", suggest(config, configs))
    chosen = [part for part in parts if config is None or (part[0] or "") == config]
    names = dict(named([path for _, _, path in chosen]))
    tables = {
        table: [(path, names[path]) for _, kind, path in chosen if kind == table]
        for table in ("corpus", "queries", "qrels")
    }
    for table, files in tables.items():
        if not files:
            raise MissingFile(root_of(paths), f"no {table} in it", "give the whole folder")
    return _Folder(**tables)


def _rows(folder: _Folder, rejected: list[Rejection] | None) -> Iterator[Located]:
    turned = _asks_by_picture(folder)
    for files, is_picture in ((folder.corpus, not turned), (folder.queries, turned)):
        for file, row, record in _records(files, rejected):
            identifier = record.get("_id", record.get("id"))
            if identifier is None:
                refuse(rejected, (file, row), "no _id", _text(record) or "")
            else:
                side = _as_picture if is_picture else _as_text
                yield file, row, side(str(identifier), record) | _beside(record)
    for path, name in folder.qrels:
        yield from _judgements(path, name, rejected, turned=turned)


def _as_picture(identifier: str, record: Mapping[str, Any]) -> dict[str, object]:
    words = [str(record[key]).strip() for key in ("title", "text") if record.get(key)]
    return {
        "image_id": identifier,
        "image": record.get("image"),
        "caption": " ".join(words) or None,
    }


def _as_text(identifier: str, record: Mapping[str, Any]) -> dict[str, object]:
    return {"text_id": identifier, "title": record.get("title") or None, "text": record.get("text")}


def _beside(record: Mapping[str, Any]) -> dict[str, object]:
    return {"language": record.get("language"), "metadata": _text(record.get("metadata"))}


def _text(value: object) -> str | None:
    """Return what stands beside as a text: JSON where it is none."""
    if not value:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _records(files: _Files, rejected: list[Rejection] | None) -> Iterator[Located]:
    for path, name in files:
        if suffix(path) in (".jsonl", ".json"):
            yield from records(path, name, rejected)
        else:
            yield from _table(path, name, rejected)


def _table(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    if suffix(path) == ".parquet":
        read = embedded.read([embedded.parquet(path, name)])
    else:
        names = [column for several in _IDS.values() for column in several] + [
            "_id",
            "text",
            "title",
        ]
        read = delimited.read("tsv", [path], {"strings": names}, rejected)
    for batch in read:
        for record in batch.to_pylist():
            yield name, record.pop(ROW), {k: v for k, v in record.items() if k != FILE}


def _judgements(
    path: Path, name: str, rejected: list[Rejection] | None, *, turned: bool
) -> Iterator[Located]:
    split = _SHARD.sub("", path.name.partition(".")[0])
    keys: dict[str, str] | None = None
    for file, row, record in _records([(path, name)], rejected):
        keys = keys or _keys(path, record)
        query, document = record.get(keys["query"]), record.get(keys["corpus"])
        grade = _grade(record.get(keys["score"]))
        if query is None or document is None or grade is None:
            refuse(
                rejected, (file, row), "a judgement without id or whole grade", _text(record) or ""
            )
            continue
        text, image = (document, query) if turned else (query, document)
        ids = {"text_id": str(text), "image_id": str(image)}
        yield file, row, ids | {"relevance": grade, "split": split}


def _keys(path: Path, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of query, document and grade."""
    columns = {
        role: next((name for name in names if name in record), None) for role, names in _IDS.items()
    }
    for role, name in columns.items():
        if name is None:
            lacks = f"no column {_IDS[role][0]!r}"
            raise MissingColumn(
                path, lacks, f"{suggest(_IDS[role][0], record)}; the first line names the columns"
            )
    return {role: name for role, name in columns.items() if name}


def _grade(value: object) -> int | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return int(number) if number.is_integer() and abs(number) < _MOST else None


def _asks_by_picture(folder: _Folder) -> bool:
    """Tell whether queries have pictures and documents none."""
    return _has_pictures(folder.queries) and not _has_pictures(folder.corpus)


def _has_pictures(files: _Files) -> bool:
    tables = [embedded.parquet(*table) for table in files if suffix(table[0]) == ".parquet"]
    if tables:
        return any(embedded.picture_columns(table) for table in tables)
    first = next(_records(files, []), None)
    return first is not None and bool(first[2].get("image"))
