"""Which exhibits a collection or a group has, from what, and into which files."""

import json
from pathlib import Path
from typing import Any

import pytest

from isotope.core import plugins, syntax
from isotope.core.errors import BadPlugin
from isotope.core.plugins import Plugin
from isotope.core.schemas import FIVE_FIELDS
from isotope.params import files, resolve
from isotope.plan.paths import of_collection
from isotope.plan.plan import Plan
from isotope.tabulate.exhibits import DRAWINGS, WRITERS, called, described, query
from isotope.tabulate.table import FORMS

ROOT = Path(__file__).parents[3]
DEMO = files.load(root=ROOT).spec()


def planned(build: tuple[str, ...] = ("toy",), **changes: Any) -> Plan:
    """Return the plan of the demo with other entries of `tabulate`."""
    params = {**DEMO, "build": [*build], "tabulate": {**DEMO["tabulate"], **changes}}
    return Plan(resolve.resolve(params), {})


@pytest.fixture(scope="module")
def demo() -> Plan:
    return planned()


def test_every_entry_names_queries_drawings_and_values_that_are_there(demo):
    values = {
        **demo.exhibits.values("toy"),
        "part_collections": [],
        "part_languages": [],
    }
    values |= dict.fromkeys(("cross_collection", "cross_here", "cross_there"))
    values |= dict.fromkeys(("cross_setting", "cross_split", "cross_other_split"))
    for name, entry in described().items():
        if entry.reads and not entry.written_by:
            for named in filter(None, (entry.query, entry.drawn_from)):
                assert query(named).is_file(), name
        for said, ours in ((entry.draws, DRAWINGS), (entry.written_by, WRITERS)):
            assert not said or callable(called(ours, said)), name
        assert set(entry.parameters.values()) <= values.keys(), name
        assert entry.order in ("", "systems", "captioners"), name


def test_every_query_of_a_table_belongs_to_an_entry():
    folder = ROOT / "workflow/sql/tabulate/tables"
    queries = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.sql")}
    named = {q for e in described().values() for q in (e.query, e.drawn_from) if q}
    made_by_others = {"metrics", "snapshot_diff", "snapshot_survival"}
    assert queries - named == made_by_others
    for package, place in plugins.packages().items():
        of_plugin = {f"{package}/{path.stem}" for path in place.glob("sql/tables/*.sql")}
        assert of_plugin <= named


def with_exhibit(monkeypatch, **said: str) -> list[str]:
    """The names of all exhibits, where a plug-in adds one that is called `mine`."""
    usual = {"page": "systems", "number": "", "title": "Mine", "caption": "Mine."}
    monkeypatch.setattr(Plugin, "yaml", lambda *_: {"mine": {**usual, **said}})
    added = {"letters": Plugin("letters", "isotope_letters", exhibits="exhibits.yaml")}
    monkeypatch.setattr(plugins, "registered", lambda: added)
    return [*described.__wrapped__()]


def test_a_table_of_a_plug_in_stands_behind_the_one_that_it_names_or_last(monkeypatch):
    assert with_exhibit(monkeypatch)[-1] == "mine"
    names = with_exhibit(monkeypatch, behind="table3")
    assert names[names.index("table3") + 1] == "mine"
    assert names.count("mine") == 1


def test_a_table_behind_one_that_is_not_there_is_refused_with_the_likely_one(monkeypatch):
    with pytest.raises(BadPlugin, match=r"'mine' stands behind 'tabel3'.*did you mean 'table3'"):
        with_exhibit(monkeypatch, behind="tabel3")


@pytest.fixture
def drawings(monkeypatch, tmp_path) -> str:
    """The module of a plug-in that draws, and imports what no plan may import."""
    folder = tmp_path / "isotope_letters"
    folder.mkdir()
    folder.joinpath("drawings.py").write_text("import no_such_module\n\ndef letters(): ...\n")
    folder.joinpath("broken.py").write_text("def letters(:\n")
    packages = {**plugins.packages(), "isotope_letters": folder}
    monkeypatch.setattr(plugins, "packages", lambda: packages)
    syntax.read.cache_clear()
    return "isotope_letters.drawings"


def test_a_function_that_a_plug_in_does_not_have_is_refused_when_the_plan_is_made(
    monkeypatch, drawings
):
    with pytest.raises(BadPlugin, match=r"^letters: exhibit 'mine': .*did you mean 'letters'"):
        with_exhibit(monkeypatch, draws=f"{drawings}:leters")
    for module in ("isotope_letters.paintings", "isotope_letters.broken", "no_such_package"):
        with pytest.raises(BadPlugin, match=rf"`written_by: {module}:letters` is not there: "):
            with_exhibit(monkeypatch, written_by=f"{module}:letters")


def test_a_figure_of_a_plug_in_is_one_of_ours_or_a_function_of_its_own(monkeypatch, drawings):
    for said in ("bars", f"{drawings}:letters"):
        assert "mine" in with_exhibit(monkeypatch, draws=said)
    with pytest.raises(BadPlugin, match=r"'mine': `draws: brs` is not there.*did you mean 'bars'"):
        with_exhibit(monkeypatch, draws="brs")
    with pytest.raises(BadPlugin, match=r"`written_by: none`.*isotope_letters\.drawings:none"):
        with_exhibit(monkeypatch, written_by="none")


def test_a_systems_look_is_of_its_place_in_systems_and_not_of_what_is_searched():
    narrow = {**DEMO, "search": {**DEMO["search"], "systems": ["wsum", "bm25"]}}
    narrow["tabulate"] = {**DEMO["tabulate"], "system": "wsum", "comparisons": []}
    every, two = planned(), Plan(resolve.resolve(narrow), {})
    assert every.systems.looks == {"random": 0, "bm25": 1, "tiny-clip": 2, "rrf": 3, "wsum": 4}
    assert two.systems.looks == {"wsum": 4, "bm25": 1}
    recipes = every.exhibits.recipes("toy")
    assert recipes["corpus_size"]["looks"] == recipes["subsets"]["looks"] == every.systems.looks
    assert recipes["categories"]["looks"] == recipes["headline"]["looks"] == {}
    assert every.report.facts(of_collection("toy"))["looks"] == every.systems.looks


def test_a_collection_without_facts_has_no_figure_of_them():
    plain = planned(facts={"toy": {}})
    facts = {"categories", "objects", "object_counts", "styles"}
    assert not facts & set(plain.exhibits.of_subject("toy"))


def test_only_figures_whose_facts_are_named_are_drawn():
    viewed = planned(facts={"toy": {"views": "data/acquire/toy/views.csv"}})
    assert not {"categories", "objects"} & set(viewed.exhibits.of_subject("toy"))
    shown = {"topics": "data/acquire/toy/t.csv", "objects": "data/acquire/toy/o.csv"}
    both = planned(facts={"toy": shown}).exhibits.of_subject("toy")
    facts = ("categories", "styles", "objects", "object_counts")
    assert [name for name in both if name in facts] == ["categories", "objects", "object_counts"]


def test_the_demo_has_no_exhibit_of_what_it_lacks(demo):
    absent = {
        "against",
        "graded",
        "recall",
        "group",
        "captions",
        "sets",
        "split_sizes",
        "popularity",
    }
    assert not absent & set(demo.exhibits.of_subject("toy"))
    assert {"table1", "table3", "table5", "explained", "moved"} <= set(
        demo.exhibits.of_subject("toy")
    )


def test_a_collection_that_is_compared_with_another_has_the_exhibit_against():
    cross = {"collection": "toy-later", "here": "R@10", "there": "Success@10"}
    plan = planned(("toy", "toy-later"), against={"toy": cross})
    made = plan.exhibits.recipes("toy")["against"]
    assert made["relations"] == {
        "scores": ["results/score/toy.parquet", "results/score/toy-later.parquet"]
    }
    assert made["parameters"]["there"] == "toy-later"
    assert made["parameters"]["other"] == "Success@10"
    assert "results/figures/toy/against.svg" in plan.exhibits.files("toy")


def test_pictures_that_came_along_are_counted_apart_from_urls_that_were_fetched(tmp_path):
    (tmp_path / "a.csv").write_text("image,text\n")
    for pictures, exhibit in ((str(tmp_path), "picture_files"), ("urls", "crawl")):
        entry = {"kind": "pairs", "data": str(tmp_path / "a.csv"), "pictures": pictures}
        overlay = {"build": ["mine"], "collect": {"mine": entry}}
        (tmp_path / "mine.yaml").write_text(json.dumps(overlay))
        plan = Plan(files.load([tmp_path / "mine.yaml"], root=ROOT), {})
        made = plan.exhibits.of_subject("mine")
        assert [name for name in made if name in ("crawl", "picture_files")] == [exhibit]
        ledger = "data/crawl/mine/ledger.parquet"
        assert plan.exhibits.recipes("mine")[exhibit]["relations"] == {"ledger": ledger}
        assert plan.report.ledger(of_collection("mine")) == [ledger]
        assert "text" in plan.exhibits.recipes("mine")["table2"]["parameters"]["field_words"]


def test_a_group_has_the_scores_of_its_members_side_by_side():
    plan = planned(("toy", "toy-later"), groups={"both": {"all": ["toy", "toy-later"]}})
    assert [*plan.exhibits.of_subject("both")] == ["group"]
    made = plan.exhibits.recipes("both")["group"]
    assert made["relations"]["scores"] == [
        "results/score/toy.parquet", "results/score/toy-later.parquet"
    ]  # fmt: skip
    assert made["parameters"]["members"] == [["toy", "toy-later"]]
    names = {Path(path).name for path in plan.exhibits.files("both")}
    assert names == {f"group.{form}" for form in FORMS}


def test_a_caption_is_no_param_of_the_job_that_writes_tables(demo):
    for name, made in demo.exhibits.recipes("toy").items():
        words = {described()[name].caption, described()[name].title} - {""}
        assert not words & {*map(str, made.values())}


def test_a_fact_is_read_where_it_lies_and_waits_for_its_manifest(demo):
    made = demo.exhibits.recipes("toy")["categories"]
    assert made["relations"]["topics"] == "data/acquire/toy/topics.csv"
    sources = demo.exhibits.reads("toy")
    assert "data/acquire/toy/manifest.json" in sources
    assert "data/acquire/toy/topics.csv" not in sources


@pytest.mark.parametrize("fact", ["topics", "objects", "styles"])
def test_the_tables_of_a_fact_wait_for_its_file(fact, tmp_path):
    file = tmp_path / f"{fact}.csv"
    file.touch()
    plan = planned(facts={"toy": {fact: str(file)}})
    assert str(file) in plan.exhibits.reads("toy")


def test_names_of_rules_are_words_and_differ(demo):
    assert demo.exhibits.rules == {
        "tabulate_tables_toy": "toy", "tabulate_tables_toy_later": "toy-later"
    }  # fmt: skip


def test_two_systems_have_a_page_of_their_queries_with_the_words_of_the_first_bm25(demo):
    toy = of_collection("toy")
    spec = demo.report.queries(toy)
    assert spec
    assert spec["systems"] == ["tiny-clip", "bm25"]
    assert (spec["setting"], spec["measure"], spec["shown"]) == ("large", "MRR@10", 100)
    assert spec["words"]["index"] == "bm25"
    assert "data/index/toy/large/bm25" in demo.report.sources(toy)
    assert "queries" in demo.report.pages
    assert demo.report.scope(toy)["compared"]


def test_one_system_has_no_page_of_queries():
    search = {**DEMO["search"], "systems": ["tiny-clip"]}
    tabulate = {**DEMO["tabulate"], "comparisons": []}
    plan = Plan(resolve.resolve({**DEMO, "search": search, "tabulate": tabulate}), {})
    assert "queries" not in plan.report.pages
    assert plan.report.queries(of_collection("toy")) is None
    sources = plan.report.sources(of_collection("toy"))
    assert not [path for path in sources if path.startswith("data/index/")]


def test_without_bm25_the_words_are_read_as_it_would():
    search = {**DEMO["search"], "systems": ["random", "tiny-clip"]}
    tabulate = {**DEMO["tabulate"], "comparisons": []}
    plan = Plan(resolve.resolve({**DEMO, "search": search, "tabulate": tabulate}), {})
    spec = plan.report.queries(of_collection("toy"))
    assert spec
    words = spec["words"]
    assert words["index"] is None
    assert (words["k1"], words["b"], words["fields"]) == (0.9, 0.4, list(FIVE_FIELDS))
