"""`isotope` without a command says what one can do next, whatever the folder has."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.transfers import results

from isotope.cli import advice, commands, new
from isotope.cli.advice import Failure, FolderFacts, facts_of, with_overlays
from isotope.core import held
from isotope.core.plugins import Step

MODULES = "import sys; from isotope.cli import main; main(); print([*sys.modules], file=sys.stderr)"
EXPERIMENT = FolderFacts(is_experiment=True, collections=["toy"])


def changed(**facts: Any) -> FolderFacts:
    return replace(EXPERIMENT, **facts)


def made(path: Path, later_s: int) -> None:
    """Give a file a time so many seconds from now."""
    moment = time.time() + later_s
    os.utime(path, (moment, moment))


@pytest.mark.parametrize(
    ("facts", "says", "proposes"),
    [
        (
            FolderFacts(),
            "No experiment in this folder.",
            ["isotope new FOLDER", "isotope init TABLE"],
        ),
        (
            FolderFacts(tables=["a.csv"]),
            "No experiment",
            ["isotope new FOLDER", "isotope init a.csv"],
        ),
        (FolderFacts(above="/x"), "A folder of the experiment /x.", ["cd /x"]),
        (
            FolderFacts(releases=["results/release/toy"]),
            "Releases: results/release/toy.",
            ["isotope release toy", "isotope verify results/release/toy"],
        ),
        (changed(is_checkout=True), "A checkout of isotope", ["make demo"]),
        (EXPERIMENT, "An experiment, not built yet: toy.", ["snakemake --cores all"]),
        (
            changed(lacks="pip install 'isotope-ir[all]'"),
            "not built yet",
            ["pip install 'isotope-ir[all]'", "snakemake --cores all"],
        ),
        (changed(fault="BadParams: x"), "BadParams: x", ["isotope doctor"]),
        (changed(running="Locked: process 7", phases=["acquire"]), "process 7", ["isotope costs"]),
        (
            changed(phases=["acquire", "parse"]),
            "toy: half built; there is something of acquire, parse.",
            ["snakemake --cores all"],
        ),
        (
            changed(failures=[Failure("search_bm25", "logs/x.log", "DiskFull: full")]),
            "Failed: search_bm25, logs/x.log\n  DiskFull: full\n",
            ["snakemake --cores all"],
        ),
        (
            changed(built=["toy"], steps=[Step("isotope judge toy", "grade")]),
            "Built: toy. Report: results/report/toy/index.html\n",
            ["isotope report", 'isotope sql "FROM texts"', "isotope judge toy", "isotope push"],
        ),
        (changed(built=["toy"], is_changed=True), "The params have changed since", []),
        (
            changed(built=["toy"], collections=["toy", "later"], phases=["collect"]),
            "later: half built",
            ["snakemake --cores all", "isotope report"],
        ),
        (changed(tables=["upstream/a.csv"]), "not built yet", ["isotope init upstream/a.csv"]),
        (
            changed(waiting=[("params/a.yaml", "a")]),
            "not built yet: toy.",
            ["snakemake --cores all ", "snakemake --cores all --configfile params/a.yaml"],
        ),
        (
            changed(overlays=["params/a.yaml"], failures=[Failure("score", "logs/x.log", "")]),
            "Failed: score",
            ["snakemake --cores all --configfile params/a.yaml"],
        ),
    ],
)
def test_each_state_has_its_sentence_and_its_steps(facts, says, proposes):
    told = advice.advice(facts)
    assert says in told
    lines = [line.strip() for line in told.splitlines()]
    places = [next(n for n, line in enumerate(lines) if line.startswith(step)) for step in proposes]
    assert places == sorted(places)
    assert told.endswith("All commands: isotope --help\n")


def test_there_are_never_more_than_a_dozen_lines():
    failures = [Failure(f"rule_{n}", f"logs/{n}.log", "x" * 300) for n in range(9)]
    steps = [Step(f"isotope more {n}", "of a plug-in") for n in range(9)]
    for facts in (
        changed(failures=failures, lacks="pip install x", tables=["a.csv", "b.csv"]),
        changed(built=["toy"], steps=steps, tables=["a.csv", "b.csv"], is_changed=True),
    ):
        told = advice.advice(facts)
        assert told.count("\n") <= 12
        assert max(map(len, told.splitlines())) <= 110


@pytest.fixture
def experiment(tmp_path) -> Path:
    new.new(tmp_path / "demo")
    return tmp_path / "demo"


def test_a_new_experiment_and_what_lies_below_it_are_known(experiment, tmp_path):
    facts = facts_of(experiment)
    assert facts.is_experiment
    assert facts.collections == ["toy"]
    assert not facts.phases
    assert not facts.is_checkout
    assert facts_of(experiment / "runs").above == str(experiment)
    assert not facts_of(tmp_path).is_experiment


def test_a_checkout_is_known(root):
    assert facts_of(root).is_checkout


def test_what_is_half_built_and_who_is_at_work_are_known(experiment):
    results(experiment)
    assert facts_of(experiment).phases == ["acquire", "collect", "index", "score"]
    assert facts_of(experiment).releases == ["results/release/toy"]
    holder = held.hold(experiment)
    assert f"process {os.getpid()} of this machine runs" in facts_of(experiment).running
    held.leave(holder)
    assert facts_of(experiment).running == ""
    locks = experiment / held.LOCKS
    locks.mkdir(parents=True)
    (locks / "0.input.lock").write_text("x")
    assert "snakemake --unlock" in facts_of(experiment).running


def test_what_is_built_is_known_and_whether_params_have_changed_since(experiment):
    for name in ("toy", "later"):
        record = experiment / "results/report" / name / "record.json"
        record.parent.mkdir(parents=True)
        record.write_text(json.dumps({"name": name}))
    made(experiment / "results/report/later/record.json", 9)
    facts = facts_of(experiment)
    assert facts.built == ["toy", "later"]
    assert not facts.is_changed
    made(experiment / "params.yaml", 99)
    assert facts_of(experiment).is_changed


def test_jobs_that_failed_in_the_last_run_are_known_with_what_they_said(experiment):
    logs = experiment / ".snakemake/log"
    logs.mkdir(parents=True)
    error = (
        "Error in rule {}:\n    message: None\n    jobid: 1\n    output: a.txt\n"
        "    log: logs/{}/toy.log (check log file(s) for error details)\n    script:\n"
    )
    (logs / "2026-01-01T000000.0.snakemake.log").write_text(error.format("before", "before"))
    (logs / "2026-01-02T000000.0.snakemake.log").write_text(
        "Building\n" + error.format("parse_dump", "parse_dump") + error.format("score", "score")
    )
    log = experiment / "logs/parse_dump/toy.log"
    log.parent.mkdir(parents=True)
    log.write_text("12:00:01 parse_dump: pages: 3\n12:00:02 parse_dump: CorruptFile: x; do y\n\n")
    assert facts_of(experiment).failures == [
        Failure("parse_dump", "logs/parse_dump/toy.log", "CorruptFile: x; do y"),
        Failure("score", "logs/score/toy.log", ""),
    ]


def test_a_table_of_ones_own_is_proposed_until_params_mention_it(experiment):
    for name in ("captions.csv", "upstream/pairs.tsv", "upstream/notes.txt"):
        (experiment / name).parent.mkdir(exist_ok=True)
        (experiment / name).write_text("a,b\n")
    assert facts_of(experiment).tables == ["captions.csv", "upstream/pairs.tsv"]
    (experiment / "params").mkdir()
    (experiment / "params/captions.yaml").write_text("data: captions.csv\n")
    assert facts_of(experiment).tables == ["upstream/pairs.tsv"]


HEAD = "SNAKEMAKE\n=========\n  Command: /opt/bin/snakemake {}\n  Snakefile: x\n"


@pytest.mark.parametrize(
    ("options", "overlays", "builds"),
    [
        ("--cores 2 --configfile params/mine.yaml", ["params/mine.yaml"], ["mine"]),
        (
            "--configfiles params/more.yaml params/mine.yaml -j2",
            ["params/more.yaml", "params/mine.yaml"],
            ["mine"],
        ),
        ("--configfile params/gone.yaml --cores all", [], ["toy"]),
        ("--cores all", [], ["toy"]),
    ],
)
def test_what_the_last_run_laid_over_the_params_counts(experiment, options, overlays, builds):
    (experiment / "params").mkdir()
    (experiment / "params/mine.yaml").write_text("build: [mine]\n")
    (experiment / "params/more.yaml").write_text("search: {depth: 10}\n")
    log = experiment / ".snakemake/log/2026-01-01T000000.0.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text(HEAD.format(options))
    facts = facts_of(experiment)
    assert (facts.overlays, facts.collections) == (overlays, builds)
    sentence = "MissingFile: x: no release; run `snakemake --cores all release`, or another"
    laid = f" --configfile {' '.join(overlays)}" if overlays else ""
    told = f"MissingFile: x: no release; run `snakemake --cores all release{laid}`, or another"
    assert with_overlays(sentence, experiment) == told
    assert facts.waiting == [("params/mine.yaml", "mine")]
    record = experiment / "results/report/mine/record.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    assert facts_of(experiment).waiting == []


@pytest.mark.parametrize(
    ("text", "told"), [("build: [", "BadParams: "), ("x: 1\n", "no list `build`"), ("", "no list")]
)
def test_params_that_can_not_be_read_are_named(experiment, text, told):
    (experiment / "params.yaml").write_text(text)
    assert told in facts_of(experiment).fault


def test_plug_ins_add_what_they_have_data_for(experiment, monkeypatch):
    monkeypatch.chdir(experiment)
    for name in ("results/report/toy/record.json", "results/score/toy/pool.parquet"):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text("{}")
    assert [step.command for step in facts_of(Path()).steps] == ["isotope judge toy --assessor YOU"]
    Path("results/suggest/toy").mkdir(parents=True)
    assert "isotope suggest toy --serve" in [step.command for step in facts_of(Path()).steps]


def test_the_command_prints_it_and_starts_nothing_heavy(experiment, monkeypatch, capsys):
    monkeypatch.chdir(experiment)
    assert commands.main([]) == 0
    assert capsys.readouterr().out.startswith("An experiment, not built yet: toy.\n")
    done = subprocess.run(
        [sys.executable, "-c", MODULES], capture_output=True, text=True, check=True, timeout=60
    )
    heavy = {"snakemake", "numpy", "pyarrow", "polars", "duckdb", "torch", "fsspec", "aiohttp"}
    assert {name for name in heavy if f"'{name}'" in done.stderr} == set()


def test_it_takes_less_than_half_a_second(experiment):
    """Of this process's children, so that others on the machine don't count."""
    spent = list[float]()
    command = [sys.executable, "-c", "from isotope.cli import main; main()"]
    for _ in range(3):
        before = sum(os.times()[2:4])
        subprocess.run(command, cwd=experiment, capture_output=True, check=True, timeout=60)
        spent.append(sum(os.times()[2:4]) - before)
    assert min(spent) < 0.5
