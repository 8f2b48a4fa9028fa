from pathlib import Path

from isotope.core.progress import logged
from isotope.report import costs as costs_page
from isotope.report.examples import Cell

with logged(snakemake.log[0], snakemake.rule):
    costs_page.build(
        Cell(Path(), snakemake.wildcards.collection, **snakemake.params.cell),
        [Path(p) for p in snakemake.input.ledger],
        Path(snakemake.output.page),
    )
