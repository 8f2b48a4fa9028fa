rule encode_summaries:
    input:
        images="data/collect/{collection}/images.parquet",
        after=plan.summariser,
        sql=plan.sql("encode/captions.sql"),
        code=plan.code("encode.metadata:write_summaries"),
    output:
        summaries="data/encode/{collection}/summaries/{summary}.parquet",
    log:
        "logs/encode_summaries/{collection}/{summary}.log",
    benchmark:
        "logs/benchmarks/encode_summaries/{collection}.{summary}.tsv"
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="encode.metadata:write_summaries",
        spec=plan.summary_params,
        language=plan.caption_language,
        batch=plan.params["encode"]["batch"],
    message:
        "summarise the captions of {wildcards.collection} with {wildcards.summary}"
    script:
        "../scripts/call.py"


rule encode_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images=plan.image_table,
        weights=plan.weights,
        features=plan.tower_features,
        earlier=ancient(plan.earlier_vectors("texts", "images")),
        after=plan.encoder_files,
        sql=plan.sql("encode/*.sql"),
        code=plan.encoder_code("encode.shard:encode_shard"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
        image_contents="data/encode/{collection}/{model}/images/shard-{shard}.contents.parquet",
    log:
        "logs/encode_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_shard/{collection}.{model}.{shard}.tsv"
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
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# A model that shares the vectors of images of another model.
rule encode_texts_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        weights=plan.weights,
        earlier=ancient(plan.earlier_vectors("texts")),
        after=plan.configs,
        code=plan.encoder_code("encode.shard:encode_texts_shard"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/{model}/texts/shard-{shard}.contents.parquet",
    log:
        "logs/encode_texts_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_texts_shard/{collection}.{model}.{shard}.tsv"
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
    message:
        "encode texts of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# The queries of a later collection, with the weights that a model learned on an earlier one.
use rule encode_shard as encode_since_shard with:
    output:
        text_vectors="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",
        image_vectors="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.ids.parquet",
        image_contents="data/encode/{collection}/since/{earlier}/{model}/images/shard-{shard}.contents.parquet",
    log:
        "logs/encode_since_shard/{collection}/{earlier}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_since_shard/{collection}.{earlier}.{model}.{shard}.tsv"
    message:
        "encode {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"


use rule encode_texts_shard as encode_since_texts_shard with:
    output:
        text_vectors="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.ids.parquet",
        text_contents="data/encode/{collection}/since/{earlier}/{model}/texts/shard-{shard}.contents.parquet",
    log:
        "logs/encode_since_texts_shard/{collection}/{earlier}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_since_texts_shard/{collection}.{earlier}.{model}.{shard}.tsv"
    message:
        "encode texts of {wildcards.collection} with {wildcards.model} of {wildcards.earlier}, shard {wildcards.shard}"


rule encode_late_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        after=plan.encoder_files,
        sql=plan.sql("encode/captions.sql"),
        code=plan.code("encode.late:encode_late_shard"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        text_tokens="data/encode/{collection}/{model}/texts/shard-{shard}.tokens.npy",
        text_items="data/encode/{collection}/{model}/texts/shard-{shard}.tokens.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
        image_tokens="data/encode/{collection}/{model}/images/shard-{shard}.tokens.npy",
        image_items="data/encode/{collection}/{model}/images/shard-{shard}.tokens.parquet",
    log:
        "logs/encode_late_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_late_shard/{collection}.{model}.{shard}.tsv"
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
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


rule encode_sparse_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        after=plan.configs,
        sql=plan.sql("encode/captions.sql"),
        code=plan.code("encode.sparse:encode_sparse_shard"),
    output:
        text_terms="data/encode/{collection}/{model}/texts/shard-{shard}.terms.parquet",
        image_terms="data/encode/{collection}/{model}/images/shard-{shard}.terms.parquet",
    log:
        "logs/encode_sparse_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_sparse_shard/{collection}.{model}.{shard}.tsv"
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
    message:
        "weigh the terms of {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# Questions on images and pictures of texts, for models over the frozen vectors of another model.
rule encode_side_inputs:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        weights=plan.weights,
        after=plan.encoder_files,
        code=plan.encoder_code("encode.multimodal:encode_side_inputs"),
    output:
        questions="data/encode/{collection}/{model}/questions/shard-{shard}.npy",
        questions_ids="data/encode/{collection}/{model}/questions/shard-{shard}.ids.parquet",
        pictures="data/encode/{collection}/{model}/pictures/shard-{shard}.npy",
        pictures_ids="data/encode/{collection}/{model}/pictures/shard-{shard}.ids.parquet",
    log:
        "logs/encode_side_inputs/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_side_inputs/{collection}.{model}.{shard}.tsv"
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
    message:
        "encode questions and pictures of {wildcards.collection} with {wildcards.model}"
    script:
        "../scripts/call.py"


rule encode_mix:
    input:
        unpack(plan.mix_inputs(plan.shard_names)),
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.code("train.frozen:learn_mix"),
    output:
        weights="data/encode/{collection}/{model}/mix.safetensors",
        curve="data/encode/{collection}/{model}/curve.csv",
    log:
        "logs/encode_mix/{collection}/{model}.log",
    benchmark:
        "logs/benchmarks/encode_mix/{collection}.{model}.tsv"
    wildcard_constraints:
        model=plan.mixes_of(frozen=True),
    threads: plan.training_threads
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="train.frozen:learn_mix",
        spec=plan.model_params,
    message:
        "train {wildcards.model} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule encode_mix_shard:
    input:
        unpack(plan.mix_inputs(["{shard}"])),
        weights="data/encode/{collection}/{model}/mix.safetensors",
        code=plan.code("encode.multimodal:encode_mix_shard"),
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
        model=plan.mixes_of(frozen=True),
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        call="encode.multimodal:encode_mix_shard",
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


# Models with all parameters trained, whose encoders read a picture together with its words.
rule encode_multimodal_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        weights=plan.weights,
        after=plan.multimodal_files,
        code=plan.encoder_code("encode.multimodal:encode_multimodal_shard"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_multimodal_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_multimodal_shard/{collection}.{model}.{shard}.tsv"
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
    message:
        "encode {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"


rule encode_dates_shard:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        weights=plan.weights,
        code=plan.code("encode.metadata:encode_dates_shard"),
    output:
        text_vectors="data/encode/{collection}/{model}/texts/shard-{shard}.npy",
        text_ids="data/encode/{collection}/{model}/texts/shard-{shard}.ids.parquet",
        image_vectors="data/encode/{collection}/{model}/images/shard-{shard}.npy",
        image_ids="data/encode/{collection}/{model}/images/shard-{shard}.ids.parquet",
    log:
        "logs/encode_dates_shard/{collection}/{model}/{shard}.log",
    benchmark:
        "logs/benchmarks/encode_dates_shard/{collection}.{model}.{shard}.tsv"
    wildcard_constraints:
        model=plan.models_of("dates"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="encode.metadata:encode_dates_shard",
        shards=plan.params["encode"]["shards"],
        column=plan.date_column,
        fields=plan.fields,
    message:
        "date {wildcards.collection} with {wildcards.model}, shard {wildcards.shard}"
    script:
        "../scripts/call.py"
