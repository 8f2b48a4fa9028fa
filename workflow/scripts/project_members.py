from pathlib import Path

from isotope.core.progress import logged
from isotope.core.sql import query
from isotope.project.tables import MEMBERS

with logged(snakemake.log[0], snakemake.rule):
    query(
        Path(snakemake.input.sql[0]),
        {"associations": snakemake.input.associations},
        {"language": snakemake.params.language},
        out=Path(snakemake.output.members),
        schema=MEMBERS,
    )
