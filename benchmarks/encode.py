"""Claim: texts and pictures are encoded at 90 % of the speed of the bare model on ready tensors.

    python benchmarks/encode.py [ITEMS] [ROUNDS]     (default 512 3)

A ViT-B/32 of open_clip with random weights. isotope reads Parquet, decodes WebP, resizes,
tokenises and writes shards; the bare model runs in a loop over tensors made before the clock
starts, on the same device. The batch by which a job of isotope tells its model from others runs
before the clock, as it is one a job of any size. Vectors are compared. Written to
benchmarks/results/encode.md.
"""

import hashlib
import io
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write
from PIL import Image

from isotope.core import store
from isotope.core.schemas import FIVE_FIELDS
from isotope.encode import cache, shard
from isotope.encode.shard import encode_images, encode_texts
from isotope.models import encoders
from isotope.models.open_clip import ClipEncoder
from isotope.params.sections import ModelKind
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS

NAME, BATCH, AT_LEAST, TOLERANCE, SIDE = "ViT-B-32", 64, 0.9, 1e-2, 300
SIDES = ("texts", "images")


def make(folder: Path, items: int) -> None:
    """Write texts, images and pixels as the workflow writes them."""
    texts, images, pixels = [], [], []
    draw = np.random.default_rng(0)
    for n, ident in enumerate(sorted(str(uuid.UUID(int=n * 2**96)) for n in range(items))):
        words = " ".join(hashlib.md5(f"{n} {i}".encode()).hexdigest() for i in range(12))
        fields: dict[str, Any] = dict.fromkeys(FIVE_FIELDS, words)
        texts.append({**fields, "text_id": ident, "page_id": n, "split": "test"})
        url = f"https://upload.wikimedia.org/{n}.jpg"
        images.append({"image_id": ident, "image_url": url, "split": "test"})
        coarse = draw.integers(0, 255, (12, 12, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(coarse).resize((SIDE, SIDE)).save(file, "WEBP", quality=100)
        sizes = {"width": SIDE, "height": SIDE, "webp": file.getvalue()}
        pixels.append({"image_id": ident, "image_url": url, **sizes})
    store.write_rows(texts, folder / "texts.parquet", TEXTS)
    store.write_rows(images, folder / "images.parquet", IMAGES)
    store.write_rows(pixels, folder / "pixels.parquet", PIXELS)


def encoder() -> ClipEncoder:
    """Return the model, the same in each process."""
    import open_clip  # noqa: PLC0415
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    return ClipEncoder(NAME, open_clip.create_model(NAME, pretrained=None))


def by_isotope(folder: Path) -> Timing:
    """Encode both tables; the model is loaded, and told from others, before the clock starts."""
    ready = encoder()
    encoders.load = lambda *_, **__: ready  # pyright: ignore[reportAttributeAccessIssue]
    how = cache.Encoding(ModelKind(), None, BATCH)
    texts_key, images_key = cache.text_key(ready, how), cache.picture_key(ready, how)
    shard.text_key = lambda *_: texts_key  # pyright: ignore[reportPrivateImportUsage]
    shard.picture_key = lambda *_: images_key  # pyright: ignore[reportPrivateImportUsage]

    def out(side: str) -> shard.ShardFiles:
        return shard.ShardFiles(folder / f"{side}.npy", folder / f"{side}.ids")

    texts, images = (folder / f"{side}.parquet" for side in SIDES)
    ready.encode_texts(["warm"])
    texts_s, _ = timed(lambda: encode_texts(texts, how, out("texts")))
    pixels = [folder / "pixels.parquet"]
    images_s, _ = timed(lambda: encode_images(images, pixels, how, out("images")))
    return {"texts": texts_s, "images": images_s}


def by_bare_model(folder: Path) -> Timing:
    """Run the model's two towers over tensors that are ready."""
    import torch  # noqa: PLC0415

    ready: Any = encoder()
    texts = pl.read_parquet(folder / "texts.parquet")
    words = texts.select(pl.concat_str(FIVE_FIELDS, separator=" ")).to_series().to_list()
    webp = pl.read_parquet(folder / "pixels.parquet")["webp"].to_list()
    pictures = [ready._preprocess(Image.open(io.BytesIO(w)).convert("RGB")) for w in webp]
    tensors = {"texts": ready._tokenize(words), "images": torch.stack(pictures)}
    towers = {"texts": ready._model.encode_text, "images": ready._model.encode_image}
    found: Timing = {}
    for side in SIDES:
        blocks = tensors[side].split(BATCH)
        ready._run(towers[side], blocks[0][:1])
        found[side], vectors = timed(lambda s=side, b=blocks: [ready._run(towers[s], x) for x in b])
        np.save(folder / f"{side}.bare.npy", np.concatenate(vectors))
    return found


def compare(folder: Path) -> float:
    """Hold that the vectors are the same; return the largest difference of a component."""
    pairs = [(np.load(folder / f"{s}.npy"), np.load(folder / f"{s}.bare.npy")) for s in SIDES]
    apart = max(float(np.abs(a - b).max()) for a, b in pairs)
    assert apart < TOLERANCE, apart
    return apart


def main(items: int = 512, times: int = 3) -> None:
    """Encode with both, compare, and report."""
    import torch  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as name:
        make(Path(name), items)
        tools = {"isotope": by_isotope, "the bare model": by_bare_model}
        found = rounds(tools, Path(name), times=times)
        apart = compare(Path(name))
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    ours, theirs = found["isotope"], found["the bare model"]
    claims = [
        Claim(
            "encode", f"{items:,} {s}, {NAME}", f"the bare model, {s}", ours[s], theirs[s], AT_LEAST
        )
        for s in SIDES
    ]
    rates = ", ".join(f"{items / ours[s]:.1f} {s} a second" for s in SIDES)
    write(
        "encode",
        f"# Encoding, beside the bare model\n\n{items:,} texts and pictures of {SIDE} px in"
        f" batches of {BATCH}, {NAME}, {device}; medians of {times} rounds. isotope: {rates}."
        f"\n\n{verdicts(claims)}\nThe largest difference of a component is {apart:.1g}. The bare"
        " model begins with tokens and resized pictures in memory; isotope begins with Parquet and"
        " WebP, and writes vectors and ids.\n\n" + machine(["torch", "open_clip_torch", "pillow"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
