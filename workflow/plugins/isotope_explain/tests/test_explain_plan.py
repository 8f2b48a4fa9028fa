"""What the plug-in adds to a plan, by its section of the params and by keys of earlier versions."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core.errors import BadParams
from isotope.params import files, resolve
from isotope.plan.paths import of_collection
from isotope.plan.plan import Plan
from isotope_explain.params import Explain
from isotope_explain.plan import Explanations

ROOT = Path(__file__).parents[4]
DEMO = yaml.safe_load((ROOT / "params.yaml").read_text())
BARE = {**DEMO, "demo": False}
MISTAKES = {"examples": 3, "seed": 1, "classes": ["correct", "other"]}
TABLES = "results/tables/toy"


def explained(**params: Any) -> Explanations:
    """What the demo explains by other params, without what plug-ins add to it."""
    plan = Plan(resolve.resolve({**BARE, **params}), {})
    extension = plan.extensions["explain"]
    assert isinstance(extension, Explanations)
    return extension


def test_the_demo_has_a_page_of_failures_beside_that_of_the_systems():
    plan = Plan(files.load(root=ROOT), {})
    extension = plan.extensions["explain"]
    page = extension.pages("toy")["failures"]
    assert (page.heading, page.beside) == ("Failures", "systems")
    assert extension.ends("toy") == [f"{TABLES}/study.csv"]
    assert plan.report.scope(of_collection("toy"))["further"]["failures"] == [*page]
    assert {"explained", "ranking", "moved", "perturbed"} <= plan.exhibits.of_subject("toy").keys()
    assert not extension.pages("toy-later")


def test_without_the_section_nothing_is_explained_ranked_or_handed_out():
    nothing = explained()
    assert not nothing.pages("toy")
    assert not nothing.ends("toy")
    assert not nothing.relations("toy")
    assert not nothing.values("toy")
    assert nothing.plan.params.handout("toy", "failures") is None
    assert not {"explained", "ranking"} & nothing.plan.exhibits.of_subject("toy").keys()


def test_a_ranking_needs_no_objects_and_has_no_page():
    ranked = explained(explain={"rankings": ["toy"]})
    assert ranked.ranked == ["toy"]
    assert ranked.relations("toy") == {"ranks": f"{TABLES}/ranks.parquet"}
    assert "ranking" in ranked.plan.exhibits.of_subject("toy")
    assert not ranked.pages("toy")


def test_sheets_are_handed_out_with_their_classes():
    section = {"failures": {"toy": {}}, "mistakes": MISTAKES}
    params = explained(explain=section).plan.params
    failures, mistakes = (params.handout("toy", name) for name in ("failures", "mistakes"))
    assert failures
    assert mistakes
    assert (failures.sample, failures.is_rated) == (f"{TABLES}/study.parquet", True)
    assert failures.alternative == "successful alternative"
    assert (mistakes.sample, mistakes.is_rated) == (f"{TABLES}/mistakes.parquet", False)
    assert (mistakes.classes, mistakes.alternative) == (["correct", "other"], "")
    assert params.handout("toy-later", "failures") is None


def test_the_systems_that_answer_any_query_are_asked_perturbed_ones():
    asked = explained(explain={"failures": {"toy": {}}}).relations("toy")["perturbed"]
    assert asked == [f"{TABLES}/perturbed/{name}.parquet" for name in ("bm25", "tiny-clip")]
    pictures = {**DEMO["search"], "tasks": ["m2t"]}
    by_pictures = explained(explain={"failures": {"toy": {}}}, search=pictures)
    assert "perturbed" not in by_pictures.relations("toy")


def test_a_dictionary_that_is_gone_is_missed():
    words = {"wordnet": "data/acquire/toy/wordnet"}
    assert explained(explain={"failures": {"toy": words}}).paths() == [words["wordnet"]]


def test_keys_of_earlier_versions_are_read_and_the_new_ones_said(capsys):
    old = {"explain": {"toy": {"shown": 5}}, "rankings": ["toy-later"], "mistakes": MISTAKES}
    params = resolve.resolve({**BARE, "tabulate": {**DEMO["tabulate"], **old}})
    section = params.section("explain", Explain)
    assert section
    assert (section.failures["toy"].shown, section.rankings) == (5, ["toy-later"])
    assert section.mistakes
    assert section.mistakes.examples == MISTAKES["examples"]
    stderr = capsys.readouterr().err
    for was, now in (("explain", "failures"), ("rankings", "rankings"), ("mistakes", "mistakes")):
        assert f"params tabulate.{was} is now `explain.{now}`" in stderr


def test_what_the_demo_adds_is_refused_at_its_place_where_the_demo_is_gone():
    collect = {"toy-later": DEMO["collect"]["toy-later"]}
    tabulate = {**DEMO["tabulate"], "diff": [], "facts": {}}
    alone = {"build": ["toy-later"], "collect": collect, "tabulate": tabulate}
    with pytest.raises(BadParams, match=r"unknown name 'toy'.*isotope_explain/demo\.yaml:3"):
        resolve.resolve({**DEMO, **alone})
    assert resolve.resolve({**BARE, **alone}).section("explain", Explain) is None
