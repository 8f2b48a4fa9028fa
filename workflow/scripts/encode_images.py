from pathlib import Path

from isotope.encode import encode_images
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    encode_images(
        images=Path(snakemake.input.images),
        pixels=[Path(p) for p in snakemake.input.pixels],
        model=snakemake.params.model,
        weights=next(map(Path, snakemake.input.get("weights", [])), None),
        shard=int(snakemake.wildcards.shard),
        shards=snakemake.params.shards,
        batch=snakemake.params.batch,
        vectors=Path(snakemake.output.vectors),
        ids=Path(snakemake.output.ids),
    )
