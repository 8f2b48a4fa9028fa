"""What a release says of its collection comes from the params, then from its kind."""

from pathlib import Path

import pytest
import yaml
from tests.plans import plan_of

from isotope.core.errors import BadParams
from isotope.params import resolve
from isotope.params.phases import Publication
from isotope.plan import releases

ROOT = Path(__file__).parents[3]
ABOUTS = sorted((ROOT / "workflow/sql/collect").glob("*/*.yaml"))


def facts(**about):
    plan = plan_of(release={"about": {"toy": about} if about else {}})
    return releases.facts(plan.params, plan.collections["toy"])


def test_a_collection_of_wikipedia_has_its_licence_and_the_papers_citation():
    own = facts()
    assert own["licence"] == "CC-BY-SA-4.0"
    assert "SIGIR 2023" in own["citation"]
    assert own["limits"].endswith("embedded encyclopedia, which is made up.")
    assert own["systems"] == {
        **{"random": "random", "bm25": "bm25", "tiny-clip": "dense", "rrf": "rrf", "wsum": "wsum"}
    }
    assert own["lite"] == {"negatives": 250, "queries": 1000}


def test_what_the_params_say_comes_first_and_another_licence_takes_no_address():
    own = facts(licence="CC0-1.0", title="The toy")
    assert (own["licence"], own["licence_url"], own["title"]) == ("CC0-1.0", "", "The toy")
    assert "SIGIR 2023" in own["citation"]


def test_a_form_of_pairs_has_the_citation_of_its_publisher():
    coco = releases.about_kind("pairs", "coco")
    assert "Microsoft COCO" in coco["citation"]
    assert releases.about_kind("pairs", "csv") == releases.about_kind("pairs") == {}


def test_a_kind_that_says_nothing_of_itself_has_an_unknown_licence(monkeypatch):
    monkeypatch.setattr(releases, "folders", dict)
    own = facts()
    assert (own["licence"], own["homepage"], own["citation"]) == ("unknown", "", "")
    assert "Wikipedia" not in own["description"]


@pytest.mark.parametrize("path", ABOUTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_kind_says_what_params_may_say_and_only_wikipedias_have_a_licence(path):
    said = yaml.safe_load(path.read_text("utf-8"))
    assert said.keys() - {"description"} <= Publication.model_fields.keys()
    assert {"description", "homepage", "citation"} <= said.keys()
    is_wikipedia = path.parent.name in ("wikipedia", "union") or path.stem == "atomic"
    assert ("licence" in said) == is_wikipedia


def test_a_collection_that_is_not_there_is_named_with_the_likely_spelling():
    wrong = yaml.safe_load((ROOT / "params.yaml").read_text()) | {"release": {"about": {"toi": {}}}}
    with pytest.raises(BadParams, match=r"release\.about: unknown name 'toi'.*toy"):
        resolve.resolve(wrong)


def test_an_address_that_is_none_is_refused():
    wrong = yaml.safe_load((ROOT / "params.yaml").read_text())
    wrong["release"] = {"about": {"toy": {"homepage": "www.example.org"}}}
    with pytest.raises(BadParams, match="homepage"):
        resolve.resolve(wrong)
