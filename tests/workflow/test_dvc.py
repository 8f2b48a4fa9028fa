"""Snakemake builds, DVC versions, and the two tell the same story (design, section 5)."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from tests import library

from isotope.core.plugins import phase_of

NOTHING = "Nothing to be done"
PHASES = [
    "acquire",
    "parse",
    "crawl",
    "project",
    "collect",
    "train",
    "encode",
    "index",
    "search",
    "score",
    "suggest",
    "tabulate",
    "release",
]


def stages_run(told: str) -> list[str]:
    return re.findall(r"Running stage '(\w+)'", told)


@pytest.fixture(scope="module")
def built(embedded, shell, commit_all, tmp_path_factory) -> tuple[Path, str]:
    """The demo and its release, built by Snakemake, after `dvc commit`; DVC's status before it."""
    place = tmp_path_factory.mktemp("built") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    shell("snakemake", "--cores", "all", "release", cwd=place)
    status = shell("dvc", "status", cwd=place)
    shell("dvc", "commit", "--force", cwd=place)
    commit_all(place, "built")
    return place, status


def test_on_a_fresh_clone_no_stage_is_done_and_all_would_run_in_order(project, shell):
    place = project()
    status = shell("dvc", "status", cwd=place)
    assert re.findall(r"^(\w+):$", status, re.MULTILINE) == PHASES
    # Without --force the dry run ends at the first stage whose dependencies are not there.
    assert stages_run(shell("dvc", "repro", "--force", "--dry", cwd=place)) == PHASES


@pytest.mark.long
def test_after_snakemake_a_dvc_commit_leaves_a_clean_status(built, shell):
    place, before = built
    assert "up to date" not in before
    assert "up to date" in shell("dvc", "status", cwd=place)


@pytest.mark.long
def test_after_a_commit_repro_builds_nothing(built, shell):
    told = shell("dvc", "repro", cwd=built[0])
    assert stages_run(told) == []
    assert "Data and pipelines are up to date" in told


@pytest.mark.long
def test_a_forced_stage_runs_although_nothing_changed(built, shell):
    assert "Running stage 'acquire'" in shell(
        "dvc", "repro", "--force", "--dry", "acquire", cwd=built[0]
    )
    assert "Running stage" not in shell("dvc", "repro", "--dry", "acquire", cwd=built[0])


@pytest.mark.long
def test_after_a_commit_snakemake_has_nothing_to_do(built, shell):
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=built[0])


@pytest.mark.long
def test_metrics_are_shown(built, shell):
    shown = json.loads(shell("dvc", "metrics", "show", "--json", cwd=built[0]))
    values = shown[""]["data"]["results/tables/newest/metrics.json"]["data"]
    assert (values["pool"], values["measure"]) == ("small/validation", "MRR@10")
    assert 0 < values["bm25"]["t2m"] <= 1
    table = shell("dvc", "metrics", "show", "--md", cwd=built[0]).splitlines()
    assert table[0].count("|") < 20


@pytest.mark.long
def test_plots_are_shown(built, shell):
    shell("dvc", "plots", "show", "--out", "plots", cwd=built[0])
    page = (built[0] / "plots/index.html").read_text()
    assert "mrr10_t2m" in page
    assert "tiny-clip" in page


@pytest.mark.long
def test_a_fresh_clone_after_make_pull_plans_no_job(built, shell, tmp_path):
    place, _ = built
    shell("dvc", "remote", "add", "-f", "-d", "local", tmp_path / "remote", cwd=place)
    shell("dvc", "push", cwd=place)
    clone = tmp_path / "clone"
    shell("git", "clone", "-q", place, clone, cwd=tmp_path)
    shell("dvc", "remote", "add", "-f", "-d", "local", tmp_path / "remote", cwd=clone)
    recipe = re.findall(r"^pull:.*\n((?:\t.*\n)+)", (clone / "Makefile").read_text(), re.MULTILINE)
    for line in recipe[0].splitlines():
        shell("bash", "-c", line.strip(), cwd=clone)
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=clone)
    assert stages_run(shell("dvc", "repro", "--dry", cwd=clone)) == []


@pytest.mark.long
@pytest.mark.parametrize("link", ["copy", "hardlink", "symlink"])
def test_after_make_pull_nothing_is_planned_however_dvc_links_its_cache(
    built, shell, tmp_path, link
):
    place = tmp_path / "linked"
    shutil.copytree(built[0], place, symlinks=True)
    shell("dvc", "config", "--local", "cache.type", link, cwd=place)
    shell("dvc", "checkout", "--relink", cwd=place)
    assert (place / "data/parse/toy/sections.parquet").is_symlink() == (link == "symlink")
    _, *touching = re.findall(r"^pull:.*\n((?:\t.*\n)+)", (place / "Makefile").read_text(), re.M)[
        0
    ].splitlines()
    for line in touching:
        shell("bash", "-c", line.strip(), cwd=place)
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=place)


def test_dvc_does_not_link_the_file_in_which_snakemake_keeps_the_time_of_a_folder(root, shell):
    """A link to the read-only cache can't have a time of its own; Snakemake makes another file."""
    stamp = "data/index/toy/small/bm25/.snakemake_timestamp"
    assert shell("dvc", "check-ignore", stamp, cwd=root).strip() == stamp


def test_a_stage_sees_the_code_of_a_plug_in_and_neither_its_pages_nor_its_tests(root, shell):
    toy = "workflow/plugins/isotope_toy"
    unseen = [f"{toy}/docs/toy.md", f"{toy}/tests/test_source.py"]
    told = shell("dvc", "check-ignore", *unseen, f"{toy}/dump.py", cwd=root)
    assert told.split() == unseen


@pytest.mark.long
def test_a_comment_in_the_script_of_all_rules_plans_no_job(embedded, shell, tmp_path, monkeypatch):
    place = tmp_path / "commented"
    shutil.copytree(embedded, place, symlinks=True)
    monkeypatch.setenv("PYTHONPATH", str(place / "workflow/lib"))
    with (place / "workflow/scripts/call.py").open("a") as script:
        script.write("# Nothing that matters.\n")
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=place)


@pytest.mark.long
@pytest.mark.parametrize("file", ["failures.py", "page.py", "schemas.py"])
def test_after_an_edit_of_the_failures_neither_acquire_nor_parse_has_changed(built, shell, file):
    path = built[0] / "workflow/plugins/isotope_explain" / file
    text = path.read_text()
    path.write_text(f"{text}\n# edited\n")
    try:
        changed = set(re.findall(r"^(\w+):$", shell("dvc", "status", cwd=built[0]), re.MULTILINE))
    finally:
        path.write_text(text)
    assert changed == {"tabulate"}


def with_another_k1(place: Path) -> str:
    """Change one param of BM25; return what the params were."""
    before = (place / "params.yaml").read_text()
    params = yaml.safe_load(before)
    params["systems"]["bm25"]["k1"] = 1.2
    (place / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    return before


@pytest.mark.long
def test_a_change_of_the_systems_alone_is_to_run_search_and_later_but_not_crawl(built, shell):
    place, _ = built
    before = with_another_k1(place)
    try:
        stages = stages_run(shell("dvc", "repro", "--dry", cwd=place))
        jobs = shell("snakemake", "-n", "--quiet", "rules", cwd=place)
    finally:
        (place / "params.yaml").write_text(before)
    assert_only_search_and_later(stages, f"{stages} {jobs}")


def assert_only_search_and_later(stages: list[str], jobs: str) -> None:
    assert {"search", "score", "tabulate"} <= {*stages}
    assert not {*stages} & {"acquire", "parse", "crawl", "project", "collect", "encode"}
    assert "search_bm25" in jobs
    assert "crawl_shard" not in jobs


@pytest.mark.long
def test_two_params_of_one_rule_that_are_swapped_plan_its_jobs(built, shell):
    """Snakemake compares params as a set of values."""
    place, _ = built
    before = (place / "params.yaml").read_text()
    params = yaml.safe_load(before)
    search = params["search"]
    search["depth"], search["memory_mb"] = search["memory_mb"], search["depth"]
    (place / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    try:
        jobs = shell("snakemake", "-n", "--quiet", "rules", cwd=place)
    finally:
        (place / "params.yaml").write_text(before)
    assert "search_dense" in jobs


# All of it built by DVC's stages.


def shrink(place: Path) -> None:
    """A toy that builds in half a minute."""
    params = yaml.safe_load((place / "params.yaml").read_text())
    for name in ("toy", "toy-later"):
        params["acquire"][name]["generate"]["pages"] = 40
    params["crawl"]["toy"]["shards"] = 1
    params["models"]["tiny-clip"]["train"] = {"epochs": 1, "batch": 16, "learning_rate": 0.001}
    params["search"]["settings"] = ["small"]
    (place / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))


@pytest.fixture(scope="module")
def repeated(project, shell, commit_all) -> tuple[Path, str]:
    """A fresh clone after `dvc repro`, and what that printed."""
    place = project()
    shrink(place)
    told = shell("dvc", "repro", cwd=place)
    commit_all(place, "built")
    return place, told


@pytest.mark.long
def test_repro_on_a_fresh_clone_builds_all(repeated):
    place, told = repeated
    assert stages_run(told) == PHASES
    assert (place / "results/catalog.duckdb").exists()


@pytest.mark.long
def test_a_second_repro_builds_nothing(repeated, shell):
    told = shell("dvc", "repro", cwd=repeated[0])
    assert stages_run(told) == []
    assert "Data and pipelines are up to date" in told


@pytest.mark.long
def test_after_repro_snakemake_has_nothing_to_do(repeated, shell):
    assert NOTHING in shell("snakemake", "--cores", "all", "-n", cwd=repeated[0])


@pytest.mark.long
def test_changing_only_the_systems_reruns_search_and_later_but_not_crawl(repeated, shell, tmp_path):
    place = tmp_path / "changed"
    shutil.copytree(repeated[0], place, symlinks=True)
    with_another_k1(place)
    told = shell("dvc", "repro", cwd=place)
    assert_only_search_and_later(stages_run(told), told)


# The two graphs, read from what they say themselves.


@pytest.fixture(scope="module")
def jobs(built, shell) -> list[dict]:
    """Every output of a full build, with its rule, log and inputs."""
    told = shell("snakemake", "all", "release", "--detailed-summary", cwd=built[0])
    lines = told[told.index("output_file\t") :].splitlines()
    return [
        {"rule": row["rule"], "output": row["output_file"]}
        | {"log": row["log-file(s)"], "input": row["input-file(s)"].split(",")}
        for row in csv.DictReader(lines, delimiter="\t")
        if row["rule"]
    ]


@pytest.fixture(scope="module")
def stages(root) -> dict[str, dict]:
    return yaml.safe_load((root / "dvc.yaml").read_text())["stages"]


def outs(stage: dict) -> list[str]:
    return [next(iter(out)) for out in stage["outs"]]


def folder_of(path: str) -> str:
    """The phase folder of an artifact: its first two parts."""
    return "/".join(Path(path).parts[:2])


def test_there_is_a_stage_a_target_and_a_rule_file_for_each_phase(stages, root, shell, project):
    assert list(stages) == PHASES
    files = [path for path in library.rules() if path.stem[0] != "_"]
    assert {phase_of(path.stem) for path in files} == set(PHASES)
    targets = shell("snakemake", "--list", cwd=root).split()
    assert set(PHASES) <= set(targets)


def test_every_stage_asks_for_its_own_phase(stages):
    for name, stage in stages.items():
        first = stage["cmd"] if isinstance(stage["cmd"], str) else stage["cmd"][0]
        assert first == f"snakemake --cores all {name}"


def test_every_artifact_directory_is_an_out_of_its_phase(jobs, stages):
    for job in jobs:
        phase = phase_of(job["rule"])
        shard = job["output"].startswith(f".isotope/{phase}/")
        assert shard or folder_of(job["output"]) in outs(stages[phase]), job


def test_logs_lie_outside_every_out(jobs, stages):
    every = {out for stage in stages.values() for out in outs(stage)}
    for job in jobs:
        assert job["log"].startswith("logs/")
        assert folder_of(job["log"]) not in every


def test_every_out_persists(stages):
    for stage in stages.values():
        assert all(next(iter(out.values())) == {"persist": True} for out in stage["outs"])


def test_the_stages_depend_on_each_other_as_the_rules_do(jobs, stages):
    needed: dict[str, set[str]] = {phase: set() for phase in PHASES}
    for job in jobs:
        phase = phase_of(job["rule"])
        if phase in needed:
            artifacts = {folder_of(p) for p in job["input"] if p.startswith(("data/", "results/"))}
            needed[phase] |= artifacts - set(outs(stages[phase]))
    for phase, stage in stages.items():
        given = {dep for dep in stage["deps"] if dep.startswith(("data/", "results/"))}
        assert given == needed[phase], phase


def test_every_params_key_belongs_to_a_stage(stages, root):
    params = yaml.safe_load((root / "params.yaml").read_text())
    read = {key for stage in stages.values() for key in stage.get("params", ())}
    # Others, such as `shards.score`, are read by those that depend on the file as a whole.
    others = [key for key, value in params.items() if not is_read(key, value, read)]
    assert others == ["demo", "shards"]
    assert any("params.yaml" in stage["deps"] for stage in stages.values())


def is_read(key, value, read):
    """Whether a stage names a key, or stages name all keys below it."""
    below = value.items() if isinstance(value, dict) else ()
    return key in read or (bool(below) and all(is_read(f"{key}.{k}", v, read) for k, v in below))
