"""A small collection that live suggestions answer for: tables, index, vectors, feed, pixels."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from tests.models import loaded
from tests.plans import typed
from workflow.plugins.isotope_suggest.tests.suggest_world import World, word

from isotope.bm25.postings import write_index
from isotope.core import store
from isotope.core.fields import text_of
from isotope.core.lucene import contents
from isotope.core.prepare import ATOMIC
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.vectors import created, write_ids
from isotope.params.root import Params
from isotope.schemas.collect import IMAGES
from isotope.schemas.crawl import PIXELS
from isotope_suggest.feed import write_feed

NAME, DIM = "world", 32
MODEL = {"kind": "hash", "dim": DIM}
FIELDS = ["page_title", "context_section_description"]
# Their numbers are those of `World`: with too few nothing can be learned.
ROLES = {"validation": 80, "test": 20, "open": 10}


def params(*, dense: bool = True, **sections: Any) -> Params:
    """The params of the collection, with a dense system or without one."""
    systems: dict[str, Any] = {"bm25": {"kind": "bm25", "fields": FIELDS}}
    systems |= {"hash": {"kind": "dense", "model": "hash"}} if dense else {}
    cells = {"settings": ["large"], "splits": ["validation", "test"], "tasks": ["t2m", "m2t"]}
    base: dict[str, Any] = {
        "build": [NAME],
        "acquire": {NAME: {"files": {"dump": ["pages"]}}},
        "crawl": {NAME: {"shards": 1}},
        "collect": {NAME: {"kind": "wikipedia", "source": NAME, "language": "en"}},
        "encode": {"shards": 1, "batch": 8, "precision": "float32"},
        "models": {"hash": {**MODEL, "fields": FIELDS}},
        "systems": systems,
        "search": {"systems": [*systems], **cells, "depth": 1000, "memory_mb": 512},
        "tabulate": {"system": "bm25", "alpha": 0.05, "tokenizers": {}},
        "suggest": {"precision": 0.7},
    }
    return typed(**base | sections)


def project(root: Path, *, feed: bool = True) -> Path:
    """Write the collection below a folder; without `feed` the phase suggest was not run."""
    world = World(ROLES)
    world.spec = world.spec.model_copy(update={"precision": 0.7})
    loose = world.files(root / "loose")
    collected = root / f"data/collect/{NAME}"
    collected.mkdir(parents=True)
    for name in ("texts", "images", "qrels"):
        loose[name] = loose[name].rename(collected / f"{name}.parquet")
    _caption_in_english(loose["images"])
    parsed = root / f"data/parse/{NAME}"
    parsed.mkdir(parents=True)
    loose["placed"] = [loose["placed"][0].rename(parsed / "pictures.parquet")]
    _index(root, collected)
    loose["image_vectors"], loose["image_ids"] = _vectors(root, collected)
    if feed:
        _feed(root, loose)
    _pixels(root, world.image_ids)
    return root


def _caption_in_english(images: Path) -> None:
    """Say of every caption that it is English, as BM25 asks."""
    rows = pl.read_parquet(images).with_columns(
        language=pl.lit(["en"]),
        caption_alt_text_description=pl.lit([""]),
        caption_attribution_description=pl.lit([""]),
    )
    store.write(rows.to_arrow().cast(IMAGES), images, IMAGES)


def _index(root: Path, collected: Path) -> None:
    for side in ("images", "texts"):
        table = collected / f"{side}.parquet"
        rows = contents(side, table, language="en", fields=FIELDS, prepare=ATOMIC)
        documents = rows.select("id", pl.col("contents").fill_null("")).iter_rows()
        folder = root / f"data/index/{NAME}/large/bm25/all/{side}"
        write_index(documents, folder, analyzer="default", threads=1)


def _vectors(root: Path, collected: Path) -> tuple[list[Path], list[Path]]:
    """Encode texts, and images by their captions, as nobody drew them."""
    encoder = loaded(MODEL)
    texts = pl.read_parquet(collected / "texts.parquet")
    filled = texts.select("text_id", *(pl.col(f).fill_null("") for f in FIVE_FIELDS))
    words = filled.select("text_id", text_of(FIELDS))
    captions = pl.read_parquet(collected / "images.parquet").select(
        "image_id", text=pl.col("caption_reference_description").list.first()
    )
    shards = list[Path]()
    for side, rows in (("texts", words), ("images", captions)):
        shard = root / f"data/encode/{NAME}/hash/{side}/shard-00000.npy"
        shard.parent.mkdir(parents=True)
        with created(shard, (len(rows), DIM)) as block:
            block[:] = encoder.encode_texts(rows["text"].to_list())
        write_ids(rows.to_series(), shard.with_suffix(".ids.parquet"))
        shards.append(shard)
    return shards[1:], [shards[1].with_suffix(".ids.parquet")]


def _feed(root: Path, loose: dict[str, Any]) -> None:
    results = root / f"results/suggest/{NAME}"
    results.mkdir(parents=True)
    for name in ("sections", "candidates", "pictures"):
        loose[name] = loose[name].rename(results / f"{name}.parquet")
    for name, ending in (("scored", "parquet"), ("rejected", "parquet"), ("feed", "parquet")):
        loose[name] = results / f"{name}.{ending}"
    loose["calibration"], loose["lines"] = results / "calibration.json", results / "feed.jsonl"
    write_feed(**loose)


def _pixels(root: Path, image_ids: list[str]) -> None:
    rows = [{"image_id": image_id, "webp": webp(n)} for n, image_id in enumerate(image_ids)]
    table = pl.DataFrame(rows).to_arrow()
    empty = {name: None for name in PIXELS.names if name not in table.column_names}
    frame = pl.DataFrame(table).with_columns(**{k: pl.lit(v) for k, v in empty.items()})
    store.write(
        frame.select(PIXELS.names).to_arrow().cast(PIXELS),
        root / f"data/crawl/{NAME}/shard-00000.parquet",
        PIXELS,
    )


def webp(n: int) -> bytes:
    """A picture of one colour, of 40 by 30 px."""
    file = io.BytesIO()
    colour = np.full((30, 40, 3), (n * 7) % 256, np.uint8)
    Image.fromarray(colour).save(file, "WEBP")
    return file.getvalue()


def about(n: int) -> str:
    """A text about the n-th picture and no other."""
    return f"An old town has {word(n)}s and a {word(n + 900)}."
