"""Which files a system reads and leaves, from the params alone."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.iocontainers import Wildcards
from tests.plans import plan_of

from isotope.core.schemas import FIVE_FIELDS
from isotope.params import resolve
from isotope.params.resolve import ExternalRun
from isotope.plan.paths import NEVER
from isotope.plan.plan import Plan
from isotope.plan.shards import pieces

ROOT = Path(__file__).parents[3]
SYSTEMS = {
    "near": {"kind": "approximate", "model": "hash", "method": "ivf"},
    "tuned": {
        "kind": "wsum",
        "of": ["bm25", "hashed"],
        "tune": {"grid": {"step": 0.5}, "split": "validation"},
    },
    "hashed": {"kind": "dense", "model": "hash"},
    "rrf": {"kind": "rrf", "of": ["bm25", "hashed"]},
    "dated": {"kind": "prompt", "model": "few", "templates": ["{text} ({year})"]},
    "said": {"kind": "answers", "files": ["runs/said.jsonl"], "tokenizer": "vocab.txt"},
}
MODELS = {
    "hash": {"kind": "hash", "dim": 8},
    "few": {"kind": "reuse", "weights_of": "hash", "fields": ["page_title"]},
}


def plan(external: dict[ExternalRun, str] | None = None, **sections: Any) -> Plan:
    """The plan of the embedded snapshot with these systems; `sections` of the params go over it."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["models"] |= MODELS
    params["systems"] |= SYSTEMS
    for name, section in sections.items():
        params[name] = params.get(name, {}) | section
    if params["search"].get("splits", ["test"]) == ["test"]:
        # A split that is searched has to choose the parameters of a tuned system.
        del params["systems"]["tuned"]
    places = external or {}
    return Plan(resolve.resolve(params, places), places)


def of(**names: str) -> Wildcards:
    return Wildcards(fromdict={"collection": "toy", **names})


CELLS = {"settings": ["small", "large"], "splits": ["test"], "tasks": ["t2m", "m2t"]}


@pytest.fixture(scope="module")
def systems() -> Plan:
    names = ["random", "bm25", "near", "rrf", "tuned", "dated"]
    return plan(
        search={**CELLS, "splits": ["validation", "test"], "systems": names},
        tabulate={"system": "rrf"},
    )


def test_a_system_fills_every_cell_of_the_grid():
    search = {**CELLS, "systems": ["random", "bm25"]}
    found = plan(search=search, tabulate={"system": "bm25"})
    pattern = "results/search/{{collection}}/{}/test/{}/{{system}}.parquet"
    cells = [(s, t) for s in ("small", "large") for t in ("t2m", "m2t")]
    assert found.systems.grid == [
        pattern.format(*cell).replace("{{", "{").replace("}}", "}") for cell in cells
    ]
    assert all(
        ".isotope/search/{collection}/{part}/" in path for path in pieces(found.systems.grid)
    )


def test_splits_without_judgements_are_searched_apart(systems):
    search = {**CELLS, "systems": ["bm25"], "unjudged": ["train"]}
    found = plan(search=search, tabulate={"system": "bm25"})
    assert found.systems.unjudged_grid == [
        f"results/search/{{collection}}/unjudged/{s}/train/{t}/{{system}}.parquet"
        for s in ("small", "large")
        for t in ("t2m", "m2t")
    ]
    assert found.systems.grid[-4:] == found.systems.unjudged_grid
    parts = found.systems.parts(of(system="rrf"))
    assert "results/search/toy/unjudged/small/train/t2m/hashed.parquet" in parts
    assert systems.systems.unjudged_grid == []


def test_kinds_of_systems_become_constraints_of_wildcards(systems):
    assert systems.systems.of_kind("random") == "random"
    assert set(systems.systems.of_kind("approximate", "prompt").split("|")) == {"near", "dated"}
    assert "rrf" in systems.systems.that(lambda s: s.fuses and not getattr(s, "tune", None)).split(
        "|"
    )
    assert systems.systems.that(lambda s: getattr(s, "tune", None)) == "tuned"
    assert systems.systems.of_kind("trec") == NEVER


def test_a_fusion_brings_the_systems_that_it_is_made_of(systems):
    assert "hashed" not in systems.systems.search.systems
    assert "hashed" in systems.systems.used
    first = {path.split("/")[-1] for path in systems.systems.parts(of(system="tuned"))}
    assert first == {"bm25.parquet", "hashed.parquet"}


def test_only_cells_that_are_named_are_returned(systems):
    found = systems.systems.runs("toy", "bm25", setting="large", split=["test"], task="m2t")
    assert found == ["results/search/toy/large/test/m2t/bm25.parquet"]
    assert len(systems.systems.runs("toy", systems.systems.search.systems)) == 6 * 2 * 2 * 2


def test_an_external_system_has_the_runs_that_lie_below_runs():
    here = ExternalRun("toy", "small", "test", "m2t", "theirs")
    search = {**CELLS, "systems": ["bm25"]}
    found = plan({here: "runs/x.trec"}, search=search, tabulate={"system": "bm25"})
    assert found.systems.search.systems == ["bm25", "theirs"]
    assert found.systems.runs("toy", "theirs") == [
        "results/search/toy/small/test/m2t/theirs.parquet"
    ]
    assert len(found.systems.runs("toy", ["theirs", "bm25"])) == 1 + 4
    named = of(setting="small", split="test", task="m2t", system="theirs")
    assert found.systems.external_run(named) == "runs/x.trec"
    assert (
        found.systems.external_run(of(setting="small", split="test", task="t2m", system="theirs"))
        == []
    )
    assert found.systems.candidates(named) == "data/collect/toy/texts.parquet"
    assert found.systems.candidates(of(task="t2m")) == "data/collect/toy/images.parquet"


def test_what_encodes_prompts_is_the_model_whose_weights_it_shares(systems):
    assert systems.systems.model("dated").spec["dim"] == 8
    assert systems.systems.model("dated").spec["fields"] == ["page_title"]
    assert systems.systems.model("dated").weights("toy") == []
    own = plan(systems={"own": {**SYSTEMS["dated"], "model": "tiny-clip"}})
    model = own.systems.model("own")
    assert model.weights("toy") == ["data/train/toy/tiny-clip/model.safetensors"]
    assert model.key("fields") == list(FIVE_FIELDS)


def local(plan: Plan) -> list[str]:
    """The files with answers and the vocabulary of the system `said`."""
    said = of(system="said")
    return plan.systems.answers(said) + plan.systems.vocabulary(said)


def test_files_of_answers_are_inputs_where_they_lie_on_this_disk(systems, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert local(systems) == []
    for name in ("runs/said.jsonl", "vocab.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert local(systems) == ["runs/said.jsonl", "vocab.txt"]
    several = plan(systems={"said": {**SYSTEMS["said"], "files": ["runs/*.jsonl"]}})
    assert several.systems.answers(of(system="said")) == ["runs/said.jsonl"]


def test_a_tuned_system_leaves_the_grid_that_it_was_chosen_from(systems):
    trials = systems.exhibits.relations("toy")["trials"]
    assert trials == ["results/search/toy/tuning/tuned.csv"]


def test_a_release_names_the_experiments_systems_in_their_order(systems):
    released = systems.report.release(of())["systems"]
    assert [*released] == systems.systems.search.systems
    assert released["rrf"] == "rrf"


BY_KIND = {
    "wikipedia": {"kind": "wikipedia", "source": "toy"},
    "atomic": {"kind": "pairs", "form": "atomic", "source": "toy"},
    "union": {"kind": "union", "of": ["toy", "toy-later"]},
    "pairs": {"kind": "pairs", "source": "toy"},
}


@pytest.mark.parametrize(
    ("kind", "usual"),
    [("wikipedia", "atomic"), ("atomic", "atomic"), ("union", "none"), ("pairs", "none")],
)
def test_words_are_prepared_as_the_collection_says_unless_the_system_does(kind, usual):
    systems = {"plain": {"kind": "bm25", "prepare": "none"}}
    systems |= {"authors": {"kind": "bm25", "prepare": "atomic"}}
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["systems"] |= systems
    # A plan asks nothing of the collection but its kind and form here.
    params["collect"][kind] = BY_KIND[kind]
    found = plan_of(**params)
    made = {"bm25": usual, "plain": "none", "authors": "atomic"}
    for name, prepare in made.items():
        assert found.systems.on(name, kind).spec()["prepare"] == prepare
    assert "prepare" not in found.systems.on("tiny-clip", "toy").spec()


def test_what_explains_and_releases_knows_how_words_were_prepared(systems):
    toy = of()
    assert systems.report.queries(toy)["words"]["prepare"] == "atomic"
