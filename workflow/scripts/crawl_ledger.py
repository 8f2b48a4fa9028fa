from pathlib import Path

from isotope.core.progress import logged
from isotope.crawl.ledger import gather_ledgers

with logged(snakemake.log[0], snakemake.rule):
    gather_ledgers(
        Path(snakemake.input.urls),
        [Path(p) for p in snakemake.input.ledgers],
        Path(snakemake.output.ledger),
        snakemake.params.spec,
    )
