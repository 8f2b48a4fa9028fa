rule encode_summaries:
    input:
        images="data/collect/{collection}/images.parquet",
        summariser=summariser,
        sql=sql("encode/captions.sql"),
        code=code("encode.summaries"),
    output:
        images="data/encode/{collection}/summaries/{summary}.parquet",
    log:
        "logs/encode_summaries/{collection}/{summary}.log",
    benchmark:
        "logs/benchmarks/encode_summaries/{collection}.{summary}.tsv"
    threads: 8
    resources:
        mem_mb=memory("encode_summaries"),
    params:
        spec=lambda w: PARAMS["encode"]["summaries"][w.summary],
        language=spoken,
        batch=PARAMS["encode"]["batch"],
    message:
        "summarise the captions of {wildcards.collection} with {wildcards.summary}"
    script:
        "../scripts/encode_summaries.py"
