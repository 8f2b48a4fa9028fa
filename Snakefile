from snakemake.utils import min_version

min_version("9.27")


configfile: "params.yaml"


container: "docker://python:3.11"


# Pictures are targets, since Snakemake does not notice that an intermediate file is missing.
rule all:
    input:
        lambda wildcards: plan.crawl_tables(),
        "results/catalog.duckdb",


include: "workflow/rules/_common.smk"
include: "workflow/rules/acquire.smk"
include: "workflow/rules/parse.smk"
include: "workflow/rules/crawl.smk"
include: "workflow/rules/project.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/encode.smk"
include: "workflow/rules/index.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/suggest.smk"
include: "workflow/rules/tabulate.smk"
include: "workflow/rules/release.smk"


for each in workflow.rules:
    each.priority = plan.priority


# One target per phase, in order.
rule acquire:
    input:
        expand("data/acquire/{source}/manifest.json", source=plan.sources()),


rule parse:
    input:
        expand(
            "data/parse/{s}/{t}.parquet",
            s=plan.sources(snapshots=True),
            t=["associations", "sections"],
        ),
        [path for c in plan.params["build"] for path in plan.inlinks_of(c).values()],
        plan.parsed_files(),


rule crawl:
    input:
        plan.crawl_tables,


rule project:
    input:
        expand("data/project/{s}/projection.parquet", s=plan.sources(snapshots=True)),


rule collect:
    input:
        expand("data/collect/{c}/{t}.parquet", c=plan.collections(), t=["texts", "images", "qrels"]),


rule train:
    input:
        expand(
            "data/train/{c}/{m}/model.safetensors",
            c=plan.params["build"],
            m=plan.trained_models() + plan.fitted_models() + plan.fine_tuned_models(),
        ),


rule encode:
    input:
        plan.vector_shards(),
        plan.all_earlier_vectors(),


rule index:
    input:
        plan.indexes(),


rule search:
    input:
        [plan.runs_of(c, plan.used_systems()) for c in plan.params["build"]],
        plan.all_stale_runs(),


rule score:
    input:
        expand("results/score/{collection}.parquet", collection=plan.params["build"]),
        plan.judgement_tables(),


rule suggest:
    input:
        plan.suggest_files(),


rule tabulate:
    input:
        "results/catalog.duckdb",


rule release:
    input:
        expand("results/release/{collection}", collection=plan.params["build"]),


rule lite:
    input:
        expand("results/release/{collection}-lite", collection=plan.params["build"]),


# Everything in the params, also what is made only on request.
rule full:
    input:
        rules.all.input,
        rules.release.input,
