from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.ranks import Queries, Tower, perturbed_dense

with logged(snakemake.log[0], snakemake.rule):
    params = snakemake.params
    weights = next(map(Path, snakemake.input.weights), None)
    perturbed_dense(
        Queries(*(Path(snakemake.input[name]) for name in ("perturbed", "qrels", "asked"))),
        {k: list(map(Path, snakemake.input[k])) for k in params.encoded},
        Path(snakemake.input.index),
        Tower(params.model, weights, params.fields, params.batch),
        Path(snakemake.output.ranks),
    )
