from pathlib import Path

from isotope import report_overview
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    report_overview.build(
        Path(), snakemake.params.setting, snakemake.params.split, Path(snakemake.output.page)
    )
