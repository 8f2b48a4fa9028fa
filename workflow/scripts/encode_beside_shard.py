from pathlib import Path
from typing import Any

from isotope.core.progress import logged
from isotope.encode.multimodal import encode_pictures, encode_questions

with logged(snakemake.log[0], snakemake.rule):
    common: dict[str, Any] = {
        "model": snakemake.params.model,
        "weights": next(map(Path, snakemake.input.weights), None),
        "shard": int(snakemake.wildcards.shard),
        "shards": snakemake.params.shards,
        "batch": snakemake.params.batch,
    }
    encode_questions(
        images=Path(snakemake.input.images),
        vectors=Path(snakemake.output.questions),
        ids=Path(snakemake.output.questions_ids),
        **common,
    )
    encode_pictures(
        texts=Path(snakemake.input.texts),
        pixels=[Path(p) for p in snakemake.params.pixels],
        vectors=Path(snakemake.output.pictures),
        ids=Path(snakemake.output.pictures_ids),
        **common,
    )
