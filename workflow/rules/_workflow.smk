from pathlib import Path

from snakemake.utils import min_version

from isotope.core import plugins
from isotope.params import files
from isotope.plan import adapter

min_version("9.27")

# Of a file that is no YAML Snakemake says neither its name nor a line.
if Path("params.yaml").is_file():
    files.read(Path("params.yaml"))


configfile: "params.yaml"


container: "docker://python:3.11"


include: "_common.smk"


# A rule that calls a function is a job: it says what it reads, writes and calls. What follows from
# that is added by `complete`. Jobs by what they hold: the tables that they read; what DuckDB asks,
# or sorts; rows in batches, or one by one; what torch encodes or learns; pages with pictures.
ADAPTER = adapter.write()
BY_NEED = {
    **{"job": needs.HOLDS, "asking": needs.DUCKDB, "sorting": needs.DUCKDB_LARGE},
    **{"buffering": needs.BUFFERS, "streaming": needs.STREAMS},
    **{"encoding": needs.ENCODES, "learning": needs.LEARNS, "showing": needs.SHOWS},
}
for base, need in BY_NEED.items():

    rule:
        name:
            base
        resources:
            mem_mb=jobs.needs(need),
        script:
            ADAPTER


ROAD = (
    *("acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search"),
    *("score", "tabulate", "release"),
)
for phase in ROAD:

    include: f"{phase}.smk"


for plugin in plugins.registered().values():
    before = {rule.name for rule in workflow.rules}
    if plugin.rules:

        include: plugin.file(plugin.rules)

    demand_prefix(plugin, {rule.name for rule in workflow.rules} - before, before)


# Others are made of these, and no job is.
for base in BY_NEED:
    workflow.get_rule(base).norun = True

# A folder, or a source with its manifest, is one output of several files.
for step in workflow.rules:
    step.priority = jobs.priority
    if "call" in step.params.keys():
        complete(step)
    several = [f for f in step.output if f.is_directory or f.endswith(MANIFEST)]
    if several:
        step.set_input(made_whole(several))

paths.limit(workflow.rules)
paths.closures.keep()


onstart:
    # Before the first job, and not when one of them comes to it after an hour.
    due = list(workflow.dag.needrun_jobs())
    codes = (dict(job.params.items()).get("given", {}).get("code") for job in due)
    read = {getattr(job.wildcards, "source", "") for job in due}
    paths.closures.demand(filter(None, codes), *(sources.packages(source) for source in read))
    # DVC records the output of every stage, also of one that has not run: an empty folder is enough.
    Path("results/release").mkdir(parents=True, exist_ok=True)


# One target per phase: what its rules leave behind the ends.
for phase in (*ROAD[:-1], *plugins.phases()):

    rule:
        name:
            phase
        input:
            lambda wildcards, phase=phase: graph.behind(ends.all(), [phase]),


rule release:
    input:
        expand("results/release/{collection}", collection=collections.built),


rule lite:
    input:
        expand("results/release/{collection}-lite", collection=collections.built),


# Everything in the params, also what is made only on request.
rule full:
    input:
        everything,
        rules.release.input,
