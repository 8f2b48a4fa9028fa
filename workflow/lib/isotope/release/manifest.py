"""What a release says of itself: the digests of its files, and the scores of its runs.

`isotope verify` reads both: with them a release is verified alone, without the run that made it.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.progress import Progress

NAME = "manifest.json"
QUERIES, MEANS, SIGNIFICANCE = "queries.parquet", "means.csv", "significance.csv"
FOLDER = "scores"
_MEANS = sql.SQL / "release/means.sql"


class ManifestEntry(NamedTuple):
    """A file of a release: path from its folder, size in bytes, hexadecimal SHA-256."""

    path: str
    bytes: int
    sha256: str


class Manifest(NamedTuple):
    """A release: the collection, the languages of `texts` and `images` (captions), the files."""

    collection: str
    languages: Mapping[str, str]
    files: list[ManifestEntry]


def write_scores(scores: Path, significance: Path, out: Path) -> None:
    """Write `scores/`: every score by query, the means of all cells, and the tests between systems.

    `scores` and `significance` are schemas.score.SCORES and SIGNIFICANCE.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    folder = out / FOLDER
    means = sql.query(_MEANS, {"scores": scores}, {})
    tests = pl.read_parquet(significance, glob=False).drop("collection")
    with store.aside(folder / QUERIES) as part:
        shutil.copyfile(scores, part)
    for name, table in ((MEANS, means), (SIGNIFICANCE, tests)):
        with store.aside(folder / name) as part:
            (pl.DataFrame() if table is None else table).write_csv(part)


def write_manifest(folder: Path, collection: str, languages: Mapping[str, str]) -> None:
    """Write manifest.json with size and SHA-256 of every file of the folder, by path.

    Raises:
        DiskFull: no room for it.
    """
    listed = (path for path in folder.rglob("*") if path.is_file())
    paths = sorted(listed, key=lambda path: path.relative_to(folder).as_posix())
    progress = Progress("files digested", total=len(paths))
    files = list[dict[str, Any]]()
    for path in paths:
        files.append(digest(path, folder)._asdict())
        progress.add()
    progress.finish()
    about = {"collection": collection, "isotope": version("isotope-ir"), "languages": languages}
    with store.aside(folder / NAME) as part:
        text = json.dumps({**about, "files": files}, indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")


def digest(path: Path, folder: Path) -> ManifestEntry:
    """Return the entry of a file that lies below `folder`."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return ManifestEntry(path.relative_to(folder).as_posix(), path.stat().st_size, sha256)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a release.

    Raises:
        MissingFile: it has none.
        CorruptFile: no JSON, or not what `write_manifest` writes.
    """
    path = folder / NAME
    if not path.is_file():
        remedy = "release it again (`snakemake --cores all release`), or fetch it again"
        raise MissingFile(path, "no such file: no release, or an incomplete one", remedy)
    try:
        content = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
        files = [
            ManifestEntry(file["path"], file["bytes"], file["sha256"]) for file in content["files"]
        ]
        return Manifest(content["collection"], content["languages"], files)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"no manifest of a release ({type(error).__name__}: {error})"
        raise CorruptFile(path, problem, "fetch it again") from error
