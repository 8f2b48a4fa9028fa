from pathlib import Path

from isotope.failures_page import Sources, failures_page
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    failures_page(
        snakemake.wildcards.collection,
        Sources(
            texts=Path(snakemake.input.texts),
            images=Path(snakemake.input.images),
            failures=Path(snakemake.input.failures),
            known=Path(snakemake.input.known),
            pixels=[Path(p) for p in snakemake.input.pixels],
        ),
        [Path(p) for p in snakemake.input.tables],
        shown=snakemake.params.spec["shown"],
        out=Path(snakemake.output.page),
    )
