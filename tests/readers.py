"""Which jobs a key of the params plans anew: the rules are read with other params, and compared.

Snakemake plans a job that is done if the values of its params have changed, without names and in
any order, or the set of its inputs. It asks so of a file that is there, whichever rule makes that
file by now. `Rules.jobs` returns both of every job that everything needs with the first params, as
other params have them: those of the rules that make its files. No file is read and nothing is run.
Rule files are parsed once, which is half of the time.
"""

import inspect
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import pytest
import yaml
from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.iocontainers import Wildcards
from snakemake.output_index import OutputIndex
from snakemake.parser import parse
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from isotope.params import files, resolve
from isotope.params.messages import KeyPath
from isotope.params.references import Ref
from isotope.params.root import Params
from isotope.params.sections import Section, walk
from isotope.plan import closures

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests/golden/readers.yaml"
_SHARD = re.compile(r" \d{5}(-of-\d{5})?$")

_QUIET = OutputSettings(quiet={Quietness.ALL})
_COMPARED = (NoneType, int, float, str, list, tuple, dict, set)

# What is compared of the jobs that make files, by file; None where no rule makes it.
Made = dict[str, object]


class Leaf(NamedTuple):
    """A value of the params that is no section, list or mapping, and another one of its type."""

    path: KeyPath
    value: Any
    other: Any
    type: str

    def __str__(self) -> str:
        """Return the key as people write it, with the entries' own names."""
        return ".".join(map(str, self.path))


class Rules:
    """The rules of the Snakefile as params have them, and the jobs that the first params need."""

    def __init__(self, api: SnakemakeApi, place: Path, overlays: Sequence[Path]) -> None:
        """Read the rules and plan everything in an empty folder."""
        self._api, self._place = api, place
        self._files = [ROOT / "params.yaml", *overlays]
        planned = self._workflow()
        planned.dag(DAGSettings(targets={"full"})).execute_workflow(executor="dryrun")
        of: Any = planned._workflow
        self.params: Params = of.globals["plan"].params
        self._jobs = [_job(job) for job in of.dag.jobs if job.rule.script]

    def jobs(self, params: Params) -> dict[str, list[Made]]:
        """Return what Snakemake compares of each job, by rule and wildcards, shards apart."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(resolve, "resolve", lambda *_: params)
            patch.setattr(files.LocalFiles, "demand", lambda _: None)
            of: Any = self._workflow()._workflow
        found, makers = dict[str, list[Made]](), OutputIndex(of.rules)
        for job, outputs in self._jobs:
            made = {file: _made(makers, file) for file in outputs}
            found.setdefault(job, []).append(made)
        return found

    @cached_property
    def _first(self) -> dict[str, list[Made]]:
        return self.jobs(self.params)

    def planned(self, values: Mapping[KeyPath, object]) -> list[str]:
        """Return the jobs that other values of some keys plan, sorted."""
        jobs = self.jobs(with_values(self.params, values))
        return sorted(job for job, made in self._first.items() if _is_planned(made, jobs[job]))

    def _workflow(self) -> WorkflowApi:
        config = ConfigSettings(configfiles=self._files)
        snakefile = ROOT / "Snakefile"
        return self._api.workflow(
            ResourceSettings(cores=1), config, snakefile=snakefile, workdir=self._place
        )


def _job(job: Any) -> tuple[str, list[str]]:
    """Return a job's name, by its rule and wildcards, and the files that it makes and that stay."""
    files = [str(file) for file in job.output if file not in job.temp_output]
    name = " ".join([job.rule.name, *map(str, job.wildcards)])
    return _SHARD.sub("", name), files or [*map(str, job.output)]


def _is_planned(before: Sequence[Made], now: Sequence[Made]) -> bool:
    """Tell whether one of these jobs makes some file another way, or no file any more."""
    for one, other in zip(before, now, strict=True):
        still = [file for file, compared in other.items() if compared is not None]
        if not still or any(one[file] != other[file] for file in still):
            return True
    return False


def _made(makers: OutputIndex, file: str) -> object:
    """Return what Snakemake compares of the job that makes a file; None where no rule makes it."""
    for rule in sorted(makers.match_producers(file), reverse=True):
        with suppress(Exception):
            return _compared(rule, Wildcards(fromdict=rule.get_wildcards(file)))
    return None


def _compared(rule: Any, wildcards: Wildcards) -> object:
    """Return the params and the inputs of a job."""
    params = [_param(value, wildcards) for value in rule.params]
    inputs = {str(path) for path in rule.expand_input(wildcards)[0]}
    return sorted(repr(value) for value in params if isinstance(value, _COMPARED)), inputs


def _param(value: Any, wildcards: Any) -> Any:
    if callable(value):
        is_derived = len(inspect.signature(value).parameters) > 1
        return ... if is_derived else value(wildcards)
    return value


@contextmanager
def loaded(place: Path, *overlays: Path) -> Iterator[Rules]:
    """Yield the rules with overlays over the default params, planned in `place`."""
    parsed = dict[str, Any]()

    def once(path: Any, workflow: Any, linemap: dict[int, int], rulecount: int = 0) -> Any:
        name = path.get_path_or_uri(secret_free=True)
        if name not in parsed:
            parsed[name] = *parse(path, workflow, linemap, rulecount=rulecount), {**linemap}
        code, count, lines = parsed[name]
        linemap.update(lines)
        return code, count

    with pytest.MonkeyPatch.context() as patch, SnakemakeApi(_QUIET) as api:
        patch.setattr("snakemake.workflow.parse", once)
        patch.setattr(closures, "library_digest", cache(closures.library_digest))
        yield Rules(api, place, overlays)


def leaves(params: Params) -> list[Leaf]:
    """Return every leaf of the params for which there is another value."""
    found = list[Leaf]()
    for path, value, marks, hint in walk(params, type(params)):
        if isinstance(value, Section | Mapping | list) or value_at(params, path) is not value:
            continue
        other = _other(params, path, value, marks, hint)
        if other is not None:
            found.append(Leaf(path, value, other, _type(value, marks, hint)))
    return found


def _other(params: Params, path: KeyPath, value: Any, marks: Sequence[object], hint: Any) -> Any:
    """Return another value that a leaf may have; None if there is none."""
    allowed = [name for ref in marks if isinstance(ref, Ref) for name in params.allowed(ref, path)]
    if get_origin(hint) is Literal:
        allowed = [*get_args(hint)]
    if allowed:
        return next((each for each in allowed if each != value), None)
    if any(isinstance(mark, Ref) for mark in marks):
        return None
    samples = {bool: not value, int: 7, float: 0.5, str: "other"}
    if value is None:
        return samples.get(hint)
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}-other"


def _type(value: Any, marks: Sequence[object], hint: Any) -> str:
    """Return what tells whether two leaves may have each other's values."""
    refs = [mark for mark in marks if isinstance(mark, Ref)]
    return f"{hint} {[id(ref) for ref in refs]} {value is None}"


def value_at(params: Any, path: KeyPath) -> Any:
    """Return the value of a key."""
    for key in path:
        is_section = isinstance(params, Section)
        params = getattr(params, _attribute(params, key)) if is_section else params[key]
    return params


def _attribute(section: Section, key: object) -> str:
    """Return the attribute that has a key's value: `from_` of `from`."""
    fields = type(section).model_fields.items()
    return next(name for name, field in fields if key in (name, field.alias))


def with_values(params: Any, values: Mapping[KeyPath, Any]) -> Any:
    """Return params with other values of some keys, which are not checked."""
    if () in values:
        return values[()]
    below = dict[Any, dict[KeyPath, Any]]()
    for path, value in values.items():
        below.setdefault(path[0], {})[path[1:]] = value
    changed = {key: with_values(value_at(params, (key,)), of) for key, of in below.items()}
    if isinstance(params, Section):
        return params.model_copy(update={_attribute(params, key): v for key, v in changed.items()})
    if isinstance(params, Mapping):
        return {**params, **changed}
    return [changed.get(n, value) for n, value in enumerate(params)]


def recorded() -> dict[str, list[str]]:
    """Return the jobs that each leaf plans, by the record."""
    listed = yaml.safe_load(RECORD.read_text("utf-8"))
    return {key: group["plan"] or [] for group in listed for key in group["keys"]}


def record(readers: Mapping[str, Sequence[str]]) -> str:
    """Return the text of the record: leaves that plan the same jobs together."""
    groups = dict[tuple[str, ...], list[str]]()
    for key, jobs in readers.items():
        groups.setdefault((*jobs,), []).append(key)
    listed = [{"keys": keys, "plan": [*jobs]} for jobs, keys in groups.items()]
    return yaml.safe_dump(listed, sort_keys=False, width=99, default_flow_style=None)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="isotope-") as empty, loaded(Path(empty)) as rules:
        found = {str(one): rules.planned({one.path: one.other}) for one in leaves(rules.params)}
    RECORD.write_text(record(found), encoding="utf-8")
