"""Train the heads of a `lit` model on a collection's judged pairs, over features cached once."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from isotope.errors import EmptyTable
from isotope.models_device import Device
from isotope.models_lit import Heads
from isotope.models_offline import SIDE, Pictures, square
from isotope.models_texts import DEFAULT, TextTower, text_tower
from isotope.progress import Progress
from isotope.store import aside
from isotope.train_data import Place, Split, read_split
from isotope.train_heads_loop import Features, fit
from isotope.train_heads_recipe import HeadsRecipe
from isotope.train_pictures import Cut
from isotope.train_rows import Source

_BATCH = 32
_COLUMNS = "epoch,step,loss,mrr10_t2m,mrr10_m2t\n"


def train_heads(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    spec: Mapping[str, object],
    weights: Path,
    curve: Path,
) -> None:
    """Train what `spec` describes on the split `train` and measure it on `validation`.

    `weights` gets safetensors with the recipe in the metadata; `curve` a CSV as
    `isotope.train.train` writes it. Same input, same seed and machine, same bytes.

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
        splits = [_features(source, name, tower) for name in ("train", "validation")]
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
    notes = json.dumps({"recipe": asdict(recipe)}, sort_keys=True)
    with aside(weights) as part:
        save_file(heads.state_dict(), part, {"isotope": notes})


def _features(source: Source, name: str, tower: TextTower) -> Features:
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        split = read_split(source, name, Cut(SIDE, square), Place(Path(folder)))
        return features_of(split, Pictures(Device()), tower)


def features_of(split: Split, pictures: Pictures, sentences: TextTower) -> Features:
    """Run both frozen towers over a split once."""
    fields_of = {t: f for ids, views in split.views for t, f in zip(ids, views, strict=True)}
    strings = [" ".join(filter(None, map(str.strip, f))) for f in fields_of.values()]
    row = {text_id: i for i, text_id in enumerate(fields_of)}
    captions = {c: i for i, c in enumerate(sorted({c for cs in split.captions for c in cs}))}
    progress = Progress("features", len(split) + len(strings) + len(captions))
    seen = [pictures.see_squares(b).features for b in _counted(split.pixels, progress)]
    read = [sentences.read(b) for b in _counted([*strings, *captions], progress)]
    progress.finish()
    return Features(
        list(split.image_ids),
        list(fields_of),
        torch.cat(seen) if seen else torch.zeros(0),
        torch.cat(read) if read else torch.zeros(0),
        [[row[t] for t in ids] for ids, _ in split.views],
        [[len(strings) + captions[c] for c in cs] for cs in split.captions],
    )


def _counted(items: Any, progress: Progress) -> Iterator[Any]:  # noqa: ANN401
    for start in range(0, len(items), _BATCH):
        some = items[start : start + _BATCH]
        yield some
        progress.add(len(some))
