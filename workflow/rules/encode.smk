rule encode_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=plan.image_table,
        ledgers=plan.picture_ledgers,
        weights=plan.weights,
        features=plan.tower_features,
        configs=plan.configs,
        sql=plan.sql("encode/*.sql"),
        earlier_texts=ancient(plan.earlier_side("texts", "npy")),
        earlier_images=ancient(plan.earlier_side("images", "npy")),
        texts_contents=ancient(plan.earlier_side("texts", "contents.parquet")),
        images_contents=ancient(plan.earlier_side("images", "contents.parquet")),
        code=plan.encoder_code("encode.shard"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        texts_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
        images_contents="data/encode/{collection}/{model}/images/shard-{shard}.contents.parquet",
    log:
        "logs/encode_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=plan.encoders(sighted=True),
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        **plan.encode_params,
        model=plan.model_params,
        fields=plan.fields,
        language=plan.caption_language,
        pixels=plan.pixels,
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_shard.py"


rule encode_texts_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=plan.weights,
        configs=plan.configs,
        earlier=ancient(plan.earlier_side("texts", "npy")),
        contents=ancient(plan.earlier_side("texts", "contents.parquet")),
        code=plan.encoder_code("encode.shard"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        texts_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
    log:
        "logs/encode_texts_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_texts_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=plan.encoders(sighted=False),
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        **plan.encode_params,
        model=plan.model_params,
        fields=plan.fields,
    message:
        "encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_texts_shard.py"


rule encode_dates_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        weights=plan.weights,
        code=plan.code("encode.dates"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_dates_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_dates_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=plan.models_of("dates"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        shards=plan.params["encode"]["shards"],
        column=lambda w: plan.model_params(w).get("column", "date"),
        fields=plan.fields,
    message:
        "date {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_dates_shard.py"
