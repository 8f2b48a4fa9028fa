"""The overlays of AToMiC's experiments say what its paper says."""

import open_clip
import pytest
import yaml

from isotope.core.schemas import FIVE_FIELDS
from isotope.params import files
from isotope.report.cases import HITS
from isotope.tabulate.runs import OVERLAP

# Table 4: rows (a) to (d), the fields that OpenCLIP ViT-L-14 reads; "titles" is "Concatenated title
# (P), title (S), and hierarchy".
TITLES = ["page_title", "section_title", "hierarchy"]
TABLE_4 = {
    "vit-l-14": list(FIVE_FIELDS),
    "titles": TITLES,
    "section-context": ["context_section_description"],
    "page-context": ["context_page_description"],
}


def overlay(root, name):
    return yaml.safe_load((root / "params" / name).read_text())


def test_the_collection_of_full_size_is_made_of_the_papers_sources_by_its_projection(root):
    """Sections 4.1 and 4.2; WIT has ten files of training, five of validation and five of test."""
    of = overlay(root, "enwiki.yaml")
    [(source, parts)] = of["acquire"].items()
    names = [url.rpartition("/")[2] for url in parts["files"]["wit"]]
    shards = {"train": 10, "val": 5, "test": 5}
    assert names == [
        f"wit_v1.{split}.all-{i:05}-of-{n:05}.tsv.gz"
        for split, n in shards.items()
        for i in range(n)
    ]
    [dump] = parts["files"]["dump"]
    site = "https://dumps.wikimedia.org/enwiki/20221101/"
    assert dump == f"{site}enwiki-20221101-pages-articles-multistream.xml.bz2"
    assert of["project"] == {source: {"mode": "bm25", "k1": 0.9, "b": 0.4}}
    assert of["collect"][source] == {"kind": "wikipedia", "source": source, "language": "en"}


@pytest.mark.parametrize(("system", "fields"), TABLE_4.items())
def test_a_row_of_table_4_reads_its_fields_by_the_same_model(root, system, fields):
    of = overlay(root, "atomic-fields.yaml")
    assert system in of["search"]["systems"]
    model = of["models"][of["systems"][system]["model"]]
    assert model.get("fields", list(FIVE_FIELDS)) == fields
    weights = of["models"][model.get("weights_of", "vit-l-14")]
    assert (weights["name"], weights["pretrained"].partition("_")[0]) == ("ViT-L-14", "laion2b")


SEEN = {"resize": "squash", "context": 77}
# What the other way of a model has instead; BLIP and FLAVA squash anyway, and read more tokens.
OWN = {"open_clip": {"resize": "own", "context": 77}, "transformers": {}}


def dense(of):
    """The entries of the models that systems of an overlay search, by the system."""
    systems = {s: of["systems"][s] for s in of["search"]["systems"]}
    return {s: of["models"][e["model"]] for s, e in systems.items() if e["kind"] == "dense"}


def test_a_dense_row_squashes_pictures_and_reads_77_tokens_and_its_own_way_is_beside_it(root):
    """As examples/dense_retriever_baselines/encode.py of TREC-AToMiC/AToMiC does for all."""
    of = overlay(root, "atomic-baselines.yaml")
    rows = dense(of)
    assert len(rows) == 10
    for system, entry in rows.items():
        assert {key: entry[key] for key in SEEN} == SEEN
        assert of["systems"][f"{system}-own"] == {"kind": "dense", "model": f"{system}-own"}
        other = of["models"][f"{system}-own"]
        looks = ("resize", "context", "activation")
        assert {k: v for k, v in other.items() if k in looks[:2]} == OWN[entry["kind"]]
        same = {k: v for k, v in entry.items() if k not in looks}
        assert {k: v for k, v in other.items() if k not in looks} == same


def test_row_d_has_gelu_and_the_activation_of_its_training_beside_it(root):
    models = overlay(root, "atomic-baselines.yaml")["models"]
    named = {name: m["activation"] for name, m in models.items() if "activation" in m}
    assert named == {"openclip-b32-400m": "gelu", "openclip-b32-400m-own": "quickgelu"}
    row = models["openclip-b32-400m"]
    assert open_clip.get_pretrained_cfg(row["name"], row["pretrained"])["quick_gelu"]


@pytest.mark.parametrize("name", ["atomic-fields.yaml", "atomic-finetune.yaml", "enwiki.yaml"])
def test_the_other_tables_models_see_what_those_of_table_3_see(root, name):
    models = overlay(root, name)["models"]
    encoders = {n: m for n, m in models.items() if m["kind"] in ("open_clip", "trained")}
    assert encoders
    for entry in encoders.values():
        assert entry["resize"] == SEEN["resize"]
        assert entry["kind"] == "trained" or entry["context"] == SEEN["context"]


def test_fig_7_has_the_pretrained_models_of_table_3_and_the_tuned_ones_of_table_5(root):
    """Appendix A: "transformer-based baselines and the OpenCLIP models fine-tuned on AToMiC"."""
    tuned = overlay(root, "atomic-finetune.yaml")["models"]
    learned = [name for name, entry in tuned.items() if entry["kind"] == "trained"]
    of = overlay(root, "coco-finetuned.yaml")
    assert of["models"] == {name: {"collection": "{name}"} for name in learned}
    pretrained = overlay(root, "coco-test.yaml")["search"]["systems"]
    assert of["search"]["systems"] == [*pretrained, *learned]


def test_fig_5_has_its_five_systems_in_three_settings(root):
    """Section 5.2 and the legend of Fig. 5: BM25, ViT-B-32, ViT-L-14, ViT-H-14, ViT-G-14."""
    of = files.load([root / "params/atomic-baselines.yaml"], root=root)
    drawn = ["bm25", "openclip-b32-2b", "openclip-l14", "openclip-h14", "openclip-bigg14"]
    assert [s for s in of.search.systems if s in drawn] == drawn
    assert of.search.settings == ["small", "base", "large"]
    assert {"MRR@10", "R@10", "R@1000"} <= set(of.score.measures)


def test_fig_6_shows_ten_hits_from_each_end_of_1000(root):
    """Fig. 6: "Top-10 and Bottom-10 (out of 1K) candidates"."""
    of = files.load([root / "params/atomic-baselines.yaml"], root=root)
    assert (HITS, of.search.depth, OVERLAP) == (10, 1000, 1000)
