"""Which files a model needs and leaves, from the params alone."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from isotope.core.schemas import FIVE_FIELDS
from isotope.params import resolve
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
    params["tabulate"] |= {"system": "by-titles", "comparisons": [], "since": []}
    params["encode"] |= {"shards": 2, "summaries": SUMMARIES}
    for name, section in sections.items():
        own = params.get(name, {})
        params[name] = own | section if isinstance(section, dict) else section
    return Plan(resolve.resolve(params, {}), ROOT, {})


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
    assert models.encoders(encode_images=True).split("|") == [
        "hash",
        "words",
        "tiny",
        "further",
        "heads",
    ]
    assert models.encoders(encode_images=False).split("|") == ["titles", "borrowed"]


def test_models_of_pictures_with_words_are_mixed_or_trained_whole(models):
    assert (models.mixes_of(frozen=True), models.mixes_of(frozen=False)) == ("mixed", "whole")


def test_where_no_model_is_of_a_kind_the_constraint_matches_nothing(models):
    assert models.models_of("open_clip") == models.NEVER


def test_used_are_the_models_of_systems_and_trained_those_that_learn_here(models):
    assert models.used_models() == ["tiny", "titles"]
    assert models.trained_models() == ["tiny"]
    assert models.fitted_models() == models.fine_tuned_models() == []
    assert models.has_adapted_systems()


@pytest.mark.parametrize(
    ("model", "threads"), [("tiny", 6), ("further", 1), ("heads", 5), ("mixed", 4), ("whole", 1)]
)
def test_a_training_takes_its_recipe_s_threads_in_every_process(models, model, threads):
    assert models.training_threads(of(model)) == threads


def test_a_training_has_the_seed_of_its_recipe_or_none(models):
    assert [models.training_seed(of(m)) for m in ("further", "tiny")] == [7, 0]


def test_a_model_reads_five_fields_unless_its_params_name_others(models):
    assert models.fields(of()) == list(FIVE_FIELDS)
    assert models.fields(of("titles")) == ["page_title"]
    assert models.inner_fields(of("mixed")) == list(FIVE_FIELDS)


def test_what_learns_here_has_weights_and_what_shares_them_has_the_same(models):
    assert models.weights(of("tiny")) == ["data/train/toy/tiny/model.safetensors"]
    assert models.weights(of("hash")) == models.weights(of("mixed")) == []
    assert models.weights(of("whole")) == ["data/train/toy/whole/model.safetensors"]
    assert models.weights(of("dates")) == ["data/train/toy/dates/model.safetensors"]


def test_weights_of_an_earlier_collection_encode_a_later_one(models):
    assert models.weights(of("tiny", earlier="old")) == ["data/train/old/tiny/model.safetensors"]


def test_a_training_starts_from_the_weights_that_it_names(models):
    tiny = ["data/train/toy/tiny/model.safetensors"]
    assert models.start_weights(of("further")) == models.start_weights(of("whole")) == tiny
    assert models.start_weights(of("tiny")) == models.start_weights(of("mixed")) == []


def test_heads_have_the_features_of_the_pictures_of_their_own_collection(models):
    folder = "data/train/toy/heads"
    files = [f"{folder}/pictures.npy", f"{folder}/pictures.ids.parquet"]
    assert models.tower_features(of("heads")) == files
    assert models.tower_features(of("heads", earlier="old")) == []
    assert models.tower_features(of("tiny")) == []


def test_a_summary_stands_for_captions_where_a_model_asks_for_it(models, tmp_path, monkeypatch):
    assert models.image_table(of()) == "data/collect/toy/images.parquet"
    assert models.image_table(of("words")) == "data/encode/toy/summaries/short.parquet"
    summary = Wildcards(fromdict={"summary": "short"})
    monkeypatch.chdir(tmp_path)
    assert models.summariser(summary) == []
    (tmp_path / "summaries.csv").touch()
    assert models.summariser(summary) == ["summaries.csv"]


def test_our_own_architecture_is_a_file_of_the_model(models):
    [config] = models.configs(of("tiny"))
    assert config.endswith("isotope/models/tiny-clip.json")
    assert models.configs(of("hash")) == []
    assert models.inner_configs(of("whole")) == [config]
    assert models.encoder_files(of("tiny")) == ["data/crawl/toy/ledger.parquet", config]
    assert models.multimodal_files(of("whole")) == models.encoder_files(of("tiny"))


def test_a_system_searches_the_texts_of_its_model_and_the_images_of_another(models):
    names = {"collection": "toy", "system": "by-titles"}
    wildcards = Wildcards(fromdict=names)
    assert models.vectors("texts", "npy")(wildcards) == shards("toy/titles/texts")
    assert models.vectors("images", "npy")(wildcards) == shards("toy/hash/images")
    expected = ["toy/tiny/texts", "toy/titles/texts", "toy/hash/images", "toy/tiny/images"]
    assert models.vector_shards() == [path for folder in expected for path in shards(folder)]


def test_an_encoding_goes_on_from_the_earlier_collection_unless_its_model_learns_there():
    later = after("old")
    both = [*shards("old/hash/texts"), *shards("old/hash/texts", "contents.parquet")]
    assert later.earlier_vectors("texts")(of("hash")) == both
    assert len(later.earlier_vectors("texts", "images")(of("hash"))) == 8
    assert later.earlier_vectors("texts")(of("tiny")) == []
    assert later.earlier_vectors("texts")(of("tiny", earlier="old"))[:2] == shards("old/tiny/texts")


def test_a_model_may_learn_from_one_collection_and_encode_all():
    """AToMiC's Fig. 7 has models that learned from AToMiC on COCO."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    tiny = {**MODELS["tiny"], "collection": "toy"}
    both = {"toy": params["collect"]["toy"], "coco": params["collect"]["toy"]}
    found = plan(models={**MODELS, "tiny": tiny}, collect=both, build=[*both])
    learned = ["data/train/toy/tiny/model.safetensors"]
    for collection in both:
        wildcards = of("tiny", collection=collection)
        assert found.weights(wildcards) == learned
        assert found.start_weights(of("further", collection=collection)) == learned
    assert found.learning_here("coco", ["tiny", "further"]) == ["further"]
    assert found.curves(of(collection="coco")) == []
    assert found.curves(of(collection="toy")) == ["data/train/toy/tiny/curve.csv"]
    drawn = {name: found.exhibit_files(name) for name in both}
    curve = "results/figures/{}/curve-tiny.svg"
    assert curve.format("toy") in drawn["toy"]
    assert curve.format("coco") not in drawn["coco"]


def test_where_a_model_learns_changes_nothing_of_what_it_learns():
    """Else a second collection, searched with it, would have it trained again."""
    wildcards = of("tiny")
    found = plan(models={**MODELS, "tiny": {**MODELS["tiny"], "collection": "toy"}})
    assert found.own_params(wildcards) == plan().own_params(wildcards)
    assert found.model_params(wildcards) == plan().model_params(wildcards)


def test_notes_beside_a_weights_file_make_up_its_model(tmp_path):
    for name in ("w.pt", "open_clip_config.json"):
        (tmp_path / name).write_text("{}")
    own = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": str(tmp_path / "w.pt")}
    found = plan(models={**MODELS, "own": own}).configs_of("own")
    assert {Path(path).name for path in found} == {"w.pt", "open_clip_config.json"}


def test_a_first_collection_goes_on_from_nothing(models):
    assert models.earlier_vectors("texts", "images")(of()) == []
    assert models.earlier_indexes(Wildcards(fromdict={"collection": "toy", "system": "bm25"})) == []


def test_an_index_goes_on_from_the_same_system_on_the_earlier_collection():
    wildcards = Wildcards(fromdict={"collection": "toy", "system": "bm25"})
    folders = [f"data/index/old/{setting}/bm25" for setting in ("small", "large")]
    assert after("old").earlier_indexes(wildcards) == folders


def test_a_mix_reads_both_sides_and_their_side_inputs_shard_by_shard(models):
    whole = models.mix_inputs(models.shard_names)(of("mixed"))
    sides = ("images", "texts", "questions", "pictures")
    assert {side: whole[side] for side in sides} == {s: shards(f"toy/hash/{s}") for s in sides}
    assert whole["texts_ids"] == shards("toy/hash/texts", "ids.parquet")
    one = models.mix_inputs(["{shard}"])(of("mixed", shard="00001"))
    assert {k: [files[1]] for k, files in whole.items()} == one


def test_words_are_indexed_in_the_fields_of_the_system_for_every_split_with_a_pool(models):
    names = [Wildcards(fromdict={"system": s}) for s in ("bm25", "bm25-titles")]
    assert [models.bm25_fields(w) for w in names] == [list(FIVE_FIELDS), ["page_title"]]
    assert models.searched_splits == [*models.splits, *models.unjudged]
