"""`isotope new` makes the folder of an experiment; this project's own is such a folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from isotope.cli import commands as main
from isotope.cli import new
from isotope.core import extras
from isotope.core.resources import PACKAGE
from isotope.params import files

ROOT = Path(__file__).parents[3]
# Of a folder without git and without a checkout's code.
DIFFERENT = {".dvc/config", "dvc.yaml"}


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def refusal(folder: Path, capsys) -> str:
    """What `isotope new` says of a folder in which it writes nothing."""
    before = contents(folder)
    assert main.main(["new", str(folder)]) == 1
    assert contents(folder) == before
    return capsys.readouterr().err


@pytest.mark.parametrize("given", ["demo", "a/b/demo", "there"])
def test_a_new_folder_and_an_empty_one_get_every_file(given, tmp_path, capsys):
    (tmp_path / "there").mkdir()
    assert main.main(["new", str(tmp_path / given)]) == 0
    assert {*contents(tmp_path / given)} == {*new.FILES}
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"Made the experiment {tmp_path / given}. Next:"
    commands = [line.partition("#")[0].strip() for line in lines]
    assert commands == [f"cd {tmp_path / given}", "snakemake --cores all", "isotope init TABLE"]


def test_where_nothing_builds_the_line_that_installs_it_comes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(extras, "is_installed", lambda module: module != "snakemake")
    assert main.main(["new", str(tmp_path / "demo")]) == 0
    _, _, installing, building, _ = capsys.readouterr().out.splitlines()
    assert installing == "  pip install 'isotope-ir[all]'    # what builds is not installed"
    assert building.startswith("  snakemake ")


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["new", "demo"]) == 0
    page = (ROOT / "docs/cli.md").read_text("utf-8")
    assert f"```\n{capsys.readouterr().out}```\n" in page


def test_the_files_are_this_project_s_own_and_no_template_is_left_over(tmp_path):
    new.complete(tmp_path)
    made = contents(tmp_path)
    assert {name for name in made if made[name] != (ROOT / name).read_bytes()} == DIFFERENT
    below = (PACKAGE / "experiment").resolve()
    paths = [path for path in below.rglob("*") if not path.is_dir()]
    assert sorted(path.relative_to(below).as_posix() for path in paths) == sorted(
        new.FILES.values()
    )


def test_its_params_build_the_demo_and_name_no_file_of_a_checkout(tmp_path):
    new.complete(tmp_path)
    params = files.load([], [], root=tmp_path)
    assert [*params.build] == ["toy"]
    for name in new.FILES:
        assert not re.search(r"workflow/|\]\(", (tmp_path / name).read_text("utf-8")), name


def test_dvc_s_settings_are_this_project_s_and_ask_for_no_git(tmp_path):
    new.complete(tmp_path)
    ours, theirs = ((place / ".dvc/config").read_text() for place in (ROOT, tmp_path))
    assert theirs == f"{ours}    no_scm = true\n"


@pytest.mark.parametrize(
    ("lying", "told"),
    [
        ({"notes.txt": "x"}, "has notes.txt;"),
        ({"params.yaml": "build: []\n"}, "has params.yaml;"),
        ({".git/HEAD": "ref: refs/heads/main\n"}, "has .git;"),
        ({"profiles/slurm/config.yaml": "jobs: 9\n"}, "has profiles;"),
        (dict.fromkeys("abcdefg", ""), "has a, b, c, d, e and 2 more;"),
    ],
)
def test_a_folder_that_is_not_empty_is_refused_by_what_lies_there(lying, told, tmp_path, capsys):
    for name, text in lying.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    said = refusal(tmp_path, capsys)
    assert f"BadArgument: FOLDER: {tmp_path} is not empty, it {told}" in said
    assert "name a new or an empty folder" in said


def test_an_experiment_is_not_made_again(tmp_path, capsys):
    assert main.main(["new", str(tmp_path)]) == 0
    capsys.readouterr()
    assert ".gitignore, Snakefile, dvc.yaml and 4 more" in refusal(tmp_path, capsys)


# In a process of its own for each file, whose death comes before the file has its name.
KILLED = """
import os, sys
from pathlib import Path
from isotope.cli import new

replace = Path.replace
for number in range(len(new.FILES)):
    if not (child := os.fork()):
        def dies(part, path, left=iter(range(number, -1, -1))):
            return replace(part, path) if next(left) else os._exit(9)
        Path.replace = dies
        new.new(Path(sys.argv[1]) / str(number))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_killed_before_any_file_it_leaves_no_half_one_and_the_same_command_goes_on(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["9"] * len(new.FILES)
    whole = {name: new.template(name) for name in new.FILES}
    for number in range(len(new.FILES)):
        folder = tmp_path / str(number)
        left = contents(folder)
        parts = {name for name in left if name.endswith(".part")}
        assert len(left) - len(parts) == number
        assert left.items() - {(name, left[name]) for name in parts} <= whole.items()
        assert not new.is_experiment(folder)
        assert main.main(["new", str(folder)]) == 0
        assert contents(folder) == whole


def test_what_was_begun_in_a_folder_with_other_files_is_refused(tmp_path, capsys):
    (tmp_path / ".notes.part").touch()
    assert "has .notes.part;" in refusal(tmp_path, capsys)


def test_a_folder_without_an_experiment_gets_the_files_that_it_lacks(tmp_path):
    (tmp_path / "params.yaml").write_text("build: []\n")
    assert {*new.complete(tmp_path)} == {*new.FILES} - {"params.yaml"}
    assert yaml.safe_load((tmp_path / "params.yaml").read_text()) == {"build": []}
