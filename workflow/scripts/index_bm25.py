from pathlib import Path

from isotope.index import index_bm25
from isotope.progress import logged

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
