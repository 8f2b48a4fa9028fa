from pathlib import Path

from isotope.core.progress import logged
from isotope.tabulate.since import write_newest

with logged(snakemake.log[0], snakemake.rule):
    write_newest(
        {t: Path(snakemake.input[t]) for t in ("texts", "images", "qrels")},
        Path(snakemake.input.scores),
        Path(snakemake.input.headline),
        next(map(Path, snakemake.input.survival), None),
        Path(snakemake.output.metrics).parent,
    )
