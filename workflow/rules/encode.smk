use rule job as encode_summaries with:
    """summarise the captions of {wildcards.collection} with {wildcards.summary}"""
    input:
        images="data/collect/{collection}/images.parquet",
        after=plan.summariser,
        sql=plan.sql("encode/captions.sql"),
    output:
        summaries="data/encode/{collection}/summaries/{summary}.parquet",
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="encode.metadata:write_summaries",
        spec=plan.summary_params,
        language=plan.caption_language,
        batch=plan.params["encode"]["batch"],


use rule job as encode_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=plan.image_table,
        weights=plan.weights,
        features=plan.tower_features,
        earlier=ancient(plan.earlier_vectors("texts", "images")),
        after=plan.encoder_files,
        sql=plan.sql("encode/*.sql"),
        kind=plan.model_code,
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
        image_contents="data/encode/{collection}/{model}/images/shard-{shard}.contents.parquet",
    wildcard_constraints:
        model=plan.encoders(encode_images=True),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES, extra_mb=plan.model_mb),
    params:
        **plan.encode_params,
        call="encode.shard:encode_shard",
        model=plan.model_params,
        fields=plan.fields,
        language=plan.caption_language,
        pixels=plan.pixels,


# A model that shares the vectors of images of another model.
use rule job as encode_texts_shard with:
    """encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=plan.weights,
        earlier=ancient(plan.earlier_vectors("texts")),
        after=plan.configs,
        kind=plan.model_code,
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
    wildcard_constraints:
        model=plan.encoders(encode_images=False),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES, extra_mb=plan.model_mb),
    params:
        **plan.encode_params,
        call="encode.shard:encode_texts_shard",
        model=plan.model_params,
        fields=plan.fields,


# The queries of a later collection, with the weights that a model learned on an earlier one.
use rule encode_shard as encode_since_shard with:
    """encode {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"""
    output:
        text_vectors="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",
        image_vectors="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.ids.parquet",
        image_contents="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.contents.parquet",


use rule encode_texts_shard as encode_since_texts_shard with:
    """encode texts of {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"""
    output:
        text_vectors="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",


use rule job as encode_late_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        after=plan.encoder_files,
        sql=plan.sql("encode/captions.sql"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_tokens="data/encode/{collection}/{model}/texts/shard-{shard}.tokens.npy",
        text_items="data/encode/{collection}/{model}/texts/shard-{shard}.tokens.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
        image_tokens="data/encode/{collection}/{model}/images/shard-{shard}.tokens.npy",
        image_items="data/encode/{collection}/{model}/images/shard-{shard}.tokens.parquet",
    wildcard_constraints:
        model=plan.models_of("late"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES_LATE),
    params:
        **plan.encode_params,
        call="encode.late:encode_late_shard",
        model=plan.model_values,
        fields=plan.fields,
        language=plan.caption_language,
        pixels=plan.pixels,


use rule job as encode_sparse_shard with:
    """weigh the terms of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        after=plan.configs,
        sql=plan.sql("encode/captions.sql"),
    output:
        text_terms="data/encode/{collection}/{model}/texts/shard-{shard}.terms.parquet",
        image_terms="data/encode/{collection}/{model}/images/shard-{shard}.terms.parquet",
    wildcard_constraints:
        model=plan.models_of("sparse"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="encode.sparse:encode_sparse_shard",
        shards=plan.params["encode"]["shards"],
        batch=plan.params["encode"]["batch"],
        model=plan.model_values,
        fields=plan.fields,
        language=plan.caption_language,


# Questions on images and pictures of texts, for models over the frozen vectors of another model.
use rule job as encode_side_inputs with:
    """encode questions and pictures of {wildcards.collection} with {wildcards.model}"""
    input:
        **collected("texts", "images"),
        weights=plan.weights,
        after=plan.encoder_files,
        kind=plan.model_code,
    output:
        questions="data/encode/{collection}/{model}/questions/shard-{shard}.npy",
        questions_ids="data/encode/{collection}/{model}/questions/shard-{shard}.ids.parquet",
        pictures="data/encode/{collection}/{model}/pictures/shard-{shard}.npy",
        pictures_ids="data/encode/{collection}/{model}/pictures/shard-{shard}.ids.parquet",
    wildcard_constraints:
        model=plan.encoders(encode_images=True),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES, extra_mb=plan.model_mb),
    params:
        call="encode.multimodal:encode_side_inputs",
        shards=plan.params["encode"]["shards"],
        batch=plan.params["encode"]["batch"],
        model=plan.model_params,
        pixels=plan.pixels,


use rule job as encode_mix with:
    """train {wildcards.model} on {wildcards.collection}"""
    input:
        unpack(plan.mix_inputs(plan.shard_names)),
        qrels="data/collect/{collection}/qrels.parquet",
    output:
        weights="data/encode/{collection}/{model}/mix.safetensors",
        curve="data/encode/{collection}/{model}/curve.csv",
    wildcard_constraints:
        model=plan.mixes_of(frozen=True),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.frozen:learn_mix",
        spec=plan.model_params,


use rule job as encode_mix_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        unpack(plan.mix_inputs(["{shard}"])),
        weights="data/encode/{collection}/{model}/mix.safetensors",
    output:
        texts="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        texts_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        images="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        images_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    wildcard_constraints:
        model=plan.mixes_of(frozen=True),
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="encode.multimodal:encode_mix_shard",


# Models with all parameters trained, whose encoders read a picture together with its words.
use rule job as encode_multimodal_shard with:
    """encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        weights=plan.weights,
        after=plan.multimodal_files,
        kind=plan.model_code,
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    wildcard_constraints:
        model=plan.mixes_of(frozen=False),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        **plan.encode_params,
        call="encode.multimodal:encode_multimodal_shard",
        fields=plan.inner_fields,
        pixels=plan.pixels,


use rule job as encode_dates_shard with:
    """date {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"""
    input:
        **collected("texts", "images"),
        weights=plan.weights,
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    wildcard_constraints:
        model=plan.models_of("dates"),
    params:
        call="encode.metadata:encode_dates_shard",
        shards=plan.params["encode"]["shards"],
        column=plan.date_column,
        fields=plan.fields,
