"""Data sets of `ir_datasets` that are on this machine, by their ids; nothing is downloaded.

https://ir-datasets.com: documents, queries and qrels of named fields.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import MissingFile
from isotope.core.extras import named
from isotope.parse.forms.base import Form, Rejection
from isotope.parse.forms.columns import Located, batches

PREFIX = "ir_datasets:"
_SPLITS = {"train": "train", "dev": "validation", "validation": "validation", "test": "test"}
_DOWNLOAD = "download it by `ir_datasets export ID docs`, and run again"
_TITLES = ("title",)
_QUERIES = ("text", "query", "title", "description")
_COLUMNS = pa.schema(
    [
        *(("image_id", pa.string()), ("title", pa.string()), ("caption", pa.string())),
        *(("text_id", pa.string()), ("text", pa.string())),
        *(("relevance", pa.int32()), ("split", pa.string())),
    ]
)


class IrDatasets(Form):
    """Documents, queries and qrels of an id such as `ir_datasets:vaswani`."""

    name = "ir_datasets"
    turn: ClassVar[int] = 0
    roles: ClassVar[Mapping[str, str]] = {
        **{"image_id": "image_id", "caption": "caption", "text_id": "text_id"},
        **{"text": "text", "relevance": "relevance", "split": "split"},
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by `ir_datasets:` before each id."""
        return bool(paths) and all(str(path).startswith(PREFIX) for path in paths)

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each document, then each query, then each judgement.

        Documents stand in the place of pictures, by their words: `caption` is all their text.
        The split is what the id says, such as `beir/scifact/test`, and test where it says nothing.

        Raises:
            MissingExtra: the package is not installed.
            MissingFile: an id that it does not have, or whose data is not on this machine.
        """
        yield from batches(_rows([str(path).removeprefix(PREFIX) for path in paths]), _COLUMNS)


def _rows(ids: Sequence[str]) -> Iterator[Located]:
    # Ids of one data set share their documents.
    collections: set[str] = set()
    with _offline():
        for name in ids:
            data = _loaded(name)
            collection = data.docs_namespace() if hasattr(data, "docs_namespace") else name
            if collection not in collections:
                collections.add(str(collection))
                yield from (
                    (f"{name}/docs", n, _document(d)) for n, d in _numbered(data.docs_iter())
                )
            yield from (
                (f"{name}/queries", n, _query(q)) for n, q in _numbered(data.queries_iter())
            )
            split = _split(name)
            for n, judged in _numbered(data.qrels_iter()):
                ids_of = {"text_id": judged.query_id, "image_id": judged.doc_id}
                yield f"{name}/qrels", n, ids_of | {"relevance": judged.relevance, "split": split}


def _numbered(items: Any) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 (named tuples of any fields)
    return enumerate(items, 1)


def _loaded(name: str) -> Any:  # noqa: ANN401 (the package has no types)
    with named():
        import ir_datasets  # noqa: PLC0415 (a package of users, not ours)
    try:
        data = ir_datasets.load(name)
    except KeyError as error:
        remedy = "see `ir_datasets list`, and https://ir-datasets.com"
        raise MissingFile(f"{PREFIX}{name}", "no such id", remedy) from error
    for part in ("docs", "queries", "qrels"):
        if not getattr(data, f"has_{part}")():
            remedy = f"give an id that has {part}, such as one below it"
            raise MissingFile(f"{PREFIX}{name}", f"it has no {part}", remedy)
    return data


@contextmanager
def _offline() -> Generator[None]:
    """Have the package raise MissingFile where it would download, from one mirror or several."""
    try:
        from ir_datasets.util import download  # noqa: PLC0415 (as above)
    except ImportError:
        yield
        return

    def refuse(self: Any) -> Any:  # noqa: ANN401 (the package has no types)
        where = getattr(self, "url", None) or getattr(self, "uri", "its data")
        raise MissingFile(str(where), "not on this machine", _DOWNLOAD)

    doors = [
        *((download.RequestsDownload, "__iter__"), (download.GoogleDriveDownload, "stream")),
        (download.GoogleCloudBucketStream, "stream"),
    ]
    before = [getattr(kind, name) for kind, name in doors]
    for kind, name in doors:
        setattr(kind, name, refuse)
    try:
        yield
    except (RuntimeError, OSError) as error:
        # What it makes of refusals by several mirrors, or of files that only people can get.
        raise MissingFile("ir_datasets", f"not on this machine: {error}", _DOWNLOAD) from error
    finally:
        for (kind, name), method in zip(doors, before, strict=True):
            setattr(kind, name, method)


def _split(name: str) -> str:
    return next((_SPLITS[step] for step in reversed(name.split("/")) if step in _SPLITS), "test")


def _document(document: Any) -> dict[str, object]:  # noqa: ANN401 (a named tuple)
    title = next((getattr(document, f) for f in _TITLES if hasattr(document, f)), None)
    words = document.default_text() if hasattr(document, "default_text") else _words(document)
    return {"image_id": document.doc_id, "title": title, "caption": " ".join(words.split())}


def _query(query: Any) -> dict[str, object]:  # noqa: ANN401 (a named tuple)
    if hasattr(query, "default_text"):
        return {"text_id": query.query_id, "text": query.default_text()}
    text = next((getattr(query, field) for field in _QUERIES if hasattr(query, field)), None)
    return {"text_id": query.query_id, "text": text}


def _words(document: Any) -> str:  # noqa: ANN401 (a named tuple)
    fields = (getattr(document, name) for name in document._fields if name != "doc_id")
    return " ".join(field for field in fields if isinstance(field, str))
