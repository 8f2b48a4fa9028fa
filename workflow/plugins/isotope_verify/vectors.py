"""Vectors of sampled items, encoded again by the model itself.

The sampled rows go through the code that encoded all of them, and the component that differs most
is compared. A batch of other items, or another device, changes the last bits.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from isotope.core.grid import SIDES, id_column
from isotope.core.vectors import FloatArray, Vectors, load_vectors
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Built, Subject

if TYPE_CHECKING:
    from isotope.encode.cache import Encoding
    from isotope.plan.plan import Plan

# Of components of vectors of length 1; half precision keeps eleven bits.
TOLERANCES = {"float32": 1e-4, "float16": 1e-3}
# Items a model and side, unless all are asked for: a model encodes a few a second without a GPU.
_MOST = 64
_NOT_HERE = "the run's data are not here"


class _Encoded(NamedTuple):
    """The vectors of one side by one model: ids, the blocks of all shards, and what made them."""

    model: str
    side: str
    ids: pl.Series
    blocks: list[FloatArray]
    encoding: "Encoding"


def check_vectors(subject: Subject, sample: ItemSample) -> list[Check]:
    """Encode a sample of the texts and images of every model again.

    A release has no vectors, and the data of a run may be gone: both are counted as not compared,
    as is a model whose vectors are no blocks of one vector an item.

    Raises:
        MissingFile, CorruptFile, UnknownModel: a model or a picture that can't be read.
    """
    check = Check("vectors", "the models", "vectors", TOLERANCES["float32"])
    if not isinstance(subject, Built):
        check.skip(f"a release has no vectors, and {_NOT_HERE}")
        return [check]
    # A release needs neither Snakemake nor a model.
    from isotope.plan.plan import Plan  # noqa: PLC0415

    plan = Plan(subject.params, {})
    precision = plan.params.encode.precision
    check.tolerance = TOLERANCES[precision]
    for encoded in _encoded(check, subject, plan):
        check.total += len(encoded.ids)
        chosen = sample.choose(encoded.ids, f"{encoded.model} {encoded.side}")
        _compare(check, subject, plan, encoded, chosen if sample.share >= 1 else chosen[:_MOST])
    return [check]


def _encoded(check: Check, built: Built, plan: "Plan") -> Iterator[_Encoded]:
    if not built.is_known:
        check.skip(built.unknown)
        return
    texts = plan.systems.models_of(plan.systems.used)
    sides = {"texts": texts, "images": sorted({plan.models[name].images.name for name in texts})}
    for side in SIDES:
        for model in sides[side]:
            encoder = plan.models[model]
            shards = (encoder.vectors(built.name, side, s) for s in ("npy", "ids.parquet"))
            paths, ids = ([built.folder / path for path in files] for files in shards)
            kind = encoder.kind
            if not kind.is_encoder:
                reason = f"a model of kind {kind.kind_name()} encodes no items alone"
                check.skip(f"{side} by {model}: {reason}")
            elif not all(path.is_file() for path in paths):
                check.skip(f"{side} by {model}: {_NOT_HERE} ({paths[0].parent})")
            else:
                yield _encoded_side(built, plan, model, side, load_vectors(paths, ids))


def _encoded_side(built: Built, plan: "Plan", model: str, side: str, loaded: Vectors) -> _Encoded:
    from isotope.encode.cache import Encoding  # noqa: PLC0415 (as above)

    weights = [built.folder / path for path in plan.models[model].weights(built.name)]
    encode, entry = plan.params.encode, plan.models[model].kind
    encoding = Encoding(entry, next(iter(weights), None), encode.batch, encode.precision)
    return _Encoded(model, side, loaded.ids, loaded.blocks, encoding)


def _compare(
    check: Check, built: Built, plan: "Plan", encoded: _Encoded, chosen: list[str]
) -> None:
    rows = {ident: row for row, ident in enumerate(encoded.ids)}
    published = np.concatenate([_row(encoded.blocks, rows[ident]) for ident in chosen])
    with TemporaryDirectory(prefix="isotope-verify-") as folder:
        again, ids = _again(built, plan, encoded, chosen, Path(folder))
        recomputed = again[[ids.index(ident) for ident in chosen]].astype(np.float64)
    for ident, first, second in zip(chosen, published.astype(np.float64), recomputed, strict=True):
        # A component that is no number is as far off as can be.
        worst = int(np.argmax(np.nan_to_num(np.abs(first - second), nan=np.inf)))
        cell = f"{encoded.model} {encoded.side} {ident} component {worst}"
        check.number(cell, float(first[worst]), float(second[worst]))


def _row(blocks: list[FloatArray], row: int) -> FloatArray:
    """Return a row of the blocks' concatenation, [1, dim]."""
    for block in blocks:
        if row < len(block):
            return block[row : row + 1]
        row -= len(block)
    raise IndexError(row)


def _again(
    built: Built, plan: "Plan", encoded: _Encoded, chosen: list[str], folder: Path
) -> tuple[FloatArray, list[str]]:
    """Encode the chosen items; return their vectors and ids."""
    from isotope.encode.shard import (  # noqa: PLC0415 (as above)
        ImageSources,
        ShardFiles,
        encode_image_shard,
        encode_texts,
    )

    model, about = plan.models[encoded.model], plan.collections[built.name]
    is_text = encoded.side == "texts"
    table = built.table("texts") if is_text else built.folder / model.image_table(built.name)
    some, key = folder / "some.parquet", id_column(encoded.side)
    inside = pl.col(key).is_in(pl.Series(chosen).implode())
    pl.scan_parquet(table, glob=False).filter(inside).sink_parquet(some)
    files = ShardFiles(folder / "vectors.npy", folder / "ids.parquet")
    if is_text:
        encode_texts(some, encoded.encoding, files, model.key("fields"))
    else:
        pixels = [built.folder / path for path in about.pixels]
        sources = ImageSources(pixels, about.captions)
        encode_image_shard(some, sources, encoded.encoding, files)
    vectors = load_vectors([files.vectors], [files.ids])
    return np.array(vectors.blocks[0]), vectors.ids.to_list()
