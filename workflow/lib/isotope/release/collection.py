"""What others load: a collection as Parquet, TREC files, JSON lines and Croissant.

The Parquet files have the column names of the published AToMiC collection.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.pixels import ordered, repeated
from isotope.core.progress import Progress
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.release.manifest import write_manifest, write_scores
from isotope.release.trec import write_jsonl, write_trec

SPLITS = ("train", "validation", "test", "other")
JUDGED = SPLITS[:3]
QRELS = pa.schema([*((n, pa.string()) for n in ("text_id", "Q0", "image_id")), ("rel", pa.int32())])
ATTRIBUTIONS = pa.schema(
    [
        (name, pa.string())
        for name in ("image_id", "image_url", "attribution", "licence", "file_page")
    ]
)
# ASSUME texts are Wikipedia's, CC BY-SA 4.0, and each image has the licence that its row states;
# the paper does not say.
LICENCE = "https://creativecommons.org/licenses/by-sa/4.0/"
CITATION = (
    "Yang, Lassance, Sampaio de Rezende, Srinivasan, Redi, Clinchant, Lin: AToMiC: An Image/Text "
    "Retrieval Test Collection to Support Multimedia Content Creation. SIGIR 2023."
)
_SQL = sql.SQL / "release"
_README = """# {name}

Texts are sections of Wikipedia ({licence}). Every image keeps its own licence; what its
attribution captions say of it is in `attributions.parquet`, and where they say nothing it is
`unknown`: ask its page before reuse.

| licence | images |
| --- | --- |
{licences}

Please cite: {citation}
"""
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
    "texts": ("texts/*.parquet", PUBLISHED_TEXTS),
    "images": ("images/*.parquet", PUBLISHED_IMAGES),
    "qrels": ("qrels/*.parquet", QRELS),
    "attributions": ("attributions.parquet", ATTRIBUTIONS),
}


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
    captions: str = "",
    scores: Path | None = None,
    significance: Path | None = None,
) -> None:
    """Fill the folder `release`; it appears when complete. Same input, same bytes.

    `pixels` are the crawl's shards of pictures; `systems` the params of the runs' systems;
    `captions` the language of the captions that stand for images, where it is another one; `scores`
    and `significance` what the phase score has made of the runs.

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
        if scores and significance:
            write_scores(scores, significance, part)
        write_manifest(part, collection, {"texts": language, "images": captions or language})


def write_parquet(tables: Mapping[str, Path], shards: Sequence[Path], out: Path) -> None:
    """Write `texts/`, `images/` and `qrels/`, a file a split, and `attributions.parquet`.

    `tables` are the collection's texts, images and qrels, `shards` the crawl's pictures; one shard
    is in memory at a time.

    Raises:
        MissingFile, CorruptFile: a table or shard that is not there or not readable.
    """
    for split in SPLITS:
        used: dict[str, sql.Files] = {name: tables[name] for name in ("texts", "qrels")}
        _query("texts", used, out / f"texts/{split}.parquet", PUBLISHED_TEXTS, split=split)
    for split in JUDGED:
        judged: dict[str, sql.Files] = {"qrels": tables["qrels"]}
        _query("qrels", judged, out / f"qrels/{split}.parquet", QRELS, split=split)
    images: dict[str, sql.Files] = {"images": tables["images"]}
    _query("attributions", images, out / "attributions.parquet", ATTRIBUTIONS)
    _images(tables["images"], ordered(shards), out / "images")


def _query(
    name: str, relations: dict[str, sql.Files], out: Path, schema: pa.Schema, **params: object
) -> None:
    sql.query(_SQL / f"{name}.sql", relations, params, out=out, schema=schema)


def _images(images: Path, shards: Sequence[Path], out: Path) -> None:
    progress = Progress("shards of pictures", total=len(shards))
    with ExitStack() as stack, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        files = {
            split: stack.enter_context(store.writer(out / f"{split}.parquet", PUBLISHED_IMAGES))
            for split in SPLITS
        }
        for shard in shards:
            one = Path(folder) / "one.parquet"
            relations: dict[str, sql.Files] = {"images": images, "pixels": shard}
            sql.query(_SQL / "images.sql", relations, {}, out=one)
            twice = pl.col("image_id").is_in(repeated(shard, shards))
            rows = pl.read_parquet(one).filter(~twice)
            for split, file in files.items():
                part = rows.filter(split=split).drop("split").to_arrow()
                file.write_table(part.cast(PUBLISHED_IMAGES), row_group_size=1024)
            progress.add()
    progress.finish()


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


def _readme(name: str, part: Path) -> str:
    attributions: dict[str, sql.Files] = {"attributions": part / "attributions.parquet"}
    licences = sql.query(_SQL / "licences.sql", attributions, {})
    counts = licences.rows() if licences is not None else []
    lines = "\n".join(f"| {licence} | {n:,} |" for licence, n in counts)
    return _README.format(name=name, licence=LICENCE, licences=lines, citation=CITATION)
