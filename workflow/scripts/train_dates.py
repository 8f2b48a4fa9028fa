from pathlib import Path

from isotope.core.progress import logged
from isotope.train.dates import train_dates

with logged(snakemake.log[0], snakemake.rule):
    train_dates(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        snakemake.params.spec,
        fields=list(snakemake.params.fields),
        weights=Path(snakemake.output.weights),
    )
