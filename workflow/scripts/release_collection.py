from pathlib import Path

from isotope import release
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    release.build(
        collection=snakemake.wildcards.collection,
        collected=Path(snakemake.input.qrels).parent,
        runs=[Path(p) for p in snakemake.input.runs],
        shards=[Path(p) for p in snakemake.input.pixels],
        out=Path(snakemake.output.release),
        **dict(snakemake.params.items()),
    )
