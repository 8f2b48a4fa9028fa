from pathlib import Path

from snakemake.logging import logger

from isotope.schemas.collect import EXCHANGED, GATHERED, IMAGE_PIECES, READ_BY, TEXT_PIECES
from isotope.core.digests import MANIFEST
from isotope.core.errors import BadPlugin
from isotope.params import files
from isotope.params import resolve
from isotope.params.crawl import DECODING, OF_POLICY, ORIGIN
from isotope.plan.code import KindCode
from isotope.plan.collections import ALL_TABLES, TABLES, collected
from isotope.plan.ends import Ends
from isotope.plan.facts import tabulated
from isotope.plan.graph import Graph
from isotope.plan.models import encoded
from isotope.plan import needs
from isotope.plan.call import RuleParams
from isotope.plan.paths import any_of, as_list, parsed, unique
from isotope.plan.plan import Plan
from isotope.plan.report import (
    CATALOG,
    COSTS,
    FIRST_PAGES,
    FRONT_PAGE,
    NEWEST,
    RECORD,
)
from isotope.plan.shards import PART, pieces
from isotope.plan.diff import CHANGES, FOLDER as DIFF
from isotope.plan.sources import DUMP, TEMPLATES, WIT
from isotope.plan.systems import ANSWERED, RUN, only
from isotope.tabulate.runs import OVERLAP
from isotope.tabulate.table import FORMS

EXTERNAL = resolve.discover()
# The files that the config is merged of, the last of which counts.
MERGED = [Path("params.yaml"), *map(Path, workflow.overwrite_configfiles)]
plan = Plan(resolve.resolve(config, EXTERNAL, MERGED, workflow.config_settings.config), EXTERNAL)
graph = Graph(workflow)
ends = Ends(plan, graph)
files.LocalFiles(plan.params).demand()
# What rules ask.
paths, shards, jobs = plan.paths, plan.shards, plan.jobs
sources, collections, models, systems = plan.sources, plan.collections, plan.models, plan.systems
facts, exhibits, diff, report = plan.facts, plan.exhibits, plan.diff, plan.report


wildcard_constraints:
    source="[^/]+",
    collection="[^/]+",
    model="[^/]+",
    system="[^/]+",
    shard=r"\d{5}",
    part=PART,
    earlier=any_of(collections.all),


def everything(_):
    """An input function: every lasting file behind the ends of the graph.

    Snakemake does not notice that an intermediate one is missing.
    """
    return graph.behind(ends.all())


def demand_prefix(plugin, names, before):
    """Refuse rules of a plug-in that do not bear its name, or a name that others' rules bear."""
    if names and plugin.name in {name.partition("_")[0] for name in before}:
        remedy = f"uninstall {plugin.package}, or have it renamed"
        raise BadPlugin(plugin.name, "a name that rules of isotope bear", remedy)
    other = sorted(name for name in names if name.partition("_")[0] != plugin.name)
    if other:
        remedy = f"call it {plugin.name}_{other[0]}"
        raise BadPlugin(plugin.name, f"a rule is called {other[0]}", remedy)


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


# Params that are no reason to do again what is done: how pictures are decoded.
NO_REASON = ("decoding",)


def complete(job):
    """Add to a job its message, its log, the record of what it took, and the digest of its code.

    Its params become one, with this digest. Neither is done to what downloads, which says so.
    """
    call, first = job.params.call, str(job.output[0])
    names = sorted(job.wildcard_names, key=lambda w: (w == "part", first.index(f"{{{w}")))
    values = [f"{{{name}}}" for name in names]
    job.message = job.message or job.docstring
    if not job.log:
        job.log_modifier = job.benchmark_modifier = job.output_modifier
        job.set_log(f"{Path('logs', job.name, *values)}.log")
        job.benchmark = f"{Path('logs/benchmarks', job.name, '.'.join(values))}.tsv"
    given = dict(job.params.items())
    downloads = given.pop("downloads", False)
    apart = {name: given.pop(name) for name in ("call", *NO_REASON) if name in given}
    job._params = type(job.params)()
    if downloads:
        job.set_params(**apart, **given)
    else:
        given["code"] = code_of(call, given.pop("roots", ()))
        job.set_params(**apart, given=RuleParams(given))


def code_of(call, further):
    """A param: the digest of the code of a job, with that of the kind that it works for.

    Code counts by what it is, wherever it is installed.
    """

    def digest(wildcards):
        function = call(wildcards) if callable(call) else call
        roots = further(wildcards) if callable(further) else further
        of_kind = KindCode(plan.params).roots(function, wildcards)
        return paths.closures.digest(function, *of_kind, *roots)

    return digest


def wit_beside(wildcards, table):
    """What every shard of WIT has, where a source uses WIT beside the snapshot."""
    is_beside = sources.associations(wildcards.source) == "both"
    return expand(shards.gathered("parse", WIT[table]), **wildcards) if is_beside else []


def is_cut(collection):
    """Whether a collection is made in shards: snapshots are."""
    return shards.are("collect") and collections[collection].entry.is_snapshot
