rule encode_texts:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=weights,
        configs=configs,
        code=code("encode"),
    output:
        vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
    log:
        "logs/encode_texts/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_texts/{collection}.{model}.{shard}.tsv"
    threads: 8
    resources:
        mem_mb=8000,
    params:
        **PARAMS["encode"],
        model=lambda w: PARAMS["models"][w.model],
    message:
        "encode the texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_texts.py"


rule encode_images:
    input:
        images="data/collect/{collection}/images.parquet",
        pixels=pixels,
        weights=weights,
        configs=configs,
        code=code("encode"),
    output:
        vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_images/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_images/{collection}.{model}.{shard}.tsv"
    threads: 8
    resources:
        mem_mb=8000,
    params:
        **PARAMS["encode"],
        model=lambda w: PARAMS["models"][w.model],
    message:
        "encode the images of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_images.py"
