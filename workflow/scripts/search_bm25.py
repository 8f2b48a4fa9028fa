from pathlib import Path

from isotope.core.progress import logged
from isotope.search.systems import search_bm25

with logged(snakemake.log[0], snakemake.rule):
    search_bm25(
        {k: Path(snakemake.input[k]) for k in ("texts", "images", "qrels")},
        [Path(p) for p in snakemake.input.indexes],
        [Path(p) for p in snakemake.output.runs],
        snakemake.params.spec,
        language=snakemake.params.language,
        texts_in=snakemake.params.texts_in,
        depth=snakemake.params.depth,
        threads=snakemake.threads,
    )
