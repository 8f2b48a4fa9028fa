from pathlib import Path

from isotope.core.progress import logged
from isotope.judge.mistakes import write_mistakes

with logged(snakemake.log[0], snakemake.rule):
    write_mistakes(
        [Path(p) for p in snakemake.input.runs],
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        snakemake.params.spec,
        sample=Path(snakemake.output.sample),
        sheet=Path(snakemake.output.sheet),
    )
