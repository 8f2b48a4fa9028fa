"""The diffs of docs/extending.md, applied to a copy of the project, each add what they say."""

import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests import forkserver

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect
from isotope.core import store
from isotope.core.plugins import phase_of
from isotope.params.acquire import Wanted
from isotope.schemas.crawl import LEDGER, URLS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/extending.md").read_text("utf-8")
DIFFS = dict(re.findall(r"^## (.+?)\n.*?```diff\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
CLOSURE = "from isotope.core.provenance import closure"
ENCODERS = f"""
import json
{CLOSURE}
from isotope.params.acquire import Wanted
from isotope.params.sections import MODELS, kinds
roots = ("encode.shard", "encode.multimodal")
own = {{name: kind.model_construct(name="").roots() for name, kind in kinds(MODELS).items()}}
print(json.dumps({{name: closure(*roots, *of_kind) for name, of_kind in own.items()}}))
"""
ENCODE = """
import numpy as np
from PIL import Image
from isotope.models.encoders import load
from isotope.models.kinds.letters import Letters
encoder = load(Letters(kind="letters", power=1.0))
texts = encoder.encode_texts(["aab", ""])
images = encoder.encode_images([Image.new("RGB", (4, 4), "white")])
assert np.allclose(texts[0, :3], [2 / 5**0.5, 1 / 5**0.5, 0]) and not texts[1].any()
assert images.argmax() == 25 and images.dtype == np.float32
"""
SEARCH = """
from pathlib import Path
import polars as pl
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.core import store
from isotope.search.alphabetical import search_alphabetical
from isotope.search.kinds.alphabetical import Alphabetical
here = Path("tables")
here.mkdir()
texts = [{"text_id": t, "split": "test"} for t in "ab"]
images = [{"image_id": i, "split": "test"} for i in "xyz"]
pairs = [{"text_id": t, "image_id": "x", "relevance": 1, "split": "test"} for t in "ab"]
paths = {name: here / f"{name}.parquet" for name in ("texts", "images", "qrels")}
store.write_rows(texts, paths["texts"], TEXTS)
store.write_rows(images, paths["images"], IMAGES)
store.write_rows(pairs, paths["qrels"], QRELS)
run = here / "large/test/t2m/alphabetical.parquet"
spec = Alphabetical(kind="alphabetical", descending=True)
search_alphabetical(**paths, runs=[run], spec=spec, depth=2)
found = pl.read_parquet(run).select("query_id", "doc_id", "rank").rows()
assert found == [("a", "z", 1), ("a", "y", 2), ("b", "z", 1), ("b", "y", 2)], found
"""


TABULATE = """
from pathlib import Path
from isotope.schemas.collect import TEXTS
from isotope.core import store
from isotope.params.acquire import Wanted
from isotope.tabulate.exhibits import recipe, write_exhibit
here = Path("tables")
here.mkdir()
titles = ["Life", "Life", "Work"]
rows = [{"text_id": str(n), "section_title": title} for n, title in enumerate(titles)]
store.write_rows(rows, here / "texts.parquet", TEXTS)
made = recipe("section_titles", {"texts": str(here / "texts.parquet")}, {})
write_exhibit(made, here / "section_titles", here / "section_titles.svg")
lines = (here / "section_titles.csv").read_text().splitlines()
assert lines == ["section_title,texts", "Life,2", "Work,1"], lines
"""


@pytest.fixture
def extended(project: Callable[[], Path], shell: Callable[..., str]) -> Callable[[str], Path]:
    """A copy of the project with the diff of one heading of the page, and nothing else changed."""

    def apply(heading: str) -> Path:
        place = project()
        (place / "it.diff").write_text(DIFFS[heading], encoding="utf-8")
        shell("git", "apply", "it.diff", cwd=place)
        (place / "it.diff").unlink()
        changed = shell("git", "status", "--porcelain", "-uall", cwd=place)
        assert changed
        assert ".smk" not in changed
        return place

    return apply


def inside(place: Path, *command: str) -> str:
    """Run a program of the environment with the library of a copy."""
    env = {**os.environ, "PYTHONPATH": str(place / "workflow/lib"), "COLUMNS": "200"}
    done = forkserver.run(command, cwd=place, env=env, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
    return done.stdout


def planned(place: Path, *words: str) -> list[str]:
    """Return the messages of the jobs that Snakemake plans for targets and options."""
    made = inside(place, "snakemake", "-n", *words)
    assert words or "Nothing to be done" in made
    return messages(made)


def messages(told: str) -> list[str]:
    """Return what the jobs say that Snakemake plans."""
    return re.findall(r"^(?:local)?Job \d+: (.+)$", told, re.MULTILINE)


@pytest.mark.long
def test_a_model_kind_is_one_file_and_voids_no_vectors_of_other_kinds(extended):
    place = extended("A model kind")
    before, after = encoders(ROOT), encoders(place)
    own = after.pop("letters")
    assert after == before
    assert "models/kinds/letters.py" in own
    assert {*own} - {"models/kinds/letters.py"} <= {f for files in before.values() for f in files}
    inside(place, "python", "-c", ENCODE)
    jobs = planned(place, "encode", "--configfile", "params/letters.yaml")
    assert "encode toy with letters, shard 00000" in jobs


def test_after_the_demo_a_model_kind_plans_what_its_model_makes_and_nothing_of_other_kinds(
    embedded, shell, tmp_path
):
    """Without a model of the kind nothing is planned; with one, what follows its vectors."""
    (tmp_path / "it.diff").write_text(DIFFS["A model kind"], encoding="utf-8")
    shell("git", "apply", tmp_path / "it.diff", cwd=embedded)
    try:
        assert planned(embedded) == []
        told = inside(embedded, "snakemake", "-n", "--configfile", "params/letters.yaml")
    finally:
        shell("git", "apply", "--reverse", tmp_path / "it.diff", cwd=embedded)
    rules = set(re.findall(r"^(\w+) +\d+$", told, re.MULTILINE)) - {"all", "total"}
    phases = {"encode", "index", "search", "score", "tabulate"}
    assert {"encode_shard", "search_dense"} <= rules
    assert {*map(phase_of, rules)} <= phases
    own = [job for job in messages(told) if job.split()[0] in ("encode", "index", "search")]
    assert len(own) > 1
    assert [job for job in own if "letters" not in job] == []


def encoders(place: Path) -> dict[str, list[str]]:
    """Return the files that the encoding with each kind of model depends on."""
    return json.loads(inside(place, "python", "-c", ENCODERS))


def test_a_collection_kind_is_one_folder_of_queries(extended, tmp_path):
    place, lines = extended("A collection kind"), ["test\ta.jpg\tA dog .", "test\tb.jpg\tNone ."]
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    (upstream / "pairs.tsv").write_text("\n".join(lines) + "\n")
    with zipfile.ZipFile(upstream / "pictures.zip", "w") as archive:
        archive.writestr("a.jpg", b"")
    spec = {"files": {"pairs": [str(upstream / "pairs.tsv")]}}
    acquire(Wanted.of_plain(spec), tmp_path / "acquired/manifest.json", tmp_path / "scratch")
    store.write_rows([{"image_url": "a.jpg"}], tmp_path / "urls.parquet", URLS)
    taken = [{"image_url": "a.jpg", "status": "success"}]
    store.write_rows(taken, tmp_path / "ledger.parquet", LEDGER)
    relations = {name: tmp_path / f"{name}.parquet" for name in ("urls", "ledger")}
    relations |= {"manifest": str(tmp_path / "acquired/manifest.json")}
    kind = place / "workflow/sql/collect/captioned"
    collect(kind, relations, {"language": "en"}, tmp_path / "out")
    texts = pl.read_parquet(tmp_path / "out/texts.parquet")
    assert texts["context_section_description"].to_list() == ["A dog ."]
    filters = pl.read_parquet(tmp_path / "out/filters.parquet")
    assert filters.rows() == [("usable", "test", 2, 1, 1)]
    options = ("params/captioned.yaml", "--config", f"root={upstream}")
    assert "collect captioned" in planned(place, "collect", "--configfile", *options)


@pytest.mark.long
def test_a_system_kind_is_a_class_and_a_function_and_voids_no_runs_of_other_kinds(extended):
    place = extended("A system kind")
    files = [ROOT / f"workflow/rules/{phase}.smk" for phase in ("search", "index")]
    rules = "".join(file.read_text() for file in files)
    calls = sorted({*re.findall(r'\bcall="([^"]+)"', rules), "search.systems:search_random"})
    code = f"import json; {CLOSURE}; print(json.dumps(closure(*{calls})))"
    before, after = (inside(of, "python", "-c", code) for of in (ROOT, place))
    assert json.loads(after) == json.loads(before)
    inside(place, "python", "-c", SEARCH)
    shutil.rmtree(place / "tables")
    jobs = planned(place, "search", "--configfile", "params/alphabetical.yaml")
    assert "search toy with alphabetical" in jobs


def test_the_page_shows_every_extension_with_its_diff():
    assert {"A model kind", "A collection kind", "A system kind"} <= {*DIFFS}


@pytest.mark.long
def test_a_table_is_one_query_and_one_entry(extended):
    place = extended("A table")
    inside(place, "python", "-c", TABULATE)
    params = str(place / "params.yaml")
    jobs = planned(place, "results/tables/toy/section_titles.md", "--configfile", params)
    assert "tabulate toy" in jobs
