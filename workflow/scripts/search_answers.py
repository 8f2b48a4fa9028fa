from pathlib import Path

from isotope.core.progress import logged
from isotope.search.answers import search_answers

with logged(snakemake.log[0], snakemake.rule):
    search_answers(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        [Path(p) for p in snakemake.input.answers],
        [Path(p) for p in snakemake.input.indexes],
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        rejected=Path(snakemake.output.rejected),
        answered=Path(snakemake.output.answered),
        depth=snakemake.params.depth,
        threads=snakemake.threads,
    )
