from pathlib import Path

from isotope.encode import encode_texts
from isotope.progress import logged

with logged(snakemake.log[0], snakemake.rule):
    encode_texts(
        texts=Path(snakemake.input.texts),
        model=snakemake.params.model,
        weights=next(map(Path, snakemake.input.get("weights", [])), None),
        shard=int(snakemake.wildcards.shard),
        shards=snakemake.params.shards,
        batch=snakemake.params.batch,
        vectors=Path(snakemake.output.vectors),
        ids=Path(snakemake.output.ids),
    )
