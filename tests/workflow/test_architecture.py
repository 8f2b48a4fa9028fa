"""The walks of docs/architecture.md are the ways that calls take."""

import ast
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from tests import walks

from isotope.core import provenance, syntax
from isotope.core.syntax import TopLevelName, located, path_of
from isotope.search.kinds.bm25 import Bm25

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "workflow/lib/isotope"
PAGE = (ROOT / "docs/architecture.md").read_text()
# A class that is found by the name of its kind.
BY_KIND = {f"search.kinds.bm25:{Bm25.__name__}"}
WALKS = {
    title: re.findall(r"^\d\. \[(\S+)\]\((\S+)\) ((?:`[\w.]+`(?:, )?)+):", text, re.MULTILINE)
    for title, text in re.findall(r"^## (.*)\n\n((?:.|\n)*?)(?=^## |\Z)", PAGE, re.MULTILINE)
}
MOST_FILES = {
    "A picture to its vector": 4,
    "A text to its cell in Table 3": 4,
    "A params key to its rule": 4,
}


# How many files a value may pass through, by the lists of the page.
MOST_PASSED = {
    "A picture's URL to its vector": 13,
    "A row of WIT to its judgement": 26,
    "A hit to its cell of Table 3": 9,
    "A section to its suggestion": 30,
    "A params key to its effect": 6,
}
PASSED = {
    title: [re.findall(r"\S+\.(?:py|sql)\b", line) for line in lists.splitlines()]
    for title, lists in re.findall(r"^### (.*)\n\n((?:\* .*\n)+)", PAGE, re.MULTILINE)
}


def functions(title: str) -> list[TopLevelName]:
    """What a walk names, in order: a function, a class, or `Class.method`."""
    steps = WALKS[title]
    named = [(file, name) for file, _, listed in steps for name in re.findall(r"[\w.]+", listed)]
    return [TopLevelName(file.removesuffix(".py").replace("/", "."), name) for file, name in named]


def node(name: TopLevelName) -> ast.AST:
    """The definition of a function, class or method; it must be there."""
    module = ast.parse(path_of(name.module).read_text())
    found: ast.AST = module
    body: list[ast.stmt] = module.body
    for part in name.name.split("."):
        [found] = [each for each in body if getattr(each, "name", None) == part]
        body = getattr(found, "body", [])
    return found


def reached(name: TopLevelName) -> set[str]:
    """What a function reaches by calls, `module:name`, and `.method` for what it calls so."""
    top = TopLevelName(name.module, name.name.partition(".")[0])
    seen, waiting, methods = set[TopLevelName](), [top], set[str]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += provenance._uses(one).names
            for statement in syntax.read(one.module).nodes.get(one.name, []):
                nodes = ast.walk(statement)
                methods |= {f".{n.attr}" for n in nodes if isinstance(n, ast.Attribute)}
    return {f"{one.module}:{one.name}" for one in seen} | methods


@pytest.mark.parametrize("title", MOST_FILES)
def test_a_walk_has_few_files_that_are_there(title):
    steps = WALKS[title]
    assert steps, "the page names no step"
    files = [file for file, _, _ in steps]
    assert len(set(files)) == len(files) <= MOST_FILES[title]
    for file, link, _ in steps:
        assert (ROOT / "docs" / link).resolve() == LIBRARY / file
        assert (LIBRARY / file).is_file()


@pytest.mark.parametrize("title", MOST_FILES)
def test_every_function_of_a_walk_is_there_and_reached_from_one_before_it(title):
    """By calls, or where rules hand data from phase to phase, as what a rule names."""
    rules = "".join(p.read_text() for p in (ROOT / "workflow/rules").glob("*.smk"))
    before: set[str] = set()
    for name in functions(title):
        node(name)
        own = f"{name.module}:{name.name}"
        last = name.name.rpartition(".")[2]
        called = own in before or f".{last}" in before
        by_rule = f'call="{own}"' in rules or f"{name.module.split('.')[-1]}.{last}(" in rules
        assert called or by_rule or own in BY_KIND, own
        before |= reached(name)


@pytest.fixture(scope="module")
def walked(embedded, tmp_path_factory) -> Path:
    """A copy of the demo whose jobs the tracer runs again."""
    place = tmp_path_factory.mktemp("walked") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    return place


@pytest.mark.parametrize("title", MOST_PASSED)
def test_the_page_lists_few_files_that_a_value_passes_through(title):
    [listed] = PASSED[title]
    assert 0 < len(listed) <= MOST_PASSED[title]
    for file in listed:
        is_query = file.endswith(".sql") and not file.startswith("isotope_")
        assert located(f"sql/{file}" if is_query else file).is_file()


@pytest.mark.long
@pytest.mark.parametrize("title", MOST_PASSED)
def test_a_value_passes_through_the_files_that_the_page_lists(walked, title):
    [listed] = PASSED[title]
    assert sorted(walks.walked(walked, title)) == sorted(listed)


def top_level() -> set[str]:
    """Return the packages and modules right below `isotope`."""
    packages = {p.name for p in LIBRARY.iterdir() if (p / "__init__.py").is_file()}
    return packages | {p.stem for p in LIBRARY.glob("*.py")} - {"__init__"}


def test_the_page_names_every_package_of_the_library():
    phases = {p.stem for p in (ROOT / "workflow/rules").glob("[a-z]*.smk") if "-" not in p.stem}
    beside = set(re.findall(r"`(\w+)`", PAGE.partition("\n## ")[0]))
    assert top_level() - phases <= beside


def test_contracts_of_imports_have_two_exceptions_and_no_wildcard():
    """What phases share lies below them; `make lint` holds the library to the contracts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = {contract["type"]: contract for contract in settings["contracts"]}
    exceptions = [e for each in contracts.values() for e in each.get("ignore_imports", [])]
    assert sorted(exceptions) == [
        "isotope.crawl.contents -> isotope.parse.forms",
        "isotope.crawl.contents -> isotope.parse.pairs",
    ]


def test_the_layers_are_all_packages_from_the_commands_to_the_core():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [layered] = [each for each in settings["contracts"] if each["type"] == "layers"]
    layers = [re.findall(r"\w+", layer) for layer in layered["layers"]]
    assert layered["exhaustive"]
    assert {name for layer in layers for name in layer} == top_level()
    assert (layers[0], layers[-2:]) == (["cli", "irds", "api"], [["schemas"], ["core"]])


def test_no_plug_in_may_be_imported_by_the_core():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [forbidden] = [each for each in settings["contracts"] if each["type"] == "forbidden"]
    folders = {path.parent.name for path in ROOT.glob("workflow/plugins/*/__init__.py")}
    assert {*forbidden["forbidden_modules"]} == folders
    assert {*settings["root_packages"]} == {"isotope", *folders}
