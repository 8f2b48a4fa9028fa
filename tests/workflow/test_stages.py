"""The stages of `dvc.yaml` are those that docs/stages.py writes, and depend on what rules read."""

import importlib.util
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core import plugins, provenance

ROOT = Path(__file__).parents[2]
LIBRARY, PARAMS = "workflow/lib/isotope", "params.yaml"
CODE = ("workflow/lib", "workflow/plugins", "workflow/sql")
# A stage depends on the schemas of single phases.
SCHEMAS = f"{LIBRARY}/schemas"
STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
OURS = plugins.registered().values()
# The command line, the summary of a run, what they alone read, and mere commands build nothing.
NO_STAGE = {
    *(f"{LIBRARY}/api", f"{LIBRARY}/cli", f"{LIBRARY}/transfer"),
    *("workflow/sql/show", "workflow/sql/summary"),
    *(f"workflow/plugins/{p.package}" for p in OURS if not (p.rules or p.kinds or p.exhibits)),
}


def generator() -> Any:
    """docs/stages.py, which is a script beside the pages."""
    spec = importlib.util.spec_from_file_location("stages", ROOT / "docs/stages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()


@pytest.fixture(scope="module")
def planned() -> list[Any]:
    return [*GENERATOR.every_plan()]


def is_part(key: str, params: Iterable[str]) -> bool:
    return any(key == param or key.startswith(f"{param}.") for param in params)


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def folders(top: str) -> list[str]:
    """The folders right below one of the project's that hold something."""
    below = sorted(p for p in (ROOT / top).iterdir() if p.is_dir() and p.name != "__pycache__")
    return [p.relative_to(ROOT).as_posix() for p in below]


def test_every_rule_file_package_schema_sql_folder_and_plug_in_belongs_to_a_stage():
    rules = sorted((ROOT / "workflow/rules").glob("*.smk"))
    every = [path.relative_to(ROOT).as_posix() for path in rules]
    every += [path for path in folders(LIBRARY) if not (ROOT / path).is_symlink()]
    every += [*folders("workflow/sql"), "workflow/scripts", *folders("workflow/plugins")]
    every += [f"{SCHEMAS}/{p.name}" for p in (ROOT / SCHEMAS).glob("[a-z]*.py")]
    every.remove(SCHEMAS)
    deps = {dep for stage in STAGES.values() for dep in stage["deps"]}
    assert [path for path in every if path not in deps and path not in NO_STAGE] == []
    assert [path for path in NO_STAGE if path in deps] == []


def test_a_stage_sees_its_rules_the_plan_and_what_calls_functions():
    common = ["Snakefile", "workflow/rules/_common.smk", "workflow/scripts"]
    common += ["workflow/rules/_workflow.smk"]
    common += [f"{LIBRARY}/{package}" for package in ("core", "params", "plan")]
    for name, stage in STAGES.items():
        plugin = plugins.registered().get(name)
        own = f"workflow/plugins/{plugin.package}" if plugin else f"workflow/rules/{name}.smk"
        assert {*common, own} <= set(stage["deps"]), name


def test_a_plug_in_whose_rules_are_of_a_phase_of_the_road_belongs_to_its_stage():
    every = plugins.registered().values()
    assert {phase for plugin in every for phase in plugin.phases.values()} > {"tabulate"}
    for plugin in every:
        for phase in plugin.phases.values():
            assert f"workflow/plugins/{plugin.package}" in STAGES[phase]["deps"]
        assert plugin.name in plugins.phases() or plugin.name not in STAGES


def test_a_stage_of_a_plug_in_stands_before_the_tables_and_has_its_folders():
    names = [*STAGES]
    for phase in plugins.phases():
        assert names.index("score") < names.index(phase) < names.index("tabulate")
        outs = [next(iter(out)) for out in STAGES[phase]["outs"]]
        assert outs == [*plugins.registered()[phase].outs]


def test_neither_acquire_nor_parse_sees_what_the_failures_page_is_made_of():
    calls = ("failures_page:write_failures_page", "failures:explain_collection")
    files = provenance.closure(*(f"isotope_explain.{call}" for call in calls))
    page = {f"workflow/plugins/{file}" for file in files if file.startswith("isotope_explain/")}
    names = ("failures", "failures_page", "schemas")
    assert {f"workflow/plugins/isotope_explain/{name}.py" for name in names} < page
    page |= {f"{LIBRARY}/templates"}
    for name in ("acquire", "parse"):
        assert [file for file in page if is_below(file, STAGES[name]["deps"])] == []
    assert [file for file in page if not is_below(file, STAGES["tabulate"]["deps"])] == []


def test_every_dependency_on_our_own_files_is_there():
    deps = {
        d for s in STAGES.values() for d in s["deps"] if not d.startswith(("data/", "results/"))
    }
    assert sorted(d for d in deps if not (ROOT / d).exists()) == []


def test_the_stages_are_those_that_the_rules_make(planned):
    """`python docs/stages.py` writes them anew."""
    assert (ROOT / "dvc.yaml").read_text() == GENERATOR.text(planned)


def test_the_stages_of_a_new_folder_are_these_with_digests_in_place_of_code():
    """`python docs/stages.py` writes them, too."""
    assert GENERATOR.NEW.read_text() == GENERATOR.elsewhere((ROOT / "dvc.yaml").read_text())
    new = yaml.safe_load(GENERATOR.NEW.read_text())["stages"]
    assert new.pop("code")["always_changed"]
    assert [*new] == [*STAGES]
    for name, stage in STAGES.items():
        assert {**new[name], "deps": None} == {**stage, "deps": None}
        changed = {*new[name]["deps"]} ^ {*stage["deps"]}
        ours = {dep for dep in changed if dep.startswith("workflow/")}
        assert {dep for dep in stage["deps"] if dep.startswith("workflow/")} == ours
        parts = (re.sub("^workflow/(lib/isotope/|plugins/)?", "", dep) for dep in ours)
        digests = {f".isotope/code/{part}" for part in parts}
        assert changed - ours == digests


def test_a_stage_sees_the_code_and_queries_of_its_phase_s_rules_and_no_others(planned):
    lacking: dict[str, set[str]] = defaultdict(set)
    unread: dict[str, set[str]] = defaultdict(set)
    for phase, stage in STAGES.items():
        read = {GENERATOR.folder_in_git(f) for made in planned for f in made.files[phase]}
        deps = {d for d in stage["deps"] if d.startswith(CODE)}
        lacking[phase] = read - deps
        unread[phase] = deps - read - {*GENERATOR.CARRIERS, *GENERATOR.rules_of(phase)}
    assert {phase: paths for phase, paths in lacking.items() if paths} == {}
    assert {phase: paths for phase, paths in unread.items() if paths} == {}


def test_the_params_that_a_phase_s_rules_read_are_its_stage_s(planned):
    """But for which systems there are, and their models, which train and encode read."""
    lacking: dict[str, set[str]] = defaultdict(set)
    for phase, stage in STAGES.items():
        keys = {".".join(key) for made in planned for key in made.keys[phase]}
        is_whole = PARAMS in stage["deps"]
        lacking[phase] = {k for k in keys if not (is_whole or is_part(k, stage["params"]))}
    system_keys = {key for p in ("train", "encode") for key in lacking.pop(p)}
    assert {phase: keys for phase, keys in lacking.items() if keys} == {}
    assert {key.partition(".")[0] for key in system_keys} <= {"systems"}


def test_the_params_of_every_stage_are_in_params_yaml():
    """DVC refuses a stage whose params the file lacks, and one with a key and the whole file."""
    params = yaml.safe_load((ROOT / PARAMS).read_text())
    for name, stage in STAGES.items():
        assert ("params" in stage) != (PARAMS in stage["deps"]), name
        for key in stage.get("params", ()):
            inner: Any = params
            for part in key.split("."):
                assert part in inner, f"{name}: {key}"
                inner = inner[part]
