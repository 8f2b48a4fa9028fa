"""Overlays of other papers are valid, and name what the papers do."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core.errors import BadParams
from isotope.models.kinds._training import Resources
from isotope.params import resolve
from isotope.params.overlays import lay_over
from isotope_papers.resources import PACKAGE

MIXES = ("clip2clip", "clip_fusion")


@pytest.fixture
def config(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "params.yaml").read_text())


def overlay(name: str) -> dict[str, Any]:
    return yaml.safe_load((PACKAGE / "params" / name).read_text("utf-8"))


def overlaid(config: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Merge as Snakemake merges --configfile."""
    merged = copy.deepcopy(config)
    lay_over(merged, overlay)
    return merged


@pytest.mark.parametrize("name", ["oven.yaml", "oven-published.yaml", "kb.yaml"])
def test_an_overlay_is_valid_over_the_default(config, name):
    resolved = resolve.resolve(overlaid(config, overlay(name)) | {"root": "/tmp"})
    assert {*resolved.build} <= {*resolved.collect}


def test_the_sheet_of_ovens_answers_is_of_the_human_set():
    """Section 6: "a random 100 examples on the human evaluation set"; Table 3's classes."""
    mistakes = overlay("oven-published.yaml")["explain"]["mistakes"]
    assert (mistakes["examples"], mistakes["subset"]) == (100, "human")
    kinds = ["wrong_but_relevant", "too_generic", "misunderstood_query", "miscellaneous"]
    assert mistakes["classes"] == ["correct", *kinds]


@pytest.mark.parametrize("overlays", [["xm3600.yaml"], ["xm3600.yaml", "xm3600-published.yaml"]])
def test_crossmodal_3600_is_a_collection_a_language(config, overlays):
    for name in overlays:
        config = overlaid(config, overlay(name))
    resolved = resolve.resolve(config | {"root": "/tmp"})
    built = {name: resolved.collect[name] for name in resolved.build}
    assert {n: e.language for n, e in built.items()} == {n: n.split("-")[1] for n in built}
    assert all(e.language != e.captions for e in built.values())
    assert resolved.tabulate.groups["xm3600"]["all"] == resolved.build
    assert len(built) == (9 if len(overlays) == 1 else 36)


def test_the_languages_and_the_low_resource_ones_are_those_of_the_authors_list(config):
    """Crossmodal-3600's post, section Language Selection: 36 languages, five of them starred."""
    for name in ("xm3600.yaml", "xm3600-published.yaml"):
        config = overlaid(config, overlay(name))
    resolved = resolve.resolve(config | {"root": "/tmp"})
    parts = resolved.tabulate.groups["xm3600"]
    spoken = {p: {resolved.collect[c].language for c in codes} for p, codes in parts.items()}
    # Arabic to Cusco Quechua, Czech to French, and so on, by the rows of the list.
    assert spoken["all"] == {
        *("ar", "bn", "zh", "hr", "quz", "cs", "da", "nl", "en", "fil", "fi", "fr"),
        *("de", "el", "he", "hi", "hu", "id", "it", "ja", "ko", "mi", "no", "fa"),
        *("pl", "pt", "ro", "ru", "es", "sw", "sv", "te", "th", "tr", "uk", "vi"),
    }
    assert spoken["low-resource"] == {"bn", "quz", "mi", "sw", "te"}


@pytest.mark.parametrize("overlays", [["ticrc.yaml"], ["ticrc.yaml", "ticrc-offline.yaml"]])
def test_the_overlays_of_the_competition_are_valid(config, overlays):
    for name in overlays:
        config = overlaid(config, overlay(name))
    resolved = resolve.resolve(config | {"root": "/tmp"})
    assert resolved.build == ["ticrc"]
    assert resolved.search.unjudged == ["test"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"source_splits": ["train3"]},
            r"collect.ticrc-train.source_splits: unknown name 'train3'",
        ),
        ({"kind": "vg-coco"}, "kind ticrc has it"),
    ],
)
def test_the_five_sets_are_collections_by_the_names_of_their_folders(config, change, message):
    for name in ("ticrc.yaml", "ticrc-sets.yaml"):
        config = overlaid(config, overlay(name))
    config["root"] = "/tmp"
    resolved = resolve.resolve(copy.deepcopy(config))
    sets = ["train", "train2", "dev-0", "test-A", "test-B"]
    assert [resolved.collect[c].values()["source_splits"] for c in resolved.build] == [
        [name] for name in sets
    ]
    assert resolved.collect["ticrc"].values()["source_splits"] is None
    config["collect"]["ticrc-train"] |= change
    with pytest.raises(BadParams, match=message):
        resolve.resolve(config)


def test_ovens_published_params_have_the_papers_systems_and_honest_names_for_the_frozen():
    """Hu et al., ICCV 2023: note 2 (the name alone), section 5.1 (squashed to 224 x 224), 11."""
    published = overlay("oven-published.yaml")
    models, systems = published["models"], published["systems"]
    clip = {k: models["clip"][k] for k in ("name", "pretrained", "resize", "fields")}
    assert clip == {
        "name": "ViT-L-14",
        "pretrained": "openai",
        "resize": "squash",
        "fields": ["page_title"],
    }
    mixes = {n: m for n, m in models.items() if m["kind"] in MIXES}
    assert {n for n, m in mixes.items() if m.get("frozen")} == {n for n in mixes if "frozen" in n}
    trained_whole = [m for m in mixes.values() if not m.get("frozen")]
    assert {m["kind"] for m in trained_whole} == {*MIXES}
    means = Resources.model_fields.keys()
    assert all(set(m["train"]) <= means for m in trained_whole), (
        "what is learned is the paper's by default"
    )
    assert {m["of"] for m in mixes.values()} == {"clip"}, "one checkpoint for all of them"
    for name in models:
        assert systems[name] == {"kind": "dense", "model": name}, "a row is of the model it names"
    search = published["search"]
    assert search["settings"] == ["large"], "of all of the knowledge base"
    assert (search["tasks"], search["splits"]) == (["m2t"], ["validation", "test"])


def test_knowledge_that_nothing_acquires_is_refused(config):
    recognition = {"knowledge": "wiki", "questions": [{"category": "*", "question": "What?"}]}
    recognition |= {"unseen_share": 0, "unseen_categories": [], "seed": 0}
    entry = {"kind": "oven-labels", "source": "toy", "recognition": recognition}
    config["collect"]["labels"] = entry
    with pytest.raises(BadParams, match=r"collect\.labels\.recognition\.knowledge"):
        resolve.resolve(config)


@pytest.mark.parametrize("kind", ["ticrc", "vg-coco"])
def test_pictures_keep_their_size(config, kind):
    config["acquire"]["own"] = {"files": {"images": ["/tmp/x.zip"]}}
    config["collect"]["own"] = {"kind": kind, "source": "own", "language": "en"}
    config["crawl"]["own"] = {"shards": 1, "pictures": {"part": "images"}}
    assert resolve.resolve(config).crawl["own"].side_px is None
