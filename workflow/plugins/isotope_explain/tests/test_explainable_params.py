"""The overlay explainable.yaml and its corpora beside the tables of Lymperaiou et al. (2022)."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core.errors import MissingFile
from isotope.params import resolve
from isotope.params.root import Params
from isotope_explain import perturb
from isotope_explain import wordnet as wordnet_files
from isotope_explain.params import Explain
from isotope_explain.wordnet import WordNet

# Table 3 and Table 11; Table 6 lacks paraphrase albert small, Table 13 stsb mpnet base.
NAMES = """
all distilroberta, all MiniLM L12, all MiniLM L6, all mpnet base, all roberta large,
multi qa distilbert cos, multi qa MiniLM L6 cos, multi qa mpnet base cos, nli distilroberta base,
nq distilbert base, paraphrase albert base, paraphrase albert small, paraphrase distilroberta,
paraphrase MiniLM L12, paraphrase MiniLM L3, paraphrase MiniLM L6, paraphrase mpnet,
paraphrase TinyBERT L6, stsb distilroberta base, stsb mpnet base, stsb roberta base,
stsb roberta large, xlm distilroberta paraphrase
"""
MODELS = [name.strip() for name in NAMES.split(",")]
PAPERS = "workflow/plugins/isotope_papers/params"
CORPORA = ("vg-coco", "flickr")
OVERLAY = "workflow/plugins/isotope_explain/params/explainable.yaml"
# Table and representation, by the order of appendix A.3.
SUMMARISED = {6: "", 7: "-t5", 8: "-pegasus", 9: "", 10: "-t5", 11: "", 12: "-t5", 13: "-pegasus"}


def read(root: Path, name: str) -> dict[str, Any]:
    return yaml.safe_load((root / name).read_text())


def merged(base: dict[str, Any], *overlays: dict[str, Any]) -> dict[str, Any]:
    """Merge as Snakemake merges --configfile."""
    for overlay in overlays:
        for key, value in overlay.items():
            both = isinstance(value, dict) and isinstance(base.get(key), dict)
            base = {**base, key: merged(base[key], value) if both else value}
    return base


@pytest.fixture(params=CORPORA)
def resolved(request, root) -> Params:
    """The default params with a corpus and the paper's models."""
    names = ("params.yaml", f"{PAPERS}/{request.param}.yaml", OVERLAY)
    config = merged(*(read(root, name) for name in names))
    return resolve.resolve(config | {"root": "/r"})


def test_the_23_models_are_those_of_the_tables_each_in_three_representations(resolved):
    assert len(MODELS) == 23
    expected = {m.replace(" ", "-") + s for m in MODELS for s in ("", "-t5", "-pegasus")}
    assert set(resolved.search.systems) == expected
    for name in expected:
        model = resolved.models[resolved.systems[name].model]
        assert (model.kind, model.images, model.texts) == ("sentence", "captions", "lines")
        assert name.endswith(f"-{model.summary}" if model.summary else name)


def test_a_model_is_the_checkpoint_that_its_name_says(resolved):
    """The tables leave out versions, some a `base`, and one an r."""
    for name in MODELS:
        organisation, _, hub = resolved.models[name.replace(" ", "-")].name.rpartition("/")
        assert organisation == "sentence-transformers"
        words = re.sub(r"-v\d$", "", hub).split("-")
        assert set(name.split()) <= set(words)
        assert set(words) - set(name.split()) <= {"base", "r"}


def test_a_summary_is_of_the_same_model_as_the_mean(resolved):
    for name in (m.replace(" ", "-") for m in MODELS):
        checkpoints = [resolved.models[name + s].name for s in ("", "-t5", "-pegasus")]
        assert len(set(checkpoints)) == 1
    summaries = resolved.encode.summaries
    assert {k: v.name for k, v in summaries.items()} == {
        "t5": "google-t5/t5-base",
        "pegasus": "google/pegasus-xsum",
    }


@pytest.fixture(params=CORPORA)
def corpus(request, root) -> Params:
    """The default params with a corpus alone."""
    config = merged(read(root, "params.yaml"), read(root, f"{PAPERS}/{request.param}.yaml"))
    return resolve.resolve(config | {"root": "/r"})


def test_nothing_looks_at_a_picture_before_its_failures_are_explained(corpus, resolved):
    """Section 3: the representations are of language; pictures come in the last stage."""
    for config in (corpus, resolved):
        systems = [config.systems[name] for name in config.search.systems]
        models = [config.models[s.model] for s in systems if s.kind == "dense"]
        assert {model.images for model in models} == {"captions"}


def test_each_of_the_three_data_sets_is_its_own_collection_with_a_ranking_table(root):
    """Section 6: Flickr8k, Flickr30k, and VG ∩ COCO, whose failures are explained, too."""
    built = []
    for overlay in CORPORA:
        config = merged(read(root, "params.yaml"), read(root, f"{PAPERS}/{overlay}.yaml"))
        params = resolve.resolve(config | {"root": "/r"})
        asked = params.section("explain", Explain)
        assert asked is not None
        assert {*params.build} <= {*asked.rankings, *asked.failures}
        for name in params.build:
            assert params.collect[name].source == name
            folder = {"vg-coco": "visual-genome"}.get(name, name)
            parts = params.acquire[name].stated().values()
            assert all(file.url.startswith(f"/r/{folder}/") for part in parts for file in part)
        built += params.build
    assert built == ["vg-coco", "flickr8k", "flickr30k"]


def test_the_failures_are_those_of_the_papers_best_model(resolved):
    """Section 6.3: "we consider results from the best performing model MiniLM-L3"."""
    assert resolved.tabulate.system == "paraphrase-MiniLM-L3"


def test_every_row_of_tables_6_to_13_is_a_system(resolved, shared):
    text = (shared / "papers/explainable.txt").read_text()
    tables = re.split(r"^Table (\d+): ", text, flags=re.MULTILINE)
    rows_by_table: dict[int, list[str]] = {}
    for before, number in zip(tables[::2], [*map(int, tables[1::2]), 13], strict=True):
        rows = re.findall(r"^([a-z][A-Za-z0-9 ]+)(?:\t[\d.]+){8}$", before, re.MULTILINE)
        if number in SUMMARISED:
            rows_by_table.setdefault(number, rows)
    assert {number: len(rows) for number, rows in rows_by_table.items()} == {
        **dict.fromkeys(SUMMARISED, 23),
        **{6: 22, 13: 22},
    }
    for number, rows in rows_by_table.items():
        systems = {row.replace(" ", "-") + SUMMARISED[number] for row in rows}
        assert systems <= set(resolved.search.systems)


def bounds(count: int, share: float) -> tuple[float, float]:
    """The totals of which a count is a share of so many per cent, rounded to two digits."""
    return count / (share + 0.005) * 100, count / (share - 0.005) * 100


def test_the_search_is_as_deep_as_the_papers_pool(root):
    """Sections 6.3 and 6.4: four counts and their shares are of one number of queries, "34k"."""
    totals = [
        bounds(28_817, 84.69),
        bounds(10_523, 30.93),
        bounds(16_007, 47.04),
        bounds(10_471, 30.77),
    ]
    least, most = max(t[0] for t in totals), min(t[1] for t in totals)
    assert (math.ceil(least), math.floor(most)) == (34_025, 34_027)
    assert most < read(root, f"{PAPERS}/vg-coco.yaml")["search"]["depth"]
    assert read(root, f"{PAPERS}/flickr.yaml")["search"]["depth"] >= 31_783


@pytest.fixture(scope="module")
def shares(shared) -> Callable[[str, str, bool], float]:
    """The share of 159 pictures of COCO whose first caption, or all five, a kind changes."""
    try:
        wordnet = WordNet(wordnet_files.find())
    except MissingFile as error:
        pytest.skip(str(error))
    captions_by_image: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for path in sorted((shared / "collections/coco-mini").glob("captions_*.json")):
        for annotation in json.loads(path.read_text())["annotations"]:
            captions_by_image[annotation["image_id"]].append(
                (annotation["id"], annotation["caption"].strip())
            )
    queries = {
        "first": [min(numbered)[1] for numbered in captions_by_image.values()],
        "all": [
            "\n".join(caption for _, caption in sorted(numbered))
            for numbered in captions_by_image.values()
        ],
    }

    def share(kind: str, captions: str, plain: bool) -> float:
        texts, settings = queries[captions], perturb.Settings(plain=plain)
        changed = [perturb.perturb(kind, "q", text, wordnet, settings) for text in texts]
        return round(sum(sentence is not None for sentence in changed) / len(texts), 3)

    return share


# Section 6.4 of the paper, and the shares on 159 pictures that its page speaks of.
SHARES = {
    "colour-all": (0.4704, {"first": (0.170, 0.208), "all": (0.421, 0.472)}),
    "size": (0.3077, {"first": (0.063, 0.075), "all": (0.220, 0.252)}),
    "antonym": (0.3093, {"first": (0.277, 0.107), "all": (0.761, 0.314)}),
}


@pytest.mark.parametrize("kind", SHARES)
def test_the_papers_shares_are_those_of_plain_words_in_all_captions_of_a_picture(shares, kind):
    """Within two standard errors of 159 draws; by the grammar, or of one caption, some are not."""
    published, measured = SHARES[kind]
    for captions, (grammar, plain) in measured.items():
        assert shares(kind, captions, False) == grammar
        assert shares(kind, captions, True) == plain
    error = math.sqrt(published * (1 - published) / 159)
    assert abs(measured["all"][1] - published) < 2 * error
    assert abs(measured["first"][1] - published) > 5 * error


def test_the_overlay_of_the_paper_exchanges_plain_words(root):
    explained = read(root, f"{PAPERS}/vg-coco.yaml")["explain"]["failures"]
    assert explained["vg-coco"]["match"] == "plain"
