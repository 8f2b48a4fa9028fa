"""`make pull` leaves nothing to do, in whatever order DVC has written the files."""

import json
import re

import pytest

# Two sources of which the second's crawl goes on from the first's.
TARGETS = ["data/crawl/toy-later/ledger.parquet", "data/parse/toy/sections.parquet"]
SHUFFLES = 6

# One process for all: what is asked of it, as JSON, are the recipe's lines and the orders.
PULL = r"""
import contextlib, io, json, os, random, shlex, shutil, subprocess, sys, time
from pathlib import Path
from snakemake.cli import main
from snakemake.executors import touch

touch.Executor.SLEEPING_TIME = 0  # the order must do it, not the pauses

def snakemake(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main(list(arguments))
        except SystemExit as end:
            return f"exit status {end.code}\n{out.getvalue()}"

asked = json.loads(sys.argv[1])
now = time.time()
sources = subprocess.check_output(["git", "ls-files", "workflow"], text=True).split()
orders = dict(asked["orders"])
for seed in range(asked["shuffles"]):
    ages = random.Random(seed).choices(range(-500, 500), k=1000)
    orders[f"shuffle {seed}"] = dict(zip(asked["files"] + sources, ages))
said = {}
for name, ages in orders.items():
    for folder in ("data", ".snakemake", "logs"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in asked["files"]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    for path in [*sources, *asked["files"]]:
        made = now - ages.get(path, 900 if path in sources else 100)
        os.utime(path, (made, made))
    for line in asked["recipe"]:
        program, *words = shlex.split(line)
        if program == "snakemake":
            words = words[: words.index("--")] if "--" in words else words
            snakemake(*words, "--", *asked["targets"])
        elif program != "dvc":
            subprocess.run(line, shell=True, check=True)
    said[name] = snakemake("-n", "--cores", "1", "--", *asked["targets"])
print(json.dumps(said))
"""


def files_of(place, shell) -> list[str]:
    """What the rules behind TARGETS make."""
    told = shell("snakemake", "--summary", "--", *TARGETS, cwd=place)
    rows = [line.split("\t") for line in told[told.index("output_file\t") :].splitlines()[1:]]
    return [row[0] for row in rows if len(row) > 2 and row[2] not in ("-", "")]


@pytest.fixture(scope="module")
def pulled(project, shell) -> dict[str, str]:
    """By order of the pulled files' times: what Snakemake plans after `make pull`."""
    place = project()
    recipe = re.findall(
        r"^pull-dvc:.*\n((?:\t.*\n)+)", (place / "Makefile").read_text(), re.MULTILINE
    )
    files = files_of(place, shell)
    assert "data/crawl/toy/shard-00001.parquet" in files
    stale = {"data/parse/toy/associations.parquet": 300, TARGETS[0]: 300}
    asked = {
        "recipe": [line.strip() for line in recipe[0].splitlines()],
        "files": files,
        "targets": TARGETS,
        "shuffles": SHUFFLES,
        "orders": [
            ("as it should be", {}),
            ("the later crawl's ledger behind an earlier source out of date", stale),
            ("the manifests last", {f: 10 for f in files if f.endswith("manifest.json")}),
            ("sources of tomorrow", {"workflow/lib/isotope/core/sql.py": -86_400}),
        ],
    }
    told = shell("python", "-c", PULL, json.dumps(asked), cwd=place)
    return json.loads(told.splitlines()[-1])


@pytest.mark.long
def test_after_make_pull_nothing_is_planned_in_whatever_order_files_were_written(pulled):
    assert len(pulled) == 4 + SHUFFLES
    planned = {order: told for order, told in pulled.items() if "Nothing to be done" not in told}
    assert planned == {}


@pytest.mark.long
def test_after_make_pull_snakemake_has_its_record_of_every_job(pulled):
    """Without its record a job does not notice that its params have changed."""
    assert [order for order, told in pulled.items() if "missing provenance" in told] == []
