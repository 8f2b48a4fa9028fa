# Models over the frozen vectors of another: image and question on one side, words and picture on
# the other.
rule encode_beside_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        ledgers=pictured,
        weights=weights,
        configs=configs,
        code=code("encode.multimodal"),
    output:
        questions="data/encode/{collection}/{model}/questions/shard-{shard}.npy",
        questions_ids="data/encode/{collection}/{model}/questions/shard-{shard}.ids.parquet",
        pictures="data/encode/{collection}/{model}/pictures/shard-{shard}.npy",
        pictures_ids="data/encode/{collection}/{model}/pictures/shard-{shard}.ids.parquet",
    log:
        "logs/encode_beside_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_beside_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=encoders(sighted=True),
    threads: 8
    resources:
        mem_mb=memory("encode_beside_shard"),
    params:
        **ENCODE,
        model=model_of,
        pixels=pixels,
    message:
        "encode questions and pictures of {wildcards.collection} with {wildcards.model}"
    script:
        "../scripts/encode_beside_shard.py"


rule encode_mix:
    input:
        unpack(mixed(SHARDS)),
        qrels="data/collect/{collection}/qrels.parquet",
        code=code("train.mix"),
    output:
        weights="data/encode/{collection}/{model}/mix.safetensors",
        curve="data/encode/{collection}/{model}/curve.csv",
    log:
        "logs/encode_mix/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/encode_mix/{collection}.{model}.tsv"
    wildcard_constraints:
        model=any_of(mixes(frozen=True)),
    threads: lambda w: PARAMS["models"][w.model].get("learn", {}).get("threads", 1)
    resources:
        mem_mb=memory("encode_mix"),
    params:
        spec=model_of,
    message:
        "learn {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/encode_mix.py"


rule encode_mix_shard:
    input:
        unpack(mixed(["{shard}"])),
        weights="data/encode/{collection}/{model}/mix.safetensors",
        code=code("encode.mix"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_mix_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_mix_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=any_of(mixes(frozen=True)),
    resources:
        mem_mb=memory("encode_mix_shard"),
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_mix_shard.py"


# Models trained whole, which see a picture and read its words at once.
rule encode_multimodal_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        ledgers=pictured,
        weights=weights,
        configs=lambda w: configs_of(beneath(w.model)),
        code=code("encode.multimodal"),
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_multimodal_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_multimodal_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=any_of(mixes(frozen=False)),
    threads: 8
    resources:
        mem_mb=memory("encode_multimodal_shard"),
    params:
        **ENCODE,
        fields=lambda w: PARAMS["models"][beneath(w.model)].get("fields", FIVE_FIELDS),
        pixels=pixels,
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_multimodal_shard.py"
