# A rule makes all runs (of each setting, split and task) of one system.
# A kind of system that reads only the collection's tables names its function in its class.
rule search_tables:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.system_code,
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_tables/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_tables/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.called_systems(),
    resources:
        mem_mb=plan.needs(HOLDS, shards="search"),
    params:
        call=plan.system_call,
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_bm25:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.index_pattern,
        sql=plan.sql("index/*.sql"),
        code=plan.code("search.bm25:search_bm25"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_bm25/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_bm25/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("bm25"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES, by_lucene=JAVA_SEARCHES, reads=["texts", "images"]),
    params:
        call="search.bm25:search_bm25",
        spec=plan.word_params,
        language=plan.caption_language,
        texts_in=plan.language,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_dense:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("search.systems:search_dense"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_dense/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_dense/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("dense"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(
            HOLDS, reads=["texts_ids", "images_ids", "qrels"], extra_mb=plan.search_memory_mb
        ),
    params:
        call="search.systems:search_dense",
        encoded=["texts", "images", "texts_ids", "images_ids"],
        depth=plan.params["search"]["depth"],
        memory_mb=plan.params["search"]["memory_mb"],
        device=plan.params["search"]["device"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_late:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        texts_tokens=plan.vectors("texts", "tokens.npy"),
        images_tokens=plan.vectors("images", "tokens.npy"),
        texts_items=plan.vectors("texts", "tokens.parquet"),
        images_items=plan.vectors("images", "tokens.parquet"),
        code=plan.code("search.late:search_late"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_late/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_late/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("late"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(
            HOLDS,
            reads=["texts_ids", "images_ids", "texts_items", "images_items", "qrels"],
            extra_mb=plan.search_memory_mb,
        ),
    params:
        call="search.late:search_late",
        encoded=["texts", "images", "texts_ids", "images_ids"],
        vectors=["texts_tokens", "images_tokens", "texts_items", "images_items"],
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
        memory_mb=plan.params["search"]["memory_mb"],
        device=plan.params["search"]["device"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_sparse:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "terms.parquet"),
        images=plan.vectors("images", "terms.parquet"),
        code=plan.code("search.sparse:search_sparse"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_sparse/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_sparse/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("sparse"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES, reads=["texts", "images"]),
    params:
        call="search.sparse:search_sparse",
        encoded=["texts", "images"],
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_trec:
    input:
        submission=plan.foreign_run,
        documents=plan.candidates,
        qrels="data/collect/{collection}/qrels.parquet",
        code=plan.code("search.systems:take_run"),
    output:
        run="results/search/{collection}/{setting}/{split}/{task}/{system}.parquet",
    log:
        "logs/search_trec/{collection}/{setting}.{split}.{task}.{system}.log",
    benchmark:
        "logs/benchmarks/search_trec/{collection}.{setting}.{split}.{task}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("trec"),
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="search.systems:take_run",
        depth=plan.params["search"]["depth"],
    message:
        "read the run of {wildcards.system} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule search_approximate:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
        code=plan.code("search.approximate:search_approximate"),
    output:
        runs=plan.run_grid,
        recall="results/search/{collection}/recall/{system}.csv",
    log:
        "logs/search_approximate/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_approximate/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("approximate"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(VECTORS, extra_mb=plan.search_memory_mb),
    params:
        call="search.approximate:search_approximate",
        encoded=["texts", "images", "texts_ids", "images_ids"],
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
        memory_mb=plan.params["search"]["memory_mb"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_prompted:
    input:
        unpack(plan.collection_tables),
        vectors=plan.vectors("images", "npy"),
        ids=plan.vectors("images", "ids.parquet"),
        weights=plan.prompt_weights,
        after=plan.prompt_configs,
        sql=plan.sql("index/texts.sql"),
        code=plan.encoder_code("search.prompted:search_prompted"),
    output:
        runs=plan.run_grid,
    log:
        "logs/search_prompted/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_prompted/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("prompt"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        call="search.prompted:search_prompted",
        spec=plan.system_params,
        model=plan.prompt_model,
        fields=plan.prompt_fields,
        batch=plan.params["encode"]["batch"],
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_reranked:
    input:
        unpack(plan.collection_tables),
        parts=plan.fused_runs,
        pixels=plan.reranked_pixels,
        after=plan.prompt_configs,
        sql=plan.sql("index/*.sql"),
        code=plan.encoder_code("search.rerank:search_reranked"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    log:
        f"logs/search_reranked/{{collection}}/{{system}}{plan.part_suffix('search', '/')}.log",
    benchmark:
        f"logs/benchmarks/search_reranked/{{collection}}.{{system}}{plan.part_suffix('search', '.')}.tsv"
    wildcard_constraints:
        system=plan.systems_of("rerank"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(RERANKS, reads=["texts", "parts"], extra_mb=plan.reranker_mb),
    params:
        call="search.rerank:search_reranked",
        spec=plan.system_params,
        model=plan.reranker,
        language=plan.caption_language,
        costs=plan.rerank_costs,
    message:
        "rerank the runs of {wildcards.system} on {wildcards.collection}"
    script:
        "../scripts/call.py"


rule search_answers:
    input:
        unpack(plan.collection_tables),
        answers=plan.answer_files,
        indexes=plan.index_pattern,
        after=plan.tokenizer_files,
        code=plan.code("search.answers:search_answers"),
    output:
        runs=plan.run_grid,
        rejected="results/search/{collection}/answers/{system}.rejected.parquet",
        answered=plan.ANSWERED,
    log:
        "logs/search_answers/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_answers/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES),
    params:
        call="search.answers:search_answers",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "map the answers of {wildcards.system} to {wildcards.collection}"
    script:
        "../scripts/call.py"


# What a benchmark whose answers are withheld wants to be sent.
rule search_submission:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        run="results/search/{collection}/unjudged/{setting}/{split}/m2t/{system}.parquet",
        code=plan.code("search.answers:write_submission"),
    output:
        out=plan.SUBMISSION,
    log:
        "logs/search_submission/{collection}/{setting}.{split}.{system}.log",
    benchmark:
        "logs/benchmarks/search_submission/{collection}.{setting}.{split}.{system}.tsv"
    resources:
        mem_mb=plan.needs(HOLDS),
    params:
        call="search.answers:write_submission",
    message:
        "write what {wildcards.system} answers to split {wildcards.split} of {wildcards.collection}"
    script:
        "../scripts/call.py"


# With more than one shard.
if plan.is_sharded("search"):

    rule search_gather:
        input:
            pieces=plan.part_files("search", plan.run_pieces),
            code=plan.code("search.systems:gather_runs"),
        output:
            runs=plan.run_grid,
        log:
            "logs/search_gather/{collection}/{system}.log",
        benchmark:
            "logs/benchmarks/search_gather/{collection}.{system}.tsv"
        wildcard_constraints:
            system=plan.sliced_systems(),
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="search.systems:gather_runs",
        message:
            "gather the runs of {wildcards.system} on {wildcards.collection}"
        script:
            "../scripts/call.py"


rule search_fused:
    input:
        parts=plan.fused_runs,
        code=plan.code("search.systems:search_fused"),
    output:
        runs=plan.run_grid,
    log:
        "logs/search_fused/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_fused/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.fusions(tuned=False),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="search.systems:search_fused",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/call.py"


rule search_tuned:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        parts=plan.fused_runs,
        code=plan.code("search.tune:search_tuned"),
    output:
        runs=plan.run_grid,
        trials="results/search/{collection}/tuning/{system}.csv",
    log:
        "logs/search_tuned/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_tuned/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.fusions(tuned=True),
    resources:
        mem_mb=plan.needs(HOLDS_TWICE),
    params:
        call="search.tune:search_tuned",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],
    message:
        "tune {wildcards.system} on {wildcards.collection} and search with it"
    script:
        "../scripts/call.py"


# Systems built on an earlier collection answer the queries of a later one.
use rule search_bm25 as search_since_bm25 with:
    input:
        texts="data/collect/{collection}/texts.parquet",
        images="data/collect/{collection}/images.parquet",
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.earlier_index,
        sql=plan.sql("index/*.sql"),
        code=plan.code("search.bm25:search_bm25"),
    output:
        runs=plan.stale_grid("setting", "split", "task"),
    log:
        "logs/search_since_bm25/{collection}/{earlier}/{system}.log",
    benchmark:
        "logs/benchmarks/search_since_bm25/{collection}.{earlier}.{system}.tsv"
    message:
        "search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}"


use rule search_dense as search_since_dense with:
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.earlier_index,
        texts=plan.stale_sides("texts", "npy"),
        images=plan.stale_sides("images", "npy"),
        texts_ids=plan.stale_sides("texts", "ids.parquet"),
        images_ids=plan.stale_sides("images", "ids.parquet"),
        code=plan.code("search.systems:search_dense"),
    output:
        runs=plan.stale_grid("setting", "split"),
    log:
        "logs/search_since_dense/{collection}/{earlier}/{task}.{system}.log",
    benchmark:
        "logs/benchmarks/search_since_dense/{collection}.{earlier}.{task}.{system}.tsv"
    message:
        "search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}, {wildcards.task}"


use rule search_fused as search_since_fused with:
    input:
        parts=plan.stale_parts,
        code=plan.code("search.systems:search_fused"),
    output:
        runs=plan.stale_grid("setting", "split", "task"),
    log:
        "logs/search_since_fused/{collection}/{earlier}/{system}.log",
    benchmark:
        "logs/benchmarks/search_since_fused/{collection}.{earlier}.{system}.tsv"
    message:
        "fuse the runs on {wildcards.earlier} for {wildcards.collection} by {wildcards.system}"
