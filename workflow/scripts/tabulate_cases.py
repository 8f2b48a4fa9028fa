from pathlib import Path

from isotope import report_case_pages
from isotope.progress import logged
from isotope.report_examples import Cell

with logged(snakemake.log[0], snakemake.rule):
    report_case_pages.build(
        Cell(Path(), snakemake.wildcards.collection, **snakemake.params.cell),
        snakemake.params.asked,
        [Path(snakemake.input.overlap)],
        page=Path(snakemake.output.page),
        folder=Path(snakemake.output.cases),
    )
