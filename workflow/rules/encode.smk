rule encode_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        pixels=pixels,
        weights=weights,
        configs=configs,
        code=code("encode"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=models_of("open_clip", "transformers", "conse", "lit", "trained", "hash"),
    threads: 8
    resources:
        mem_mb=8000,
    params:
        **PARAMS["encode"],
        model=model_of,
        fields=fields,
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_shard.py"


rule encode_texts_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=weights,
        configs=configs,
        code=code("encode"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
    log:
        "logs/encode_texts_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_texts_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=models_of("reuse"),
    threads: 8
    resources:
        mem_mb=8000,
    params:
        **PARAMS["encode"],
        model=model_of,
        fields=fields,
    message:
        "encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_texts_shard.py"
