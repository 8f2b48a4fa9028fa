use rule job as train_model with:
    """train {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=plan.pixels,
        start=plan.start_weights,
        after=plan.configs,
        sql=plan.sql("train/*.sql"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
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


use rule job as train_multimodal with:
    """fine-tune {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=plan.pixels,
        start=plan.start_weights,
        after=plan.inner_configs,
        sql=plan.sql("train/*.sql"),
        kind=plan.model_code,
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/accuracies.csv",
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


use rule job as train_heads with:
    """train the heads of {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=plan.pixels,
        sql=plan.sql("train/*.sql"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
        features="data/train/{collection}/{model}/pictures.npy",
        features_ids="data/train/{collection}/{model}/pictures.ids.parquet",
    wildcard_constraints:
        model=plan.models_of("lit"),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.frozen:train_heads",
        spec=plan.own_params,
        batch=plan.params["encode"]["batch"],


use rule job as train_dates with:
    """count for {wildcards.model} the words of each year on {wildcards.collection}"""
    input:
        **collected(),
        sql=plan.sql("index/texts.sql"),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
    wildcard_constraints:
        model=plan.models_of("dates"),
    params:
        call="train.frozen:train_dates",
        spec=plan.model_params,
        fields=plan.fields,
