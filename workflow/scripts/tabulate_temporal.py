from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.strata import Resampling
from isotope.tabulate.temporal import tabulate_temporal

with logged(snakemake.log[0], snakemake.rule):
    both = [f"{when}_{t}" for when in ("before", "after") for t in ("qrels", "scores")]
    tabulate_temporal(
        [Path(p) for p in snakemake.input.runs],
        {name: Path(snakemake.input[name]) for name in (*both, "changes", "identities")},
        {k: snakemake.params[k] for k in ("measures", "setting", "split", "systems")},
        how=Resampling(*(snakemake.params[k] for k in ("samples", "seed", "level"))),
        drops=Path(snakemake.output.drops),
        figure=Path(snakemake.output.figure),
    )
