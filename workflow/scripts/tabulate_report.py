from pathlib import Path

from isotope.core.progress import logged
from isotope.report import collection
from isotope.report.examples import Cell

with logged(snakemake.log[0], snakemake.rule):
    collection.build(
        Cell(Path(), snakemake.wildcards.collection, **snakemake.params.cell),
        [Path(p) for p in (*snakemake.input.tables, *snakemake.input.shown)],
        snakemake.params.told,
        Path(snakemake.output.report[0]).parent,
    )
