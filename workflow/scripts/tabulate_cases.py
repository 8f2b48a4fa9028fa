from pathlib import Path

from isotope.core.progress import logged
from isotope.report import cases
from isotope.report.examples import Cell

with logged(snakemake.log[0], snakemake.rule):
    cases.build(
        Cell(Path(), snakemake.wildcards.collection, **snakemake.params.cell),
        snakemake.params.asked,
        [Path(snakemake.input.overlap)],
        page=Path(snakemake.output.page),
        folder=Path(snakemake.output.cases),
    )
