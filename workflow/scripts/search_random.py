from pathlib import Path

from isotope.core.progress import logged
from isotope.search.systems import search_random

with logged(snakemake.log[0], snakemake.rule):
    search_random(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        [Path(p) for p in snakemake.output.runs],
        depth=snakemake.params.depth,
        seed=snakemake.params.spec.get("seed", 0),
    )
