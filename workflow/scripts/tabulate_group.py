from pathlib import Path

from isotope.core import sql
from isotope.core.progress import logged
from isotope.tabulate.table import tabulate

with logged(snakemake.log[0], snakemake.rule):
    tabulate(
        sql.SQL / "tabulate/tables/group.sql",
        {"scores": list(snakemake.input.scores)},
        dict(snakemake.params.items()),
        Path(snakemake.output.tables[0]).with_suffix(""),
    )
