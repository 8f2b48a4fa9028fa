from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import index_bm25

with logged(snakemake.log[0], snakemake.rule):
    index_bm25(
        {side: Path(snakemake.input[side]) for side in ("texts", "images")},
        [Path(p) for p in snakemake.output.folders],
        snakemake.params.splits,
        language=snakemake.params.language,
        texts_in=snakemake.params.texts_in,
        fields=snakemake.params.spec.get("fields"),
        threads=snakemake.threads,
        earlier=[Path(p) for p in snakemake.input.earlier],
    )
