from pathlib import Path

from isotope import report
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    report.build(
        collection=snakemake.wildcards.collection,
        root=Path(),
        out=Path(snakemake.output.report),
        **dict(snakemake.params.items()),
    )
