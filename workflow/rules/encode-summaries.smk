rule encode_summaries:
    input:
        images="data/collect/{collection}/images.parquet",
        summariser=plan.summariser,
        sql=plan.sql("encode/captions.sql"),
        code=plan.code("encode.summaries"),
    output:
        images="data/encode/{collection}/summaries/{summary}.parquet",
    log:
        "logs/encode_summaries/{collection}/{summary}.log",
    benchmark:
        "logs/benchmarks/encode_summaries/{collection}.{summary}.tsv"
    threads: 8
    resources:
        mem_mb=plan.needs(ENCODES),
    params:
        spec=lambda w: plan.params["encode"]["summaries"][w.summary],
        language=plan.caption_language,
        batch=plan.params["encode"]["batch"],
    message:
        "summarise the captions of {wildcards.collection} with {wildcards.summary}"
    script:
        "../scripts/encode_summaries.py"
