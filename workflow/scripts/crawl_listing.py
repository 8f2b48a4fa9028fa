from pathlib import Path

from isotope.core.progress import logged
from isotope.crawl.pictures import list_pictures

with logged(snakemake.log[0], snakemake.rule):
    list_pictures(
        Path(snakemake.input.manifest),
        snakemake.params.spec,
        snakemake.params.shards,
        Path(snakemake.output.urls),
    )
