from pathlib import Path

from isotope.core.progress import logged
from isotope.search.answers import index_answers

with logged(snakemake.log[0], snakemake.rule):
    index_answers(
        Path(snakemake.input.texts),
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
        tokenizer=snakemake.params.tokenizer,
        threads=snakemake.threads,
    )
