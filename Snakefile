from pathlib import Path

from snakemake.utils import min_version

from isotope.params import files

min_version("9.27")

# Of a file that is no YAML Snakemake says neither its name nor a line.
if Path("params.yaml").is_file():
    files.read(Path("params.yaml"))


configfile: "params.yaml"


container: "docker://python:3.11"


# Every file that a built collection has, since Snakemake does not notice that an intermediate one is
# missing: workflow/lib/isotope/plan/targets.py.
rule all:
    input:
        lambda wildcards: targets.all(),


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


plan.limit(workflow.rules)
plan.closures.keep()


# A folder, or a source with its manifest, is one output of several files.
for each in workflow.rules:
    each.priority = plan.priority
    several = [f for f in each.output if f.is_directory or f.endswith(MANIFEST)]
    if several:
        each.set_input(made_whole(several))


# One target per phase, in order.
rule acquire:
    input:
        lambda wildcards: targets.acquire(),


rule parse:
    input:
        lambda wildcards: targets.parse(),


rule crawl:
    input:
        lambda wildcards: targets.crawl(),


rule project:
    input:
        lambda wildcards: targets.project(),


rule collect:
    input:
        lambda wildcards: targets.collect(),


rule train:
    input:
        lambda wildcards: targets.train(),


rule encode:
    input:
        lambda wildcards: targets.encode(),


rule index:
    input:
        lambda wildcards: targets.index(),


rule search:
    input:
        lambda wildcards: targets.search(),


rule score:
    input:
        lambda wildcards: targets.score(),


rule suggest:
    input:
        lambda wildcards: targets.suggest(),


rule tabulate:
    input:
        lambda wildcards: targets.tabulate(),


rule release:
    input:
        lambda wildcards: targets.release(),


rule lite:
    input:
        expand("results/release/{collection}-lite", collection=plan.params["build"]),


# Everything in the params, also what is made only on request.
rule full:
    input:
        rules.all.input,
        rules.release.input,
