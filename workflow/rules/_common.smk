from pathlib import Path

from snakemake.logging import logger

from isotope.core.digests import MANIFEST
from isotope.plan.shards import (
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
