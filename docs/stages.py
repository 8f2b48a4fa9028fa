"""Write the stages of dvc.yaml from what the rules of each phase depend on: `make docs`.

And those of the folders that `isotope new` makes, in which the package lies elsewhere.

A stage depends on the rules of its phase, on the code, queries and templates of their functions, on
the params that they read, and on what jobs of other phases leave. The Snakefile is loaded in this
process, with params that write down which of their keys a rule reads, and planned; nothing is run.
"""

# It stands in for functions of Snakemake and of dict, which take anything.
# ruff: noqa: ANN401, D102
# pyright: reportPrivateUsage=false

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MethodType
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

from isotope.core import plugins, provenance
from isotope.params import resolve
from isotope.params.sections import Section
from isotope.plan import parts
from isotope.plan.closures import Closures

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "dvc.yaml"
NEW = ROOT / "workflow/experiment/stages.yaml"
LIBRARY = "workflow/lib/isotope"
# They read of a system only the models that it uses. A stage that named `systems` would run anew
# when any of them changes, as BM25's k1; a new model is in `models`, its system in `search`.
USES_MODELS = {"train", "encode"}
# Params that can be planned without a file of theirs; the first are the default ones alone.
OVERLAYS = (
    "params.yaml",
    "month",
    "params/enwiki.yaml",
    "workflow/plugins/isotope_judge/params/judge.yaml",
)
# The demo with what its default params leave out.
MONTH = {
    "build": ["toy", "toy-later"],
    "tabulate": {"temporal": ["bm25", "rrf", "tiny-clip"]},
    "encode": {"after": {"toy-later": "toy"}},
    "shards": dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 2),
}


# What decides how many threads a job has, when it runs, and what the run ends with changes none of
# its outputs; limits are set for the rules of every phase, and params.yaml has none.
SCHEDULING = ("Jobs.threads.", "Jobs.priority", "Ends.all", "Paths.limit")


class Reads:
    """The keys of params that each phase's rules read, as paths: `search`, `search.depth`; and
    their code.
    """

    def __init__(self) -> None:
        self.by_phase: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.code: dict[str, set[str]] = defaultdict(set)
        self.loading = ""

    def add(self, *key: str) -> None:
        self.by_phase[plugins.phase_of(self._rule())].add(key)

    def add_code(self, files: Iterable[str]) -> None:
        self.code[plugins.phase_of(self._rule())].update(files)

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
        self._typed, self._reads, self._prefix = values, reads, prefix

    def __getattr__(self, key: str) -> Any:
        """A key of the params as attributes: of `systems`, each entry tells what is read of it."""
        value = getattr(self._typed, key)
        if isinstance(value, MethodType):
            return MethodType(value.__func__, self)
        if isinstance(value, Section):
            return Watched(value, self._reads, (key,))
        if key == "systems":
            return {name: Watched(value[name], self._reads, (key, name)) for name in value}
        if isinstance(value, dict):
            return Recorded(value, self._reads, (key,))
        self._reads.add(*self._prefix, key)
        return value

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


class Watched:
    """A section of the params that writes down which of its keys are read."""

    def __init__(self, section: Section, reads: Reads, prefix: tuple[str, ...]) -> None:
        self._section, self._reads, self._prefix = section, reads, prefix

    def __getattr__(self, key: str) -> Any:
        # What a class can do follows from its kind.
        is_key = key in type(self._section).model_fields
        self._reads.add(*self._prefix, key if is_key else "kind")
        return getattr(self._section, key)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class Planned(NamedTuple):
    """What each phase's rules depend on: files of ours, params, and files of jobs and users."""

    files: dict[str, set[str]]
    keys: dict[str, set[tuple[str, ...]]]
    inputs: dict[str, set[str]]
    outputs: dict[str, set[str]]


def plan(place: Path, overlay: str) -> Planned:
    """Plan everything in an empty folder; return what the rules of each phase read."""
    reads = Reads()
    made = Planned(*(defaultdict(set) for _ in Planned._fields))
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
            dag = planned.dag(DAGSettings(targets={"all", *PHASES}))
            dag.execute_workflow(executor="local", pseudo_executor="dryrun")
            graph: Any = planned._workflow.dag
            for job in graph.jobs:
                phase = plugins.phase_of(job.rule.name)
                made.inputs[phase].update(map(folder_of, job.input))
                made.outputs[phase].update(map(folder_of, job.output))
            # Rules of kinds that these params have not.
            for rule in planned._workflow.rules:
                call = dict(rule.params.items()).get("call")
                if isinstance(call, str):
                    made.files[plugins.phase_of(rule.name)].update(provenance.closure(call))
    made.files.update({p: made.files[p] | files for p, files in reads.code.items()})
    made.keys.update(reads.by_phase)
    return made


def folder_of(path: str) -> str:
    """The folder of a phase that an artifact lies in: its first two parts."""
    return "/".join(Path(path).parts[:2])


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

    digest = Closures.digest

    def digested(self: Closures, *roots: str) -> str:
        reads.add_code(self.files_of(*roots))
        return digest(self, *roots)

    patch.setattr(Closures, "digest", digested)
    patch.setattr(resolve, "resolve", recorded)
    patch.setattr(Workflow, "include", included)
    patch.setattr(Workflow, "rule", named)
    patch.setattr(Workflow, "userule", reused)
    # What is read once and remembered would be laid at one phase's door only.
    patch.setattr(cached_property, "__get__", _again)


def _again(self: cached_property[Any], instance: object, owner: type | None = None) -> Any:
    return self if instance is None else self.func(instance)


def is_use(key: tuple[str, ...]) -> bool:
    """Whether what is read of `systems` is which of them there are, and which models they use."""
    return key[0] == "systems" and (not key[2:] or key[2] in ("kind", "model", "of"))


# What a phase leaves, in the order of the road. Reports show what those of plug-ins leave.
OUTS = {
    **{phase: [f"data/{phase}"] for phase in ("acquire", "parse", "crawl", "project", "collect")},
    **{phase: [f"data/{phase}"] for phase in ("train", "encode", "index")},
    **{phase: [f"results/{phase}"] for phase in ("search", "score")},
    **{phase: [*plugins.registered()[phase].outs] for phase in plugins.phases()},
    "tabulate": [
        *("results/tables", "results/figures", "results/report", "results/catalog.duckdb"),
        "results/.digests",
    ],
    "release": ["results/release"],
}
PHASES = tuple(OUTS)
# Phases that some params have nothing for; DVC asks for the folder all the same.
OPTIONAL = {"train", "encode", "index", *plugins.phases()}
# What people put beside the project for a phase.
GIVEN = {"search": "runs", "score": "judgements", "suggest": "judgements", "tabulate": "judgements"}
# Params that no rule of a phase need read and that decide what later phases want of it.
WANTED = {
    "acquire": ("crawl", "encode", "collect", "tabulate"),
    "parse": ("crawl", "encode", "tabulate"),
    **dict.fromkeys(("crawl", "project", "collect"), ("encode", "tabulate.diff")),
    **dict.fromkeys(("train", "encode"), ("search.systems", "tabulate")),
    "index": ("tabulate",),
    "search": ("tabulate.diff", "tabulate.temporal"),
}
RULES, PLUGINS = "workflow/rules", "workflow/plugins"
PARAMS = "params.yaml"
ALWAYS = ["Snakefile", f"{RULES}/_common.smk", f"{RULES}/_workflow.smk", "workflow/scripts"]
CARRIERS = [f"{LIBRARY}/{package}" for package in ("core", "params", "plan")]


def folder_in_git(file: str) -> str:
    """What a stage depends on for a file of the package: its package, its folder of queries, or
    itself. A schema is a file a phase; a plug-in is one folder.
    """
    parts = Path(file).parts
    if parts[0] in plugins.packages():
        return f"{PLUGINS}/{parts[0]}"
    path = "/".join(parts[: 2 if parts[0] in ("schemas", "sql") else 1])
    return f"workflow/{path}" if parts[0] == "sql" else f"{LIBRARY}/{path}"


def params_of(phase: str, plans: Sequence[Planned]) -> list[str]:
    """The params of a stage: whole sections, but of `shards` those of phases.

    DVC knows no key that may be absent, as that of a plug-in: none at all, where one is read.
    """
    keys = {key for each in plans for key in each.keys[phase]}
    read = {key for key in keys if not (phase in USES_MODELS and is_use(key))}
    if {key[0] for key in read} - yaml.safe_load((ROOT / PARAMS).read_text("utf-8")).keys():
        return []
    named = {".".join(key[:2]) if key[0] == "shards" else key[0] for key in read}
    return sorted({"build", "snapshots", *named, *WANTED.get(phase, ())})


def phases_of(plugin: plugins.Plugin) -> set[str]:
    """The phases that a plug-in's rules, kinds of collections and tables belong to."""
    kinds, tables = plugin.kinds.keys() & {"collect"}, {"tabulate"} if plugin.exhibits else set()
    return {*((plugin.name, *plugin.phases.values()) if plugin.rules else ()), *kinds, *tables}


def rules_of(phase: str) -> list[str]:
    """The rules of a phase: its file, and the plug-ins that have something of it."""
    every = plugins.registered().values()
    folders = [f"{PLUGINS}/{p.package}" for p in every if phase in phases_of(p)]
    return [*([] if phase in plugins.phases() else [f"{RULES}/{phase}.smk"]), *folders]


def deps_of(phase: str, plans: Sequence[Planned]) -> list[str]:
    """What a stage depends on; of other phases' data what the default params, the first, read."""
    files = {folder_in_git(file) for each in plans for file in each.files[phase]}
    artifacts = plans[0].inputs[phase] - {*OUTS[phase]}
    own = rules_of(phase)
    return [
        *ALWAYS,
        *own,
        *sorted({*CARRIERS, *files} - {*own}),
        *([GIVEN[phase]] if phase in GIVEN else []),
        *(out for outs in OUTS.values() for out in outs if out in artifacts),
    ]


def stage(phase: str, plans: Sequence[Planned]) -> list[str]:
    """The lines of a stage of dvc.yaml; without keys it depends on the params as a whole."""
    command, outs = f"snakemake --cores all {phase}", OUTS[phase]
    keys = params_of(phase, plans)
    whole = [] if keys else [PARAMS]
    return [
        f"  {phase}:",
        f"    cmd: {f'[{command}, mkdir -p {outs[0]}]' if phase in OPTIONAL else command}",
        *([f"    params: [{', '.join(keys)}]"] if keys else []),
        *("    deps:", *(f"      - {path}" for path in [*whole, *deps_of(phase, plans)])),
        *("    outs:", *(f"      - {out}: {{persist: true}}" for out in outs)),
    ]


def text(plans: Sequence[Planned]) -> str:
    """The text of dvc.yaml with its stages anew; what stands around them stays."""
    old = FILE.read_text(encoding="utf-8")
    head, rest = old[: old.index("\nstages:\n")], old[old.index("\nmetrics:\n") :]
    return "\n".join([head, "stages:", *(s for p in PHASES for s in stage(p, plans)), rest])


# Code has no path that is the same everywhere, so that a digest of each part stands for it. DVC can
# not see that the package is another one: the stage that writes the digests is run every time.
HEAD = f"""\
# Snakemake builds, DVC versions: a stage runs one phase by Snakemake and records its outputs.
# The first writes digests of the installed isotope, by which the others know that code has changed.
stages:
  code:
    cmd: python -m {parts.__name__}
    always_changed: true
    outs:
      - {parts.FOLDER}: {{cache: false, persist: true}}
"""


def elsewhere(stages: str) -> str:
    """The text of dvc.yaml for a folder that `isotope new` makes: digests in place of code."""
    _, _, rest = stages.partition("stages:\n")
    return HEAD + re.sub(r"(?<=- )workflow/(?:lib/isotope/|plugins/)?", f"{parts.FOLDER}/", rest)


def every_plan() -> Iterator[Planned]:
    """Plans of the default params and of such as have what these leave out."""
    for overlay in OVERLAYS:
        with tempfile.TemporaryDirectory() as place:
            yield plan(Path(place), overlay)


if __name__ == "__main__":
    FILE.write_text(text([*every_plan()]), encoding="utf-8")
    NEW.write_text(elsewhere(FILE.read_text(encoding="utf-8")), encoding="utf-8")
