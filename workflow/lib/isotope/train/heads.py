"""Train the heads of a `lit` model on a collection's judged pairs, over features cached once."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl
import torch
from safetensors.torch import save_file

from isotope.core.errors import EmptyTable
from isotope.core.store import aside
from isotope.core.vectors import FloatArray, created, write_ids
from isotope.models.device import Device
from isotope.models.lit import Heads
from isotope.models.offline import PICTURE_FEATURES, SIDE, Pictures, square
from isotope.models.text_towers import DEFAULT, text_tower
from isotope.params.heads_recipe import HeadsRecipe
from isotope.train.data import Place, read_split, shown
from isotope.train.heads_features import Towers
from isotope.train.heads_loop import Features, fit
from isotope.train.pictures import Cut
from isotope.train.rows import Source

_COLUMNS = "epoch,step,loss,mrr10_t2m,mrr10_m2t\n"


def train_heads(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    spec: Mapping[str, object],
    batch: int,
    weights: Path,
    curve: Path,
    features: Mapping[str, Path],
) -> None:
    """Train what `spec` describes on the split `train` and measure it on `validation`.

    `weights` gets safetensors with the recipe in the metadata; `curve` a CSV as
    `isotope.train.contrastive.train` writes it. Same input, same seed and machine, same bytes.
    `features` has the paths vectors and ids of what the frozen tower makes of the pictures,
    [p, 1280], `batch` at a time: `encode.encode_images` sees none of them again.

    Raises:
        BadParams: a recipe with unknown keys or unusable values.
        EmptyTable: fewer than two training images with a judged text.
        MissingFile, TruncatedFile, CorruptFile: pixels absent, or that do not decode; no towers.
    """
    recipe = HeadsRecipe.of(spec)
    source = Source(texts, images, qrels, pixels, recipe.language)
    before = torch.get_num_threads()
    torch.set_num_threads(recipe.threads)
    try:
        tower = text_tower(str(spec.get("text", DEFAULT)), Device())
        towers = Towers(Pictures(Device()), tower, batch)
        splits = [_features(source, name, towers) for name in ("train", "validation")]
        if len(splits[0].image_ids) < 2:  # noqa: PLR2004
            found = f"{len(splits[0].image_ids)} images with a judged text in split train"
            raise EmptyTable(qrels, found, "collect a larger snapshot, or use kind `conse`")
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed)
            heads = Heads(recipe.dim, tower.width)
            lines = list(fit(heads, splits[0], splits[1], recipe))
    finally:
        torch.set_num_threads(before)
    with aside(curve) as part:
        part.write_text(_COLUMNS + "".join(lines))
    _write_features(towers.seen, features)
    notes = json.dumps({"recipe": asdict(recipe)}, sort_keys=True)
    with aside(weights) as part:
        save_file(heads.state_dict(), part, {"isotope": notes})


def _features(source: Source, name: str, towers: Towers) -> Features:
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        split = read_split(source, name, Cut(SIDE, square), Place(Path(folder)))
        return towers.features(split, shown(source, split.image_ids))


def _write_features(seen: Mapping[str, FloatArray], out: Mapping[str, Path]) -> None:
    ids = pl.Series("id", sorted(seen), pl.String)
    with created(out["vectors"], (len(ids), PICTURE_FEATURES)) as block:
        for row, picture in enumerate(ids):
            block[row] = seen[picture]
    write_ids(ids, out["ids"])
