from pathlib import Path

from isotope.core import sql
from isotope.core.progress import logged
from isotope.tabulate.table import tabulate

with logged(snakemake.log[0], snakemake.rule):
    order = {"systems": snakemake.params.systems}
    for name in snakemake.params.names:
        stem = Path(snakemake.output.tables[0]).with_name(name)
        tabulate(sql.SQL / f"tabulate/{name}.sql", {name: snakemake.input[name]}, order, stem)
