"""ir_datasets loads releases by name: documents with pictures, queries, judgements, pools."""

import importlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ir_datasets
import polars as pl
import pytest
from PIL import Image
from tests import releases

import isotope.irds
from isotope.core.errors import MissingExtra, MissingFile
from isotope.release import irds
from isotope.release.lite import PoolLimits, write_lite
from isotope.release.registration import PATTERN

PICTURE = (255, 0, 0)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A folder of releases: harbour, and its small form."""
    root = tmp_path_factory.mktemp("releases")
    write_lite(releases.build(root, "harbour"), root / "harbour-lite", PoolLimits(2, 3))
    return root


@pytest.fixture(autouse=True)
def _place(root, monkeypatch):
    monkeypatch.setenv(irds.ROOT_VARIABLE, str(root))


def test_texts_ask_for_pictures_on_the_pool_of_the_split(root):
    data = ir_datasets.load("isotope/harbour/test/t2m")
    assert [doc.doc_id for doc in data.docs_iter()] == [f"i{n}" for n in range(4, 9)]
    query = next(query for query in data.queries_iter() if query.query_id == "t4")
    assert query.page_title == "Page 4"
    assert query.hierarchy == ("Sights", "Sight")
    assert query.default_text() == "Page 4 Sight Sights Sight A white wall."
    assert [(q.query_id, q.doc_id, q.relevance) for q in data.qrels_iter()] == [
        (f"t{n}", f"i{n}", 1) for n in range(4, 9)
    ]
    assert (data.docs_count(), data.queries_count()) == (5, 5)


def test_a_document_has_its_picture_as_bytes_and_its_captions():
    data = ir_datasets.load("isotope/harbour/images")
    doc = data.docs_store().get("i1")
    with Image.open(io.BytesIO(doc.image)) as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == PICTURE
    assert doc.default_text() == "red red red"
    assert doc == next(d for d in data.docs_iter() if d.doc_id == "i1")
    assert data.docs_cls() is irds.ImageDoc
    assert data.docs_lang() == "en"


def test_pictures_ask_for_texts():
    data = ir_datasets.load("isotope/harbour/validation/m2t")
    assert [doc.doc_id for doc in data.docs_iter()] == ["t2", "t3"]
    queries = {query.query_id: query for query in data.queries_iter()}
    assert set(queries) == {"i2", "i3"}
    assert queries["i2"].image.startswith(b"RIFF")
    assert data.qrels_defs() == {1: "belong together"}


@pytest.mark.parametrize(("setting", "size"), [("small", 2), ("base", 8), ("large", 9)])
def test_a_setting_is_a_pool(setting, size):
    name = f"isotope/harbour/validation/t2m/{setting}"
    data = ir_datasets.load(name)
    assert data.docs_count() == len(list(data.docs_iter())) == size
    assert ir_datasets.docs_parent_id(name) == (
        "isotope/harbour/validation/t2m" if setting == "small" else name
    )


def test_documents_are_cut_and_looked_up_as_in_other_data_sets():
    data = ir_datasets.load("isotope/harbour/texts")
    ids = [doc.doc_id for doc in data.docs_iter()]
    assert [doc.doc_id for doc in data.docs_iter()[2:5]] == ids[2:5]
    assert data.docs_iter()[-1].doc_id == ids[-1]
    assert data.docs.lookup(["t3", "t9", "nobody"]).keys() == {"t3", "t9"}
    with pytest.raises(KeyError, match="nobody"):
        data.docs_store().get("nobody")


def test_a_small_release_has_pools_of_queries(root):
    data = ir_datasets.load("isotope/harbour-lite/test/t2m")
    pools = pl.read_parquet(root / "harbour-lite/pools/test/t2m.parquet")
    assert [(s.query_id, s.doc_id) for s in data.scoreddocs_iter()] == list(
        pools.select("query_id", "doc_id").iter_rows()
    )
    assert data.queries_count() == 3
    assert {doc.doc_id for doc in data.docs_iter()} >= set(pools["doc_id"])
    assert data.docs_count() == len(list(data.docs_iter()))


def test_queries_whose_ids_are_numbers_are_served(root, monkeypatch, tmp_path):
    release = shutil.copytree(root / "harbour", tmp_path / "numbered")
    number = pl.col("text_id").str.replace("t", "200")
    for path in release.glob("texts/*.parquet"):
        pl.read_parquet(path).with_columns(number).write_parquet(path)
    qrels = release / "qrels/test/t2m.qrels"
    qrels.write_text(re.sub("^t", "200", qrels.read_text(), flags=re.MULTILINE))
    monkeypatch.setenv(irds.ROOT_VARIABLE, str(tmp_path))
    data = ir_datasets.load("isotope/numbered/test/t2m")
    asked = {query.query_id for query in data.queries_iter()}
    assert asked == {q.query_id for q in data.qrels_iter()} == {f"200{n}" for n in range(4, 9)}


def test_an_unknown_release_and_an_empty_split_are_named(root, monkeypatch, tmp_path):
    with pytest.raises(MissingFile, match=r"no release 'harbor'.*did you mean 'harbour'"):
        ir_datasets.load("isotope/harbor/test/t2m")
    releases.build(tmp_path, "quay", splits=["test"], runs=False)
    monkeypatch.setenv(irds.ROOT_VARIABLE, str(tmp_path))
    with pytest.raises(
        MissingFile, match=r"no judgements of t2m in split 'train'.*name one of test"
    ):
        ir_datasets.load("isotope/quay/train/t2m")
    monkeypatch.setenv(irds.ROOT_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(MissingFile, match="run `snakemake --cores all release`"):
        ir_datasets.load("isotope/pier/test/t2m")
    with pytest.raises(KeyError):
        ir_datasets.load("isotope/harbour/test/m2m")


@pytest.mark.long
def test_the_commands_of_ir_datasets_know_the_names(root):
    line = [sys.executable, "-m", "isotope.irds", "export", "isotope/harbour/test/t2m"]
    done = subprocess.run([*line, "qrels"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].split() == ["t4", "0", "i4", "1"]


LOADS = """
import sys
import ir_datasets
import isotope.irds
data = ir_datasets.load("isotope/harbour/test/t2m")
print(data.queries_count(), sorted({"torch", "snakemake", "faiss"} & set(sys.modules)))
"""


def test_an_import_makes_releases_known_and_loads_no_more_than_reads_them():
    done = subprocess.run(
        [sys.executable, "-c", LOADS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "5 []\n"), done.stderr


def test_an_import_after_another_registers_the_names_once():
    known = [pattern.pattern for pattern, _ in ir_datasets.registry._patterns]
    importlib.reload(isotope.irds)
    assert [pattern.pattern for pattern, _ in ir_datasets.registry._patterns] == known
    assert known.count(PATTERN) == 1


def test_without_ir_datasets_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    line = r"^ir_datasets: it is not installed; pip install 'isotope-ir\[ir-datasets\]'$"
    with pytest.raises(MissingExtra, match=line):
        importlib.reload(isotope.irds)


def test_a_start_of_python_loads_nothing_of_isotope():
    program = "import sys; print([m for m in sys.modules if m.partition('.')[0] == 'isotope'])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_card_of_a_release_says_how_it_is_loaded(root):
    blocks = (root / "harbour/README.md").read_text("utf-8").split("```python\n")[1:]
    [block] = [block.partition("```")[0] for block in blocks if "isotope.irds" in block]
    done = subprocess.run(
        [sys.executable, "-c", f"{block}\nprint(data.queries_count())"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, irds.ROOT_VARIABLE: str(root)},
    )
    assert done.stdout == "5\n"
