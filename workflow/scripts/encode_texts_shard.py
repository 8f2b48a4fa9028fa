from pathlib import Path

from isotope.core.progress import logged
from isotope.encode.shard import encode_texts

with logged(snakemake.log[0], snakemake.rule):
    encode_texts(
        texts=Path(snakemake.input.texts),
        fields=snakemake.params.fields,
        model=snakemake.params.model,
        weights=next(map(Path, snakemake.input.weights), None),
        shard=int(snakemake.wildcards.shard),
        shards=snakemake.params.shards,
        batch=snakemake.params.batch,
        precision=snakemake.params.precision,
        earlier=[Path(p) for p in snakemake.input.earlier],
        vectors=Path(snakemake.output.texts),
        ids=Path(snakemake.output.texts_ids),
    )
