"""Bad input, a full disk and interruptions: whole runs end in a named error or resume cleanly."""

import gzip
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import yaml
from tests import forkserver, one_java
from tests.disks import other_disk, small_disk

from isotope.core import digests, held, lucene
from isotope.core.errors import BadParams, DiskFull, ToolFailed, as_disk_full
from isotope.params import resolve
from isotope_toy import snapshot
from isotope_toy.source import write_manifest

ROOT = Path(__file__).parents[2]
LIMIT_S = 400
SYSTEMS = {
    "random": {"kind": "random", "seed": 0},
    "bm25": {"kind": "bm25", "k1": 0.9, "b": 0.4},
    "hash": {"kind": "dense", "model": "hash"},
    "rrf": {"kind": "rrf", "of": ["bm25", "hash"], "k": 60},
}
WEIGHTS = "data/train/toy/tiny/model.safetensors"
# The last of the runs: it is made of all that comes before.
FUSED = "results/search/toy/small/validation/t2m/rrf.parquet"
# Runs in every Python process of the workflow: at one event of the interpreter, once, it waits.
PAUSE = """
import os, pathlib, sys, time
event, _, words = os.environ["PAUSE_AT"].partition(" ")
flag = pathlib.Path(os.environ["PAUSE_FLAG"])
def pause(name, args):
    if name == event and words in repr(args[:2]) and not flag.exists():
        flag.touch()
        time.sleep(float(os.environ["PAUSE_S"]))
sys.addaudithook(pause)
"""


def tiny_params() -> dict[str, Any]:
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    recipe = {"epochs": 1, "batch": 16, "learning_rate": 0.001, "seed": 0}
    params["acquire"]["toy"]["generate"]["pages"] = 40
    params["crawl"]["toy"] |= {"shards": 1, "attempts": 1}
    params["models"] = {
        "hash": {"kind": "hash", "dim": 256},
        "tiny": {"kind": "trained", "config": "tiny-clip", "train": recipe},
    }
    params["systems"] = {name: dict(system) for name, system in SYSTEMS.items()}
    params["search"] |= {"systems": [*SYSTEMS], "settings": ["small"], "splits": ["validation"]}
    params["tabulate"] |= {"system": "hash", "diff": [], "comparisons": []}
    return params


def write_params(folder: Path, params: Mapping[str, Any]) -> None:
    (folder / "params.yaml").write_text(yaml.safe_dump(dict(params)))


def command(folder: Path, *arguments: str) -> list[str]:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder), "--cores", "2"]
    return [*where, *arguments]


CRAMP = """
import resource, sys
if any(".snakemake/scripts" in word for word in sys.orig_argv):
    resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, {bytes}))
"""


def snakemake(
    folder: Path, *arguments: str, largest_file: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run in a folder, where jobs may write files of so many bytes.

    Snakemake itself has no limit: it copies the files of rules, which are longer than some tables.
    """
    environment = None
    if largest_file is not None:
        site = folder / ".isotope/site"
        site.mkdir(parents=True, exist_ok=True)
        (site / "sitecustomize.py").write_text(CRAMP.format(bytes=largest_file))
        paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return forkserver.run(
        ["snakemake", *command(folder, *arguments)],
        cwd=Path.cwd(),
        env=environment,
        timeout=LIMIT_S,
        jobs=True,
    )


def succeeds(folder: Path, *arguments: str) -> str:
    done = snakemake(folder, *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def fails(folder: Path, *arguments: str, largest_file: int | None = None) -> str:
    done = snakemake(folder, *arguments, largest_file=largest_file)
    assert done.returncode != 0, done.stderr[-3000:]
    # A dry run says everything, errors too, on the standard output.
    return done.stdout + done.stderr


def made(folder: Path) -> dict[str, Path]:
    """Everything under data and results but records of digests, by relative path."""
    found = (p for top in ("data", "results") for p in (folder / top).rglob("*"))
    found = (p for p in found if digests.FOLDER not in p.parts)
    return {p.relative_to(folder).as_posix(): p for p in found if p.is_file()}


def leftovers(folder: Path) -> list[str]:
    """Hidden files and folders: the names under which unfinished work is written."""
    hidden = (name for name in made(folder) if "/." in name)
    return [name for name in hidden if not name.endswith(".snakemake_timestamp")]


def same(one: Path, other: Path) -> bool:
    """Equal bytes; for what tells the time or holds random ids, equal content."""
    if one.name.startswith("ledger"):
        old, new = (pl.read_parquet(p).drop("fetched_at") for p in (one, other))
        return old.equals(new)
    return one.read_bytes() == other.read_bytes()


def comparable(name: str) -> bool:
    """Lucene gives every segment a random id, so an index is compared by what it finds.

    The page of the costs tells of one run.
    """
    lucene = "/bm25/" in name.removeprefix("results/search/") or "/lucene/" in name
    return not (lucene or name.endswith((".duckdb", ".snakemake_timestamp", "/costs.html")))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where everything up to the runs was built in one go, and what is asked for later."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_params(folder, tiny_params())
    succeeds(folder, FUSED)
    return folder


@pytest.fixture
def copy(undisturbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it at the same depth, because Snakemake keeps relative paths to the library."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(undisturbed, folder, dirs_exist_ok=True)
    return folder


TYPOS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a key": (lambda p: p["search"].update(depht=10), "did you mean 'depth'?"),
    "a phase": (lambda p: p.update(serach={}), "did you mean 'search'?"),
    "a name": (lambda p: p["search"]["systems"].append("bm52"), "did you mean 'bm25'?"),
    "a model": (lambda p: p["systems"]["hash"].update(model="hsah"), "did you mean 'hash'?"),
    "a measure": (lambda p: p["score"].update(measures=["MRR@ten"]), "did you mean 'MRR@10'?"),
    "a kind": (lambda p: p["systems"]["rrf"].update(kind="rff"), "did you mean 'rrf'?"),
    "a value": (
        lambda p: p["systems"]["bm25"].update(k1="high"),
        "params systems.bm25.k1: 'high'; Input should be a valid number",
    ),
    "an architecture": (
        lambda p: p["models"].update(name={"kind": "open_clip", "name": "ViT-B-23"}),
        "params models.name.name: unknown name 'ViT-B-23'; did you mean 'ViT-B-32'?",
    ),
    "a tag": (
        lambda p: p["models"].update(
            tag={"kind": "open_clip", "name": "ViT-B-32", "pretrained": "laion2b_s43b_b79k"}
        ),
        "ViT-B-32 has no weights 'laion2b_s43b_b79k'; did you mean 'laion2b_s34b_b79k'?",
    ),
}


@pytest.mark.parametrize("typo", TYPOS)
def test_a_typo_in_the_params_is_named_with_advice(typo: str) -> None:
    spoil, advice = TYPOS[typo]
    params = tiny_params()
    spoil(params)
    with pytest.raises(BadParams, match=re.escape(advice)):
        resolve.resolve(params)


@pytest.mark.parametrize(("typo", "options"), [("a key", []), ("a measure", ["--dry-run"])])
def test_a_typo_in_the_params_stops_the_run_before_it_starts(
    typo: str, options: list[str], tmp_path: Path
) -> None:
    spoil, advice = TYPOS[typo]
    params = tiny_params()
    spoil(params)
    write_params(tmp_path, params)
    told = fails(tmp_path, *options, "all")
    assert "BadParams" in told
    assert advice in told
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "logs").exists()


def test_params_that_are_no_yaml_are_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("build: [toy\nx: 1\n")
    told = fails(tmp_path, "--dry-run", "all")
    assert "BadParams" in told
    assert "params.yaml:2:2: not YAML: expected ',' or ']'" in told


OVERLAYS = {
    "no YAML": (b"build: [toy\nx: 1\n", ":2:2: not YAML: expected ',' or ']'"),
    "a tab": (b"build: [toy]\nscore:\n\tdepth: 1\n", ":3:1: not YAML: "),
    "a list": (b"- toy\n", ": no mapping: ['toy']; write `key: value` lines"),
    "nothing": (b"# build: [toy]\n", ": no mapping: None"),
    "no day": (b"name: 2023-99-99\n", ":1:7: no value: month must be in 1..12"),
    "other letters": ("name: Malmö\n".encode("latin-1"), ": not UTF-8 at byte 10"),
    "a bomb": (
        b"a: &a [1]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in b"bcdefghi"
        ),
        ":7:4: aliases that stand for more than",
    ),
    "gone": (None, ": no such params; check the path"),
}


@pytest.mark.parametrize("fault", OVERLAYS)
def test_an_overlay_that_cannot_be_read_is_named_with_its_line(fault: str, tmp_path: Path) -> None:
    write_params(tmp_path, tiny_params())
    own, good = tmp_path / "own.yaml", tmp_path / "good.json"
    good.write_text('{\n\t"build": ["toy"]\n}')
    content, told = OVERLAYS[fault]
    if content is not None:
        own.write_bytes(content)
    said = fails(tmp_path, "--dry-run", "all", "--configfile", str(good), str(own))
    assert f"{own}{told}" in said
    assert "Traceback" not in said
    assert not (tmp_path / "data").exists()


def test_facts_that_nobody_brings_stop_even_a_dry_run(tmp_path: Path) -> None:
    params = tiny_params()
    params["tabulate"]["facts"]["toy"]["views"] = "data/acquire/toy/view.csv"
    write_params(tmp_path, params)
    told = fails(tmp_path, "--dry-run", "all")
    assert "MissingFile" in told
    assert "params tabulate.facts.toy.views: 'data/acquire/toy/view.csv' is not there" in told
    assert "did you mean 'views.csv'?" in told
    assert not (tmp_path / "data").exists()


def flip(path: Path, at: float) -> None:
    """Damage a few bytes at a share of the file's length, which stays as it is."""
    data = bytearray(path.read_bytes())
    middle = int(len(data) * at)
    data[middle : middle + 8] = bytes(255 - b for b in data[middle : middle + 8])
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def without_a_column(path: Path) -> None:
    rows = gzip.decompress(path.read_bytes()).replace(b"mime_type", b"mime", 1)
    path.write_bytes(gzip.compress(rows))


class Damage(NamedTuple):
    """What is done to which file, before or after it was acquired, and what must be said."""

    file: str
    harm: Callable[[Path], object]
    told: str
    after: bool = False


WIT = "wit/wit_v1.val.all-00000-of-00001.tsv.gz"
DUMP = "dump/toywiki-20230101-pages-articles-multistream.xml.bz2"
DAMAGE = {
    "shard-gone": Damage(WIT, Path.unlink, "MissingFile: {path}: acquired before, now gone", True),
    "shard-short": Damage(WIT, truncate, "TruncatedFile: {path}: ", True),
    "dump-short": Damage(DUMP, truncate, "TruncatedFile: {path}: ", True),
    "shard-cut-upstream": Damage(WIT, truncate, "TruncatedFile: {path}: the gzip stream ends"),
    "shard-corrupt": Damage(WIT, lambda p: flip(p, 0.5), "CorruptFile: {path}: damaged gzip data"),
    "block-corrupt": Damage(DUMP, lambda p: flip(p, 0.5), "CorruptFile: {path}: damaged bz2 data"),
    "no-column": Damage(WIT, without_a_column, "MissingColumn: {path}: no column mime_type"),
}


def acquired(folder: Path, damage: Damage) -> None:
    """Generate a source with its manifest, and damage it before or after that."""
    snapshot.generate(folder, pages=12, draw=False)
    if not damage.after:
        damage.harm(folder / damage.file)
    write_manifest(folder / "manifest.json")
    if damage.after:
        damage.harm(folder / damage.file)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where every kind of damage is a source, after one attempt to parse all of them."""
    folder = tmp_path_factory.mktemp("damaged")
    params = tiny_params()
    for phase in ("acquire", "crawl", "project"):
        params[phase] = dict.fromkeys(DAMAGE, params[phase]["toy"])
    served = {name: {"serve": f"data/acquire/{name}/images"} for name in DAMAGE}
    params["crawl"] = {name: spec | served[name] for name, spec in params["crawl"].items()}
    entry = {"kind": "wikipedia", "language": "en"}
    params["collect"] = {name: {**entry, "source": name} for name in DAMAGE}
    params["build"] = [*DAMAGE]
    params["demo"] = False
    del params["tabulate"]["facts"]
    write_params(folder, params)
    for name, damage in DAMAGE.items():
        acquired(folder / "data/acquire" / name, damage)
    wanted = [f"data/parse/{name}/{parsed(damage)}.parquet" for name, damage in DAMAGE.items()]
    fails(folder, "--keep-going", *wanted)
    return folder


def parsed(damage: Damage) -> str:
    return "associations" if damage.file == WIT else "sections"


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_input_is_named_with_its_path_and_leaves_nothing(
    name: str, damaged: Path
) -> None:
    damage = DAMAGE[name]
    # The pass over templates is the first to read a dump.
    rule = "parse_wit" if damage.file == WIT else "parse_templates"
    said = (damaged / f"logs/{rule}/{name}.log").read_text()
    path = f"data/acquire/{name}/{damage.file}"
    assert damage.told.format(path=path) in said
    assert "Traceback" not in said
    assert not list((damaged / f"data/parse/{name}").glob("*"))


def test_the_bytes_around_a_corrupt_bz2_block_are_given(damaged: Path) -> None:
    said = (damaged / "logs/parse_templates/block-corrupt.log").read_text()
    first, last = (int(b.replace(",", "")) for b in re.findall(r"byte ([\d,]+)", said))
    size = (damaged / "data/acquire/block-corrupt" / DUMP).stat().st_size
    assert 0 <= first < size / 2 < last <= size


CRAMPED = {
    "parse_dump": ("data/parse/toy/sections.parquet", 16_000),
    "collect_tables": ("data/collect/toy/texts.parquet", 16_000),
    "encode_shard": ("data/encode/toy/hash/texts/shard-00000.npy", 60_000),
    "project_source": ("data/project/toy/projection.parquet", 20_000),
    "tabulate_overview": ("results/catalog.duckdb", 100_000),
}


# Each has a like among the other tests of a full disk: mapped vectors, an index of Anserini, what
# DuckDB writes.
LONG_CRAMPED = ("parse_dump", "encode_shard", "project_source", "tabulate_overview")


@pytest.mark.parametrize(
    "rule",
    [pytest.param(r, marks=[pytest.mark.long] if r in LONG_CRAMPED else []) for r in CRAMPED],
)
def test_a_full_disk_is_named_leaves_nothing_behind_and_resumes_with_room(
    rule: str, undisturbed: Path, copy: Path
) -> None:
    target, largest_file = CRAMPED[rule]
    if not (undisturbed / target).exists():
        succeeds(undisturbed, target)
        shutil.copytree(undisturbed, copy, dirs_exist_ok=True)
    told = fails(copy, "--forcerun", rule, "--", target, largest_file=largest_file)
    assert "DiskFull" in told
    assert "free space or raise the limit, then run again" in told
    assert not (copy / target).exists()
    kept = made(copy)
    assert not leftovers(copy)
    assert all(same(path, undisturbed / name) for name, path in kept.items())
    succeeds(copy, target)
    assert same_where_comparable(undisturbed, copy) == []


def same_where_comparable(one: Path, other: Path) -> list[str]:
    """Names of files that only one folder has, or whose content differs."""
    first, second = made(one), made(other)
    differing = [
        n for n in first.keys() & second if comparable(n) and not same(first[n], second[n])
    ]
    return sorted([*differing, *(n for n in first.keys() ^ second if comparable(n))])


def test_vectors_mapped_into_memory_meet_a_full_disk_without_a_crash(copy: Path) -> None:
    folder = copy / "data/encode/toy/hash"
    shutil.rmtree(folder)
    with small_disk(folder, kib=100):
        told = fails(copy, "data/encode/toy/hash/texts/shard-00000.npy")
        assert "DiskFull: data/encode/toy/hash/texts/shard-00000.npy" in told
        assert not [p for p in folder.rglob("*") if p.is_file()]


class Stop(NamedTuple):
    """Where a run is interrupted: the rule's output, and the interpreter's event to wait for."""

    target: str
    event: str
    pause_s: float = LIMIT_S


# In the order of the road; "os.rename" is the moment before an output gets its name, and where a
# rule has several outputs, those before it have theirs.
STOPS = {
    "toy_acquire": Stop("data/acquire/toy/manifest.json", "os.rename val.all"),
    "acquire_manifest": Stop("data/acquire/toy/manifest.json", "os.rename manifest.json"),
    "parse_wit": Stop("data/parse/toy/associations.parquet", "os.rename associations.parquet"),
    "parse_dump": Stop("data/parse/toy/sections.parquet", "os.rename counts.json"),
    "crawl_download": Stop("data/crawl/toy/shard-00000.parquet", "socket.connect 127.0.0.1", 1),
    "crawl_shard": Stop("data/crawl/toy/shard-00000.parquet", "os.rename ledger-00000"),
    "project_index": Stop("data/project/toy/projection.parquet", "subprocess.Popen RunAll", 0),
    "project_texts": Stop("data/project/toy/projection.parquet", "os.rename projection.parquet"),
    "collect_tables": Stop("data/collect/toy/texts.parquet", "os.rename collect/toy/qrels.parquet"),
    "train_model": Stop(WEIGHTS, "os.rename model.safetensors"),
    "encode_texts": Stop("data/encode/toy/hash/texts/shard-00000.npy", "os.rename .ids.parquet"),
    "encode_images": Stop("data/encode/toy/hash/images/shard-00000.npy", "os.rename images/.shard"),
    "index_bm25": Stop("data/index/toy/small/bm25", "subprocess.Popen RunAll", 0),
    "index_dense": Stop("data/index/toy/small/hash", "open images.npy"),
    "search_bm25": Stop(
        "results/search/toy/small/validation/t2m/bm25.parquet", "os.rename m2t/bm25.parquet"
    ),
    "search_fused": Stop(FUSED, "os.rename m2t/rrf.parquet"),
    "score_runs": Stop("results/score/toy.parquet", "os.rename significance.parquet"),
    "tabulate_tables": Stop("results/tables/toy/table3.csv", "os.rename table3.md"),
    "tabulate_report": Stop("results/report/toy/index.html", "os.rename index.html"),
    "tabulate_catalog": Stop("results/catalog.duckdb", "os.rename catalog.duckdb"),
}


def interrupt(folder: Path, stop: Stop, number: signal.Signals) -> str:
    """Run until the event, send the signal to all of the run's processes; return what it said."""
    site = folder / ".pause"
    flag = site / "reached"
    site.mkdir(exist_ok=True)
    flag.unlink(missing_ok=True)
    (site / "sitecustomize.py").write_text(PAUSE)
    pause = {"PAUSE_AT": stop.event, "PAUSE_FLAG": str(flag), "PAUSE_S": str(stop.pause_s)}
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, **pause, "PYTHONPATH": os.pathsep.join(paths)}
    (site / "said").unlink(missing_ok=True)
    # Appending, because several processes write to it at once.
    with (site / "said").open("a") as said:
        run = subprocess.Popen(
            [forkserver.stand_in("snakemake"), *command(folder, stop.target)],
            env=environment,
            stdout=said,
            stderr=said,
            process_group=0,
        )
        try:
            wait_for(flag, run)
            # Where the event starts a program, it shall run: Java needs longer to begin its work.
            time.sleep(0.0 if stop.pause_s else 0.1)
            os.killpg(run.pid, number)
            assert run.wait(LIMIT_S) != 0
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
    return (site / "said").read_text()


def wait_for(flag: Path, run: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not flag.exists():
        assert run.poll() is None, "the run ended before the event that was waited for"
        assert time.monotonic() < deadline, "the event that was waited for did not come"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def road(undisturbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder that is interrupted in every phase, each run going on from the one before."""
    folder = tmp_path_factory.mktemp("road")
    shutil.copy(undisturbed / "params.yaml", folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("name", STOPS)
def test_after_ctrl_c_in_the_middle_of_a_rule_only_whole_outputs_are_there(
    name: str, undisturbed: Path, road: Path
) -> None:
    for log in (road / "logs").rglob("*.log"):
        log.unlink()
    if not (undisturbed / STOPS[name].target).exists():
        succeeds(undisturbed, STOPS[name].target)
    said = interrupt(road, STOPS[name], signal.SIGINT)
    assert not re.search("Traceback|Error in rule|RuleException|WorkflowError", said)
    assert "\nStopped" in said
    logs = [path.read_text() for path in (road / "logs").rglob("*.log")]
    assert sum("interrupted; run again to go on" in log for log in logs) == 1
    assert not leftovers(road)
    if not comparable(STOPS[name].target + "/"):
        assert not (road / STOPS[name].target).exists()
    there = {name: path for name, path in made(road).items() if comparable(name)}
    assert [n for n, path in there.items() if not same(path, undisturbed / n)] == []


@pytest.mark.long
def test_after_ctrl_c_in_every_phase_a_plain_run_ends_with_the_same_bytes(
    undisturbed: Path, road: Path
) -> None:
    wanted = [FUSED, *(stop.target for stop in STOPS.values())]
    targets = [*dict.fromkeys(name for name in wanted if (undisturbed / name).exists()), "all"]
    succeeds(undisturbed, *targets)
    succeeds(road, *targets)
    assert same_where_comparable(undisturbed, road) == []
    assert "Nothing to be done" in succeeds(road, *targets)


@pytest.mark.long
def test_after_kill_9_the_next_run_says_so_and_goes_on_by_itself(
    undisturbed: Path, copy: Path
) -> None:
    shutil.rmtree(copy / "data/parse")
    stop = STOPS["parse_dump"]
    interrupt(copy, stop, signal.SIGKILL)
    assert any((copy / held.LOCKS).iterdir())
    # A killed process is at work until the kernel has taken all from it.
    deadline = time.monotonic() + LIMIT_S
    while any(holder.is_alive for holder in held.holders(copy)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    told = succeeds(copy, stop.target)
    assert re.search(r"The run of .* was killed; its lock is removed", told)
    assert not leftovers(copy)
    assert same(copy / stop.target, undisturbed / stop.target)


@pytest.mark.long
def test_sigterm_to_all_processes_of_a_run_stops_it_and_nothing_failed(
    undisturbed: Path, copy: Path
) -> None:
    shutil.rmtree(copy / "data/parse")
    stop = STOPS["parse_dump"]
    told = interrupt(copy, stop, signal.SIGTERM)
    assert "Stopped: parse_dump" in told
    assert not re.search("Failed: |Error in rule|RuleException|WorkflowError", told)
    assert not leftovers(copy)
    succeeds(copy, stop.target)
    assert same(copy / stop.target, undisturbed / stop.target)


@pytest.mark.long
def test_data_and_results_on_another_disk_have_the_same_bytes(
    undisturbed: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    write_params(folder, tiny_params())
    with other_disk(folder) as place:
        for top in ("data", "results"):
            (place / top).mkdir()
            (folder / top).symlink_to(place / top)
        succeeds(folder, FUSED)
        there = {name: path for name, path in made(folder).items() if comparable(name)}
        assert FUSED in there
        assert [n for n, path in there.items() if not same(path, undisturbed / n)] == []
        assert not leftovers(folder)


def test_anserini_on_a_full_disk_is_an_error_although_it_exits_with_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lucene, "_java_runs", one_java.ON_ITS_OWN)
    documents = [(f"d{n}", " ".join(f"w{n * k % 3001}" for k in range(60))) for n in range(300)]
    (tmp_path / "documents").mkdir()
    lucene.write_documents(documents, tmp_path / "documents/documents.jsonl")
    where = ["-input", tmp_path / "documents", "-index", tmp_path / "index"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, before[1]))
    try:
        with pytest.raises(ToolFailed, match="File too large") as raised:
            lucene.run_tool(
                "io.anserini.index.IndexCollection",
                *("-collection", "JsonCollection", *where, "-threads", "1"),
                memory_mb=512,
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(as_disk_full(raised.value, "index"), DiskFull)
