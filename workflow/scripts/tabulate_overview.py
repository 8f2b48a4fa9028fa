from pathlib import Path

from isotope.core.progress import logged
from isotope.report import overview

with logged(snakemake.log[0], snakemake.rule):
    tables = [Path(p) for p in snakemake.input.groups]
    groups = {p.parent.name: [t for t in tables if t.parent == p.parent] for p in tables}
    overview.build(
        Path(),
        snakemake.params.setting,
        snakemake.params.split,
        Path(snakemake.output.page),
        groups,
    )
