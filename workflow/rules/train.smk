rule train_model:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        pixels=pixels,
        configs=configs,
        code=code("train"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
    log:
        "logs/train_model/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/train_model/{collection}.{model}.tsv"
    threads: 1
    resources:
        mem_mb=8000,
    params:
        spec=lambda w: PARAMS["models"][w.model],
    message:
        "train {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/train_model.py"
