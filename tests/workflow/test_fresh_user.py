"""From nothing to two reports with Python 3.13 and without git: by the wheel alone."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.installed import SYSTEM, Installation, ended_well
from tests.workflow.test_init import table

ROOT = Path(__file__).parents[2]
MINOR = "3.13"

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def without_git(tmp_path_factory) -> Path:
    """The programs of the system but git's."""
    place = tmp_path_factory.mktemp("system")
    for folder in map(Path, SYSTEM):
        for program in folder.iterdir():
            link = place / program.name
            if not (program.name.startswith("git") or link.is_symlink()):
                link.symlink_to(program)
    return place


@pytest.fixture(scope="module")
def user(wheel, without_git, tmp_path_factory) -> Installation:
    """Who has installed what the page on installation says that the demo takes."""
    asked = subprocess.run(
        [ROOT / ".ci/find-python", MINOR], check=True, capture_output=True, text=True
    )
    python = asked.stdout.strip()
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    told = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    if told.stdout.strip() != MINOR:
        pytest.skip(f"no Python {MINOR} is here")
    page = (ROOT / "docs/install.md").read_text("utf-8")
    [extras] = re.findall(r"^pip install 'isotope-ir\[(.+)\]' +# the demo$", page, re.MULTILINE)
    place = tmp_path_factory.mktemp("user") / "venv"
    user = Installation(place, wheel, extras.split(","), python=python, system=[without_git])
    assert MINOR in ended_well(user.run("python", "--version", cwd=without_git))
    assert shutil.which("git", path=str(without_git)) is None
    assert shutil.which("git", path=str(user.bin)) is None
    return user


@pytest.fixture(scope="module")
def demo(user) -> tuple[Path, str]:
    """The folder of the demo, built by typing what is printed, and what its run printed."""
    assert "isotope new" in user.answer(cwd=user.home)
    change, build, *_ = user.answer("new", "demo", cwd=user.home).splitlines()[1:]
    assert shlex.split(change) == ["cd", "demo"]
    place = user.home / "demo"
    done = user.run(*shlex.split(build, comments=True), cwd=place)
    ended_well(done)
    return place, done.stdout + done.stderr


def test_the_demo_leads_to_its_report_with_the_scores_of_the_readme(user, demo):
    place, told = demo
    assert re.search(r"^(\d\d+) of \1 jobs", told, re.MULTILINE)
    assert (place / "results/report/index.html").is_file()
    readme = (ROOT / "README.md").read_text("utf-8")
    [scores] = re.findall(r"^```\n(small/validation .+?)^```", readme, re.MULTILINE | re.DOTALL)
    assert scores in user.answer("report", cwd=place)
    assert not (place / ".git").exists()


def test_what_is_next_in_the_folder_of_the_demo_is_said(user, demo):
    place, _ = demo
    [page] = re.findall(r"^Built: .* Report: (\S+)$", user.answer(cwd=place), re.MULTILINE)
    assert (place / page).is_file()


def test_a_table_of_captions_leads_to_its_report(user):
    place = user.home / "captions"
    table(place)
    said = user.answer("init", "holidays.csv", "--pictures", "pictures", cwd=place)
    [command] = [line.strip() for line in said.splitlines() if "snakemake" in line]
    done = user.run(*shlex.split(command), cwd=place)
    ended_well(done)
    found = "holidays  11 texts, 11 images, 11 judgements; 3 systems on 1 pool"
    assert found in done.stdout + done.stderr
    assert (place / "results/report/holidays/index.html").is_file()
    assert re.search(r"^bm25 ", user.answer("report", cwd=place), re.MULTILINE)
