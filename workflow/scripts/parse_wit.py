from pathlib import Path

from isotope.core.manifests import placed
from isotope.core.progress import logged
from isotope.parse.wit import parse_wit

with logged(snakemake.log[0], snakemake.rule):
    parse_wit(
        placed(Path(snakemake.input.manifest), "wit"),
        out=Path(snakemake.output.associations),
        rejected=Path(snakemake.output.rejected),
        part=tuple(snakemake.params.part),
    )
