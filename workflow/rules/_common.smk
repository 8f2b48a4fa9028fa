from pathlib import Path

from snakemake.logging import logger

from isotope.core.digests import MANIFEST
from isotope.plan.needs import (
    BUFFERS,
    COUNTS,
    DUCKDB,
    DUCKDB_LARGE,
    ENCODES,
    ENCODES_LATE,
    HOLDS,
    HOLDS_TWICE,
    JAVA,
    JAVA_DUCKDB,
    JAVA_MERGES,
    JAVA_SEARCHES,
    LEARNS,
    MERGES,
    NEAREST,
    PAGES,
    RERANKS,
    SEARCHES,
    SHOWS,
    SHOWS_WORDS,
    SORTS,
    STREAMS,
    VECTORS,
    VERIFIES,
)
from isotope.params import files
from isotope.params import resolve
from isotope.plan.ends import Ends
from isotope.plan.graph import Graph
from isotope.plan.plan import Plan

HOME = Path(workflow.basedir)
FOREIGN = resolve.discover()
plan = Plan(resolve.resolve(config, FOREIGN), HOME, FOREIGN)
graph = Graph(workflow)
ends = Ends(plan, graph)
files.demand_files(plan.params)


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
    part=plan.PART,


def made_whole(outputs):
    """An input function without files: jobs whose folders lack a file are to run."""

    def lacking(wildcards):
        for output in (str(each.apply_wildcards(wildcards)) for each in outputs):
            gone = ends.absent(output)
            if gone and output not in workflow.dag.forcefiles:
                how = "shorter than it was written" if gone[0].is_file() else "gone"
                logger.info(f"{output} is made again: {gone[0]} is {how} ({len(gone)} in all)")
                workflow.dag.forcefiles.add(output)
        return []

    return lacking


def collected(*tables):
    """The tables of a collection as inputs, or some of them by name."""
    return {t: f"{plan.COLLECTION}/{t}.parquet" for t in tables or ("texts", "images", "qrels")}


# A rule that calls a function is a job: it says what it reads, writes and calls. What follows from
# that is added by `complete`. A job holds the tables that it reads, unless its rule says otherwise.
rule job:
    resources:
        mem_mb=plan.needs(HOLDS),
    script:
        "../scripts/call.py"


def complete(job):
    """Add to a job its message, its log, the record of what it took, and its code as inputs."""
    call, first = job.params.call, str(job.output[0])
    names = sorted(job.wildcard_names, key=lambda w: (w == "part", first.index(f"{{{w}")))
    values = [f"{{{name}}}" for name in names]
    job.message = job.message or job.docstring
    if not job.log:
        job.log_modifier = job.benchmark_modifier = job.output_modifier
        job.set_log("/".join(["logs", job.name, *values]) + ".log")
        job.benchmark = f"logs/benchmarks/{job.name}/{'.'.join(values)}".rstrip("/") + ".tsv"
    if "code" not in job.input.keys():
        by_wildcards = lambda wildcards: plan.code(call(wildcards))
        job.set_input(code=by_wildcards if callable(call) else plan.code(call))
