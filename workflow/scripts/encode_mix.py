from pathlib import Path

from isotope.core.progress import logged
from isotope.models.mix import FILES
from isotope.train.mix import learn_mix

with logged(snakemake.log[0], snakemake.rule):
    learn_mix(
        snakemake.params.spec,
        {side: [Path(p) for p in snakemake.input[side]] for side in FILES},
        Path(snakemake.input.qrels),
        weights=Path(snakemake.output.weights),
        curve=Path(snakemake.output.curve),
    )
