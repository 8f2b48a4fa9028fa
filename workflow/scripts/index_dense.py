from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import index_dense

with logged(snakemake.log[0], snakemake.rule):
    index_dense(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        {side: list(map(Path, snakemake.input[f"{side}_ids"])) for side in ("texts", "images")},
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
    )
