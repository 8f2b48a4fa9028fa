"""Which files a model needs and leaves, from the params alone."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from isotope.core.schemas import FIVE_FIELDS
from isotope.params import resolve
from isotope.plan.code import model_roots
from isotope.plan.paths import NEVER
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
RECIPE = {"epochs": 1, "batch": 2, "learning_rate": 0.001}
MODELS = {
    "hash": {"kind": "hash", "dim": 8},
    "words": {"kind": "hash", "dim": 8, "images": "captions", "summary": "short"},
    "titles": {"kind": "reuse", "weights_of": "hash", "fields": ["page_title"]},
    "borrowed": {"kind": "hash", "dim": 8, "images": "hash"},
    "tiny": {
        "kind": "trained",
        "config": "tiny-clip",
        "train": {**RECIPE, "threads": 2, "processes": 3},
    },
    "further": {
        "kind": "trained",
        "from": "tiny",
        "train": {**RECIPE, "seed": 7},
    },
    "heads": {"kind": "lit", "heads": {"threads": 5}},
    "dates": {"kind": "dates"},
    "whole": {"kind": "clip2clip", "of": "tiny"},
    "mixed": {"kind": "clip_fusion", "of": "hash", "frozen": True, "learn": {"threads": 4}},
}
SUMMARIES = {"short": {"file": "summaries.csv"}}
SYSTEMS = {
    "by-titles": {"kind": "dense", "model": "titles"},
    "by-tiny": {"kind": "dense", "model": "tiny"},
    "bm25-titles": {"kind": "bm25", "fields": ["page_title"]},
}


def plan(**sections: Any) -> Plan:
    """The plan of the embedded snapshot with these models; `sections` of the params go over it."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["models"] = MODELS
    params["systems"] = {"bm25": params["systems"]["bm25"], **SYSTEMS}
    params["search"] |= {"systems": [*SYSTEMS], "settings": ["small", "large"]}
    params["tabulate"] |= {"system": "by-titles", "comparisons": [], "diff": []}
    params["encode"] |= {"shards": 2, "summaries": SUMMARIES}
    for name, section in sections.items():
        own = params.get(name, {})
        params[name] = own | section if isinstance(section, dict) else section
    return Plan(resolve.resolve(params, {}), {})


@pytest.fixture(scope="module")
def models() -> Plan:
    return plan()


def of(model: str = "hash", **names: str) -> Wildcards:
    return Wildcards(fromdict={"collection": "toy", "model": model, **names})


def shards(folder: str, suffix: str = "npy") -> list[str]:
    return [f"data/encode/{folder}/shard-{n:05d}.{suffix}" for n in range(2)]


def after(earlier: str) -> Plan:
    """The plan of two collections, of which `toy` goes on from an earlier one."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    other = params["collect"]["toy"]
    return plan(
        collect={earlier: other},
        encode={"shards": 2, "summaries": SUMMARIES, "after": {"toy": earlier}},
    )


def test_a_model_that_shares_vectors_of_images_encodes_texts_alone(models):
    assert models.models.that(lambda m: m.encodes(images=True)).split("|") == [
        "hash",
        "words",
        "tiny",
        "further",
        "heads",
    ]
    assert models.models.that(lambda m: m.encodes(images=False)).split("|") == [
        "titles",
        "borrowed",
    ]


def test_models_of_pictures_with_words_are_mixed_or_trained_whole(models):
    assert models.models.that(lambda m: m.is_mix(frozen=True)) == "mixed"
    assert models.models.that(lambda m: m.is_mix(frozen=False)) == "whole"


def test_where_no_model_is_of_a_kind_the_constraint_matches_nothing(models):
    assert models.models.of_kind("open_clip") == NEVER


def test_used_are_the_models_of_systems_and_trained_those_that_learn_here(models):
    systems = models.systems
    assert systems.models_of(systems.used) == ["tiny", "titles"]
    assert systems.trained == ["tiny"]
    assert "table5" in models.exhibits.of_subject("toy")


@pytest.mark.parametrize(
    ("model", "threads"), [("tiny", 6), ("further", 1), ("heads", 5), ("mixed", 4), ("whole", 1)]
)
def test_a_training_takes_its_recipe_s_threads_in_every_process(models, model, threads):
    assert models.models[model].training_threads == threads


def test_a_training_has_the_seed_of_its_recipe_or_none(models):
    assert [models.params.models[m].recipe.seed for m in ("further", "tiny")] == [7, 0]


def test_a_job_is_handed_the_entry_with_the_weights_and_the_fields_of_its_own(models):
    assert models.models["titles"].spec == {"kind": "hash", "dim": 8, "fields": ["page_title"]}
    assert models.models["hash"].spec == MODELS["hash"], "without defaults"


def test_a_model_reads_five_fields_unless_its_params_name_others(models):
    assert models.models["hash"].entry.fields == list(FIVE_FIELDS)
    assert models.models["titles"].entry.fields == ["page_title"]
    assert models.models["mixed"].inner.entry.fields == list(FIVE_FIELDS)


def test_what_learns_here_has_weights_and_what_shares_them_has_the_same(models):
    assert models.models["tiny"].weights("toy") == ["data/train/toy/tiny/model.safetensors"]
    assert models.models["hash"].weights("toy") == models.models["mixed"].weights("toy") == []
    assert models.models["whole"].weights("toy") == ["data/train/toy/whole/model.safetensors"]
    assert models.models["dates"].weights("toy") == ["data/train/toy/dates/model.safetensors"]


def test_weights_of_an_earlier_collection_encode_a_later_one(models):
    assert models.models["tiny"].weights("old") == ["data/train/old/tiny/model.safetensors"]


def test_a_training_starts_from_the_weights_that_it_names(models):
    tiny = ["data/train/toy/tiny/model.safetensors"]
    assert models.models["further"].start("toy") == models.models["whole"].start("toy") == tiny
    assert models.models["tiny"].start("toy") == models.models["mixed"].start("toy") == []


def test_heads_have_the_features_of_the_pictures_of_their_own_collection(models):
    folder = "data/train/toy/heads"
    files = [f"{folder}/pictures.npy", f"{folder}/pictures.ids.parquet"]
    assert models.models["heads"].features("toy") == files
    assert models.models["tiny"].features("toy") == []


def test_a_summary_stands_for_captions_where_a_model_asks_for_it(models, tmp_path, monkeypatch):
    assert models.models["hash"].image_table("toy") == "data/collect/toy/images.parquet"
    assert models.models["words"].image_table("toy") == "data/encode/toy/summaries/short.parquet"
    monkeypatch.chdir(tmp_path)
    assert models.models.summariser("short") == []
    (tmp_path / "summaries.csv").touch()
    assert models.models.summariser("short") == ["summaries.csv"]


def test_our_own_architecture_is_code_of_the_model(models):
    config = "models/tiny-clip.json"
    names = ("tiny", "whole", "hash")
    has = {name: config in model_roots(models.params.models, name) for name in names}
    assert has == {"tiny": True, "whole": True, "hash": False}
    assert all(models.models[name].configs == [] for name in names)


def test_a_system_searches_the_texts_of_its_model_and_the_images_of_another(models):
    names = {"collection": "toy", "system": "by-titles"}
    wildcards = Wildcards(fromdict=names)
    assert models.systems.vectors("texts")(wildcards) == shards("toy/titles/texts")
    assert models.systems.vectors("images")(wildcards) == shards("toy/hash/images")


def test_an_encoding_goes_on_from_the_earlier_collection_unless_its_model_learns_there():
    later = after("old")
    both = [*shards("old/hash/texts"), *shards("old/hash/texts", "contents.parquet")]
    assert later.models.earlier_vectors(of("hash"), "texts") == both
    assert len(later.models.earlier_vectors(of("hash"), "texts", "images")) == 8
    assert later.models.earlier_vectors(of("tiny"), "texts") == []
    named = later.models.earlier_vectors(of("tiny", earlier="old"), "texts")
    assert named[:2] == shards("old/tiny/texts")


def test_a_model_may_learn_from_one_collection_and_encode_all():
    """AToMiC's Fig. 7 has models that learned from AToMiC on COCO."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    tiny = {**MODELS["tiny"], "collection": "toy"}
    both = {"toy": params["collect"]["toy"], "coco": params["collect"]["toy"]}
    found = plan(models={**MODELS, "tiny": tiny}, collect=both, build=[*both])
    learned = ["data/train/toy/tiny/model.safetensors"]
    for collection in both:
        assert found.models["tiny"].weights(collection) == learned
        assert found.models["further"].start(collection) == learned
    assert [found.models[m].learns_from("coco") for m in ("tiny", "further")] == ["toy", "coco"]
    assert found.exhibits.curves("coco") == {}
    assert found.exhibits.curves("toy") == {"tiny": "data/train/toy/tiny/curve.csv"}
    drawn = {name: found.exhibits.files(name) for name in both}
    curve = "results/figures/{}/curve-tiny.svg"
    assert curve.format("toy") in drawn["toy"]
    assert curve.format("coco") not in drawn["coco"]


def test_where_a_model_learns_changes_nothing_of_what_it_learns():
    """Else a second collection, searched with it, would have it trained again."""
    found = plan(models={**MODELS, "tiny": {**MODELS["tiny"], "collection": "toy"}})
    assert found.models["tiny"].spec == plan().models["tiny"].spec


def test_notes_beside_a_weights_file_make_up_its_model(tmp_path):
    for name in ("w.pt", "open_clip_config.json"):
        (tmp_path / name).write_text("{}")
    own = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": str(tmp_path / "w.pt")}
    found = plan(models={**MODELS, "own": own}).models["own"].configs
    assert {Path(path).name for path in found} == {"w.pt", "open_clip_config.json"}


def test_a_first_collection_goes_on_from_nothing(models):
    assert models.models.earlier_vectors(of(), "texts", "images") == []
    assert models.systems.earlier_indexes(of(system="bm25")) == []


def test_an_index_goes_on_from_the_same_system_on_the_earlier_collection():
    later = after("old")
    folders = [f"data/index/old/{setting}/bm25" for setting in ("small", "large")]
    assert later.systems.earlier_indexes(of(system="bm25")) == folders


def test_a_mix_reads_both_sides_and_their_side_inputs_shard_by_shard(models):
    whole = models.models["mixed"].mixed("toy")
    sides = ("images", "texts", "questions", "pictures")
    assert {side: whole[side] for side in sides} == {s: shards(f"toy/hash/{s}") for s in sides}
    assert whole["texts_ids"] == shards("toy/hash/texts", "ids.parquet")
    one = models.models["mixed"].mixed("toy", "00001")
    assert {k: [files[1]] for k, files in whole.items()} == one


def test_words_are_indexed_in_the_fields_of_the_system_for_every_split_with_a_pool(models):
    systems = models.systems
    fields = [systems.on(name, "toy").spec().get("fields") for name in ("bm25", "bm25-titles")]
    assert fields == [None, ["page_title"]], "what is the default is not handed over"
    assert systems.pooled_splits == [*systems.search.splits, *systems.unjudged]
