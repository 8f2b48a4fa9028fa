from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.failures import tabulate_study
from isotope.judge.study import write_study

with logged(snakemake.log[0], snakemake.rule):
    spec = snakemake.params.spec["study"]
    studied = Path(snakemake.output.studied)
    write_study(
        [Path(p) for p in snakemake.input.sheets],
        Path(snakemake.input.study),
        spec["classes"],
        studied,
        spec.get("alternative", ""),
    )
    tabulate_study(studied, snakemake.params.names, spec, studied.parent, snakemake.params.systems)
