from pathlib import Path

from isotope.core.progress import logged
from isotope.crawl.pictures import crawl_pictures

with logged(snakemake.log[0], snakemake.rule):
    crawl_pictures(
        Path(snakemake.input.manifest),
        Path(snakemake.input.urls),
        snakemake.params.spec,
        int(snakemake.wildcards.shard),
        {k: Path(p) for k, p in snakemake.output.items()},
    )
