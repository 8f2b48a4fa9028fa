from pathlib import Path

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
)
from isotope.params import files
from isotope.params import resolve
from isotope.plan.plan import Plan

HOME = Path(workflow.basedir)
FOREIGN = resolve.discover()
plan = Plan(resolve.resolve(config, FOREIGN), HOME, FOREIGN)
files.demand_files(plan.params)


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
    part=plan.PART,
