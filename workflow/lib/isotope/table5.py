"""The paper's Table 5: what training and fusion add to systems as they come."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pyarrow as pa

from isotope import sql, store
from isotope.catalog_views import TUNING
from isotope.tabulate import tabulate

Spec = Mapping[str, Any]
SYSTEMS = pa.schema(
    [
        pa.field("place", pa.int32()),
        *(pa.field(name, pa.string()) for name in ("system", "stage", "made_of", "parameters")),
    ]
)
_TUNE = {"text": "text tower", "vision": "vision tower", "both": "both towers"}


def table5(
    scores: Path,
    trials: Sequence[Path],
    *,
    systems: Mapping[str, Spec],
    models: Mapping[str, Spec],
    out: Path,
) -> None:
    """Write `out`.{csv,md,tex}: every measure of `systems` (params, by name), grouped by stage.

    `scores` is tables.SCORES; `trials` are the grids of tuned fusions, whose chosen parameters
    stand in the table, one choice for each setting and task.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
        KeyError: a dense system whose model is not among `models`.
    """
    with TemporaryDirectory() as folder:
        told, tried = Path(folder) / "systems.parquet", Path(folder) / "trials.parquet"
        store.write_rows(list(described(systems, models)), told, SYSTEMS)
        rows = [pl.read_csv(path, schema_overrides=_TYPES) for path in trials]
        empty = pl.DataFrame(schema=_TYPES)
        store.write(pl.concat([empty, *rows]).to_arrow(), tried, TUNING)
        relations: Mapping[str, sql.Files] = {"scores": scores, "systems": told, "trials": tried}
        tabulate(sql.SQL / "tabulate/table5.sql", relations, {}, out)


_NAMES = {"string": pl.String(), "double": pl.Float64(), "bool": pl.Boolean()}
_TYPES = {field.name: _NAMES[str(field.type)] for field in TUNING}


def described(systems: Mapping[str, Spec], models: Mapping[str, Spec]) -> Iterator[dict[str, Any]]:
    """Yield a row of SYSTEMS for each system, in their order.

    A model trained from random weights is `trained`; one that goes on from pretrained weights, or
    learns heads on frozen towers, `fine-tuned`; any other `zero-shot`, BM25 and random included.
    """
    for place, (name, spec) in enumerate(systems.items()):
        stage, made_of = _made(spec, models)
        fixed = {k: spec[k] for k in ("k", "weights") if k in spec and "of" in spec}
        row = {"place": place, "system": name, "stage": stage, "made_of": made_of}
        yield {**row, "parameters": json.dumps(fixed) if fixed else ""}


def _made(spec: Spec, models: Mapping[str, Spec]) -> tuple[str, str]:
    if "of" in spec:
        return "fused", f"{spec['kind'].upper()} of {' and '.join(spec['of'])}"
    if spec["kind"] != "dense":
        return "zero-shot", ""
    model = models[spec["model"]]
    model = models[model.get("weights_of", spec["model"])]
    if model["kind"] == "lit":
        return "fine-tuned", "heads on frozen towers"
    if model["kind"] != "trained":
        return "zero-shot", ""
    stage = "trained" if "config" in model and "from" not in model else "fine-tuned"
    return stage, _TUNE[model["train"].get("tune", "both")]
