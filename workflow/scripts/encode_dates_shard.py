from pathlib import Path

from isotope.core.progress import logged
from isotope.encode.dates import encode_dated_images, encode_dated_texts

with logged(snakemake.log[0], snakemake.rule):
    into = snakemake.output
    model = Path(snakemake.input.weights[0])
    part = (int(snakemake.wildcards.shard), snakemake.params.shards)
    texts = {"vectors": Path(into.texts), "ids": Path(into.texts_ids)}
    images = {"vectors": Path(into.images), "ids": Path(into.images_ids)}
    encode_dated_texts(Path(snakemake.input.texts), snakemake.params.fields, model, part, texts)
    encode_dated_images(Path(snakemake.input.images), snakemake.params.column, model, part, images)
