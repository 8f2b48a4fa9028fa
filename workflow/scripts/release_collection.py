from pathlib import Path

from isotope.core.progress import logged
from isotope.release import collection

with logged(snakemake.log[0], snakemake.rule):
    collection.build(
        collection=snakemake.wildcards.collection,
        collected=Path(snakemake.input.qrels).parent,
        runs=[Path(p) for p in snakemake.input.runs],
        shards=[Path(p) for p in snakemake.input.pixels],
        out=Path(snakemake.output.release),
        **dict(snakemake.params.items()),
    )
