rule train_model:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        start=plan.start_weights,
        configs=plan.configs,
        sql=plan.sql("train/*.sql"),
        code=plan.code("train.contrastive"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
    log:
        "logs/train_model/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_model/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.models_of("trained"),
    threads: lambda w: plan.cores(plan.recipe(w))
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        spec=lambda w: plan.params["models"][w.model],
        scratch=".isotope/train/{collection}/{model}",
    message:
        "train {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/train_model.py"


rule train_multimodal:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        start=plan.start_weights,
        configs=lambda w: plan.configs_of(plan.inner_model(w.model)),
        sql=plan.sql("train/*.sql"),
        code=plan.encoder_code("train.multimodal"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/accuracies.csv",
    log:
        "logs/train_multimodal/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_multimodal/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.any_of(plan.mixes(frozen=False)),
    threads: lambda w: plan.cores(plan.recipe(w))
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        spec=lambda w: plan.params["models"][w.model],
        base=lambda w: plan.params["models"][plan.inner_model(w.model)],
        scratch=".isotope/train/{collection}/{model}",
    message:
        "fine-tune {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/train_multimodal.py"


rule train_heads:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=plan.pixels,
        sql=plan.sql("train/*.sql"),
        code=plan.code("train.heads"),
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
    threads: lambda w: plan.params["models"][w.model].get("heads", {}).get("threads", 1)
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        spec=lambda w: plan.params["models"][w.model],
        batch=plan.encode_params["batch"],
    message:
        "train the heads of {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/train_heads.py"


rule train_dates:
    input:
        unpack(plan.collection_tables),
        sql=plan.sql("index/texts.sql"),
        code=plan.code("train.dates"),
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
        spec=plan.model_params,
        fields=plan.fields,
    message:
        "learn from {wildcards.collection} how {wildcards.model} tells years"
    script:
        "../scripts/train_dates.py"
