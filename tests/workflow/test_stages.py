"""A stage of `dvc.yaml` depends on all that its phase's rules read, without a run of the demo.

The Snakefile is loaded in this process, with params that write down which of their keys a rule
reads, and planned; nothing is run.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.rules import Rule
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)
from snakemake.workflow import Workflow

from isotope.core import provenance
from isotope.params import resolve
from isotope.plan.paths import Paths
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[2]
LIBRARY = "workflow/lib/isotope"
# A stage depends on the schemas of single phases.
SCHEMAS = f"{LIBRARY}/schemas"
STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
# The command line, the summary of a run and what they alone read build nothing.
NO_STAGE = {
    *(f"{LIBRARY}/cli", f"{LIBRARY}/ask"),
    *("workflow/sql/show", "workflow/sql/summary"),
}
# They read of a system only the models that it uses. A stage that named `systems` would run anew
# when any of them changes, as BM25's k1; a new model is in `models`, its system in `search`.
USES_MODELS = {"train", "encode"}
# Params that can be planned without a file of theirs.
OVERLAYS = ("month", "params/enwiki.yaml", "params/judge.yaml")
# The demo with what its default params leave out.
MONTH = {
    "build": ["toy", "toy-later"],
    "tabulate": {"temporal": ["bm25", "rrf", "tiny-clip"]},
    "encode": {"after": {"toy-later": "toy"}},
    "shards": dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 2),
}


# What decides how many threads a job has, when it runs, and what the run ends with changes none of
# its outputs.
SCHEDULING = ("Jobs.threads.", "Jobs.priority", "Ends.all")


def phase_of(name: str) -> str:
    """The phase of a rule or of a rule file, by its name's first word."""
    return name.partition("-")[0].partition("_")[0]


class Reads:
    """The keys of params that each phase's rules read, as paths: `search`, `search.depth`."""

    def __init__(self) -> None:
        self.by_phase: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.loading = ""

    def add(self, *key: str) -> None:
        self.by_phase[phase_of(self._rule())].add(key)

    def _rule(self) -> str:
        """The rule on whose behalf params are read: the one planned, else the one loaded."""
        frame = sys._getframe(2)
        while frame:
            if frame.f_code.co_qualname.startswith(SCHEDULING):
                return ""
            owner = frame.f_locals.get("self")
            if isinstance(owner, Rule):
                return owner.name
            frame = frame.f_back
        return self.loading


class Recorded(dict[str, Any]):
    """A mapping of params that writes down the keys that are read."""

    def __init__(self, values: Mapping[str, Any], reads: Reads, prefix: tuple[str, ...]) -> None:
        super().__init__(values)
        self._reads, self._prefix = reads, prefix

    def __getitem__(self, key: str) -> Any:
        value, path = super().__getitem__(key), (*self._prefix, key)
        if isinstance(value, dict) and (len(path) == 1 or path[:-1] == ("systems",)):
            return Recorded(value, self._reads, path)
        self._reads.add(*path)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 (it would call itself)

    def __contains__(self, key: object) -> bool:
        self._reads.add(*self._prefix, str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._whole()
        return super().__iter__()

    def keys(self) -> Any:
        self._whole()
        return super().keys()

    def values(self) -> Any:
        self._whole()
        return super().values()

    def items(self) -> Any:
        self._whole()
        return super().items()

    def __or__(self, other: Any) -> dict[str, Any]:
        return {**self, **other}

    def _whole(self) -> None:
        if self._prefix:
            self._reads.add(*self._prefix)


class Planned(NamedTuple):
    """The files that each phase's rules depend on, and the params that they read."""

    files: dict[str, set[str]]
    keys: dict[str, set[tuple[str, ...]]]


def plan(place: Path, overlay: str) -> Planned:
    """Plan everything in an empty folder; return what the rules of each phase read."""
    reads = Reads()
    files: dict[str, set[str]] = defaultdict(set)
    (place / "month").write_text(yaml.safe_dump(MONTH))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        _record(patch, reads)
        own = [ROOT / "params.yaml", (place if overlay == "month" else ROOT) / overlay]
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            planned = api.workflow(
                ResourceSettings(cores=1),
                ConfigSettings(configfiles=own),
                snakefile=ROOT / "Snakefile",
                workdir=place,
            )
            dag = planned.dag(DAGSettings(targets={"all", *STAGES}))
            dag.execute_workflow(executor="local", pseudo_executor="dryrun")
            made: Any = planned._workflow.dag
            for job in made.jobs:
                files[phase_of(job.rule.name)] |= set(code(job.input, job.params))
            # Rules of kinds that these params have not.
            for rule in planned._workflow.rules:
                files[phase_of(rule.name)] |= set(code(rule.input, rule.params))
    return Planned(files, reads.by_phase)


def _record(patch: pytest.MonkeyPatch, reads: Reads) -> None:
    real, include = resolve.resolve, Workflow.include
    rule, userule = Workflow.rule, Workflow.userule

    def recorded(*args: Any, **kwargs: Any) -> Recorded:
        return Recorded(real(*args, **kwargs), reads, ())

    def included(self: Workflow, file: Any, *args: Any, **kwargs: Any) -> Any:
        reads.loading = Path(str(file)).stem
        return include(self, file, *args, **kwargs)

    def named(self: Workflow, name: str | None = None, *args: Any, **kwargs: Any) -> Any:
        reads.loading = name or ""
        return rule(self, name, *args, **kwargs)

    def reused(self: Workflow, *args: Any, **kwargs: Any) -> Any:
        reads.loading = kwargs.get("name_modifier") or ""
        return userule(self, *args, **kwargs)

    patch.setattr(resolve, "resolve", recorded)
    patch.setattr(Workflow, "include", included)
    patch.setattr(Workflow, "rule", named)
    patch.setattr(Workflow, "userule", reused)
    # It reads for the rules of every phase what no stage can name, as params.yaml has no `intake`.
    patch.setattr(Paths, "limit", lambda *_: None)
    # What is read once and remembered would be laid at one phase's door only.
    for owner in map(type, vars(Plan({}, ROOT, {})).values()):
        for name, value in list(vars(owner).items()):
            if isinstance(value, cached_property):
                patch.setattr(owner, name, property(value.func))


def code(inputs: Any, params: Any) -> Iterator[str]:
    """The files of this project that a job, or a rule, depends on, from the project's folder."""
    named = dict(inputs.items())
    for name in ("code", "kind", "sql", "templates"):
        listed = named.get(name, [])
        if not callable(listed):
            for path in [listed] if isinstance(listed, str) else listed:
                yield os.path.relpath(path, ROOT)
    call = dict(params.items()).get("call")
    if isinstance(call, str):
        yield from (f"{LIBRARY}/{file}" for file in provenance.closure(call))


@pytest.fixture(scope="module")
def planned(tmp_path_factory) -> dict[str, Planned]:
    return {name: plan(tmp_path_factory.mktemp("plan"), name) for name in OVERLAYS}


def is_use(key: tuple[str, ...]) -> bool:
    """Whether what is read of `systems` is which of them there are, and which models they use."""
    return key[0] == "systems" and (len(key) < 3 or key[2] in ("kind", "model", "of"))


def is_part(key: str, params: Iterable[str]) -> bool:
    return any(key == param or key.startswith(f"{param}.") for param in params)


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def folders(top: str) -> list[str]:
    """The folders right below one of the project's that hold something."""
    below = sorted(p for p in (ROOT / top).iterdir() if p.is_dir() and p.name != "__pycache__")
    return [p.relative_to(ROOT).as_posix() for p in below]


def test_every_rule_file_package_schema_and_sql_folder_belongs_to_a_stage():
    rules = sorted((ROOT / "workflow/rules").glob("*.smk"))
    every = [path.relative_to(ROOT).as_posix() for path in rules]
    every += [*folders(LIBRARY), *folders("workflow/sql"), "workflow/scripts"]
    every += [f"{SCHEMAS}/{p.name}" for p in (ROOT / SCHEMAS).glob("[a-z]*.py")]
    every.remove(SCHEMAS)
    deps = {dep for stage in STAGES.values() for dep in stage["deps"]}
    assert [path for path in every if path not in deps and path not in NO_STAGE] == []
    assert [path for path in NO_STAGE if path in deps] == []


def test_a_stage_sees_its_rules_the_plan_and_what_calls_functions():
    common = ["Snakefile", "workflow/rules/_common.smk", "workflow/scripts"]
    common += [f"{LIBRARY}/{package}" for package in ("core", "params", "plan")]
    for name, stage in STAGES.items():
        assert {*common, f"workflow/rules/{name}.smk"} <= set(stage["deps"]), name


def test_every_dependency_on_our_own_files_is_there():
    deps = {
        d for s in STAGES.values() for d in s["deps"] if not d.startswith(("data/", "results/"))
    }
    assert sorted(d for d in deps if not (ROOT / d).exists()) == []


def test_what_a_phase_s_functions_and_queries_are_made_of_is_seen_by_its_stage(planned):
    lacking: dict[str, set[str]] = defaultdict(set)
    for made in planned.values():
        for phase, files in made.files.items():
            if phase in STAGES:
                deps = STAGES[phase]["deps"]
                lacking[phase] |= {str(Path(f).parent) for f in files if not is_below(f, deps)}
    assert {phase: sorted(paths) for phase, paths in lacking.items() if paths} == {}
    assert set(STAGES) <= {phase for made in planned.values() for phase in made.files}


def test_the_params_that_a_phase_s_rules_read_are_its_stage_s(planned):
    lacking: dict[str, set[str]] = defaultdict(set)
    for made in planned.values():
        for phase, keys in made.keys.items():
            if phase in STAGES:
                read = {k for k in keys if not (phase in USES_MODELS and is_use(k))}
                own = {".".join(key) for key in read}
                lacking[phase] |= {k for k in own if not is_part(k, STAGES[phase]["params"])}
    assert {phase: sorted(keys) for phase, keys in lacking.items() if keys} == {}


def test_the_params_of_every_stage_are_in_params_yaml():
    """DVC refuses a stage whose params the file lacks."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for name, stage in STAGES.items():
        for key in stage["params"]:
            inner: Any = params
            for part in key.split("."):
                assert part in inner, f"{name}: {key}"
                inner = inner[part]
