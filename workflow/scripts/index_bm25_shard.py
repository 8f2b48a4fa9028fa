from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import Reads, index_bm25_shard

told = snakemake.params
with logged(snakemake.log[0], snakemake.rule):
    index_bm25_shard(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        Reads(told.language, told.texts_in, told.spec.get("fields")),
        Path(snakemake.input.digests),
        [Path(p) for p in snakemake.output.folders],
        told.splits,
        threads=snakemake.threads,
        part=tuple(told.part),
    )
