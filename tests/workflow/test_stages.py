"""The stages of `dvc.yaml` are those that docs/stages.py writes, and depend on what rules read."""

import importlib.util
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core import provenance

ROOT = Path(__file__).parents[2]
LIBRARY = "workflow/lib/isotope"
# A stage depends on the schemas of single phases.
SCHEMAS = f"{LIBRARY}/schemas"
STAGES: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
# The command line, the summary of a run and what they alone read build nothing.
NO_STAGE = {
    *(f"{LIBRARY}/cli", f"{LIBRARY}/ask"),
    *("workflow/sql/ask", "workflow/sql/show", "workflow/sql/summary"),
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


def test_every_rule_file_package_schema_and_sql_folder_belongs_to_a_stage():
    rules = sorted((ROOT / "workflow/rules").glob("*.smk"))
    every = [path.relative_to(ROOT).as_posix() for path in rules]
    every += [path for path in folders(LIBRARY) if not (ROOT / path).is_symlink()]
    every += [*folders("workflow/sql"), "workflow/scripts"]
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
        assert {*common, f"workflow/rules/{name}.smk"} <= set(stage["deps"]), name


def test_neither_acquire_nor_parse_sees_what_the_failures_page_is_made_of():
    roots = ("explain.page:write_failures_page", "explain.failures:explain_collection")
    files = {f"{LIBRARY}/{file}" for file in provenance.closure(*roots)}
    page = {f for f in files if is_below(f, [f"{LIBRARY}/explain"])} | {f"{SCHEMAS}/explain.py"}
    assert {f"{LIBRARY}/explain/{name}.py" for name in ("failures", "page")} < page <= files
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
        digests = {
            f".isotope/code/{dep.split('/', 1)[1].removeprefix('lib/isotope/')}" for dep in ours
        }
        assert changed - ours == digests


def test_a_stage_sees_the_code_and_queries_of_its_phase_s_rules_and_no_others(planned):
    lacking: dict[str, set[str]] = defaultdict(set)
    unread: dict[str, set[str]] = defaultdict(set)
    for phase, stage in STAGES.items():
        read = {GENERATOR.folder_in_git(f) for made in planned for f in made.files[phase]}
        deps = {d for d in stage["deps"] if d.startswith(("workflow/lib", "workflow/sql"))}
        lacking[phase] = read - deps
        unread[phase] = deps - read - {*GENERATOR.CARRIERS}
    assert {phase: paths for phase, paths in lacking.items() if paths} == {}
    assert {phase: paths for phase, paths in unread.items() if paths} == {}


def test_the_params_that_a_phase_s_rules_read_are_its_stage_s(planned):
    """But for which systems there are, and their models, which train and encode read."""
    lacking: dict[str, set[str]] = defaultdict(set)
    for phase, stage in STAGES.items():
        keys = {".".join(key) for made in planned for key in made.keys[phase]}
        lacking[phase] = {key for key in keys if not is_part(key, stage["params"])}
    system_keys = {key for p in ("train", "encode") for key in lacking.pop(p)}
    assert {phase: keys for phase, keys in lacking.items() if keys} == {}
    assert {key.partition(".")[0] for key in system_keys} <= {"systems"}


def test_the_params_of_every_stage_are_in_params_yaml():
    """DVC refuses a stage whose params the file lacks."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for name, stage in STAGES.items():
        for key in stage["params"]:
            inner: Any = params
            for part in key.split("."):
                assert part in inner, f"{name}: {key}"
                inner = inner[part]
