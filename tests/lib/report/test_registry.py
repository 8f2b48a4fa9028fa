"""The registry of what is built: what the front page and the catalog list, and what leaves them."""

import json
import re
import shutil
from pathlib import Path

import duckdb
import pytest
from tests.report_project import lay_collection, lay_runs, lay_tables, record

from isotope.core import digests, plugins
from isotope.core.errors import CorruptFile, MissingFile
from isotope.report import collection, registry
from isotope.tabulate import catalog


def enter(root: Path, name: str, *beside: str, **changes: object) -> Path:
    """Write the record of a collection."""
    path = root / registry.RECORD.format(collection=name)
    registry.write(record(name, beside, **changes), path)
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A project with the collection `toy`, and with the tables of one that has no record."""
    root = tmp_path_factory.mktemp("built")
    lay_collection(root)
    lay_runs(root)
    lay_tables(root)
    page = enter(root, "toy", sources=["src"]).with_name("index.html")
    page.write_text("<title>toy</title>")
    half = root / "data/collect/half"
    half.mkdir()
    for table in ("texts", "images", "qrels", "filters"):
        path = root / f"data/collect/toy/{table}.parquet"
        (half / f"{table}.parquet").write_bytes(path.read_bytes())
    return root


@pytest.fixture
def site(built, tmp_path) -> Path:
    """A copy of it."""
    return shutil.copytree(built, tmp_path / "project")


def overview(root: Path) -> tuple[list[str], set[str]]:
    """Write front page and catalog; the collections on the one and in the other."""
    listed = registry.read(registry.records(root))
    page, file = root / "results/report/index.html", root / "results/catalog.duckdb"
    collection.build_front_page(root, listed, page)
    catalog.build(file, root, owners=registry.listing(listed)._asdict())
    return shown(root)


def shown(root: Path) -> tuple[list[str], set[str]]:
    page, file = root / "results/report/index.html", root / "results/catalog.duckdb"
    names = re.findall(r'<h2><a href="([^/]+)/index.html">', page.read_text())
    with duckdb.connect(file, read_only=True) as con:
        con.execute("SET file_search_path = $root", {"root": str(root)})
        found = con.sql("SELECT DISTINCT collection FROM texts").fetchall()
    return names, {name for (name,) in found}


def test_a_record_says_what_was_written(tmp_path):
    path = enter(tmp_path, "b", "a", groups={"g": ["results/tables/g/group.md"]})
    enter(tmp_path, "a")
    both = registry.read(registry.records(tmp_path))
    assert [one.name for one in both] == ["a", "b"]
    assert both[1] == record("b", ["a"], groups={"g": ["results/tables/g/group.md"]})
    assert registry.listing(both).collections == ["a", "b"]
    assert path.read_bytes() == enter(tmp_path, "b", "a", groups=both[1].groups).read_bytes()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "toy"}', "\udcff", '{"name": 1e999}'])
def test_a_file_that_is_no_record_is_named(tmp_path, text):
    path = enter(tmp_path, "toy")
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CorruptFile, match=r"record\.json: no record .*; delete it"):
        registry.read([path])


def test_a_record_that_was_copied_with_its_folder_is_named(tmp_path):
    path = enter(tmp_path, "toy")
    (tmp_path / "results/report/other").mkdir()
    copy = path.rename(tmp_path / "results/report/other/record.json")
    with pytest.raises(CorruptFile, match="the record of 'toy'"):
        registry.read([copy])


def test_what_is_half_built_is_on_no_front_page_and_in_no_catalog(site):
    assert overview(site) == (["toy"], {"toy"})
    enter(site, "toy", "half")
    assert overview(site) == (["toy"], {"toy", "half"})


def test_a_record_whose_pages_are_gone_is_left_out_of_the_front_page(site):
    enter(site, "half")
    assert overview(site)[0] == ["toy"]
    (site / "results/tables/toy/table3.arrow").unlink()
    assert overview(site)[0] == []


def test_a_name_with_marks_of_patterns_or_quotes_is_a_name_in_the_catalog(site):
    (site / "data/collect/half").rename(site / "data/collect/o'[h]a?")
    enter(site, "o'[h]a?")
    assert overview(site)[1] == {"toy", "o'[h]a?"}


def test_a_collection_is_taken_off_and_its_files_stay(site):
    enter(site, "half")
    overview(site)
    told = collection.unlist("half", delete=False, root=site)
    assert "its files stay" in told
    assert shown(site) == (["toy"], {"toy"})
    assert (site / "data/collect/half/texts.parquet").is_file()
    assert digests.differing(site / "results/catalog.duckdb", {}) is not None
    collection.unlist("toy", delete=False, root=site)
    assert shown(site) == ([], set())


def test_with_delete_go_the_files_that_no_other_collection_names(site):
    enter(site, "half", sources=["src", "own"])
    (site / "data/parse/own").mkdir(parents=True)
    scores = site / "results/score"
    shutil.copyfile(scores / "toy.parquet", scores / "half.parquet")
    overview(site)
    told = collection.unlist("half", delete=True, root=site)
    deleted = {Path(line.removeprefix("deleted: ")) for line in told.splitlines()[1:]}
    names = ("data/collect/half", "data/parse/own", "results/score/half.parquet")
    assert {site / name for name in names} <= deleted
    assert not [name for name in names if (site / name).exists()]
    assert (site / "data/crawl/src").is_dir()
    assert shown(site) == (["toy"], {"toy"})


def test_with_delete_goes_what_plug_ins_have_made_of_a_collection(site):
    enter(site, "half")
    overview(site)
    outs = plugins.outs()
    assert outs
    for folder in outs:
        for name in ("half", "toy"):
            (site / folder / name).mkdir(parents=True)
    collection.unlist("half", delete=True, root=site)
    assert [[path.name for path in (site / folder).iterdir()] for folder in outs] == [
        *(["toy"] for _ in outs)
    ]


def test_what_is_not_listed_is_named_with_what_is(site):
    with pytest.raises(MissingFile, match="no such record; listed: toy"):
        collection.unlist("other", delete=True, root=site)


def test_a_record_has_no_paths_of_this_machine(tmp_path):
    said = json.loads(enter(tmp_path, "toy").read_text())
    assert str(tmp_path) not in json.dumps(said)
