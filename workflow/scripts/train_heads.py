from pathlib import Path

from isotope.core.progress import logged
from isotope.train.heads import train_heads

with logged(snakemake.log[0], snakemake.rule):
    train_heads(
        texts=Path(snakemake.input.texts),
        images=Path(snakemake.input.images),
        qrels=Path(snakemake.input.qrels),
        pixels=[Path(p) for p in snakemake.input.pixels],
        spec=snakemake.params.spec,
        batch=snakemake.params.batch,
        weights=Path(snakemake.output.weights),
        curve=Path(snakemake.output.curve),
        features={
            "vectors": Path(snakemake.output.features),
            "ids": Path(snakemake.output.features_ids),
        },
    )
