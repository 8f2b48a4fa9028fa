from pathlib import Path

from isotope.mistakes import write_mistakes
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    write_mistakes(
        [Path(p) for p in snakemake.input.runs],
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        snakemake.params.spec,
        given=Path(snakemake.output.given),
        sheet=Path(snakemake.output.sheet),
    )
