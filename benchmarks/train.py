"""Claim: training reads a collection ten times as large in the same memory.

    python benchmarks/train.py [PICTURES]     (default 3000, and ten times as many)

Collections of small WebP pictures and short texts are trained on for a few steps each, with
pictures decoded on the way (no disk for squares) and from squares on disk, each in a process of its
own. A collection of 256 pictures shows what the libraries and the model take by themselves.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import Timing, alone, machine, timed, write
from PIL import Image

from isotope.core import store
from isotope.models.kinds.trained import Trained
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS

STEPS, BATCH, TIMES, FEWEST, SIDE = 12, 64, 10, 64, 96
LIMIT_BYTES = 1_000
WORDS = 60


def webp(rng: np.random.Generator) -> bytes:
    """Return a picture of random blotches."""
    small = Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8))
    out = io.BytesIO()
    small.resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(out, "WEBP", quality=80)
    return out.getvalue()


def rows(n: int, rng: np.random.Generator, drawn: list[bytes]) -> dict[str, dict[str, Any]]:
    """Return one text, image, judgement and picture."""
    split = "validation" if n < FEWEST // 2 else "train"
    keys = {"text_id": f"projected-{n:08d}-000", "image_id": f"image-{n:08d}"}
    words = " ".join(f"w{i}" for i in rng.integers(0, 50_000, WORDS))
    text = {"page_title": f"Page {n}", "context_section_description": words, "split": split}
    image = {"image_id": keys["image_id"], "split": split}
    picture = {"image_id": keys["image_id"], "webp": drawn[n % len(drawn)]}
    judged = {**keys, "relevance": 1, "split": split}
    return {
        "texts": {"text_id": keys["text_id"], **text},
        "images": image,
        "qrels": judged,
        "pixels": picture,
    }


def lay(root: Path, pictures: int) -> None:
    """Write a collection, its pictures in one shard."""
    rng = np.random.default_rng(0)
    drawn = [webp(rng) for _ in range(200)]
    made = [rows(n, rng, drawn) for n in range(pictures)]
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS, "pixels": PIXELS}
    for name, schema in schemas.items():
        blank = dict.fromkeys(schema.names)
        store.write_rows([blank | row[name] for row in made], root / f"{name}.parquet", schema)


def learn(root: Path, squares_gib: float) -> Timing:
    """Train for a few steps; return the seconds and the bytes that lay on disk meanwhile."""
    # Each in a process of its own.
    from isotope.train import clip, data  # noqa: PLC0415

    files = {name: root / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    recipe = {"batch": BATCH, "steps": STEPS, "learning_rate": 1e-3, "every": 1000, "threads": 2}
    data.SQUARES_GIB = squares_gib
    model = Trained.of_spec({"kind": "trained", "config": "tiny-clip", "train": recipe})
    scratch, sizes = root / "scratch", list[int]()
    ids = data._ids  # pyright: ignore[reportPrivateUsage]

    def weighed(packed: Any) -> Any:  # noqa: ANN401
        sizes.append(sum(path.stat().st_size for path in scratch.iterdir()))
        return ids(packed)

    data._ids = weighed  # pyright: ignore[reportPrivateUsage]
    out = {"weights": root / "w.safetensors", "curve": root / "c.csv", "scratch": scratch}
    pixels = [root / "pixels.parquet"]
    seconds, _ = timed(
        lambda: clip.train(
            texts=files["texts"],
            images=files["images"],
            qrels=files["qrels"],
            pixels=pixels,
            model=model,
            language="en",
            weights=out["weights"],
            curve=out["curve"],
            scratch=scratch,
        )
    )
    return {"seconds": seconds, "bytes": max(sizes)}


def measured(pictures: int, squares_gib: float) -> Timing:
    """Train on a collection of so many pictures in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        lay(Path(folder), pictures)
        return alone(learn, Path(folder), squares_gib)


def main(pictures: int = 3000) -> None:
    """Train at three sizes on both roads, and hold the claim."""
    lines = [
        "| pictures | road | peak, MiB | disk, MiB | training, s |",
        "|---:|---|---:|---:|---:|",
    ]
    peaks: dict[tuple[int, str], float] = {}
    for road, gib in (("WebP decoded on the way", 0.0), ("squares on disk", 4.0)):
        for n in (FEWEST * 4, pictures, pictures * TIMES):
            found = measured(n, gib)
            peaks[n, road] = found["peak_gib"] * 1024
            lines.append(
                f"| {n:,} | {road} | {peaks[n, road]:.0f} | {found['bytes'] / 2**20:.1f}"
                f" | {found['seconds']:.1f} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    grown = peaks[pictures * TIMES, "WebP decoded on the way"]
    grown -= peaks[pictures, "WebP decoded on the way"]
    each = grown * 2**20 / (pictures * (TIMES - 1))
    held = each < LIMIT_BYTES
    claim = (
        f"Decoding on the way, {TIMES} times the pictures took {grown:.0f} MiB more: {each:,.0f}"
        f" bytes a picture. Under {LIMIT_BYTES:,} bytes: {'yes' if held else 'no'}."
    )
    head = (
        f"# Training's reader, at sizes a factor {TIMES} apart\n\n{STEPS} steps of {BATCH} pairs.\n"
    )
    report = "\n".join([head, *lines, "", claim, "", machine(["torch", "pillow", "duckdb"])])
    write("train", report)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
