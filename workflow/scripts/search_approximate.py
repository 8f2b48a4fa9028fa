from pathlib import Path

from isotope.core.progress import logged
from isotope.search.approximate import search_approximate

with logged(snakemake.log[0], snakemake.rule):
    search_approximate(
        Path(snakemake.input.qrels),
        {
            k: list(map(Path, snakemake.input[k]))
            for k in ("texts", "images", "texts_ids", "images_ids")
        },
        [Path(p) for p in snakemake.input.indexes],
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        labels=dict(snakemake.wildcards.items()),
        table=Path(snakemake.output.recall),
        depth=snakemake.params.depth,
        memory_mb=snakemake.params.memory_mb,
    )
