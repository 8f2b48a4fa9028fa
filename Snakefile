from snakemake.utils import min_version

min_version("9.27")


configfile: "params.yaml"


container: "docker://python:3.11"


# Pictures are named, since Snakemake does not miss a file that is only on the way to another.
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
include: "workflow/rules/tabulate.smk"
include: "workflow/rules/release.smk"
include: "workflow/rules/_targets.smk"
