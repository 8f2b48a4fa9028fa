from pathlib import Path

from isotope.core.progress import logged
from isotope.core.sql import query
from isotope.crawl.tables import URLS

with logged(snakemake.log[0], snakemake.rule):
    query(
        Path(snakemake.input.sql[0]),
        {"associations": snakemake.input.listed},
        {"shards": snakemake.params.shards},
        out=Path(snakemake.output.urls),
        schema=URLS,
    )
