from pathlib import Path

from isotope.collect.build import collect_texts
from isotope.core.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    collect_texts(
        {k: snakemake.input[k] for k in snakemake.params.relations},
        snakemake.params.spec,
        tuple(snakemake.params.part),
        {k: Path(p) for k, p in snakemake.output.items()},
    )
