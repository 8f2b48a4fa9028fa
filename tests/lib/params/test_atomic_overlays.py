"""The overlays of AToMiC's experiments say what its paper says."""

import pytest
import yaml

from isotope.core.schemas import FIVE_FIELDS
from isotope.params import files

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


@pytest.mark.parametrize(("system", "fields"), TABLE_4.items())
def test_a_row_of_table_4_reads_its_fields_by_the_same_model(root, system, fields):
    of = overlay(root, "atomic-fields.yaml")
    assert system in of["search"]["systems"]
    model = of["models"][of["systems"][system]["model"]]
    assert model.get("fields", list(FIVE_FIELDS)) == fields
    weights = of["models"][model.get("weights_of", "vit-l-14")]
    assert (weights["name"], weights["pretrained"].partition("_")[0]) == ("ViT-L-14", "laion2b")


def test_fig_5_has_its_five_systems_in_three_settings(root):
    """Section 5.2 and the legend of Fig. 5: BM25, ViT-B-32, ViT-L-14, ViT-H-14, ViT-G-14."""
    of = files.load([root / "params/atomic-baselines.yaml"], root=root)
    drawn = ["bm25", "openclip-b32-2b", "openclip-l14", "openclip-h14", "openclip-bigg14"]
    assert [s for s in of["search"]["systems"] if s in drawn] == drawn
    assert of["search"]["settings"] == ["small", "base", "large"]
    assert {"MRR@10", "R@10", "R@1000"} <= set(of["score"]["measures"])


def test_fig_6_shows_ten_hits_from_each_end_of_1000(root):
    """Fig. 6: "Top-10 and Bottom-10 (out of 1K) candidates"."""
    of = files.load([root / "params/atomic-baselines.yaml"], root=root)
    assert (of["tabulate"]["cases"]["hits"], of["search"]["depth"]) == (10, 1000)
