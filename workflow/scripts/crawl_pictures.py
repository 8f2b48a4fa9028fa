from pathlib import Path

from isotope.crawl_pictures import crawl_pictures
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    crawl_pictures(
        Path(snakemake.input.manifest),
        Path(snakemake.input.urls),
        snakemake.params.spec,
        int(snakemake.wildcards.shard),
        {k: Path(p) for k, p in snakemake.output.items()},
    )
