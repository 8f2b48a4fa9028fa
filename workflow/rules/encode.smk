use rule encoding as encode_summaries with:
    """summarise the captions of {wildcards.collection} with {wildcards.summary}"""
    input:
        images="data/collect/{collection}/images.parquet",
        after=lambda w: models.summariser(w.summary),
    output:
        summaries="data/encode/{collection}/summaries/{summary}.parquet",
    threads: jobs.threads(8)
    params:
        call="encode.metadata:write_summaries",
        spec=lambda w: plan.params.encode.summaries[w.summary].spec(),
        language=lambda w: collections[w.collection].captions,
        batch=plan.params.encode.batch,


# A model that shares the vectors of images of another model.
use rule job as encode_texts_shard with:
    """encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=lambda w: models[w.model].weights(w.get("earlier", w.collection)),
        earlier=ancient(lambda w: models.earlier_vectors(w, "texts")),
        after=lambda w: models[w.model].configs,
    output:
        **encoded("vectors", "ids", "contents", sides=["text"]),
    wildcard_constraints:
        model=models.that(lambda m: m.encodes(images=False)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.ENCODES, extra_mb=lambda w: needs.model_mb(models[w.model])),
    params:
        **models.encoding,
        call="encode.shard:encode_texts_shard",
        model=lambda w: models[w.model].spec,


# A model that encodes its own images, too.
use rule encode_texts_shard as encode_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=lambda w: models[w.model].image_table(w.collection),
        weights=lambda w: models[w.model].weights(w.get("earlier", w.collection)),
        features=lambda w: [] if w.get("earlier") else models[w.model].features(w.collection),
        earlier=ancient(lambda w: models.earlier_vectors(w, "texts", "images")),
        after=lambda w: collections[w.collection].ledgers + models[w.model].configs,
    output:
        **encoded("vectors", "ids", "contents"),
    wildcard_constraints:
        model=models.that(lambda m: m.encodes(images=True)),
    params:
        call="encode.shard:encode_shard",
        language=lambda w: collections[w.collection].captions,
        pixels=lambda w: collections[w.collection].pixels,


# The queries of a later collection, with the weights that a model learned on an earlier one.
use rule encode_shard as encode_earlier_shard with:
    """encode {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"""
    output:
        **encoded("vectors", "ids", "contents", earlier=True),


use rule encode_texts_shard as encode_earlier_texts_shard with:
    """encode texts of {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"""
    output:
        **encoded("vectors", "ids", "contents", sides=["text"], earlier=True),


use rule encode_shard as encode_late_shard with:
    input:
        **collected("texts", "images"),
        after=lambda w: collections[w.collection].ledgers + models[w.model].configs,
    output:
        **encoded("vectors", "ids", "tokens", "items"),
    wildcard_constraints:
        model=models.of_kind("late"),
    resources:
        mem_mb=jobs.needs(needs.ENCODES_LATE),
    params:
        call="encode.late:encode_late_shard",


use rule encoding as encode_sparse_shard with:
    """weigh the terms of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        after=lambda w: models[w.model].configs,
    output:
        **encoded("terms"),
    wildcard_constraints:
        model=models.of_kind("sparse"),
    threads: jobs.threads(8)
    params:
        call="encode.sparse:encode_sparse_shard",
        shards=plan.params.encode.shards,
        batch=plan.params.encode.batch,
        model=lambda w: models[w.model].spec,
        language=lambda w: collections[w.collection].captions,


# Questions on images and pictures of texts, for models over the frozen vectors of another model.
use rule job as encode_side_inputs with:
    """encode questions and pictures of {wildcards.collection} with {wildcards.model}"""
    input:
        **collected("texts", "images"),
        weights=lambda w: models[w.model].weights(w.get("earlier", w.collection)),
        after=lambda w: collections[w.collection].ledgers + models[w.model].configs,
    output:
        **encoded("vectors", "ids", sides=["question", "picture"]),
    wildcard_constraints:
        model=models.that(lambda m: m.encodes(images=True)),
    threads: jobs.threads(8)
    resources:
        mem_mb=jobs.needs(needs.ENCODES, extra_mb=lambda w: needs.model_mb(models[w.model])),
    params:
        call="encode.multimodal:encode_side_inputs",
        shards=plan.params.encode.shards,
        batch=plan.params.encode.batch,
        model=lambda w: models[w.model].spec,
        pixels=lambda w: collections[w.collection].pixels,


use rule learning as encode_mix with:
    """train {wildcards.model} on {wildcards.collection}"""
    input:
        unpack(lambda w: models[w.model].mixed(w.collection)),
        qrels="data/collect/{collection}/qrels.parquet",
    output:
        weights="data/encode/{collection}/{model}/mix.safetensors",
        curve="data/encode/{collection}/{model}/curve.csv",
    wildcard_constraints:
        model=models.that(lambda m: m.is_mix(frozen=True)),
    threads: lambda w: models[w.model].training_threads
    params:
        call="train.frozen:learn_mix",
        model=lambda w: models[w.model].spec,


use rule encoding as encode_mix_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        unpack(lambda w: models[w.model].mixed(w.collection, w.shard)),
        weights="data/encode/{collection}/{model}/mix.safetensors",
    output:
        **encoded("vectors", "ids"),
    wildcard_constraints:
        model=models.that(lambda m: m.is_mix(frozen=True)),
    params:
        call="encode.multimodal:encode_mix_shard",


# Models with all parameters trained, whose encoders read a picture together with its words.
use rule encoding as encode_multimodal_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        weights=lambda w: models[w.model].weights(w.get("earlier", w.collection)),
        after=lambda w: collections[w.collection].ledgers + models[w.model].configs,
    output:
        **encoded("vectors", "ids"),
    wildcard_constraints:
        model=models.that(lambda m: m.is_mix(frozen=False)),
    threads: jobs.threads(8)
    params:
        **models.encoding,
        call="encode.multimodal:encode_multimodal_shard",
        fields=lambda w: models[w.model].inner.entry.fields,
        pixels=lambda w: collections[w.collection].pixels,


use rule job as encode_dates_shard with:
    """date {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        weights=lambda w: models[w.model].weights(w.get("earlier", w.collection)),
    output:
        **encoded("vectors", "ids"),
    wildcard_constraints:
        model=models.of_kind("dates"),
    params:
        call="encode.metadata:encode_dates_shard",
        shards=plan.params.encode.shards,
        column=lambda w: models[w.model].kind.column,
        fields=lambda w: models[w.model].entry.fields,
