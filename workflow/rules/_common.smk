from pathlib import Path

from isotope.params import foreign, paths, resolve
from isotope.plan.plan import Plan

HOME = Path(workflow.basedir)
FOREIGN = foreign.discover()
SCHEMA = HOME / "workflow/schemas/params.schema.yaml"
plan = Plan(resolve.resolve(config, SCHEMA, FOREIGN), HOME, FOREIGN)
paths.demand_files(plan.params)


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
    part=plan.PART,
