from pathlib import Path

from isotope.core.manifests import placed_if_any
from isotope.core.progress import logged
from isotope.parse.associations import associate

with logged(snakemake.log[0], snakemake.rule):
    associate(
        {n: Path(snakemake.input[n]) for n in ("pictures", "sections")},
        {n: [Path(p) for p in snakemake.input[n]] for n in ("wit", "wit_rejected")},
        placed_if_any(Path(snakemake.input.manifest), "files"),
        snakemake.params.splits,
        {n: Path(snakemake.output[n]) for n in ("associations", "rejected")},
    )
