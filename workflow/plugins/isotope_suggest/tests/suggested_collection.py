"""A collection with suggestions, small enough to count: what the page of suggestions reads."""

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
from tests.report_project import EVIL, drawing

from isotope.core import store
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope_judge.schemas import SUGGESTION_SHEET
from isotope_suggest.need import NeedModel
from isotope_suggest.schemas import (
    FEED,
    FILTERED,
    PICTURE_KINDS,
    SCORED,
    SECTION_ROLES,
    TAKEN_UP,
)

COLLECTION, JUDGED, OPEN, WORDS = "toy", 60, 24, "A red lighthouse stands on the cliff. "
SYSTEMS = ("suggest", "wikimedia", "bm25", "dense")
SHEET = 8
# Of the judged sections the last 12 get no suggestion of suggest, and a third none of wikimedia.
_WITHOUT = 12


def write(rows: list[dict[str, Any]], schema: Any, path: Path) -> Path:
    """Write rows that may lack columns of a schema."""
    empty = pl.DataFrame(schema.empty_table())
    frame = pl.DataFrame(rows, schema_overrides={c: empty.schema[c] for c in (rows or [{}])[0]})
    store.write(pl.concat([empty, frame], how="diagonal").to_arrow(), path, schema)
    return path


def lay(root: Path, *, later: bool = True) -> dict[str, Any]:
    """Write what `suggestions_page.write_page` reads below `root`; return it by argument."""
    texts = [*(f"j{n:02}" for n in range(JUDGED)), *(f"o{n:02}" for n in range(OPEN))]
    images = [f"i{n:02}" for n in range(JUDGED)]
    scored, feed = _scored(images), _feed()
    tables: dict[str, tuple[list[dict[str, Any]], Any]] = {
        "texts": ([_text(t) for t in texts], TEXTS),
        "images": ([_image(i) for i in images], IMAGES),
        "qrels": ([_qrel(n) for n in range(JUDGED)], QRELS),
        "sections": ([_section(n, t) for n, t in enumerate(texts)], SECTION_ROLES),
        "scored": (scored, SCORED),
        "rejected": (_rejected(images), FILTERED),
        "feed": (feed, FEED),
        "pictures": (
            [{"image_id": i, "hash": hash_of(n)} for n, i in enumerate(images)],
            PICTURE_KINDS,
        ),
        "sheet": ([{"stratum": 1, **_pair(row)} for row in feed[:8]], SUGGESTION_SHEET),
    }
    files: dict[str, Any] = {n: write(r, s, root / f"{n}.parquet") for n, (r, s) in tables.items()}
    followed = write(_taken_up(feed), TAKEN_UP, root / "taken_up.parquet")
    pixels = [{"image_id": f"i{n:02}", "webp": drawing(n % 5)} for n in range(12)]
    shard = write(pixels, PIXELS, root / "shard-00000.parquet")
    NeedModel({}, [], [], [], {}, {}, 0.0, spreads={"length": 0.9, "list items": -1.4}).save(
        root / "ought.json"
    )
    (root / "calibration.json").write_text(json.dumps(calibration()), "utf-8")
    return {
        **files,
        **{"calibration": root / "calibration.json", "ought": root / "ought.json"},
        **{"taken_up": [followed] if later else [], "pixels": [shard], "judgements": []},
        **{"image_vectors": [], "image_ids": []},
        **{"collection": COLLECTION, "seed": 0, "most": 3},
    }


def calibration(threshold: float | None = 3.0) -> dict[str, Any]:
    """Return what `isotope_suggest.learn` has learned, as far as others read it."""
    first = {"rank": 1, "threshold": threshold, "sections": 40, "right": 39, "bound": 0.91}
    later = {"rank": 2, "threshold": None, "sections": 9, "right": 1, "bound": 0.01}
    why = "" if threshold is not None else "not certified: of the 40 best suggestions 20 are right"
    ranks = [{**first, "why": why}, {**later, "why": "not certified: of the 9 best 1 is right"}]
    wanted = {"precision": 0.9, "threshold": threshold, "caution": ""}
    return {**wanted, "ranks": ranks, "why": why}


def hash_of(n: int) -> int:
    """Return a hash of 64 bits that is far from those of other numbers."""
    return random.Random(n).getrandbits(64)


def _text(text_id: str) -> dict[str, Any]:
    title = EVIL if text_id == "o00" else f"Page of {text_id}"
    return {"text_id": text_id, "page_title": title, "context_section_description": WORDS * 9}


def _image(image_id: str) -> dict[str, Any]:
    url = f"https://upload.wikimedia.org/wikipedia/commons/a/ab/{image_id}.jpg"
    return {"image_id": image_id, "image_url": url, "caption_alt_text_description": ["a tower"]}


def _qrel(n: int) -> dict[str, Any]:
    return {"text_id": f"j{n:02}", "image_id": f"i{n:02}", "relevance": 1, "split": "test"}


def _section(n: int, text_id: str) -> dict[str, Any]:
    role = "judged" if text_id.startswith("j") else "open"
    location = {"page_id": n, "place": 1, "level": 1, "heading": "History", "split": "test"}
    spoken = {"language": "de" if n % 4 == 0 else "en", "page_class": ("STEM", "Culture")[n % 2]}
    return {"text_id": text_id, "role": role, **location, **spoken, "probability": 0.6}


def _scored(images: list[str]) -> list[dict[str, Any]]:
    """Return suggestions of which those with a higher score are more often right."""
    chance, rows = random.Random(1), []
    for n in range(JUDGED):
        for system in SYSTEMS:
            if (system == "suggest" and n >= JUDGED - _WITHOUT) or (system, n % 3) == (
                *("wikimedia", 0),
            ):
                continue
            sure = round(1 - n / JUDGED, 3)
            share = sure if system == "suggest" else 0.4
            drawn = chance.sample([i for i in images if i != f"i{n:02}"], 3)
            first = [f"i{n:02}", *drawn] if chance.random() < share else drawn
            probability = {"suggest": sure, "wikimedia": 0.9 if n % 2 else 0.8}.get(system)
            rows += [
                {"text_id": f"j{n:02}", "image_id": image, "system": system, "rank": rank}
                | {"score": 6 * sure - rank + 1, "probability": probability, "kind": "text"}
                for rank, image in enumerate(first, 1)
            ]
    return rows


def _feed() -> list[dict[str, Any]]:
    return [
        {"wiki": "enwiki", "page_id": JUDGED + n, "page_title": EVIL if n == 0 else f"Page {n}"}
        | {"section_title": "History", "section_index": 1, "image": f"i{n:02}.jpg"}
        | {"image_url": _image(f"i{n:02}")["image_url"], "probability": round(0.99 - n / 100, 3)}
        | {"low": round(0.9 - n / 50, 3), "high": 0.995, "caution": ""}
        | {"kind": "text", "reasons": ["matches: red"], "credit": "Jo Bloggs, CC BY 4.0, unknown"}
        | {"rank": 1, "text_id": f"o{n:02}", "image_id": f"i{n:02}", "snapshot": "20200611"}
        for n in range(14)
    ]


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    names = ("text_id", "image_id", "page_title", "section_title", "image", "credit")
    return {**{n: row[n] for n in names}, "section": WORDS, "caption": "a tower"}


def _rejected(images: list[str]) -> list[dict[str, Any]]:
    reasons = ["icon", "icon", "too small", "near duplicate"]
    return [
        {"text_id": f"o{n:02}", "image_id": image, "reason": reason, "detail": ""}
        for n, (image, reason) in enumerate(zip(images, reasons, strict=False))
    ]


def _taken_up(feed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Half of the feed is taken up by the second of two snapshots, a tenth has another picture."""
    rows: list[dict[str, Any]] = []
    for later, days in (("20210122", 225), ("20211213", 550)):
        for n, row in enumerate(feed):
            outcome = "other picture" if n == 1 else "without picture"
            if n < 7 and (days > 300 or n < 3) and n != 1:
                outcome = "taken up"
            rows += [
                {k: row[k] for k in ("text_id", "image_id", "rank", "probability", "kind")}
                | {"system": s, "snapshot": "20200611", "later": later, "days": days}
                | {"outcome": outcome if s == "feed" else "without picture"}
                for s in ("feed", "suggest", "wikimedia")
            ]
    return rows
