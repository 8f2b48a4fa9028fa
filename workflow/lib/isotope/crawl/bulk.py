"""Pictures that others publish whole are taken before any is requested.

A job reads one bulk source, its files in order and each once, and leaves the tables of a crawl:
pictures and their ledger, with what in the files was damaged. What the sources before it have
brought is wanted no more; what none of them brings, the network is asked for.
"""

import hashlib
import json
import shutil
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.core.manifest import placed
from isotope.core.pixels import write_shard
from isotope.core.progress import Progress, log
from isotope.crawl.bulk_rows import BulkFile, BulkPicture, rows
from isotope.crawl.ledger import Row
from isotope.crawl.scratch import Scratch
from isotope.crawl.sides import REDUCED, UNSIZED, may_be_smaller
from isotope.crawl.wanted import WantedUrls, shown
from isotope.intake.archives import is_picture
from isotope.intake.pictures import PictureDecoders
from isotope.params.crawl import Bulk, Crawl
from isotope.schemas.crawl import BULK_DAMAGED, BULK_FILES, LEDGER, PIXELS

_ROWS = 10_000
_LISTED = 3
# What a row's bytes, and its address, are told apart by.
_KEY_BYTES = 8
_ROW = ", row "
Note = tuple[int | None, str | None, str, str]


def crawl_bulk(  # noqa: PLR0913, PLR0917
    urls: Path,
    spec: Bulk,
    outputs: Mapping[str, Path],
    scratch: Path,
    decoding: Crawl,
    taken: Sequence[Path] = (),
    manifest: Path | None = None,
) -> None:
    """Take the wanted pictures of one bulk source, an item `spec` of `crawl.<source>.bulk`.

    `urls` (schemas.URLS) are wanted but for the pictures in the ledgers `taken`. Rows are matched
    by `wanted.shown`. `manifest` is the source's manifest, or the ledger of an earlier crawl; a
    folder has none. `decoding` has the limits of decoders and of pictures. A killed job goes on
    with the file that it was reading.

    Outputs: `pixels` (schemas.PIXELS), `ledger` (schemas.LEDGER, pictures alone), `files`
    (schemas.BULK_FILES) and `damaged` (schemas.BULK_DAMAGED), which has what can't be used, by file
    and row: it is asked for elsewhere, and so is what a source has twice with different bytes.

    Raises:
        MissingFile: a part, a folder or an earlier crawl that is not there.
        MissingColumn: as `bulk_rows.rows`.
        TruncatedFile, CorruptFile: an acquired file whose size has changed.
        DiskFull: no room; what was committed stays.
    """
    files, wanted = _files(spec, manifest), WantedUrls(urls, taken)
    when = int(manifest.stat().st_mtime) if manifest else None
    named = json.dumps([spec.spec(), wanted.digest, decoding.side_px], sort_keys=True)
    path = scratch / f"{hashlib.sha256(named.encode()).hexdigest()[:16]}.sqlite"
    progress = Progress("bytes of bulk files", sum(map(_size, files)))
    limits = {**decoding.values(), "keep_webp": True}
    with closing(Scratch(path)) as done:
        with PictureDecoders(limits) as decoders:
            taking = _Taking(wanted, done, spec, when)
            for file in files:
                taking.take(file, decoders)
                progress.add(_size(file))
        progress.finish()
        reports = [taking.reports[file.name] for file in files]
        _say(_write(done, reports, decoding.side_px, outputs), len(wanted))
    shutil.rmtree(scratch)


def _files(spec: Bulk, manifest: Path | None) -> list[BulkFile]:
    """Return the files of a bulk source, in the order in which they are read."""
    if spec.folder:
        folder = Path(spec.folder)
        if not folder.is_dir():
            raise MissingFile(folder, "no such folder", "check crawl.<source>.bulk in params")
        return [BulkFile(folder, spec.folder)]
    if manifest is None:
        raise MissingFile("crawl.<source>.bulk", "nothing that lists its files", "acquire it")
    if spec.part is None:
        shards = sorted(manifest.parent.glob("shard-*.parquet"))
        return [BulkFile(shard, f"{spec.crawl}/{shard.name}") for shard in shards]
    paths, part = placed(manifest, spec.part), manifest.parent / spec.part
    tables = [path for path in paths if not is_picture(path.name)]
    named = [
        BulkFile(p, f"{spec.source}/{p.relative_to(manifest.parent).as_posix()}") for p in tables
    ]
    alone = [BulkFile(part, f"{spec.source}/{spec.part}")] if len(tables) < len(paths) else []
    return [*named, *alone]


def _size(file: BulkFile) -> int:
    return 0 if file.path.is_dir() else file.path.stat().st_size


class _Taking:
    """Takes pictures file by file, and knows which of the wanted ones are there."""

    def __init__(
        self,
        wanted: WantedUrls,
        done: Scratch,
        spec: Bulk,
        when: int | None,
    ) -> None:
        self._wanted, self._done, self._spec, self._when = wanted, done, spec, when
        self.reports: dict[str, dict[str, Any]] = dict(done.settings)
        # Of each place: what its picture's bytes, and their address, begin with; 0 is none.
        self._bytes = np.zeros(len(wanted), np.uint64)
        self._address = np.zeros(len(wanted), np.uint64)
        self._unfinished: dict[str, list[int]] = {}
        for row in done.rows_by_url():
            self._remember(row)

    def _remember(self, row: Row) -> None:
        """Know a picture that a killed job has taken."""
        index = self._wanted.index_of(row["image_url"])
        if index is None:
            return
        self._bytes[index] = int(row["upstream_sha256"][: 2 * _KEY_BYTES], 16) | 1
        self._address[index] = _key(row["fetched_from"] or row["image_url"])
        name, _, number = row["bulk"].rpartition(_ROW)
        if name not in self.reports:
            self._unfinished.setdefault(name, []).append(int(number))

    def take(self, file: BulkFile, decoders: PictureDecoders) -> None:
        """Read a file, unless it was read to its end."""
        if self.reports.get(file.name, {}).get("of") == _stamp(file):
            return
        self._file, self._counts = file, Counter[str]()
        self._damaged: list[Note] = []
        self._differing: set[str] = set()
        self._places: dict[int, list[int]] = {}
        # Rows that a killed job had read.
        self._taken_before = Counter(self._unfinished.pop(file.name, []))
        waiting: deque[BulkPicture] = deque()

        def contents() -> Iterator[Any]:
            for picture in rows(file, self._spec, self):
                waiting.append(picture)
                yield f"{file.name}{_ROW}{picture.number}", picture.read

        for _, data, (outcome, webp) in decoders.convert_all(contents()):
            self._keep(waiting.popleft(), data, outcome, webp)
        about = {"file": file.name, "bytes": _size(file), **self._counts}
        notes = sorted(self._damaged, key=lambda note: (note[0] is None, note[0]))
        lists = {"notes": notes, "differing": sorted(self._differing)}
        summary = {**about, **lists, "of": _stamp(file)}
        self._done.settings = {file.name: summary}
        self.reports[file.name] = summary

    # What a reader of rows asks and tells.

    def choose(self, first: int, addresses: Sequence[str | None]) -> list[int]:
        """Return the places of the wanted ones among the addresses of rows from `first` on."""
        files = shown(addresses)
        self._counts["rows"] += len(files)
        for at in files.is_null().arg_true():
            self.damage(first + at, addresses[at], "bad_url", "no address of a picture")
        matches = self._wanted.find(files)
        self._counts["wanted"] += len(matches)
        self._places |= {first + at: places for at, places in matches.items()}
        return [
            at for at, places in matches.items() if self._taken_before[first + at] < len(places)
        ]

    def damage(self, row: int | None, address: str | None, status: str, reason: str) -> None:
        """Note a row, or the rest of a file from a row on, that can't be used."""
        self._counts["damaged"] += 1
        self._damaged.append((row, address, status, reason))

    def _keep(self, picture: BulkPicture, data: bytes, outcome: Row, webp: bytes) -> None:
        places = self._places.pop(picture.number)
        if outcome["status"] != "success":
            reason = str(outcome.get("error") or outcome["status"])
            self.damage(picture.number, picture.address, outcome["status"], reason)
            return
        digest = hashlib.sha256(data)
        digest_key = int.from_bytes(digest.digest()[:_KEY_BYTES], "big") | 1
        for index in places:
            image_id, image_url = self._wanted.row(index)
            if not self._bytes[index]:
                self._bytes[index], self._address[index] = digest_key, _key(picture.address)
                row = self._row(image_url, picture, (data, webp), outcome)
                self._done.add(image_id, {**row, "upstream_sha256": digest.hexdigest()}, webp)
            elif self._bytes[index] == digest_key or self._address[index] != _key(picture.address):
                # Another size of the file, under an address of its own: the first one stays.
                self._counts["repeated"] += not self._taken_before[picture.number]
            else:
                reason = "other bytes than an earlier row of the same address"
                self.damage(picture.number, picture.address, "checksum", reason)
                self._differing.add(image_url)

    def _row(
        self, url: str, picture: BulkPicture, content: tuple[bytes, bytes], outcome: Row
    ) -> Row:
        """Return the row of the ledger."""
        data, webp = content
        came = outcome["width"], outcome["height"]
        declared = picture.width, picture.height
        is_told = None not in declared and min(declared) >= min(came)  # pyright: ignore[reportArgumentType]
        width, height = declared if is_told else came
        is_reduced = bool(self._spec.crawl) and webp != data
        words = [*(outcome["trait"] or "").split(), *[UNSIZED] * (not is_told)]
        words += [REDUCED] * (is_reduced and REDUCED not in words)
        about = {"attempts": 0, "fetched_at": self._when, "licence": picture.licence}
        from_elsewhere = None if picture.address == url else picture.address
        stored = {"bytes": len(webp), "sha256": hashlib.sha256(webp).hexdigest()}
        whence = {
            "bulk": f"{self._file.name}{_ROW}{picture.number}",
            "fetched_from": from_elsewhere,
        }
        size = {"width": width, "height": height, "trait": " ".join(words) or None}
        size |= {"upstream_bytes": len(data)}
        return {"image_url": url, **outcome, **about, **stored, **whence, **size}


def _key(address: str) -> int:
    return int.from_bytes(hashlib.blake2b(address.encode(), digest_size=_KEY_BYTES).digest(), "big")


def _stamp(file: BulkFile) -> list[int]:
    """Return what is another number once a file has changed; a folder's own time says nothing."""
    state = file.path.stat()
    return [state.st_size, state.st_mtime_ns]


def _write(
    done: Scratch,
    reports: Sequence[Mapping[str, Any]],
    side_px: int | None,
    outputs: Mapping[str, Path],
) -> list[dict[str, Any]]:
    """Write the tables, without what came twice with different bytes; return BULK_FILES."""
    differing = {url for report in reports for url in report["differing"]}
    files = {report["file"]: {n: report.get(n, 0) for n in BULK_FILES.names} for report in reports}

    def ledger() -> Iterator[Row]:
        for row in done.rows_by_url():
            if row["image_url"] not in differing:
                counts = files[row["bulk"].rpartition(_ROW)[0]]
                counts["taken"] += 1
                counts["smaller"] += may_be_smaller(row, side_px)
                yield row

    rows = ledger()
    with store.writer(outputs["ledger"], LEDGER) as out:
        while some := list(islice(rows, _ROWS)):
            out.write_batch(pa.RecordBatch.from_pylist(some, schema=LEDGER))
    pictures = (
        (image_id, row["image_url"], row["stored_width"], row["stored_height"], webp)
        for image_id, row, webp in done.pictures_with_rows()
        if row["image_url"] not in differing
    )
    write_shard(pictures, outputs["pixels"], PIXELS)
    store.write_rows([*files.values()], outputs["files"], BULK_FILES)
    names = ("row", "image_url", "status", "reason")
    notes = ((report["file"], note) for report in reports for note in report["notes"])
    damaged = [{"file": file, **dict(zip(names, note, strict=True))} for file, note in notes]
    store.write_rows(damaged, outputs["damaged"], BULK_DAMAGED)
    if damaged:
        _say_damaged(damaged)
    return [*files.values()]


def _say(files: Sequence[Mapping[str, Any]], wanted: int) -> None:
    keys = ("taken", "rows", "smaller")
    taken, read, smaller = (sum(counts[key] for counts in files) for key in keys)
    summary = f"{taken:,} of {wanted:,} pictures, of {read:,} rows"
    log.info("%s; %s may be smaller than their originals", summary, f"{smaller:,}")
    if wanted and not taken:
        log.warning("no picture is in it: see that its addresses are those of the pictures wanted")


def _say_damaged(damaged: Sequence[Mapping[str, Any]]) -> None:
    statuses = Counter(row["status"] for row in damaged).most_common(_LISTED)
    reasons = ", ".join(f"{count:,} {status}" for status, count in statuses)
    first = damaged[0]
    location = first["file"] + (f"{_ROW}{first['row']}" if first["row"] else "")
    summary = f"{len(damaged):,} rows can't be used: {reasons}"
    log.warning("%s; the first is %s (%s)", summary, location, first["reason"])
