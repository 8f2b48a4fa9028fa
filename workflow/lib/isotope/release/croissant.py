"""croissant.json: a description of a release in the vocabulary of Croissant 1.0 and its RAI part.

Every file is there with its size and digest; the Parquet files are record sets.
Source: https://docs.mlcommons.org/croissant/docs/croissant-spec.html and croissant-rai-spec.html
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from isotope.core import store
from isotope.core.progress import Progress
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.schemas.release import PUBLISHED_ATTRIBUTIONS, PUBLISHED_QRELS

NAME = "croissant.json"
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
_CONFORMS = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
_TABLES = {
    "texts": ("texts/*.parquet", PUBLISHED_TEXTS),
    "images": ("images/*.parquet", PUBLISHED_IMAGES),
    "qrels": ("qrels/*.parquet", PUBLISHED_QRELS),
    "attributions": ("attributions.parquet", PUBLISHED_ATTRIBUTIONS),
}
_FORMATS = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".gz": "application/gzip",
    ".md": "text/markdown",
    ".tsv": "text/tab-separated-values",
    ".csv": "text/csv",
    ".py": "text/x-python",
}


def write_croissant(about: Mapping[str, Any], out: Path) -> None:
    """Write croissant.json, which describes the files that are in the folder by now."""
    with store.aside(out / NAME) as part:
        text = json.dumps(described(about, out), indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")


def described(about: Mapping[str, Any], out: Path) -> dict[str, Any]:
    """Return the description of the files in the folder `out`."""
    statistics = about["statistics"]["images"].values()
    has_pictures = any(counts["pictures"] for counts in statistics)
    licence = about["licence_url"] or about["licence"]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": about["name"],
        "description": about["description"],
        "conformsTo": _CONFORMS,
        "license": licence,
        **({"citeAs": about["citation"]} if about["citation"] else {}),
        **({"url": about["homepage"]} if about["homepage"] else {}),
        "version": "1.0.0",
        "inLanguage": about["languages"],
        **_responsible(about),
        "distribution": [*_objects(out), *(_files(t, glob) for t, (glob, _) in _TABLES.items())],
        "recordSet": [_records(t, form, has_pictures) for t, (_, form) in _TABLES.items()],
    }


def _responsible(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of Croissant RAI of which something is known."""
    files = len(about["sources"])
    maker = f"isotope {about['version']}, kind {about['kind']}, fingerprint {about['fingerprint']}"
    fields = {
        "rai:dataCollection": f"{about['description']} Made from {files} upstream files "
        f"by {maker}.",
        "rai:dataLimitations": about["limits"],
        "rai:dataUseCases": "Evaluation of systems that retrieve images for texts, or texts for "
        "images.",
        "rai:personalSensitiveInformation": "Texts and pictures are those of the source; nothing "
        "was added, and nothing was removed because of the people in it.",
    }
    return {key: value for key, value in fields.items() if value}


def _objects(out: Path) -> Iterator[dict[str, Any]]:
    """Yield every file of the folder, by path."""
    paths = sorted(p for p in out.rglob("*") if p.is_file() and not p.name.startswith("."))
    progress = Progress("files digested", total=len(paths))
    for path in paths:
        name = path.relative_to(out).as_posix()
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": f"{path.stat().st_size} B",
            "encodingFormat": _FORMATS.get(path.suffix, "text/plain"),
            "sha256": digest,
        }
        progress.add()
    progress.finish()


def _files(table: str, glob: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{table}-files",
        "name": f"{table}-files",
        "encodingFormat": _FORMATS[".parquet"],
        "includes": glob,
    }


def _records(table: str, schema: pa.Schema, has_pictures: bool) -> dict[str, Any]:
    shown = [c for c in schema if has_pictures or not pa.types.is_binary(c.type)]
    fields = [_field(table, column.name, column.type) for column in shown]
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
