from pathlib import Path

from isotope.progress import logged
from isotope.strata import Resampling
from isotope.temporal import tabulate_temporal

with logged(snakemake.log[0], snakemake.rule):
    reads = ("before_qrels", "after_qrels", "changes", "identities", "scores")
    tabulate_temporal(
        [Path(p) for p in snakemake.input.runs],
        {name: Path(snakemake.input[name]) for name in reads},
        {k: snakemake.params[k] for k in ("measures", "setting", "split")},
        how=Resampling(*(snakemake.params[k] for k in ("samples", "seed", "level"))),
        drops=Path(snakemake.output.drops),
        figure=Path(snakemake.output.figure),
    )
