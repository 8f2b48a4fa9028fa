"""The whole workflow on a real Slurm that loses a node on the way: `make test-cluster`."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests import forkserver
from tests.cluster import slurm
from tests.demo import copy_project

pytestmark = pytest.mark.slow
EDITIONS = 2
SHARDS = 3
LIMIT_S = 900
PRINTED = "snakemake.out"
ROOT = Path(__file__).parents[2]
EAGER = Path(__file__).with_name("eager.py")
TABLES = {".parquet", ".csv", ".npy", ".json", ".safetensors"}
ON_SLURM = [
    "--profile=workflow/profiles/slurm",
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--slurm-keep-successful-logs",
    "--max-threads=2",
]
# Rules of which one Slurm job is made, since on two cores starts are dear; not of those that the
# tests ask for, nor of the shards.
TIED = {
    "listed": [
        *("toy_acquire", "parse_templates", "parse_dump", "parse_wit", "project_source"),
        "crawl_urls",
    ],
    "learned": ["collect_tables", "train_model"],
    "shown": [
        *("tabulate_changes", "tabulate_diff_page", "tabulate_record", "tabulate_newest"),
        "tabulate_overview",
    ],
}
# Threads of Polars here, more than on a node: what it adds must not follow their number. A server
# of forks that runs already keeps its own.
THREADS = "7"
SEARCHED = ("index", "search", "score", "tabulate")


def tied() -> list[str]:
    """The options that make one Slurm job of several rules."""
    # What explains, and what verifies, stands between the pages.
    files = [ROOT / f"workflow/rules/{phase}.smk" for phase in SEARCHED]
    of_plugins = ("explain", "verify")
    files += [p for n in of_plugins for p in (ROOT / "workflow/plugins").glob(f"*/rules/{n}.smk")]
    rules = "\n".join(path.read_text("utf-8") for path in files)
    names = [*re.findall(r"^ *use rule \w+ as (\w+)", rules, re.MULTILINE), "tabulate_tables_toy"]
    groups = dict.fromkeys(names, "searched")
    groups |= {name: group for group, names in TIED.items() for name in names}
    return ["--groups", *(f"{name}={group}" for name, group in groups.items())]


def small(place: Path) -> Path:
    """The project with an embedded encyclopedia that builds in a minute."""
    params = yaml.safe_load((place / "params.yaml").read_text())
    for name in ("toy", "toy-later"):
        params["acquire"][name]["generate"]["pages"] = 40
    params["models"]["tiny-clip"]["train"] |= {"epochs": 2, "batch": 16}
    (place / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    return place


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """Variables for Snakemake: bytecode is kept, for a job starts it three times."""
    told = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**told, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@contextmanager
def running(
    cluster: slurm.Cluster, *options: str, cwd: Path, env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Snakemake in the background, which prints to PRINTED."""
    log = cwd / PRINTED
    command = [sys.executable, str(EAGER), str(cluster.folder / "bin/python"), *ON_SLURM, *options]
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=out, stderr=out)

    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[slurm.Cluster]:
    """Two nodes; on each, Python programs are forked from a process of the node."""
    if absent := slurm.missing():
        pytest.skip(f"no Slurm on this machine (lacks {', '.join(absent)}): install it as root")
    forks = tmp_path_factory.mktemp("forks")

    def server(node: str) -> list[str]:
        forkserver.furnish(forks / node)
        return forkserver.command(forks / node)

    with slurm.started(tmp_path_factory.mktemp("slurm"), server) as up:
        python = up.folder / "bin/python"
        python.write_text(f'#!/bin/sh\nexec {forks}/$SLURMD_NODENAME/bin/python "$@"\n')
        python.chmod(0o755)
        for node in up.nodes:
            slurm.until((forks / node / "ready").exists, LIMIT_S, f"the fork server of {node}")
        yield up


@pytest.fixture(scope="module")
def built(cluster, environment, tmp_path_factory) -> tuple[Path, Path, str, str]:
    """The project built here and on a cluster that lost a node; the lost job and the node."""
    here, there = (small(copy_project(tmp_path_factory.mktemp(n))) for n in ("local", "cluster"))
    env = {**cluster.environment, **environment, "SLURM_CONF": f"{cluster.folder}/slurm.conf"}
    env["PATH"] = f"{cluster.folder}/bin{os.pathsep}{environment['PATH']}"
    command = ["snakemake", "--cores=all"]
    with (
        ThreadPoolExecutor(1) as pool,
        running(cluster, *tied(), cwd=there, env=env) as remote,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("POLARS_MAX_THREADS", THREADS)
        local = pool.submit(
            forkserver.run, command, cwd=here, env=environment, timeout=LIMIT_S, jobs=True
        )

        def is_half_done() -> bool:
            assert remote.poll() is None, (there / PRINTED).read_text()[-8_000:]
            return (there / "data/collect/toy/qrels.parquet").exists() and bool(busy(cluster))

        slurm.until(is_half_done, LIMIT_S, "work half done")
        dead = busy(cluster)[0]
        victim = cluster.running(dead)[0]["JobId"]
        cluster.cut_power(dead)
        assert remote.wait(LIMIT_S) == 0, (there / PRINTED).read_text()[-8_000:]
        assert local.result().returncode == 0, local.result().stderr[-8_000:]
    return here, there, victim, dead


def busy(cluster: slurm.Cluster) -> list[str]:
    """The nodes that have work."""
    return [node for node in cluster.nodes if cluster.running(node)]


def content(path: Path) -> str:
    """The SHA-256 of a file; a crawl's ledger says when it was made, and that is left out."""
    if not path.name.startswith("ledger"):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    rows = pl.read_parquet(path).drop("fetched_at").write_ndjson()
    return hashlib.sha256(rows.encode()).hexdigest()


def tables(place: Path) -> dict[str, str]:
    """What every table, vector and weight of a build contains."""
    files = [p for f in ("data", "results") for p in (place / f).rglob("*") if p.suffix in TABLES]
    return {str(p.relative_to(place)): content(p) for p in files}


def of_rule(cluster: slurm.Cluster, rule: str) -> list[dict[str, str]]:
    return [j for j in cluster.jobs() if j["Comment"].startswith(f"rule_{rule}_wildcards")]


def test_a_cluster_that_lost_a_node_ends_with_the_tables_of_a_local_run(built):
    here, there, *_ = built
    local, remote = tables(here), tables(there)
    assert local.keys() == remote.keys()
    assert [name for name in local if local[name] != remote[name]] == []
    assert len(local) > 60
    assert {name.split("/")[1] for name in local} >= {
        *("acquire", "parse", "crawl", "project", "collect", "train", "encode"),
        *("search", "score", "tables"),
    }


def test_the_job_of_the_dead_node_was_done_again_on_the_other(built, cluster):
    *_, victim, dead = built
    job = next(j for j in cluster.jobs() if j["JobId"] == victim)
    assert cluster.state(dead).startswith("DOWN")
    assert (int(job["Restarts"]), job["JobState"]) == (1, "COMPLETED")
    assert [job["NodeList"]] == list(cluster.nodes)


def test_jobs_ask_for_the_cpus_memory_time_and_gpus_of_their_rules(built, cluster):
    (encode,) = of_rule(cluster, "encode_shard")
    assert encode["TresPerJob"] == "gres:gpu:1"
    assert encode["TimeLimit"] == "04:00:00"
    assert encode["TRES"].startswith("cpu=1,mem=")
    shards = of_rule(cluster, "crawl_shard")
    assert len(shards) == SHARDS
    for shard in shards:
        assert "TresPerJob" not in shard
        assert shard["TimeLimit"] == "12:00:00"
        assert shard["TRES"].startswith("cpu=2,mem=")
    ledgers = of_rule(cluster, "crawl_ledger")
    assert len(ledgers) == EDITIONS
    for ledger in ledgers:
        assert "TresPerJob" not in ledger
        assert ledger["TimeLimit"] == "00:30:00"
        assert ledger["TRES"].startswith("cpu=1,mem=")


def test_the_shards_of_a_crawl_are_one_array(built, cluster):
    """The second edition, crawled after the first, has one shard."""
    every = of_rule(cluster, "crawl_shard")
    shards = [job for job in every if "ArrayJobId" in job]
    assert len(every) - len(shards) == 1
    assert len({job["ArrayJobId"] for job in shards}) == 1
    assert sorted(job["ArrayTaskId"] for job in shards) == ["1", "2"]


def test_no_shard_of_a_full_crawl_waits_for_its_array_for_ever(built, cluster, environment):
    """Runs last: it closes the partition, so that what is submitted stays in the queue."""
    place = built[1]
    (place / "data/crawl/toy/ledger.parquet").unlink()
    overlay = place / "shards.yaml"
    overlay.write_text("crawl: {toy: {serve: data/acquire/toy/images, shards: 256}}\n")
    env = {**environment, "SLURM_CONF": f"{cluster.folder}/slurm.conf"}
    more = ["--configfile", str(overlay), "--rerun-triggers", "mtime", "--", "crawl"]
    before = {job["JobId"] for job in cluster.jobs()}
    cluster.ask("scontrol", "update", "PartitionName=all", "State=DOWN")
    with running(cluster, *more, cwd=place, env=env):
        slurm.until(
            lambda: cluster.ask("squeue", "-h", "-r").count("\n") == 254, 60, "254 tasks in queue"
        )
    arrays = {j["ArrayJobId"] for j in cluster.jobs() if j["JobId"] not in before}
    assert len(arrays) == 8
