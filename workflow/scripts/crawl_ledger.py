from pathlib import Path

from isotope.progress import logged
from isotope.sql import query
from isotope.tables import LEDGER

with logged(snakemake.log[0], snakemake.rule):
    query(
        Path(snakemake.input.sql[0]),
        {"ledgers": list(snakemake.input.ledgers)},
        {},
        out=Path(snakemake.output.ledger),
        schema=LEDGER,
    )
