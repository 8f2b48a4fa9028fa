"""Encode both sides of a collection with a learned mix, from the vectors that it mixes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import torch

from isotope.core.exact import Shards
from isotope.core.progress import Progress
from isotope.core.vectors import created, write_ids
from isotope.models.mix import Mix, Rows, load_mix

_ROWS = 8_192


def encode_mix_shard(weights: Path, given: Mapping[str, Path], out: Mapping[str, Path]) -> None:
    """Encode a shard: `given` has `mix_data.FILES`, one of each.

    `out` gets texts, texts_ids, images and images_ids, as `isotope.encode.shard` writes them. Rows
    are unit vectors for clip_fusion; for clip2clip their inner product is the weighted similarity.

    Raises:
        As `models_mix.load_mix`.
    """
    mix = load_mix(weights)
    for side, beside in (("images", "questions"), ("texts", "pictures")):
        main, other = Shards([given[side]]), Shards([given[beside]])
        ids = pl.read_parquet(given[f"{side}_ids"])["id"]
        progress = Progress(f"{side} mixed", len(ids))
        with created(out[side], (len(ids), _width(mix, main.dim))) as block:
            for start in range(0, len(ids), _ROWS):
                rows = np.arange(start, min(start + _ROWS, len(ids)))
                block[rows] = _rows(mix, side, main, other, rows)
                progress.add(len(rows))
        write_ids(ids, out[f"{side}_ids"])
        progress.finish()


def _rows(
    mix: Mix, side: str, main: Shards, other: Shards, rows: Rows
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    mixed = mix.queries if side == "images" else mix.texts
    with torch.inference_mode():
        return mixed(torch.from_numpy(main.take(rows)), torch.from_numpy(other.take(rows))).numpy()


def _width(mix: Mix, dim: int) -> int:
    nothing = torch.zeros(1, dim)
    with torch.inference_mode():
        return int(mix.texts(nothing, nothing).shape[1])
