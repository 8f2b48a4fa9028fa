# Where the phase is cut into shards.
if is_cut("collect"):

    rule collect_texts:
        input:
            unpack(read_by("texts")),
            sql=sql("collect/wikipedia/*.sql", "collect/wikipedia/text/*.sql"),
            code=code("collect.build"),
        output:
            **collect_pieces(names.TEXT_PIECES),
        log:
            "logs/collect_texts/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_texts/{collection}.{part}.tsv"
        resources:
            mem_mb=memory("collect_texts"),
        params:
            spec=entry("collect"),
            part=part,
            relations=names.READ_BY["texts"],
        message:
            "collect the texts of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/collect_texts.py"

    rule collect_images:
        input:
            unpack(read_by("images")),
            **gathered_pieces(names.EXCHANGED),
            sql=sql("collect/wikipedia/*.sql", "collect/wikipedia/image/*.sql"),
            code=code("collect.build"),
        output:
            **collect_pieces(names.IMAGE_PIECES),
        log:
            "logs/collect_images/{collection}/{part}.log",
        benchmark:
            "logs/benchmarks/collect_images/{collection}.{part}.tsv"
        resources:
            mem_mb=memory("collect_images"),
        params:
            part=part,
            relations=[*names.READ_BY["images"], *names.EXCHANGED],
        message:
            "collect the images of {wildcards.collection}, shard {wildcards.part}"
        script:
            "../scripts/collect_images.py"

    rule collect_gather:
        input:
            **gathered_pieces(names.GATHERED),
            sql=sql("collect/wikipedia/*.sql", "collect/wikipedia/gather/*.sql", "check/*.sql"),
            code=code("collect.build"),
        output:
            texts="data/collect/{collection}/texts.parquet",
            images="data/collect/{collection}/images.parquet",
            qrels="data/collect/{collection}/qrels.parquet",
            filters="data/collect/{collection}/filters.parquet",
            rejected="data/collect/{collection}/rejected.parquet",
        log:
            "logs/collect_gather/{collection}.log",
        benchmark:
            "logs/benchmarks/collect_gather/{collection}.tsv"
        wildcard_constraints:
            collection=collected_in(shards=True),
        resources:
            mem_mb=memory("collect_gather"),
        params:
            pieces=names.GATHERED,
        message:
            "gather the collection {wildcards.collection}"
        script:
            "../scripts/collect_gather.py"
