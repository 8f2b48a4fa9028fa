rule search_prompted:
    input:
        unpack(collected),
        vectors=vectors("images", "npy"),
        ids=vectors("images", "ids.parquet"),
        weights=lambda w: learned(w.collection, system(w)["model"]),
        configs=lambda w: configs_of(system(w)["model"]),
        sql=sql("index/texts.sql"),
        code=code("search.prompted"),
    output:
        runs=GRID,
    log:
        "logs/search_prompted/{collection}/{system}.log",
    benchmark:
        "logs/benchmarks/search_prompted/{collection}.{system}.tsv"
    wildcard_constraints:
        system=systems_of("prompt"),
    threads: 8
    resources:
        mem_mb=memory("search_prompted"),
    params:
        spec=system,
        model=lambda w: PARAMS["models"][base(system(w)["model"])],
        fields=lambda w: PARAMS["models"][system(w)["model"]].get("fields", FIVE_FIELDS),
        batch=PARAMS["encode"]["batch"],
        depth=PARAMS["search"]["depth"],
    message:
        "search {wildcards.collection} with {wildcards.system}"
    script:
        "../scripts/search_prompted.py"
