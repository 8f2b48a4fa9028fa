from pathlib import Path

from isotope.core.progress import logged
from isotope.train.contrastive import train

with logged(snakemake.log[0], snakemake.rule):
    train(
        texts=Path(snakemake.input.texts),
        images=Path(snakemake.input.images),
        qrels=Path(snakemake.input.qrels),
        pixels=[Path(p) for p in snakemake.input.pixels],
        spec=snakemake.params.spec,
        seed=snakemake.params.spec["train"].get("seed", 0),
        weights=Path(snakemake.output.weights),
        curve=Path(snakemake.output.curve),
        scratch=Path(snakemake.params.scratch),
        start=next(map(Path, snakemake.input.start), None),
    )
