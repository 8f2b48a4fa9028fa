from pathlib import Path

from isotope.collect import collect
from isotope.progress import logged
from isotope.sql import SQL

with logged(snakemake.log[0], snakemake.rule):
    collect(
        SQL / "collect" / snakemake.params.spec["kind"],
        {k: snakemake.input[k] for k in snakemake.params.relations},
        snakemake.params.spec,
        Path(snakemake.output.texts).parent,
    )
