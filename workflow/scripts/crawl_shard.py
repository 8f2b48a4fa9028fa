from pathlib import Path

from isotope.crawl import crawl_shard
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    crawl_shard(
        Path(snakemake.input.urls),
        snakemake.params.spec,
        int(snakemake.wildcards.shard),
        {k: Path(p) for k, p in snakemake.output.items()},
        Path(snakemake.params.scratch),
    )
