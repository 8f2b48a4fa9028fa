"""All files of a collection, and of what all collections share, against what was written of them.

Four witnesses: the record of each output (`core.digests`), the crawl's ledger, which has the
SHA-256 of every stored picture, the manifest of each release, and what DVC recorded last.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from isotope.core import digests
from isotope.core.digests import Digest
from isotope.core.errors import CorruptFile
from isotope.core.progress import Progress
from isotope.core.terminal import shortened
from isotope.params import links
from isotope.release import manifest
from isotope_verify.digests import compare_listed
from isotope_verify.outcome import Check
from isotope_verify.subject import Built, Subject

NAME = "files"
_LOCK, _CACHE = Path("dvc.lock"), Path(".dvc/cache/files/md5")
_ABSENT, _EXTRA = "nothing", "a file"
_ROWS = 64
_SHOWN = 5
Records = dict[Path, dict[str, Digest]]


def check_files(subject: Subject) -> list[Check]:
    """Compare every file below data/ and results/ but those of other collections, and pictures.

    A file that is missing, or stands in a folder without having been written there, differs; one
    of which nothing was written is named and not compared.
    """
    if not isinstance(subject, Built):
        return []
    scope = _Scope(subject)
    written = Check(NAME, "XXH128", "files")
    records = _records(scope, written)
    _compare(written, records)
    _find_extra(written, scope, records)
    return [written, _pictures(scope), _releases(scope), _dvc(records)]


class _Scope:
    """Tells which paths are of a collection or its sources, or of no collection in particular."""

    def __init__(self, built: Built) -> None:
        subject_names = {
            built.name,
            *(links.sources(built.params, built.name) if built.entry else ()),
        }
        all_names = {*built.params.collect, *built.params.acquire}
        self.folder, self._other_names = built.folder, all_names - subject_names

    def __contains__(self, path: Path) -> bool:
        parts = path.relative_to(self.folder).parts
        owner = next((p for p in parts[2:] if p != digests.FOLDER), "")
        names = {owner, owner.removesuffix("-lite"), *_stems(owner)}
        return not names & self._other_names

    def glob(self, pattern: str) -> list[Path]:
        """Return the paths of a pattern, without those of others, sorted."""
        return sorted(path for path in self.folder.glob(pattern) if path in self)


def _stems(name: str) -> Iterator[str]:
    """Yield what a name is without each of its suffixes: `toy.significance` and `toy`."""
    parts = name.split(".")
    yield from (".".join(parts[:n]) for n in range(1, len(parts)))


def _records(scope: _Scope, check: Check) -> Records:
    records: Records = {}
    for top in digests.TOPS:
        for path in scope.glob(f"{top}/**/{digests.FOLDER}/*{digests.SUFFIX}"):
            output = digests.output_of(path)
            try:
                records[output] = digests.listed(output) or {}
            except CorruptFile as error:
                check.total += 1
                check.words(str(path), "a record of digests", error.problem)
    return records


def _compare(check: Check, records: Records) -> None:
    check.total += sum(map(len, records.values()))
    progress = Progress("files compared", total=check.total)
    for output, files in records.items():
        differing = list(digests.differing(output, files))
        for change in differing:
            check.words(str(change.path), change.written, change.now)
        check.compared += len(files) - len(differing)
        progress.add(len(files))
    progress.finish()


def _find_extra(check: Check, scope: _Scope, records: Records) -> None:
    recorded = {
        (output if output.is_dir() else output.parent) / name if name else output
        for output, files in records.items()
        for name in files
    }
    folders = {output for output in records if output.is_dir()}
    unknown: list[Path] = []
    for path in (p for top in digests.TOPS for p in scope.glob(f"{top}/**/*")):
        inner = path.relative_to(scope.folder)
        is_hidden = any(part.startswith(".") for part in inner.parts)
        if is_hidden or path in recorded or not path.is_file() or _is_temporary(inner):
            continue
        if folders & {*path.parents}:
            check.total += 1
            check.words(str(path), None, _EXTRA)
        else:
            unknown.append(path)
    if unknown:
        names = [path.relative_to(scope.folder) for path in unknown]
        check.skip(f"no digest was written of {shortened(names, _SHOWN)}")


def _is_temporary(path: Path) -> bool:
    return any(above.match(p) for above in path.parents for p in digests.TEMPORARY)


def _pictures(scope: _Scope) -> Check:
    """Compare every stored picture with the SHA-256 that the ledger of its shard has of it."""
    check = Check("pictures", "SHA-256", "pictures")
    for shard in scope.glob("data/crawl/*/shard-*.parquet"):
        ledger = shard.with_name(shard.name.replace("shard-", "ledger-", 1))
        if not ledger.is_file():
            check.skip("pictures of shards without a ledger beside them")
            continue
        try:
            rows = pl.read_parquet(ledger, columns=["image_url", "sha256"], glob=False).drop_nulls()
            written = dict(rows.iter_rows())
            _compare_pictures(check, shard, written)
        except (pl.exceptions.PolarsError, pa.ArrowException, OSError, ValueError) as error:
            check.total += 1
            check.words(str(shard), "a readable shard and its ledger", f"{error}".splitlines()[0])
    return check


def _compare_pictures(check: Check, shard: Path, written: Mapping[str, str]) -> None:
    with pq.ParquetFile(shard, pre_buffer=False) as file:
        check.total += file.metadata.num_rows
        for batch in file.iter_batches(_ROWS, columns=["image_id", "image_url", "webp"]):
            for row in batch.to_pylist():
                digest = hashlib.sha256(row["webp"]).hexdigest()
                cell = f"{shard} {row['image_id']}"
                check.words(cell, written.get(row["image_url"], _ABSENT), digest)


def _releases(scope: _Scope) -> Check:
    """Compare the files of releases with their manifests, which others have too."""
    check = Check("manifests", "SHA-256", "files")
    for path in scope.glob(f"results/release/*/{manifest.NAME}"):
        try:
            entries = json.loads(path.read_text("utf-8"))["files"]
            listed = [(e["path"], e["bytes"], e["sha256"]) for e in entries]
        except (ValueError, KeyError, TypeError) as error:
            check.words(str(path), "a manifest", f"none ({error})")
            continue
        check.total += len(listed)
        compare_listed(check, path.parent, listed)
    return check


def _dvc(records: Records) -> Check:
    """Compare written MD5s with those that DVC recorded; what changed since is named, no error."""
    check = Check("DVC", "MD5", "files")
    recorded = dict(_recorded())
    if not recorded:
        check.skip("nothing is recorded by DVC here, or its cache is elsewhere")
        return check
    for output, files in records.items():
        for name, written in files.items():
            path = (output if output.is_dir() else output.parent) / name if name else output
            md5 = recorded.get(Path(path))
            check.total += 1
            if md5 == written.md5:
                check.compared += 1
            else:
                check.skip("not as DVC recorded it" if md5 else "not recorded by DVC")
    return check


def _recorded() -> Iterator[tuple[Path, str]]:
    """Yield the files that DVC recorded, with their MD5."""
    if not _LOCK.is_file():
        return
    stages: dict[str, Any] = yaml.safe_load(_LOCK.read_text("utf-8")).get("stages", {})
    outs: Iterable[dict[str, Any]] = (o for s in stages.values() for o in s.get("outs", ()))
    for out in outs:
        path, md5 = Path(out["path"]), str(out.get("md5", ""))
        if not md5.endswith(".dir"):
            yield path, md5
            continue
        listing = _CACHE / md5[:2] / md5[2:]
        if listing.is_file():
            for file in json.loads(listing.read_text("utf-8")):
                yield path / file["relpath"], file["md5"]
