"""Overlays of other papers take their whole road on small data of their form."""

import pytest
from tests.overlays import Case, lacking, name_of
from workflow.plugins.isotope_papers.tests import worlds

pytestmark = pytest.mark.long
PARAMS = "workflow/plugins/isotope_papers/params"
EXPLAINABLE = "workflow/plugins/isotope_explain/params/explainable.yaml"
CASES = (
    Case(f"{PARAMS}/kb.yaml", worlds.knowledge_bases),
    Case(f"{PARAMS}/ticrc.yaml", worlds.competition),
    Case(f"{PARAMS}/ticrc-offline.yaml", worlds.competition),
    Case(f"{PARAMS}/ticrc-sets.yaml", worlds.competition),
    Case(f"{PARAMS}/oven.yaml", worlds.gallery, shown=("results/tables/{}/accuracy.md",)),
    Case(f"{PARAMS}/flickr.yaml", worlds.flickr_captions),
    Case(f"{PARAMS}/vg-coco.yaml", worlds.genome, shown=("results/tables/{}/explained.md",)),
    Case(
        EXPLAINABLE,
        worlds.summarised,
        shown=("results/tables/{}/ranking.md",),
    ),
    Case(f"{PARAMS}/xm3600.yaml", worlds.languages),
    Case(
        f"{PARAMS}/xm3600-published.yaml",
        worlds.published_languages,
        said=("encode_shard/xm3600-bn/xlm-h14/00000.log", "9 of 9 vectors reused"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_overlay_of_a_paper_runs_to_its_end(case, project, shell, shared, tmp_path):
    assert lacking(case, project(), shell, root=tmp_path, shared=shared) == []
