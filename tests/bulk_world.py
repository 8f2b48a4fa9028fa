"""Pictures as others publish them whole: files of five sources, a part of their rows damaged.

The columns are those of wikimedia/wit_base and of TREC-AToMiC/AToMiC-Images-v0.2 (their pages on
the hub), and of the image pixels of the caption competition
(https://www.kaggle.com/c/wikipedia-image-caption/data: no line of names, tabs, base64). The fourth
is a crawl of isotope's own, the fifth a folder of uploads by path.
"""

import base64
import gzip
import io
import json
import struct
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.core import store
from isotope.core.uploads import upload_url
from isotope.schemas.crawl import LEDGER, PIXELS, URLS

KINDS = ("wit_base", "atomic", "competition", "earlier", "mirror")
# Rows of a file, and of a row group in it.
ROWS, GROUP = 1_000, 100
_LOOKS = 12
_NAMES = ("Bild {} é.jpg", "Nave 100% {}.jpg", "{}, Плёс.jpg", 'Who "{}"?.jpg', "plain {}.jpg")
# Thumbnails moved to the second in August 2026.
_HOSTS = ("upload.wikimedia.org", "thumb.wikimedia.org")
_BASE = "https://upload.wikimedia.org/"
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
WIT_BASE = pa.schema(
    [
        ("image", _IMAGE),
        ("image_url", pa.string()),
        ("embedding", pa.list_(pa.float64())),
        ("metadata_url", pa.string()),
        ("original_height", pa.int32()),
        ("original_width", pa.int32()),
        ("mime_type", pa.string()),
        ("caption_attribution_description", pa.string()),
        ("wit_features", pa.struct([("language", pa.list_(pa.string()))])),
    ]
)
ATOMIC = pa.schema([("image_url", pa.string()), ("image_id", pa.string()), ("image", _IMAGE)])
# What is wrong with a row, in turn; a table of texts has base64 besides.
FAULTS = ("null", "noise", "cut", "page", "address", "no_address", "twice")


class Damage(NamedTuple):
    """What can't be used: the file's name in the ledger, the row, and the address there."""

    file: str
    row: int | None
    url: str | None


@dataclass
class World:
    """What was made: what is wanted, of which kind each is, and what of it is damaged."""

    root: Path
    urls: Path
    bulk: list[dict[str, Any]]
    listed: dict[str, Path]
    of_kind: dict[str, list[str]]
    damaged: set[Damage] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    narrow: set[str] = field(default_factory=set)

    @property
    def acquired(self) -> dict[str, Any]:
        """The params `acquire` of what is acquired for its pictures."""
        parts = {item["source"]: item["part"] for item in self.bulk if "source" in item}
        return {
            name: {"files": {part: [str(self.root / f"published/{name}/*")]}}
            for name, part in parts.items()
        }


def picture(n: int, kind: str = "JPEG", size: tuple[int, int] = (40, 30)) -> bytes:
    """A small picture, with bytes of its own for each number."""
    whole = _look(n % _LOOKS, kind, size)
    if kind == "JPEG":
        # A comment (JFIF, segment COM) behind the first two bytes.
        words = f"picture {n}".encode()
        return whole[:2] + b"\xff\xfe" + struct.pack(">H", len(words) + 2) + words + whole[2:]
    return whole


_LOOKS_MADE: dict[tuple[int, str, tuple[int, int]], bytes] = {}


def _look(n: int, kind: str, size: tuple[int, int]) -> bytes:
    if (n, kind, size) not in _LOOKS_MADE:
        random = np.random.default_rng(n)
        coarse = random.integers(0, 256, (3, 4, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(coarse).resize(size).save(out, kind, quality=90)
        _LOOKS_MADE[n, kind, size] = out.getvalue()
    return _LOOKS_MADE[n, kind, size]


def file_of(n: int) -> str:
    """The name of a picture's file on Wikimedia Commons."""
    return _NAMES[n % len(_NAMES)].format(n)


def thumbnail(url: str, width: int = 300, host: str = "upload.wikimedia.org") -> str:
    """The address of an upload's thumbnail."""
    path = urlsplit(url).path.replace("/commons/", "/commons/thumb/")
    return f"https://{host}{path}/{width}px-{path.rpartition('/')[2]}"


def make(root: Path, count: int, side: int = 32, damaged: int = 10, rows: int = ROWS) -> World:
    """Write five sources of `count` pictures in all; one row in `damaged` can't be used.

    Every third picture has a shorter side below `side`, and its original, as far as its source
    tells, a larger one.
    """
    urls = [upload_url(file_of(n)) for n in range(count)]
    listed = [{"image_id": str(uuid.uuid3(uuid.NAMESPACE_URL, u)), "image_url": u} for u in urls]
    listed.sort(key=lambda row: row["image_id"])
    root.mkdir(parents=True, exist_ok=True)
    store.write_rows([{**row, "shard": 0} for row in listed], root / "urls.parquet", URLS)
    of_kind = {kind: urls[at :: len(KINDS)] for at, kind in enumerate(KINDS)}
    wit = {"width": "original_width", "height": "original_height"}
    bulk = [
        {"source": "wit_base", "part": "train", **wit},
        {"source": "atomic", "part": "images"},
        {"source": "competition", "part": "pixels", "columns": ["image_url", "image", "page"]},
        {"crawl": "earlier"},
        {"folder": str(root / "mirror")},
    ]
    world = World(root, root / "urls.parquet", bulk, {}, of_kind)
    numbers = {url: n for n, url in enumerate(urls)}
    plans = {
        kind: [_plan(numbers[url], url, side, damaged) for url in own]
        for kind, own in of_kind.items()
    }
    for plan in plans.values():
        world.lost |= {each.url for each in plan if each.fault}
        world.narrow |= {each.url for each in plan if each.is_narrow and not each.fault}
    _write_parquet(world, ("wit_base", "train"), plans["wit_base"], WIT_BASE, rows)
    _write_parquet(world, ("atomic", "images"), plans["atomic"], ATOMIC, rows)
    _write_competition(world, plans["competition"])
    _write_earlier(world, plans["earlier"])
    _write_mirror(world, plans["mirror"])
    return world


class Plan(NamedTuple):
    """A picture to publish: its number, its URL, what is wrong with its row, and its size."""

    number: int
    url: str
    fault: str | None
    is_narrow: bool
    size: tuple[int, int]

    @property
    def own_fault(self) -> str:
        return self.fault or ""


def _plan(n: int, url: str, side: int, damaged: int) -> Plan:
    own = n // len(KINDS)
    fault = FAULTS[own // damaged % len(FAULTS)] if own % damaged == damaged - 1 else None
    is_narrow = own % 3 == 0
    return Plan(n, url, fault, is_narrow, (side * 4 // 3, side - 8 * is_narrow))


def _content(plan: Plan, kind: str = "JPEG") -> bytes | None:
    """Return what a row has for a picture."""
    whole = picture(plan.number, kind, plan.size)
    faulty = {
        "null": None,
        "noise": bytes(range(7, 107)),
        "cut": whole[: len(whole) // 3],
        "page": b"<!DOCTYPE html><html><body>404 File not found</body></html>",
    }
    return faulty.get(plan.own_fault, whole)


def _address(plan: Plan) -> str | None:
    """Return how a row writes an address: as it is, of a thumbnail, by http, with a query."""
    if plan.fault in ("address", "no_address"):
        return "File:nowhere.jpg" if plan.fault == "address" else None
    forms = (
        plan.url,
        thumbnail(plan.url, 300, _HOSTS[plan.number // 4 % 2]),
        plan.url.replace("https:", "http:"),
        f"{plan.url}?utm_source=commons",
    )
    return forms[plan.number % len(forms)]


def _rows(plans: list[Plan], kind: str = "JPEG") -> Iterator[tuple[Plan, str | None, bytes | None]]:
    """Yield rows with address and bytes; a picture that comes twice has two in a row."""
    for plan in plans:
        yield plan, _address(plan), _content(plan, kind)
        if plan.fault == "twice":
            yield plan, _address(plan), picture(plan.number + 1, kind, plan.size)


def _note(world: World, file: str, rows: list[tuple[Plan, str | None, Any]]) -> None:
    """Note which rows of a file can't be used: of those that come twice, the second."""
    before: Plan | None = None
    for number, (plan, address, _) in enumerate(rows, 1):
        is_second = plan is before
        if plan.fault and (plan.fault != "twice" or is_second):
            world.damaged.add(Damage(file, number, address))
        before = plan


def _write_parquet(
    world: World, place: tuple[str, str], plans: list[Plan], schema: pa.Schema, most: int
) -> None:
    name, part = place
    rows = list(_rows(plans, "WEBP" if name == "atomic" else "JPEG"))
    files = [rows[n : n + most] for n in range(0, len(rows), most)]
    for n, some in enumerate(files):
        file = f"{part}-{n:05d}-of-{len(files) + 1:05d}.parquet"
        _table([_row(schema, *row) for row in some], schema, _place(world, name, part, file))
        _note(world, f"{name}/{part}/{file}", some)
    # One more, whose end did not arrive.
    file = f"{part}-{len(files):05d}-of-{len(files) + 1:05d}.parquet"
    path = _place(world, name, part, file)
    _table([_row(schema, *row) for row in files[-1]], schema, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    world.damaged.add(Damage(f"{name}/{part}/{file}", None, None))
    _list(world, name, part)


def _row(
    schema: pa.Schema, plan: Plan, address: str | None, content: bytes | None
) -> dict[str, Any]:
    scale = 10 if plan.is_narrow else 1
    facts: Mapping[str, Any] = {
        "image": {"bytes": content, "path": None},
        "image_url": address,
        "image_id": str(uuid.uuid3(uuid.NAMESPACE_URL, plan.url)),
        "original_width": plan.size[0] * scale,
        "original_height": plan.size[1] * scale,
        "mime_type": "image/jpeg",
        "metadata_url": f"http://commons.wikimedia.org/wiki/File:{quote(file_of(plan.number))}",
        "wit_features": {"language": ["en"]},
    }
    return {column: facts.get(column) for column in schema.names}


def _table(rows: list[dict[str, Any]], schema: pa.Schema, path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=GROUP)


def _write_competition(world: World, plans: list[Plan]) -> None:
    rows = list(_rows(plans))
    name, part = "competition", "pixels"
    for n, start in enumerate(range(0, len(rows), ROWS)):
        some = rows[start : start + ROWS]
        file = f"train_image_pixels_part-{n:05d}.csv.gz"
        lines = []
        for plan, address, content in some:
            text = base64.b64encode(content or b"")
            text = b"*" + text[1:] if plan.fault == "noise" else text
            fields = [(address or "").encode(), text, b"page"]
            lines.append(b"\t".join(fields[: 2 if plan.fault == "page" else 3]) + b"\n")
        with gzip.GzipFile(_place(world, name, part, file), "wb", 1, mtime=0) as out:
            out.writelines(lines)
        listed = [(p, a if p.fault != "page" else None, c) for p, a, c in some]
        _note(world, f"{name}/{part}/{file}", listed)
    _list(world, name, part)


def _write_earlier(world: World, plans: list[Plan]) -> None:
    """Write a crawl; it has no address that is none, and no picture twice."""
    whole = ("address", "no_address", "twice")
    ids = {p.url: str(uuid.uuid3(uuid.NAMESPACE_URL, p.url)) for p in plans}
    rows = []
    for plan in sorted(plans, key=lambda p: ids[p.url]):
        sides = dict(zip(("width", "height"), plan.size, strict=True))
        webp = None if plan.fault in whole else _content(plan, "WEBP")
        rows.append({"image_id": ids[plan.url], "image_url": plan.url, "webp": webp, **sides})
    folder = world.root / "data/crawl/earlier"
    folder.mkdir(parents=True, exist_ok=True)
    store.write_rows(rows, folder / "shard-00000.parquet", PIXELS)
    told = [
        {"image_url": r["image_url"], "status": "success", "width": r["width"] * 2}
        | {"height": r["height"] * 2, "stored_width": r["width"], "stored_height": r["height"]}
        | {"licence": "CC0"}
        for r in rows
    ]
    store.write_rows(told, folder / "ledger.parquet", LEDGER)
    world.listed["earlier"] = folder / "ledger.parquet"
    by_url = {plan.url: plan for plan in plans}
    for number, row in enumerate(rows, 1):
        if by_url[row["image_url"]].fault:
            note = Damage("earlier/shard-00000.parquet", number, row["image_url"])
            world.damaged.add(note)


def _write_mirror(world: World, plans: list[Plan]) -> None:
    """Write a folder of uploads; a file has an address, one of its own, and is there or not."""
    root, absent = world.root / "mirror", ("address", "no_address", "twice")
    for plan in plans:
        if plan.fault in absent:
            continue
        path = root / unquote(plan.url.removeprefix(_BASE))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(plan) or b"")
    ordered = sorted((p for p in root.rglob("*") if p.is_file()), key=lambda p: p.parts)
    faults = {plan.url: plan.fault for plan in plans}
    for number, path in enumerate(ordered, 1):
        url = _BASE + quote(path.relative_to(root).as_posix())
        if faults[url]:
            world.damaged.add(Damage(str(root), number, url))


def _place(world: World, name: str, part: str, file: str) -> Path:
    folder = world.root / f"published/{name}"
    folder.mkdir(parents=True, exist_ok=True)
    acquired = world.root / f"data/acquire/{name}/{part}"
    acquired.mkdir(parents=True, exist_ok=True)
    path = folder / file
    (acquired / file).unlink(missing_ok=True)
    (acquired / file).symlink_to(path)
    return path


def _list(world: World, name: str, part: str) -> None:
    """Write the manifest of an acquired source, as far as it is read."""
    folder = world.root / f"data/acquire/{name}"
    files = [
        {"part": part, "path": f"{part}/{p.name}", "bytes": p.stat().st_size}
        for p in sorted((folder / part).iterdir())
    ]
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    world.listed[name] = folder / "manifest.json"


def serve(world: World, size: tuple[int, int] = (80, 60), most: int | None = None) -> Path:
    """Write pictures of a size below their upload paths, the first ones: what the network has."""
    root = world.root / "network"
    for n, url in enumerate(pl.read_parquet(world.urls)["image_url"][:most]):
        path = root / unquote(url.removeprefix(_BASE))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(n, "JPEG", size))
    return root
