from isotope.core.schemas import FIVE_FIELDS


rule search_prompted:
    input:
        unpack(plan.collection_tables),
        vectors=plan.vectors("images", "npy"),
        ids=plan.vectors("images", "ids.parquet"),
        weights=lambda w: plan.learned_weights(w.collection, plan.system_params(w)["model"]),
        configs=lambda w: plan.configs_of(plan.system_params(w)["model"]),
        sql=plan.sql("index/texts.sql"),
        code=plan.encoder_code("search.prompted"),
    output:
        runs=plan.run_grid,
    log:
        "logs/search_prompted/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_prompted/{collection}.{system}.tsv"
    wildcard_constraints:
        system=plan.systems_of("prompt"),
    threads: 8
    resources:
        mem_mb=plan.needs(LEARNS),
    params:
        spec=plan.system_params,
        model=lambda w: plan.params["models"][plan.base_model(plan.system_params(w)["model"])],
        fields=lambda w: plan.params["models"][plan.system_params(w)["model"]].get(
            "fields", FIVE_FIELDS
        ),
        batch=plan.params["encode"]["batch"],
        depth=plan.params["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_prompted.py"
