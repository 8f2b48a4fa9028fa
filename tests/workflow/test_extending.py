"""The package of docs/extending.md is built, installed beside isotope, and used as it stands."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
from tests import forkserver

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect
from isotope.core import store
from isotope.core.plugins import Plugin
from isotope.params.acquire import DigestedSource
from isotope.plan.extension import Extension
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
# The code of the jobs of each kind of model, and of what the rules call.
CODE = r"""
import json, re, sys
from isotope.core.provenance import closure
from isotope.params.sections import MODELS, kinds
roots = ("encode.shard", "encode.multimodal")
models = {n: [*k.model_construct(name="").roots()] for n, k in kinds(MODELS).items()}
calls = [call for call in sys.argv[1:]]
print(json.dumps([{n: closure(*roots, *own) for n, own in models.items()}, closure(*calls)]))
"""
ENCODE = """
import numpy as np
from PIL import Image
from isotope.models.encoders import load
from isotope_letters.models.letters import Letters
encoder = load(Letters(kind="letters", power=1.0))
texts = encoder.encode_texts(["aab", ""])
images = encoder.encode_images([Image.new("RGB", (4, 4), "white")])
assert np.allclose(texts[0, :3], [2 / 5**0.5, 1 / 5**0.5, 0]) and not texts[1].any()
assert images.argmax() == 25 and images.dtype == np.float32
"""
TABLES = """
from pathlib import Path
from isotope.core import store
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
here = Path("tables")
titles = ["Life", "Life", "Work"]
texts = [{"text_id": t, "split": "test", "section_title": s} for t, s in zip("abc", titles)]
images = [{"image_id": i, "split": "test"} for i in "xyz"]
pairs = [{"text_id": t, "image_id": "x", "relevance": 1, "split": "test"} for t in "ab"]
paths = {name: here / f"{name}.parquet" for name in ("texts", "images", "qrels")}
store.write_rows(texts, paths["texts"], TEXTS)
store.write_rows(images, paths["images"], IMAGES)
store.write_rows(pairs, paths["qrels"], QRELS)
"""
SEARCH = f"""{TABLES}
import polars as pl
from isotope.core.resources import function
from isotope.params.sections import SystemKind
run = here / "large/test/t2m/alphabetical.parquet"
spec = SystemKind.of_spec({{"kind": "alphabetical", "descending": True}})
function(spec.call)(**paths, runs=[run], spec=spec, depth=2)
found = pl.read_parquet(run).select("query_id", "doc_id", "rank").rows()
assert found == [("a", "z", 1), ("a", "y", 2), ("b", "z", 1), ("b", "y", 2)], found
"""
TABULATE = f"""{TABLES}
from isotope.tabulate.exhibits import recipe, write_exhibit
made = recipe("section_titles", {{"texts": str(paths["texts"])}}, {{}})
write_exhibit(made, here / "section_titles", here / "section_titles.svg")
lines = (here / "section_titles.csv").read_text().splitlines()
assert lines == ["section_title,texts", "Life,2", "Work,1"], lines
drawn = (here / "section_titles.svg").read_text()
assert all(f">{{word}}<" in drawn for word in ("Life", "Work", "texts")), drawn
"""
COUNT = f"""{TABLES}
import duckdb
from isotope.core.resources import function
from isotope.tabulate.catalog import build
out = Path("results/letters/toy/counts.parquet")
function("isotope_letters.counts:count_letters")(texts=paths["texts"], most=3, out=out)
build(Path("catalog.duckdb"))
with duckdb.connect("catalog.duckdb", read_only=True) as con:
    rows = con.execute("SELECT * FROM letters").fetchall()
assert rows == [("toy", "e", 2), ("toy", "f", 2), ("toy", "i", 2)], rows
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed, built by pip of the files of the page."""
    source = tmp_path_factory.mktemp("letters") / "letters"
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    pip, quiet = [sys.executable, "-m", "pip"], ["--quiet", "--no-deps", "--no-index"]
    wheels, target = source.parent / "wheels", source.parent / "installed"
    build = [*pip, "wheel", *quiet, "--no-build-isolation", "--wheel-dir", wheels, source]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = wheels.iterdir()
    install = [*pip, "install", *quiet, "--target", target, wheel]
    subprocess.run(install, check=True, capture_output=True)
    return target


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """A folder with the params of the demo and the overlays of the page."""
    for name in ("Snakefile", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "params").mkdir()
    for name in (name for name in FILES if name.startswith("params/")):
        (tmp_path / name).write_text(FILES[name])
    return tmp_path


@pytest.fixture
def inside(installed: Path, experiment: Path) -> Callable[..., str]:
    """Run a program of the environment, with the package, in the folder of the experiment."""

    def run(*words: str, cwd: Path = experiment) -> str:
        code, told = ran(words, cwd, installed)
        assert code == 0, told[-4_000:]
        return told

    return run


def ran(words: tuple[str, ...], cwd: Path, installed: Path | None = None) -> tuple[int, str]:
    """Run a program; return its exit status and what it printed."""
    path = {"PYTHONPATH": str(installed)} if installed else {}
    env = {**os.environ, **path, "COLUMNS": "200"}
    done = forkserver.run(words, cwd=cwd, env=env, timeout=600, merged=True)
    return done.returncode, done.stdout


def messages(told: str) -> list[str]:
    """Return what the jobs say that Snakemake plans."""
    return re.findall(r"^(?:local)?Job \d+: (.+)$", told, re.MULTILINE)


def test_every_file_of_the_page_is_in_the_wheel(installed):
    own = {name for name in FILES if name.startswith("isotope_letters/")}
    there = {str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file()}
    assert {name for name in own if not name.endswith(".py")}
    assert own <= there


def test_the_page_tells_every_field_and_method_by_which_a_plug_in_says_what_it_adds():
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    methods = {name for name in vars(Extension) if name[0] != "_"}
    assert rows == methods | {field.name for field in fields(Plugin)}


def test_the_listing_says_what_the_package_adds(inside):
    records = {r["name"]: r for r in json.loads(inside("isotope", "plugins", "--json"))}
    assert records["letters"]["distribution"] == "isotope-letters 1.0"
    assert records["letters"]["adds"] == {
        "params": ["letters"],
        "rules": ["rules/letters.smk"],
        "views": ["letters"],
        "exhibits": ["section_titles"],
        "commands": ["letters"],
        "results": ["results/letters"],
        "kinds": ["models: isotope_letters.models", "systems: isotope_letters.systems"],
    }


def test_a_model_kind_encodes(inside):
    inside("python", "-c", ENCODE)


def test_a_system_kind_ranks(inside):
    inside("python", "-c", SEARCH)


def test_a_table_is_made_of_its_query_and_drawn_by_a_function_of_the_package(inside):
    inside("python", "-c", TABULATE)


def test_a_rule_s_function_counts_and_the_view_and_the_command_show_it(inside):
    inside("python", "-c", COUNT)
    assert inside("isotope", "letters", "toy") == "efi\n"


def test_the_overlay_plans_what_the_package_adds(inside):
    jobs = messages(inside("snakemake", "-n", "--configfile", "params/letters.yaml"))
    assert {
        "encode toy with letters, shard 00000",
        "search toy with letters",
        "search toy with alphabetical",
        "count the letters of toy",
    } <= {*jobs}
    behind = messages(inside("snakemake", "-n", "letters", "--configfile", "params/letters.yaml"))
    assert "count the letters of toy" in behind
    assert "search toy with alphabetical" not in behind


def test_without_the_package_what_it_adds_is_refused(experiment):
    for name, text in {
        "section": "letters: {}\n",
        "model": "models:\n  x: {kind: letters}\n",
        "system": "systems:\n  x: {kind: alphabetical}\n",
        "collection": FILES["params/captioned.yaml"].replace("{root}", "."),
    }.items():
        (experiment / "one.yaml").write_text(text)
        code, told = ran(("snakemake", "-n", "--configfile", "one.yaml"), experiment)
        assert code == 1, name
        assert "BadParams" in told, name
        assert re.search("letters|alphabetical|captioned", told), name


def test_a_collection_kind_makes_its_tables_and_is_planned(inside, installed, tmp_path):
    lines = ["test\ta.jpg\tA dog .", "test\tb.jpg\tNone ."]
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    (upstream / "pairs.tsv").write_text("\n".join(lines) + "\n")
    with zipfile.ZipFile(upstream / "pictures.zip", "w") as archive:
        archive.writestr("a.jpg", b"")
    spec = {"files": {"pairs": [str(upstream / "pairs.tsv")]}}
    acquire(
        DigestedSource.of_plain(spec), tmp_path / "acquired/manifest.json", tmp_path / "scratch"
    )
    store.write_rows([{"image_url": "a.jpg"}], tmp_path / "urls.parquet", URLS)
    taken = [{"image_url": "a.jpg", "status": "success"}]
    store.write_rows(taken, tmp_path / "ledger.parquet", LEDGER)
    relations = {name: tmp_path / f"{name}.parquet" for name in ("urls", "ledger")}
    relations |= {"manifest": str(tmp_path / "acquired/manifest.json")}
    kind = installed / "isotope_letters/sql/collect/captioned"
    collect(kind, relations, {"language": "en"}, tmp_path / "out")
    texts = pl.read_parquet(tmp_path / "out/texts.parquet")
    assert texts["context_section_description"].to_list() == ["A dog ."]
    filters = pl.read_parquet(tmp_path / "out/filters.parquet")
    assert filters.rows() == [("usable", "test", 2, 1, 1)]
    options = ("params/captioned.yaml", "--config", f"root={upstream}")
    planned = inside("snakemake", "-n", "collect", "--configfile", *options)
    assert "collect captioned" in messages(planned)


@pytest.mark.long
def test_the_package_is_code_of_its_own_jobs_alone(inside, installed, experiment):
    files = [*ROOT.glob("workflow/rules/*.smk")]
    rules = "".join(file.read_text() for file in files)
    calls = sorted({*re.findall(r'\bcall="([^"]+)"', rules), "search.systems:search_random"})
    command = ("python", "-c", CODE, *calls)
    code, told = ran(command, experiment)
    assert code == 0, told[-2_000:]
    (models, called), (after, called_after) = json.loads(told), json.loads(inside(*command))
    own = after.pop("letters")
    assert after == models
    assert called_after == called
    known = {file for files in models.values() for file in files}
    added = {*own} - known
    assert added == {"isotope_letters/models/letters.py"}


@pytest.mark.long
def test_after_the_demo_the_package_plans_its_own_jobs_and_voids_none(embedded, inside, tmp_path):
    """Installed and not named it plans nothing of others; the overlay plans what it names."""
    phases = {"encode", "index", "search", "score", "tabulate", "letters"}
    told = inside("snakemake", "-n", cwd=embedded)
    rules = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)) - {"all", "total"}
    assert {rule.split("_")[0] for rule in rules} <= {"tabulate"}  # the new table and the catalog
    overlay = tmp_path / "params/letters.yaml"
    told = inside("snakemake", "-n", "--configfile", str(overlay), cwd=embedded)
    rules = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)) - {"all", "total"}
    assert {"encode_shard", "search_dense", "search_tables", "letters_counts"} <= rules
    own = [job for job in messages(told) if job.split()[0] in ("encode", "index", "search")]
    assert len(own) > 1
    assert [job for job in own if not re.search("letters|alphabetical", job)] == []
    assert {rule.split("_")[0] for rule in rules} <= phases
