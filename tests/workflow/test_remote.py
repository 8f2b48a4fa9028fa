"""After a pull Snakemake plans what it would have planned where the results were made."""

import os
import re
import shutil
import subprocess

import pytest

NOTHING = "Nothing to be done"


@pytest.fixture(scope="module")
def sent(embedded, shell, tmp_path_factory):
    """A remote with all of the demo, and a clone of its project."""
    place = tmp_path_factory.mktemp("sent")
    told = shell("isotope", "push", place / "remote", cwd=embedded)
    assert re.match(r"Sent [\d,]+ files, \d+ MB", told)
    subprocess.run(["git", "clone", "-q", embedded, place / "clone"], check=True)
    return place


@pytest.fixture
def clone(sent):
    place = sent / "clone"
    for name in ("data", "results", ".snakemake", ".isotope"):
        shutil.rmtree(place / name, ignore_errors=True)
    subprocess.run(["git", "checkout", "-q", "."], cwd=place, check=True)
    return place


def planned(shell, place, *arguments) -> str:
    return shell("snakemake", "-n", "--cores", "1", *arguments, cwd=place)


def test_nothing_is_planned_after_a_pull_and_all_files_are_as_they_were_written(clone, sent, shell):
    shell("isotope", "pull", sent / "remote", cwd=clone)
    assert NOTHING in planned(shell, clone)
    told = shell("isotope", "verify", "toy", "--check", "files", cwd=clone)
    assert re.search(r"^files +XXH128 .* 100 % +0 ", told, re.MULTILINE)


def test_a_phase_that_is_pulled_alone_is_not_planned_either(clone, sent, shell):
    for phase in ("encode", "collect"):
        shell("isotope", "pull", sent / "remote", phase, cwd=clone)
        assert NOTHING in planned(shell, clone, "--", phase)


def test_a_changed_param_is_planned_and_nothing_else(clone, sent, shell):
    shell("isotope", "pull", sent / "remote", cwd=clone)
    params = clone / "params.yaml"
    text = params.read_text()
    changed = re.sub(r"(bm25: \{kind: bm25, k1: )[\d.]+", r"\g<1>1.1", text)
    assert changed != text
    params.write_text(changed)
    told = planned(shell, clone)
    jobs = {*re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)}
    assert "search_bm25" in jobs
    assert not jobs & {"collect_tables", "encode_shard", "index_bm25", "crawl_shard", "train_model"}


def test_what_was_built_here_of_what_was_pulled_stays_as_it_is(clone, sent, shell):
    shell("isotope", "pull", sent / "remote", cwd=clone)
    score = clone / "results/score/toy.parquet"
    score.unlink()
    shell(
        "snakemake",
        "--cores",
        "1",
        "--quiet",
        "all",
        "--",
        str(score.relative_to(clone)),
        cwd=clone,
    )
    assert shell("isotope", "pull", sent / "remote", cwd=clone).startswith("Nothing to fetch")
    assert NOTHING in planned(shell, clone, "--", "score")


def test_make_pull_takes_the_remote_of_the_params_where_dvc_has_none(clone, sent, shell, root):
    params = clone / "params.yaml"
    params.write_text(f"remote: {sent / 'remote'}\n{params.read_text()}")
    # An environment that make takes for newer than what it was made from.
    for name in ("requirements.lock", "pyproject.toml"):
        os.utime(clone / name, (0, 0))
    (clone / ".venv").symlink_to(root / ".venv")
    try:
        assert "Fetched" in shell("make", "pull", cwd=clone)
        shell("dvc", "remote", "add", "-q", "-d", "store", sent / "none", cwd=clone)
        assert "dvc pull" in shell("make", "-n", "pull", cwd=clone)
    finally:
        (clone / ".venv").unlink()
