from pathlib import Path

from isotope.core.manifests import placed
from isotope.core.progress import logged
from isotope.parse.dump import parse_dump

if __name__ == "__main__":
    with logged(snakemake.log[0], snakemake.rule):
        parse_dump(
            placed(Path(snakemake.input.manifest), "dump"),
            out=Path(snakemake.output.sections),
            links=Path(snakemake.output.links),
            rejected=Path(snakemake.output.rejected),
            infoboxes=Path(snakemake.output.infoboxes),
            pictures=Path(snakemake.output.pictures),
            counts=Path(snakemake.output.counts),
            workers=snakemake.threads,
            part=tuple(snakemake.params.part),
        )
