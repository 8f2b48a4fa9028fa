from pathlib import Path

from isotope.core.progress import logged
from isotope.judge.scores import score_judged

with logged(snakemake.log[0], snakemake.rule):
    score_judged(
        {
            "pool": Path(snakemake.input.pool),
            "qrels": Path(snakemake.input.qrels),
            "sheets": [Path(p) for p in snakemake.input.sheets],
            "runs": [Path(p) for p in snakemake.input.runs],
        },
        {k: Path(p) for k, p in snakemake.output.items()},
        collection=snakemake.wildcards.collection,
        measures=snakemake.params.measures,
    )
