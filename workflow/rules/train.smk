use rule learning as train_model with:
    """train {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=lambda w: collections[w.collection].pixels,
        start=lambda w: models[w.model].start(w.collection),
        after=lambda w: models[w.model].configs,
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
    wildcard_constraints:
        model=models.of_kind("trained"),
    threads: lambda w: models[w.model].training_threads
    params:
        call="train.clip:train",
        model=lambda w: models[w.model].spec,
        language=lambda w: collections[w.collection].captions,
        scratch=".isotope/train/{collection}/{model}",


use rule learning as train_multimodal with:
    """fine-tune {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=lambda w: collections[w.collection].pixels,
        start=lambda w: models[w.model].start(w.collection),
        after=lambda w: models[w.model].configs,
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/accuracies.csv",
    wildcard_constraints:
        model=models.that(lambda m: m.is_mix(frozen=False)),
    threads: lambda w: models[w.model].training_threads
    params:
        call="train.multimodal:train",
        model=lambda w: models[w.model].spec,
        scratch=".isotope/train/{collection}/{model}",
        base=lambda w: models[w.model].inner.spec,


use rule learning as train_heads with:
    """train the heads of {wildcards.model} on {wildcards.collection}"""
    input:
        **collected(),
        pixels=lambda w: collections[w.collection].pixels,
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
        curve="data/train/{collection}/{model}/curve.csv",
        features="data/train/{collection}/{model}/pictures.npy",
        features_ids="data/train/{collection}/{model}/pictures.ids.parquet",
    wildcard_constraints:
        model=models.of_kind("lit"),
    threads: lambda w: models[w.model].training_threads
    params:
        call="train.frozen:train_heads",
        model=lambda w: models[w.model].spec,
        language=lambda w: collections[w.collection].captions,
        batch=plan.params.encode.batch,


use rule job as train_dates with:
    """count for {wildcards.model} the words of each year on {wildcards.collection}"""
    input:
        **collected(),
    output:
        weights="data/train/{collection}/{model}/model.safetensors",
    wildcard_constraints:
        model=models.of_kind("dates"),
    params:
        call="train.frozen:train_dates",
        model=lambda w: models[w.model].spec,
