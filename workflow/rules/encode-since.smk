# What a later collection asks, encoded with the weights that a model learned on an earlier one.
use rule encode_shard as encode_since_shard with:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=plan.image_table,
        ledgers=plan.picture_ledgers,
        weights=plan.earlier_weights,
        features=[],
        configs=plan.configs,
        sql=plan.sql("encode/*.sql"),
        earlier_texts=ancient(plan.earlier_vectors("texts", "npy")),
        earlier_images=ancient(plan.earlier_vectors("images", "npy")),
        texts_contents=ancient(plan.earlier_vectors("texts", "contents.parquet")),
        images_contents=ancient(plan.earlier_vectors("images", "contents.parquet")),
        code=plan.encoder_code("encode.shard"),
    output:
        texts="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        texts_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",
        images="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.ids.parquet",
        images_contents="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.contents.parquet",
    log:
        "logs/encode_since_shard/{collection}/{earlier}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_since_shard/{collection}.{earlier}.{model}.{shard}.tsv"
    message:
        "encode {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"


use rule encode_texts_shard as encode_since_texts_shard with:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=plan.earlier_weights,
        configs=plan.configs,
        earlier=ancient(plan.earlier_vectors("texts", "npy")),
        contents=ancient(plan.earlier_vectors("texts", "contents.parquet")),
        code=plan.encoder_code("encode.shard"),
    output:
        texts="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        texts_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",
    log:
        "logs/encode_since_texts_shard/{collection}/{earlier}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_since_texts_shard/{collection}.{earlier}.{model}.{shard}.tsv"
    message:
        "encode texts of {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"
