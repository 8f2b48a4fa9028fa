from pathlib import Path

from isotope import report_costs
from isotope.progress import logged
from isotope.report_examples import Cell

with logged(snakemake.log[0], snakemake.rule):
    report_costs.build(
        Cell(Path(), snakemake.wildcards.collection, **snakemake.params.cell),
        [Path(p) for p in snakemake.input.ledger],
        Path(snakemake.output.page),
    )
