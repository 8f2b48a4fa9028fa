from pathlib import Path

from isotope.core.progress import logged
from isotope.index.bm25 import index_dense
from isotope.index.dense import index_approximate

with logged(snakemake.log[0], snakemake.rule):
    folders = [Path(p) for p in snakemake.output.folders]
    files = {
        k: list(map(Path, snakemake.input[k]))
        for k in ("texts", "images", "texts_ids", "images_ids")
    }
    index_dense(
        dict(zip(("texts", "images"), map(Path, snakemake.input.collected), strict=True)),
        {side: files[f"{side}_ids"] for side in ("texts", "images")},
        folders,
        snakemake.params.splits,
    )
    index_approximate(files, folders, snakemake.params.spec)
