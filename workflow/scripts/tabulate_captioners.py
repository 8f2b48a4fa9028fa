from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.captioners import captioners_table

with logged(snakemake.log[0], snakemake.rule):
    captioners_table(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        {name: list(map(Path, files)) for name, files in snakemake.params.captioners.items()},
        snakemake.params.languages,
        Path(snakemake.output.captioners),
    )
