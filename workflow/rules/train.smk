rule train_model:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        start=plan.start_weights,
        after=plan.configs,
        sql=plan.sql("train/*.sql"),
        code=plan.code("train.clip:train"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
    log:
        "logs/train_model/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_model/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.models_of("trained"),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.clip:train",
        spec=plan.own_params,
        seed=plan.training_seed,
        scratch=".isotope/train/{collection}/{model}",
    message:
        "train {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule train_multimodal:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        start=plan.start_weights,
        after=plan.inner_configs,
        sql=plan.sql("train/*.sql"),
        code=plan.encoder_code("train.multimodal:train"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/accuracies.csv",
    log:
        "logs/train_multimodal/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_multimodal/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.mixes_of(frozen=False),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.multimodal:train",
        spec=plan.own_params,
        base=plan.inner_params,
        scratch=".isotope/train/{collection}/{model}",
    message:
        "fine-tune {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule train_heads:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        sql=plan.sql("train/*.sql"),
        code=plan.code("train.frozen:train_heads"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
        features="data/train/{collection}/{model}/pictures.npy",
        features_ids="data/train/{collection}/{model}/pictures.ids.parquet",
    log:
        "logs/train_heads/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_heads/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.models_of("lit"),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.frozen:train_heads",
        spec=plan.own_params,
        batch=plan.params["encode"]["batch"],
    message:
        "train the heads of {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule train_dates:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        sql=plan.sql("index/texts.sql"),
        code=plan.code("train.frozen:train_dates"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
    log:
        "logs/train_dates/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_dates/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.models_of("dates"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="train.frozen:train_dates",
        spec=plan.model_params,
        fields=plan.fields,
    message:
        "count for {wildcards.model} the words of each year on {wildcards.collection}"
    script:
        "../scripts/call.py"
