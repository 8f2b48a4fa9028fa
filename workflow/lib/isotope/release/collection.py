"""What others load: a collection as Parquet, TREC files, JSON lines and Croissant."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from isotope.core import schemas, sql, store
from isotope.release import parquet
from isotope.release.parquet import write_parquet
from isotope.release.trec import write_jsonl, write_trec

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TABLES = {
    "texts": ("texts/*.parquet", schemas.PUBLISHED_TEXTS),
    "images": ("images/*.parquet", schemas.PUBLISHED_IMAGES),
    "qrels": ("qrels/*.parquet", parquet.QRELS),
    "attributions": ("attributions.parquet", parquet.ATTRIBUTIONS),
}
# ASSUME texts are Wikipedia's, CC BY-SA 4.0, and each image has the licence that its row states;
# the paper does not say.
LICENCE = "https://creativecommons.org/licenses/by-sa/4.0/"
CITATION = (
    "Yang, Lassance, Sampaio de Rezende, Srinivasan, Redi, Clinchant, Lin: AToMiC: An Image/Text "
    "Retrieval Test Collection to Support Multimedia Content Creation. SIGIR 2023."
)


def write_croissant(name: str, out: Path) -> None:
    """Write croissant.json, which describes the Parquet files in the same folder."""
    dataset = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": f"{name}: sections and images of Wikipedia, and which belong together.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": LICENCE,
        "citeAs": CITATION,
        "url": "https://github.com/TREC-AToMiC/AToMiC",
        "version": "1.0.0",
        "distribution": [_files(table, glob) for table, (glob, _) in _TABLES.items()],
        "recordSet": [_records(table, schema) for table, (_, schema) in _TABLES.items()],
    }
    with store.aside(out / "croissant.json") as part:
        part.write_text(json.dumps(dataset, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _files(table: str, glob: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{table}-files",
        "name": f"{table}-files",
        "encodingFormat": "application/x-parquet",
        "includes": glob,
    }


def _records(table: str, schema: pa.Schema) -> dict[str, Any]:
    fields = [_field(table, column.name, column.type) for column in schema]
    return {"@type": "cr:RecordSet", "@id": table, "name": table, "field": fields}


def _field(table: str, column: str, kind: pa.DataType) -> dict[str, Any]:
    name = "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
    field = {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": f"{table}/{column}",
        "dataType": "sc:ImageObject" if pa.types.is_binary(kind) else name,
        "source": {"fileSet": {"@id": f"{table}-files"}, "extract": {"column": column}},
    }
    return {**field, "repeated": True} if pa.types.is_list(kind) else field


_README = """# {name}

Texts are sections of Wikipedia ({licence}). Every image keeps its own licence; what its
attribution captions say of it is in `attributions.parquet`, and where they say nothing it is
`unknown`: ask its page before reuse.

| licence | images |
| --- | --- |
{licences}

Please cite: {citation}
"""


def build(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    runs: Sequence[Path],
    release: Path,
    collection: str,
    language: str,
    systems: Mapping[str, object],
) -> None:
    """Fill the folder `release`; it appears when complete. Same input, same bytes.

    `pixels` are the crawl's shards of pictures; `systems` the params of the runs' systems.

    Raises:
        MissingFile, CorruptFile: a table, run or shard that is not there or not readable.
        DiskFull: no room for it.
    """
    tables = {"texts": texts, "images": images, "qrels": qrels}
    with store.folder_aside(release) as part:
        write_parquet(tables, pixels, part)
        write_trec(qrels, runs, part, {"collection": collection, "systems": dict(systems)})
        write_jsonl(tables, part, language)
        write_croissant(collection, part)
        (part / "README.md").write_text(_readme(collection, part), encoding="utf-8")


def _readme(name: str, part: Path) -> str:
    attributions: dict[str, sql.Files] = {"attributions": part / "attributions.parquet"}
    licences = sql.query(sql.SQL / "release/licences.sql", attributions, {})
    counts = licences.rows() if licences is not None else []
    lines = "\n".join(f"| {licence} | {n:,} |" for licence, n in counts)
    return _README.format(name=name, licence=LICENCE, licences=lines, citation=CITATION)
