from pathlib import Path

from isotope.core.progress import logged
from isotope.project.match import ask

with logged(snakemake.log[0], snakemake.rule):
    ask(
        {k: Path(snakemake.input[k]) for k in ("associations", "members")},
        Path(snakemake.output.queries),
        snakemake.params.language,
    )
