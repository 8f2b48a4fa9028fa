from pathlib import Path

from isotope.core.progress import logged
from isotope.crawl.shard import crawl_shard

with logged(snakemake.log[0], snakemake.rule):
    crawl_shard(
        Path(snakemake.input.urls),
        snakemake.params.spec,
        int(snakemake.wildcards.shard),
        {k: Path(p) for k, p in snakemake.output.items()},
        Path(snakemake.params.scratch),
    )
