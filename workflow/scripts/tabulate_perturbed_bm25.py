from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.ranks import Queries, perturbed_bm25

with logged(snakemake.log[0], snakemake.rule):
    perturbed_bm25(
        Queries(*(Path(snakemake.input[name]) for name in ("perturbed", "qrels", "asked"))),
        Path(snakemake.input.index),
        snakemake.params.spec,
        Path(snakemake.output.ranks),
        threads=snakemake.threads,
        language=snakemake.params.language,
    )
