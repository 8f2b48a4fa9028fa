from pathlib import Path
from typing import Any

from isotope.core.progress import logged
from isotope.encode.shard import encode_seen, encode_texts

with logged(snakemake.log[0], snakemake.rule):
    common: dict[str, Any] = {
        "model": snakemake.params.model,
        "weights": next(map(Path, snakemake.input.weights), None),
        "shard": int(snakemake.wildcards.shard),
        "shards": snakemake.params.shards,
        "batch": snakemake.params.batch,
        "precision": snakemake.params.precision,
    }
    encode_texts(
        texts=Path(snakemake.input.texts),
        fields=snakemake.params.fields,
        earlier=[Path(p) for p in snakemake.input.earlier_texts],
        vectors=Path(snakemake.output.texts),
        ids=Path(snakemake.output.texts_ids),
        **common,
    )
    encode_seen(
        images=Path(snakemake.input.images),
        pixels=[Path(p) for p in snakemake.params.pixels],
        language=snakemake.params.language,
        earlier=[Path(p) for p in snakemake.input.earlier_images],
        features=[Path(p) for p in snakemake.input.features],
        vectors=Path(snakemake.output.images),
        ids=Path(snakemake.output.images_ids),
        **common,
    )
