from pathlib import Path

from isotope.core.progress import logged
from isotope.score.score import score_collection

with logged(snakemake.log[0], snakemake.rule):
    score_collection(
        [Path(p) for p in snakemake.input.runs],
        Path(snakemake.input.qrels),
        collection=snakemake.wildcards.collection,
        measures=snakemake.params.measures,
        out=Path(snakemake.output.scores),
    )
