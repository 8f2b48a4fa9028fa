from pathlib import Path

from isotope.core.progress import logged
from isotope.explain.page import Sources, failures_page

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
