"""A collection in the form of OVEN's: questions on pictures, entities with a name and a picture."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image

from isotope.core import store
from isotope.schemas.collect import IMAGES, OPTIONAL, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS

ENTITIES = 12
# A tiny CLIP with both towers of the real ones' kind: vision and text transformers.
TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}


def colour(entity: int) -> tuple[int, int, int]:
    return (20 * entity, 255 - 20 * entity, 128 if entity % 2 else 30)


def collection(folder: Path) -> dict[str, Any]:
    """Each entity is a colour; the last two are unseen, and every fourth has no picture.

    Training has three questions an entity, two of them on one picture; validation has one of the
    entity set and one of the query set.
    """
    rows: dict[str, list[dict[str, Any]]] = {k: [] for k in ("texts", "images", "qrels", "pixels")}
    pictures: dict[str, tuple[int, int, int]] = {}
    for n in range(ENTITIES):
        box = None if n % 4 == 3 else f"box{n:02}"
        rows["texts"].append(
            {"text_id": f"Q{n:02}", "page_title": f"entity {n}", "picture_id": box}
            | {"context_page_description": "said at length", "split": "other"}
        )
        if box:
            pictures[box] = colour(n)
        for k, (picture, split, subset) in enumerate(asked(n)):
            image = f"{picture}-{k}" if split == "train" and k else picture
            rows["images"].append(
                {"image_id": image, "picture_id": picture, "question": f"what is this {subset}?"}
                | {"subset": subset, "seen": "unseen" if unseen(n) else "seen", "split": split}
            )
            rows["qrels"].append(
                {"text_id": f"Q{n:02}", "image_id": image, "relevance": 1, "split": split}
            )
            pictures[picture] = colour(n)
    for name, rgb in pictures.items():
        path = folder / "picture.webp"
        Image.new("RGB", (20, 20), rgb).save(path, "WEBP", quality=100)
        rows["pixels"].append({"image_id": name, "webp": path.read_bytes()})
    return written(rows, folder)


def unseen(entity: int) -> bool:
    return entity >= ENTITIES - 2


def asked(n: int) -> list[tuple[str, str, str]]:
    """Picture, split and subset of each question that an entity answers."""
    validated = [(f"v{n:02}e", "validation", "entity"), (f"v{n:02}q", "validation", "query")]
    if unseen(n):
        return validated
    trained = [(f"t{n:02}", "train", "entity")] * 2 + [(f"u{n:02}", "train", "query")]
    return [*trained, *validated]


def written(rows: dict[str, list[dict[str, Any]]], folder: Path) -> dict[str, Any]:
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS}
    more = {"texts": ("picture_id",), "images": ("picture_id", "question", "subset", "seen")}
    for name, schema in {**schemas, "pixels": PIXELS}.items():
        whole = pa.schema([*schema, *(OPTIONAL.field(key) for key in more.get(name, ()))])
        blank = dict.fromkeys(whole.names)
        store.write_rows([blank | row for row in rows[name]], folder / f"{name}.parquet", whole)
    return {n: folder / f"{n}.parquet" for n in schemas} | {"pixels": [folder / "pixels.parquet"]}
