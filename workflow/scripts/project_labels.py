from pathlib import Path

from isotope.core.progress import logged
from isotope.project.labels import project_labels

with logged(snakemake.log[0], snakemake.rule):
    project_labels(
        Path(snakemake.input.manifest),
        {k: Path(snakemake.input[k]) for k in ("sections", "left_out")},
        snakemake.params.spec,
        Path(snakemake.output.projection),
        threads=snakemake.threads,
    )
