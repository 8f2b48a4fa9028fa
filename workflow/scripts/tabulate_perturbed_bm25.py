from pathlib import Path

from isotope.perturb_ranks import Asked, perturbed_bm25
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    perturbed_bm25(
        Asked(*(Path(snakemake.input[name]) for name in ("perturbed", "qrels", "asked"))),
        Path(snakemake.input.index),
        snakemake.params.spec,
        Path(snakemake.output.ranks),
        threads=snakemake.threads,
        language=snakemake.params.language,
    )
