"""The paper's Table 5: what training and fusion add to systems as they come."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.params.sections import model_kind
from isotope.tabulate.catalog import TUNING
from isotope.tabulate.table import tabulate

Spec = Mapping[str, Any]
SYSTEMS = pa.schema(
    [
        pa.field("place", pa.int32()),
        *(pa.field(name, pa.string()) for name in ("system", "stage", "made_of", "parameters")),
    ]
)
COMPARISONS = pa.schema([pa.field("comparison", pa.int32()), pa.field("system", pa.string())])
_TUNE = {"text": "text tower", "vision": "vision tower", "both": "both towers"}


def table5(relations: Mapping[str, sql.Files], parameters: Mapping[str, Any], out: Path) -> None:
    """Write `out`.{csv,md,tex}: every measure of the systems, grouped by stage.

    `relations` are scores (tables.SCORES), significance (tables.SIGNIFICANCE, paired t-tests), and
    trials, the grids of tuned fusions: their chosen parameters stand in the table, one choice for
    each setting and task. `parameters` are system_entries and models (entries of the params by
    name), alpha and comparisons. Each of the comparisons is a list of systems. A letter names a
    system of the same list that is beaten with p below alpha after Bonferroni's correction for the
    list's s(s-1)/2 pairs; with the paper's lists of four that is its "alpha = 6" (Yang et al.,
    SIGIR 2023, Table 5). Rows have the letters a, b, c, ... in the order of the table.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
        KeyError: a dense system whose model is not among the models.
    """
    with TemporaryDirectory() as folder:
        systems, trials, lists = (Path(folder) / f"{n}.parquet" for n in ("systems", "tried", "of"))
        entries = described(parameters["system_entries"], parameters["models"])
        store.write_rows(list(entries), systems, SYSTEMS)
        store.write_rows(list(_listed(parameters["comparisons"])), lists, COMPARISONS)
        grids = cast("Sequence[str]", relations["trials"])
        rows = [pl.read_csv(path, schema_overrides=_TYPES) for path in grids]
        empty = pl.DataFrame(schema=_TYPES)
        store.write(pl.concat([empty, *rows]).to_arrow(), trials, TUNING)
        files = {**relations, "systems": systems, "trials": trials, "comparisons": lists}
        alpha = {"alpha": parameters["alpha"]}
        tabulate(sql.SQL / "tabulate/tables/table5.sql", files, alpha, out)


def _listed(comparisons: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    for number, names in enumerate(comparisons):
        yield from ({"comparison": number, "system": name} for name in names)


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
    if model_kind(model).has_features:
        return "fine-tuned", "heads on frozen towers"
    if not model_kind(model).learned:
        return "zero-shot", ""
    stage = "trained" if "config" in model and "from" not in model else "fine-tuned"
    return stage, _TUNE[model["train"].get("tune", "both")]
