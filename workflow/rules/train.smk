rule train_model:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=pixels,
        start=start_weights,
        configs=configs,
        sql=sql("train/*.sql"),
        code=code("train.contrastive"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
    log:
        "logs/train_model/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_model/{collection}.{model}.tsv"
    wildcard_constraints:
        model=models_of("trained"),
    threads: lambda w: cores(recipe(w))
    resources:
        mem_mb=memory("train_model"),
    params:
        spec=lambda w: PARAMS["models"][w.model],
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
        pixels=pixels,
        start=start_weights,
        configs=lambda w: configs_of(beneath(w.model)),
        sql=sql("train/*.sql"),
        code=code("train.multimodal"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/accuracies.csv",
    log:
        "logs/train_multimodal/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_multimodal/{collection}.{model}.tsv"
    wildcard_constraints:
        model=any_of(mixes(frozen=False)),
    threads: lambda w: cores(recipe(w))
    resources:
        mem_mb=memory("train_multimodal"),
    params:
        spec=lambda w: PARAMS["models"][w.model],
        base=lambda w: PARAMS["models"][beneath(w.model)],
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
        pixels=pixels,
        sql=sql("train/*.sql"),
        code=code("train.heads"),
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
        model=models_of("lit"),
    threads: lambda w: PARAMS["models"][w.model].get("heads", {}).get("threads", 1)
    resources:
        mem_mb=memory("train_heads"),
    params:
        spec=lambda w: PARAMS["models"][w.model],
        batch=ENCODE["batch"],
    message:
        "train the heads of {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/train_heads.py"


rule train_dates:
    input:
        unpack(collected),
        sql=sql("index/texts.sql"),
        code=code("train.dates"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
    log:
        "logs/train_dates/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_dates/{collection}.{model}.tsv"
    wildcard_constraints:
        model=models_of("dates"),
    resources:
        mem_mb=memory("train_dates"),
    params:
        spec=model_of,
        fields=fields,
    message:
        "learn from {wildcards.collection} how {wildcards.model} tells years"
    script:
        "../scripts/train_dates.py"
