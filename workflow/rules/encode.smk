rule encode_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=shown_images,
        ledgers=pictured,
        weights=weights,
        features=tower_features,
        configs=configs,
        sql=sql("encode/*.sql"),
        earlier_texts=ancient(before("texts", "npy")),
        earlier_images=ancient(before("images", "npy")),
        texts_contents=ancient(before("texts", "contents.parquet")),
        images_contents=ancient(before("images", "contents.parquet")),
        code=code("encode.captions"),
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
        model=encoders(sighted=True),
    threads: 8
    resources:
        mem_mb=memory("encode_shard"),
    params:
        **ENCODE,
        model=model_of,
        fields=fields,
        language=spoken,
        pixels=pixels,
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_shard.py"


rule encode_texts_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=weights,
        configs=configs,
        earlier=ancient(before("texts", "npy")),
        contents=ancient(before("texts", "contents.parquet")),
        code=code("encode.shard"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        texts_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
    log:
        "logs/encode_texts_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_texts_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=encoders(sighted=False),
    threads: 8
    resources:
        mem_mb=memory("encode_texts_shard"),
    params:
        **ENCODE,
        model=model_of,
        fields=fields,
    message:
        "encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_texts_shard.py"


rule encode_dates_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        weights=weights,
        code=code("encode.dates"),
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
        model=models_of("dates"),
    resources:
        mem_mb=memory("encode_dates_shard"),
    params:
        shards=PARAMS["encode"]["shards"],
        column=lambda w: model_of(w).get("column", "date"),
        fields=fields,
    message:
        "date {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_dates_shard.py"
