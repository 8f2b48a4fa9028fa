"""Names of every rule are the parameters of the function that it calls, and its code the closure.

The Snakefile is loaded in this process; nothing is planned or run. It is loaded twice: with shards
in every phase, so that the rules that gather them are there, and with none, for the rules that do
the work of several.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import is_dataclass
from inspect import Parameter, signature
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.io import strip_wildcard_constraints
from snakemake.iocontainers import Wildcards
from snakemake.rules import Rule
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from isotope.core import provenance
from isotope.params.sections import Section
from isotope.plan import call
from isotope.plan.code import KindCode
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[2]
SHARDED = ("parse", "project", "collect", "index", "search", "score")
# One that is not cut in shards, of a kind that is no snapshot.
COLLECTIONS = {
    "french": {"kind": "wikipedia", "source": "toy", "language": "fr"},
    "both": {"kind": "union", "of": ["toy", "french"]},
}
# An edit must not fetch the world again.
# What rules name as their code besides what follows from their functions.
FURTHER = {
    "collect_tables": "sql/collect/",
    "tabulate_tables_toy": "sql/tabulate/tables/headline.sql",
    "tabulate_styles": "models/",
}
WITHOUT_CODE = {"acquire_source", "crawl_shard", "crawl_bulk", "crawl_rest"}
# Kinds of systems that the default params lack.
SYSTEMS = {
    "dated": {"kind": "prompt", "model": "tiny-clip", "templates": ["{text} ({year})"]},
    "said": {"kind": "answers", "files": ["said.jsonl"]},
    "again": {"kind": "rerank", "of": "bm25", "model": "both-sides", "depth": 5},
}
# Kinds of models that they lack.
MODELS = {
    "few": {"kind": "reuse", "weights_of": "tiny-clip", "fields": ["page_title"]},
    "whole": {"kind": "clip2clip", "of": "tiny-clip"},
    "mixed": {"kind": "clip_fusion", "of": "tiny-clip", "frozen": True},
    "heads": {"kind": "lit"},
    "dates": {"kind": "dates"},
    "both-sides": {"kind": "reranker", "name": "bge-reranker-v2-m3", "images": "pixels"},
}
# Sections of `tabulate` that they lack.
TABULATE = {
    "styles": {"model": "tiny-clip", "classes": ["map", "photo"], "prompts": ["a {style}"]},
    "detector": {"kind": "ssd", "threshold": 0.5, "batch": 1},
}
EXPLAIN = {"mistakes": {"examples": 1, "seed": 0, "classes": ["correct", "wrong"]}}
JUDGE = {"depth": 3, "measures": ["MAP"]}
SUMMARIES = {"short": {"name": "t5-small"}}
# One value of each wildcard that does not name an entry of the params.
SINGLE = {
    "part": "00000-of-00002",
    "shard": "00000",
    "setting": "base",
    "task": "t2m",
    "summary": "short",
    "bulk": "00",
}


class Loaded(NamedTuple):
    """The rules of the Snakefile that call a function, and the plan."""

    rules: list[Rule]
    plan: Plan


@pytest.fixture(scope="module", params=[2, 1], ids=["shards", "whole"])
def loaded(request, tmp_path_factory) -> Iterator[Loaded]:
    """The rules as they are read in a folder of their own, from which their paths go."""
    place = tmp_path_factory.mktemp("rules")
    overlay = {"shards": dict.fromkeys(SHARDED, request.param), "systems": SYSTEMS}
    overlay |= {"models": MODELS, "encode": {"summaries": SUMMARIES}}
    overlay |= {"collect": COLLECTIONS, "build": ["toy", "both"]}
    overlay |= {"crawl": {"toy-later": {"bulk": [{"crawl": "toy"}]}}, "tabulate": TABULATE}
    overlay |= {"judge": JUDGE, "explain": EXPLAIN}
    (place / "shards.yaml").write_text(yaml.safe_dump(overlay))
    (place / "params.yaml").symlink_to(ROOT / "params.yaml")
    config = ConfigSettings(configfiles=[ROOT / "params.yaml", place / "shards.yaml"])
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        loading = api.workflow(
            ResourceSettings(cores=1), config, snakefile=ROOT / "Snakefile", workdir=place
        )
        workflow = loading._workflow
        rules = [rule for rule in workflow.rules if dict(rule.params.items()).get("call")]
        loaded = Loaded(rules, workflow.globals["plan"])
    with chdir(place):
        yield loaded


def called(loaded: Loaded) -> Iterator[tuple[Rule, str]]:
    """Yield the rules, and what they call."""
    for rule in loaded.rules:
        name: Any = dict(rule.params.items())["call"]
        if callable(name):
            names = {str(name(cell)) for cell in wildcards(rule, loaded.plan)}
        else:
            names = {str(name)}
        assert names, f"{rule.name}: its constraints allow no wildcards"
        yield from ((rule, each) for each in sorted(names))


def wildcards(rule: Rule, plan: Plan) -> Iterator[Wildcards]:
    """Yield values of a rule's wildcards that its constraints allow."""
    params = plan.params
    of = {"source": "acquire", "collection": "collect", "model": "models", "system": "systems"}
    values = {name: list(getattr(params, key)) for name, key in of.items()}
    values |= {"earlier": values["collection"]} | {k: [v] for k, v in SINGLE.items()}
    names = list(dict.fromkeys(re.findall(r"\{(\w+)", str(rule.output[0]))))
    for chosen in product(*(values.get(name, ["x"]) for name in names)):
        cell = Wildcards(fromdict=dict(zip(names, chosen, strict=True)))
        if all(file.match(file.apply_wildcards(cell)) for file in rule.output):
            yield cell


def unpacked(rule: Rule, plan: Plan) -> Iterator[tuple[list[str], Wildcards | None]]:
    """Yield the names of a rule's inputs, for all entries of the params where they depend on it."""
    named = list(rule.input.keys())
    functions = [item._file for item in rule.input if getattr(item, "flags", {}).get("unpack")]
    if not functions:
        yield named, next(wildcards(rule, plan), None)
        return
    for cell in wildcards(rule, plan):
        try:
            own = [k for f in functions for k in (getattr(f, "callable", None) or f)(cell)]
        except KeyError:
            continue
        yield [*own, *named], cell


def given(rule: Rule) -> dict[str, Any]:
    """Return what a rule gives its function besides files, by name."""
    params: dict[str, Any] = dict(rule.params.items())
    together: Any = params.pop("given", None)
    return {**params, **(together.values if together else {})}


def test_what_a_rule_gives_its_function_is_one_param_but_where_it_downloads(loaded):
    names = {r.name: {*r.params.keys()} - {"call"} for r in loaded.rules}
    wrong = {name: n for name, n in names.items() if not n <= {"given", "decoding", "intake"}}
    assert {*wrong} == WITHOUT_CODE & {*names}


def groups(rule: Rule, target: Any, inputs: list[str], cell: Wildcards | None) -> list[str]:
    """Return the inputs that a param hands over as one mapping."""
    hints, found = get_type_hints(target), list[str]()
    for name, param in given(rule).items():
        value: Any = param
        if callable(param):
            if cell is None or list(signature(param).parameters) not in (["wildcards"], ["w"]):
                continue
            value = param(cell)
        if call.is_group(hints.get(name), value, dict.fromkeys(inputs)):
            found += value
    return found


GROUPS = ("inputs", "outputs")


def mismatches(  # noqa: PLR0913
    target: Callable[..., object],
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    params: Sequence[str],
    wildcards: Sequence[str],
    grouped: Sequence[str] = (),
) -> list[str]:
    """Return what a rule hands over and its function lacks, and what is missing.

    `grouped` are the inputs that a param hands over under its own name. Wildcards and threads may
    be left unread.
    """
    names = signature(target).parameters
    read = [k for k in inputs if k not in call.PREREQUISITES and k not in grouped]
    own = [k for k in params if k not in ("call", "code")]
    taken = [*own]
    for group, files in zip(GROUPS, (read, outputs), strict=True):
        taken += [k for k in files if k in names or group not in names]
    unread = [f"{k} is no parameter" for k in dict.fromkeys(taken) if k not in names]
    twice = [f"{k} is handed over twice" for k in names if taken.count(k) > 1]
    optional = {k for k, p in names.items() if p.default is not Parameter.empty}
    present = {*taken, *wildcards, *GROUPS, "threads", "part", *optional}
    return unread + twice + [f"{k} is missing" for k in names if k not in present]


def test_what_a_function_lacks_and_what_it_misses_are_told():
    def job(texts: Path, out: Path, depth: int = 10): ...

    names: dict[str, Any] = {"inputs": ["texts", "after"], "outputs": ["out"]}
    names |= {"params": ["call", "code"], "wildcards": []}
    assert mismatches(job, **names) == []
    more = {**names, "inputs": ["texts", "images"], "params": ["call", "code", "width"]}
    assert mismatches(job, **more) == ["width is no parameter", "images is no parameter"]
    assert mismatches(job, **{**names, "outputs": []}) == ["out is missing"]
    twice = {**names, "params": ["texts"]}
    assert mismatches(job, **twice) == ["texts is handed over twice"]


def test_names_and_signatures_agree_both_ways(loaded):
    wrong = {}
    for rule, name in called(loaded):
        target = call.function(name)
        cases = list(unpacked(rule, loaded.plan))
        assert cases, f"{rule.name}: no wildcards fit"
        for inputs, cell in cases:
            faults = mismatches(
                target,
                inputs=inputs,
                outputs=list(rule.output.keys()),
                params=list(given(rule)),
                wildcards=sorted(rule.wildcard_names),
                grouped=groups(rule, target, inputs, cell),
            )
            if faults:
                wrong[rule.name, str(cell)] = (name, faults)
    assert wrong == {}


@pytest.fixture
def digested(loaded, monkeypatch) -> list[tuple[str, ...]]:
    """The roots whose code is digested, as it is asked for."""
    asked = list[tuple[str, ...]]()
    closures = loaded.plan.paths.closures
    monkeypatch.setattr(closures, "digest", lambda *roots: str(asked.append(roots)))
    return asked


def test_every_job_is_given_the_digest_of_its_function_and_of_its_kind(loaded, digested):
    wrong, kinds, without = set(), set[str](), set()
    for rule, name in called(loaded):
        code: Any = given(rule).get("code")
        if code is None:
            without.add(rule.name)
            continue
        for cell in wildcards(rule, loaded.plan):
            of_kind = KindCode(loaded.plan.params).roots(name, dict(cell.items()))
            digested.clear()
            code(cell)
            [(function, *roots)] = digested
            wrong |= set() if {name, *of_kind} <= {function, *roots} else {rule.name}
            kinds |= {Path(f).name for f in provenance.closure(*of_kind) if "/kinds/" in f}
    assert not wrong
    assert without <= WITHOUT_CODE
    assert {"bm25.py", "rrf.py", "wsum.py", "rerank.py", "trained.py", "reuse.py"} <= kinds


def test_queries_that_params_name_and_models_that_tables_use_are_code(loaded, digested):
    rules = {rule.name: rule for rule in loaded.rules}
    cells = {name: next(wildcards(rules[name], loaded.plan)) for name in FURTHER}
    for name, cell in cells.items():
        code: Any = given(rules[name])["code"]
        code(cell)
        files = provenance.closure(*digested[-1])
        assert any(file.startswith(FURTHER[name]) for file in files), name


def test_every_rule_has_a_message_and_a_log_and_measurements_by_its_name(loaded):
    for rule in loaded.rules:
        assert rule.message, rule.name
        log, measured = map(strip_wildcard_constraints, [*rule.log, rule.benchmark])
        stem = "tabulate_tables" if rule.name.startswith("tabulate_tables_") else rule.name
        assert re.fullmatch(rf"logs/{stem}(/.+)?\.log", log)
        assert re.fullmatch(rf"logs/benchmarks/{stem}(/[^/]+)?\.tsv", measured)
    logs = [rule.log[0] for rule in loaded.rules]
    assert len({*logs}) == len(logs)


def test_only_jobs_that_train_or_encode_import_torch():
    """The others load it, if at all, when a model of theirs answers."""
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    calls = {*re.findall(r'call="([\w.:]+)"', rules), "search.systems:search_random"}
    light = sorted(name for name in calls if not name.startswith(("train.", "encode.")))
    assert len(light) > 50
    code = f"import sys; from isotope.plan import call; [call.function(n) for n in {light}]"
    check = "print(sorted({'torch', 'transformers', 'open_clip'} & {*sys.modules}))"
    command = [sys.executable, "-c", f"{code}; {check}"]
    assert subprocess.check_output(command, text=True).strip() == "[]"


def test_one_script_calls_every_rule(loaded):
    """It lies in the folder of the run, wherever isotope does, and is older than any output."""
    [script] = {Path(str(rule.script)) for rule in loaded.rules}
    assert script == Path(".isotope/call.py").absolute()
    assert script.read_text() == (ROOT / "workflow/scripts/call.py").read_text()
    assert script.stat().st_mtime < (ROOT / "params.yaml").stat().st_mtime
    scripts = sorted(path.name for path in (ROOT / "workflow/scripts").glob("*.py"))
    assert scripts == ["call.py"]


def is_object(hint: object) -> bool:
    """Whether an annotation is a class of the params, a NamedTuple or a dataclass."""
    is_one = isinstance(hint, type) and (issubclass(hint, Section) or hasattr(hint, "_fields"))
    return is_one or (isinstance(hint, type) and is_dataclass(hint))


def names_objects(hint: object) -> bool:
    """Whether such a class is named, be it within another type."""
    return is_object(hint) or any(map(names_objects, get_args(hint)))


def test_what_a_rule_gives_becomes_what_its_function_takes(loaded):
    """No file is read: the plain values alone become the objects that annotations name."""
    made = set[str]()
    for rule, name in called(loaded):
        hints = get_type_hints(call.function(name))
        for cell in islice(wildcards(rule, loaded.plan), 2):
            for key, value in given(rule).items():
                if key in hints and names_objects(hints[key]):
                    plain = value(cell) if callable(value) else value
                    became = call.converted(plain, hints[key])
                    assert is_object(type(became)) or not isinstance(hints[key], type), (
                        rule.name,
                        key,
                    )
                    made.add(type(became).__name__)
    assert {"Scope", "CollectionFacts", "Studies", "SystemPair", "Record", "How", "Bm25"} <= made
