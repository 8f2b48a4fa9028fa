"""Releases of small collections: eight pairs of a text and a picture, and one of each unjudged."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa
from PIL import Image
from tests.plans import plan_of

from isotope.core import store
from isotope.core.runs import write_run
from isotope.core.schemas import CAPTION_FIELDS
from isotope.params import files
from isotope.plan import releases
from isotope.release import collection
from isotope.release.about import CollectionFacts
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS

ROOT = Path(__file__).parents[1]
SPLITS = {1: "train", 2: "validation", 3: "validation", **dict.fromkeys(range(4, 9), "test")}
COLOURS = ["red", "green", "blue", "white", "black", "yellow", "purple", "orange", "brown"]
PICTURE_SIZE = (8, 6)


def text_id(n: int) -> str:
    return f"t{n}"


def image_id(n: int) -> str:
    return f"i{n}"


def facts(name: str, kind: str = "wikipedia", **about: str) -> CollectionFacts:
    """What the plan says of a collection of this kind."""
    plan = plan_of(
        acquire={"source": {"files": {"data": ["data.csv"]}}},
        collect={name: {"kind": kind, "source": "source", "language": "en"}},
        release={"about": {name: about} if about else {}},
        search={**files.load(root=ROOT).search.spec(), "systems": ["good", "poor", "luck"]},
        systems={"good": {"kind": "bm25"}, "poor": {"kind": "bm25"}, "luck": {"kind": "random"}},
        score={"measures": ["nDCG@10", "R@1"]},
    )
    own = releases.facts(plan.params, plan.collections[name])
    return CollectionFacts(**cast("Any", {**own, "lite": LITE}), fingerprint="0123456789abcdef")


LITE = {"negatives": 2, "queries": 3}


def picture(n: int) -> bytes:
    """A lossless picture in the colour of its number."""
    out = io.BytesIO()
    Image.new("RGB", PICTURE_SIZE, COLOURS[n - 1]).save(out, "WEBP", lossless=True)
    return out.getvalue()


def texts(licences: Mapping[int, str]) -> pa.Table:
    rows = [
        {
            "text_id": text_id(n),
            "page_id": n,
            "page_title": f"Page {n}",
            "section_title": "Sight",
            "hierarchy": "Sights / Sight",
            "context_section_description": f"A {COLOURS[n - 1]} wall.",
            "page_url": f"https://h/{n}",
            "language": "en" if n < 9 else "de",
            "category": ["c"],
            "split": SPLITS.get(n, "other"),
            "source_text_id": f"s{n}",
        }
        for n in range(1, 10)
    ]
    return with_licences(pa.Table.from_pylist(rows, schema=TEXTS), licences)


def images(licences: Mapping[int, str], *, captions: bool) -> pa.Table:
    rows = [
        {
            "image_id": image_id(n),
            "image_url": f"https://h/{n}.png",
            "language": ["en", "de"] if captions else [],
            **{name: [f"{COLOURS[n - 1]}", "Bild"] if captions else [] for name in CAPTION_FIELDS},
            "split": SPLITS.get(n, "other"),
        }
        for n in range(1, 10)
    ]
    return with_licences(pa.Table.from_pylist(rows, schema=IMAGES), licences)


def with_licences(table: pa.Table, licences: Mapping[int, str]) -> pa.Table:
    """Add the column that collections of users may have."""
    if not licences:
        return table
    values = [licences.get(n, "") for n in range(1, len(table) + 1)]
    return table.append_column("licence", pa.array(values))


def ranking(task: str, split: str, first: Callable[[int], Sequence[int]]) -> pl.DataFrame:
    """A run on all documents: those of `first` in this order, then the others by number."""
    query, doc = (text_id, image_id) if task == "t2m" else (image_id, text_id)
    rows: list[dict[str, object]] = []
    for n in (n for n, own in SPLITS.items() if own == split):
        order = list(dict.fromkeys([*first(n), *range(1, 10)]))
        for rank, d in enumerate(order):
            rows.append({"query_id": query(n), "doc_id": doc(d), "score": float(-rank)})
    return pl.DataFrame(rows)


SYSTEMS: dict[str, Callable[[int], Sequence[int]]] = {
    "good": lambda n: [n, n % 9 + 1],
    "poor": lambda n: [9, n % 9 + 1, n],
    "luck": lambda _: [8, 7, 6, 5, 4, 3, 2, 1, 9],
}


def write_runs(folder: Path) -> list[Path]:
    """Runs of three systems on all documents, both directions of the judged splits but train."""
    paths: list[Path] = []
    for split in ("validation", "test"):
        for task in ("t2m", "m2t"):
            for system, first in SYSTEMS.items():
                paths.append(folder / f"large/{split}/{task}/{system}.parquet")
                write_run(ranking(task, split, first), paths[-1])
    return paths


def build(  # noqa: PLR0913
    root: Path,
    name: str = "toy",
    *,
    kind: str = "wikipedia",
    pictures: Sequence[int] = range(1, 10),
    captions: bool = True,
    splits: Sequence[str] = ("train", "validation", "test"),
    runs: bool = True,
    about: Mapping[str, str] | None = None,
    text_licences: Mapping[int, str] | None = None,
    image_licences: Mapping[int, str] | None = None,
    extra: Sequence[tuple[int, int, int]] = (),
) -> Path:
    """Release a collection into `root/name`; `extra` are more judgements (text, image, grade)."""
    made = root / f"made-{name}"
    for side, table in (
        ("texts", texts(text_licences or {})),
        ("images", images(image_licences or {}, captions=captions)),
    ):
        store.write(table, made / f"{side}.parquet", table.schema)
    pairs = [(n, n, 1) for n, split in SPLITS.items() if split in splits]
    qrels = [
        {"text_id": text_id(t), "image_id": image_id(i), "relevance": g, "split": SPLITS[t]}
        for t, i, g in [*pairs, *extra]
    ]
    store.write_rows(qrels, made / "qrels.parquet", QRELS)
    pixels = [
        {"image_id": image_id(n), "image_url": "u", "width": 8, "height": 6, "webp": picture(n)}
        for n in pictures
    ]
    store.write_rows(pixels, made / "shard-00000.parquet", PIXELS)
    manifest = made / "acquire/source/manifest.json"
    manifest.parent.mkdir(parents=True)
    file = {"part": "pairs", "path": "dump/pairs-20240501.tsv", "bytes": 1, "sha256": "ab" * 32}
    manifest.write_text(json.dumps({"files": [file]}))
    collection.build(
        **{side: made / f"{side}.parquet" for side in ("texts", "images", "qrels")},
        pixels=[made / "shard-00000.parquet"] if pictures else [],
        runs=write_runs(made / "runs") if runs else [],
        manifests=[manifest],
        release=root / name,
        collection=name,
        language="en",
        captions="en",
        facts=facts(name, kind, **(about or {})),
        systems={},
    )
    return root / name
