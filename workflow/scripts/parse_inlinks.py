from pathlib import Path

from isotope.core.progress import logged
from isotope.core.sql import query
from isotope.parse.tables import INLINKS

with logged(snakemake.log[0], snakemake.rule):
    query(
        Path(snakemake.input.sql[0]),
        {t: snakemake.input[t] for t in ("sections", "links", "rejected")},
        {},
        out=Path(snakemake.output.inlinks),
        schema=INLINKS,
    )
