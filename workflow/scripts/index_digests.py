from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import Reads, index_digests

told = snakemake.params
with logged(snakemake.log[0], snakemake.rule):
    index_digests(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        Reads(told.language, told.texts_in, told.spec.get("fields")),
        Path(snakemake.output.digests),
        settings=told.settings,
        splits=told.splits,
        earlier=[Path(p) for p in snakemake.input.earlier],
    )
