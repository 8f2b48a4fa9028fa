from pathlib import Path

from isotope.crawl_ledger import gather_ledgers
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    gather_ledgers(
        Path(snakemake.input.urls),
        [Path(p) for p in snakemake.input.ledgers],
        Path(snakemake.output.ledger),
        snakemake.params.spec,
    )
