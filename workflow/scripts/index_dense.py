from pathlib import Path

from isotope.index import index_dense
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    index_dense(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        {side: list(map(Path, snakemake.input[f"{side}_ids"])) for side in ("texts", "images")},
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
    )
