from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.strata import Resampling, Thresholds, intervals_table

with logged(snakemake.log[0], snakemake.rule):
    collected = {t: snakemake.input[t] for t in ("texts", "images", "qrels")}
    intervals_table(
        Path(snakemake.input.scores),
        {k: Path(v) for k, v in {**snakemake.params.facts, **collected}.items()},
        language=snakemake.params.language,
        how=Resampling(*(snakemake.params[k] for k in Resampling._fields)),
        out=Path(snakemake.output.intervals),
        views=Thresholds(**snakemake.params.views),
    )
