"""A pattern names files of people, and not what runs write beside them."""

from pathlib import Path

import pytest

from isotope.core.patterns import Stated, expand, matches

OURS = ("a.jpg", "photos/b.jpg", "data/c.jpg", "runs/bm25.trec", "photos/logs/d.jpg", ".hidden.jpg")
OF_RUNS = (
    *("logs/acquire_source/mine.log", ".snakemake/locks/0.input.lock", ".isotope/call.py"),
    *("data/acquire/mine/pictures/a.jpg", "results/report/mine/a.jpg", "params.yaml", "Snakefile"),
    *("params/mine.yaml", ".dvc/config", ".git/HEAD", "dvc.lock", "profiles/default/config.yaml"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "project"
    for name in (*OURS, *OF_RUNS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("pattern", ["**", "./**", "{}/**", "{}/../project/**"])
def test_all_files_of_the_current_folder_are_those_that_no_run_writes(folder, pattern):
    paths = matches(Path(pattern.format(folder)))
    assert {path.resolve().relative_to(folder).as_posix() for path in paths} == {*OURS}


def test_a_pattern_that_begins_where_runs_write_names_what_lies_there(folder):
    assert matches(Path("logs/**")) == [Path("logs/acquire_source/mine.log")]
    assert [file.below for file in expand(Stated("data/acquire/**/*.jpg"))] == [
        "mine/pictures/a.jpg"
    ]
    assert matches(Path("params/*.yaml")) == [Path("params/mine.yaml")]


def test_what_runs_write_in_another_folder_is_no_matter_of_this_one(folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert Path("../logs/acquire_source/mine.log") in matches(Path("../**"))


def test_pictures_in_a_folder_that_runs_write_below_are_those_of_people(folder):
    assert [file.below for file in expand(Stated("data/**"))] == ["c.jpg"]
