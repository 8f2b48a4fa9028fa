from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.exhibits import tabulate_statistics

with logged(snakemake.log[0], snakemake.rule):
    tabulate_statistics(
        {t: Path(snakemake.input[t]) for t in ("tokens", "intervals", "subsets", "tops")},
        tables=Path(snakemake.output.tables[0]).parent,
        figures=Path(snakemake.output.figure).parent,
        params=dict(snakemake.params.items()),
    )
