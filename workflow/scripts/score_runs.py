from pathlib import Path

from isotope.progress import logged
from isotope.score import score_collection
from isotope.significance import significance_table

with logged(snakemake.log[0], snakemake.rule):
    score_collection(
        [Path(p) for p in snakemake.input.runs],
        Path(snakemake.input.qrels),
        collection=snakemake.wildcards.collection,
        measures=snakemake.params.measures,
        out=Path(snakemake.output.scores),
    )
    significance_table(Path(snakemake.output.scores), Path(snakemake.output.significance))
