from pathlib import Path

from isotope.crawl_pictures import list_pictures
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    list_pictures(
        Path(snakemake.input.manifest),
        snakemake.params.spec,
        snakemake.params.shards,
        Path(snakemake.output.urls),
    )
