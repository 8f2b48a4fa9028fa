from isotope.core.schemas import FIVE_FIELDS


# Models over the frozen vectors of another: image and question on one side, words and picture on
# the other.
rule encode_beside_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        ledgers=plan.picture_ledgers,
        weights=plan.weights,
        configs=plan.configs,
        code=plan.encoder_code("encode.multimodal"),
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
        model=plan.encoders(sighted=True),
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        **plan.encode_params,
        model=plan.model_params,
        pixels=plan.pixels,
    message:
        "encode questions and pictures of {wildcards.collection} with {wildcards.model}"
    script:
        "../scripts/encode_beside_shard.py"


rule encode_mix:
    input:
        unpack(plan.mix_inputs(plan.shard_names)),
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.code("train.mix"),
    output:
        weights="data/encode/{collection}/{model}/mix.safetensors",
        curve="data/encode/{collection}/{model}/curve.csv",
    log:
        "logs/encode_mix/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/encode_mix/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.any_of(plan.mixes(frozen=True)),
    threads: lambda w: plan.params["models"][w.model].get("learn", {}).get("threads", 1)
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        spec=plan.model_params,
    message:
        "learn {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/encode_mix.py"


rule encode_mix_shard:
    input:
        unpack(plan.mix_inputs(["{shard}"])),
        weights="data/encode/{collection}/{model}/mix.safetensors",
        code=plan.code("encode.multimodal"),
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
        model=plan.any_of(plan.mixes(frozen=True)),
    resources:
        mem_mb=plan.needs(ENCODES),
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_mix_shard.py"


# Models trained whole, which see a picture and read its words at once.
rule encode_multimodal_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        ledgers=plan.picture_ledgers,
        weights=plan.weights,
        configs=lambda w: plan.configs_of(plan.inner_model(w.model)),
        code=plan.encoder_code("encode.multimodal"),
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
        model=plan.any_of(plan.mixes(frozen=False)),
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        **plan.encode_params,
        fields=lambda w: plan.params["models"][plan.inner_model(w.model)].get("fields", FIVE_FIELDS),
        pixels=plan.pixels,
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/encode_multimodal_shard.py"
