from pathlib import Path

from isotope.collect.build import collect
from isotope.core.progress import logged
from isotope.core.sql import SQL

with logged(snakemake.log[0], snakemake.rule):
    collect(
        SQL / "collect" / snakemake.params.spec["kind"],
        {k: snakemake.input[k] for k in snakemake.params.relations},
        snakemake.params.spec,
        Path(snakemake.output.texts).parent,
    )
