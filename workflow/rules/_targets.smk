# One target a phase, in the order of the road.
rule acquire:
    input:
        expand("data/acquire/{source}/manifest.json", source=sources()),


rule parse:
    input:
        expand(
            "data/parse/{s}/{t}.parquet", s=sources(snapshots=True), t=["associations", "sections"]
        ),
        [path for c in PARAMS["build"] for path in linked(c).values()],


rule crawl:
    input:
        crawled_tables,


rule project:
    input:
        expand("data/project/{s}/projection.parquet", s=sources(snapshots=True)),


rule collect:
    input:
        expand("data/collect/{c}/{t}.parquet", c=collections(), t=["texts", "images", "qrels"]),


rule train:
    input:
        expand(
            "data/train/{c}/{m}/model.safetensors",
            c=PARAMS["build"],
            m=trained() + fitted() + whole(),
        ),


rule encode:
    input:
        encoded(),
        every_old_vector(),


rule index:
    input:
        by_kind("data/index/{collection}/{setting}/{system}", *INDEXED),


rule search:
    input:
        [runs_of(c, used_systems()) for c in PARAMS["build"]],
        every_aged(),


rule score:
    input:
        expand("results/score/{collection}.parquet", collection=PARAMS["build"]),
        judged(),


rule tabulate:
    input:
        "results/catalog.duckdb",


rule release:
    input:
        expand("results/release/{collection}", collection=PARAMS["build"]),


# All that the params ask for, also what is made only on request.
rule full:
    input:
        rules.all.input,
        rules.release.input,
