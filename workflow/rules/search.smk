# A rule makes all runs (of each setting, split and task) of one system.
# A kind of system that reads only the collection's tables names its function in its class.
use rule job as search_tables with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **collected(),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    wildcard_constraints:
        system=plan.called_systems(),
    resources:
        mem_mb=plan.needs(HOLDS, shards="search"),
    params:
        call=plan.system_call,
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],


use rule job as search_bm25 with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **collected(),
        indexes=plan.index_pattern,
        sql=plan.sql("index/*.sql"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
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


use rule job as search_dense with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
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


use rule job as search_late with:
    """search {wildcards.collection} with {wildcards.system}"""
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
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
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


use rule job as search_sparse with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "terms.parquet"),
        images=plan.vectors("images", "terms.parquet"),
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
    wildcard_constraints:
        system=plan.systems_of("sparse"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES, reads=["texts", "images"]),
    params:
        call="search.sparse:search_sparse",
        encoded=["texts", "images"],
        depth=plan.params["search"]["depth"],


use rule job as search_trec with:
    """read the run of {wildcards.system} on {wildcards.collection}"""
    input:
        submission=plan.foreign_run,
        documents=plan.candidates,
        qrels="data/collect/{collection}/qrels.parquet",
    output:
        run="results/search/{collection}/{setting}/{split}/{task}/{system}.parquet",
    wildcard_constraints:
        system=plan.systems_of("trec"),
    params:
        call="search.systems:take_run",
        depth=plan.params["search"]["depth"],


use rule job as search_approximate with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        after=plan.side_tables,
        indexes=plan.index_pattern,
        texts=plan.vectors("texts", "npy"),
        images=plan.vectors("images", "npy"),
        texts_ids=plan.vectors("texts", "ids.parquet"),
        images_ids=plan.vectors("images", "ids.parquet"),
    output:
        runs=plan.run_grid,
        recall="results/search/{collection}/recall/{system}.csv",
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


use rule job as search_prompted with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        **collected(),
        vectors=plan.vectors("images", "npy"),
        ids=plan.vectors("images", "ids.parquet"),
        weights=plan.prompt_weights,
        after=plan.prompt_configs,
        sql=plan.sql("index/texts.sql"),
        kind=plan.model_code,
    output:
        runs=plan.run_grid,
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


use rule job as search_reranked with:
    """rerank the runs of {wildcards.system} on {wildcards.collection}"""
    input:
        **collected(),
        parts=plan.fused_runs,
        pixels=plan.reranked_pixels,
        after=plan.prompt_configs,
        sql=plan.sql("index/*.sql"),
        kind=plan.model_code,
    output:
        runs=plan.piece("search", plan.run_grid, plan.run_pieces),
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


use rule job as search_answers with:
    """map the answers of {wildcards.system} to {wildcards.collection}"""
    input:
        **collected(),
        answers=plan.answer_files,
        indexes=plan.index_pattern,
        after=plan.tokenizer_files,
    output:
        runs=plan.run_grid,
        rejected="results/search/{collection}/answers/{system}.rejected.parquet",
        answered=plan.ANSWERED,
    wildcard_constraints:
        system=plan.systems_of("answers"),
    threads: plan.threads(8)
    resources:
        mem_mb=plan.needs(SEARCHES),
    params:
        call="search.answers:search_answers",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],


# What a benchmark whose answers are withheld wants to be sent.
use rule job as search_submission with:
    """write what {wildcards.system} answers to split {wildcards.split} of {wildcards.collection}"""
    input:
        **collected("texts", "images"),
        run="results/search/{collection}/unjudged/{setting}/{split}/m2t/{system}.parquet",
    output:
        out=plan.SUBMISSION,
    params:
        call="search.answers:write_submission",


# With more than one shard.
if plan.is_sharded("search"):

    use rule job as search_gather with:
        """gather the runs of {wildcards.system} on {wildcards.collection}"""
        input:
            pieces=plan.part_files("search", plan.run_pieces),
        output:
            runs=plan.run_grid,
        wildcard_constraints:
            system=plan.sliced_systems(),
        resources:
            mem_mb=plan.needs(STREAMS),
        params:
            call="search.systems:gather_runs",


use rule job as search_fused with:
    """search {wildcards.collection} with {wildcards.system}"""
    input:
        parts=plan.fused_runs,
    output:
        runs=plan.run_grid,
    wildcard_constraints:
        system=plan.fusions(tuned=False),
    resources:
        mem_mb=plan.needs(BUFFERS),
    params:
        call="search.systems:search_fused",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],


use rule job as search_tuned with:
    """tune {wildcards.system} on {wildcards.collection} and search with it"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        parts=plan.fused_runs,
    output:
        runs=plan.run_grid,
        trials="results/search/{collection}/tuning/{system}.csv",
    wildcard_constraints:
        system=plan.fusions(tuned=True),
    resources:
        mem_mb=plan.needs(HOLDS_TWICE),
    params:
        call="search.tune:search_tuned",
        spec=plan.system_params,
        depth=plan.params["search"]["depth"],


# Systems built on an earlier collection answer the queries of a later one.
use rule search_bm25 as search_since_bm25 with:
    """search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}"""
    input:
        **collected(),
        indexes=plan.earlier_index,
        sql=plan.sql("index/*.sql"),
    output:
        runs=plan.stale_grid("setting", "split", "task"),


use rule search_dense as search_since_dense with:
    """search {wildcards.earlier} for {wildcards.collection} with {wildcards.system}, {wildcards.task}"""
    input:
        qrels="data/collect/{collection}/qrels.parquet",
        indexes=plan.earlier_index,
        texts=plan.stale_sides("texts", "npy"),
        images=plan.stale_sides("images", "npy"),
        texts_ids=plan.stale_sides("texts", "ids.parquet"),
        images_ids=plan.stale_sides("images", "ids.parquet"),
    output:
        runs=plan.stale_grid("setting", "split"),


use rule search_fused as search_since_fused with:
    """fuse the runs on {wildcards.earlier} for {wildcards.collection} by {wildcards.system}"""
    input:
        parts=plan.stale_parts,
    output:
        runs=plan.stale_grid("setting", "split", "task"),
