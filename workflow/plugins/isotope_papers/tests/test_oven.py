"""A recognition benchmark made of a toy dump and a labelled data set, up to its measures."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from PIL import Image, ImageDraw
from safetensors.torch import load_file

from isotope.models.multimodal import TARGET, MultimodalEncoder
from isotope.parse import dump
from isotope_toy import snapshot

pytestmark = pytest.mark.long
LABELS, PICTURES = 10, 4
PAGES, SEED, DATE = 20, 0, "20230101"
WIKI = {"generate": {"pages": PAGES, "seed": SEED, "date": DATE}}
QUESTIONS = [
    {"category": "place", "question": "Which place is this?"},
    {"category": "*", "question": "What is this?"},
]
LEARN = {"epochs": 30, "batch": 16, "learning_rate": 0.003}
WHOLE_MODEL = {"steps": 4, "batch": 6, "micro_batch": 4, "checkpoint_every": 2}
MODELS = {
    "clip": {
        "kind": "trained",
        "config": "tiny-clip",
        "fields": ["page_title"],
        "train": {"steps": 1, "batch": 6, "learning_rate": 0.0001},
    },
    "clip2clip": {"kind": "clip2clip", "of": "clip", "train": WHOLE_MODEL},
    "clip-fusion": {"kind": "clip_fusion", "of": "clip", "train": WHOLE_MODEL},
    "hash": {"kind": "hash", "dim": 32, "fields": ["page_title", "context_page_description"]},
    "fusion": {"kind": "clip_fusion", "of": "hash", "frozen": True, "learn": LEARN},
}
SYSTEMS = {
    "clip2clip": {"kind": "dense", "model": "clip2clip"},
    "clip-fusion": {"kind": "dense", "model": "clip-fusion"},
    "fusion": {"kind": "approximate", "model": "fusion", "method": "hnsw"},
    "said": {"kind": "answers", "files": ["said.jsonl"]},
    "half": {"kind": "answers", "files": ["half.jsonl"]},
}
HALF = LABELS // 2
SHOWN = ("accuracy.md", "projection.md", "sets.md", "knowledge.md", "mistakes.csv")
FIGURE = "results/figures/zoo/popularity.svg"
TABLES = [*(f"results/tables/zoo/{name}" for name in SHOWN), FIGURE]
KINDS = ["correct", "wrong_but_relevant"]


def overlay() -> dict:
    """The params: a source of labels, and a collection that links them to the toy."""
    files = {"labels": ["labels.tsv"], "images": ["pictures/*"]}
    recognition = {"knowledge": "wiki", "questions": QUESTIONS, "unseen_share": 0.4}
    recognition |= {"unseen_categories": [], "seed": 0}
    return {
        "build": ["zoo"],
        "acquire": {"wiki": WIKI, "zoo": {"files": files}},
        "crawl": {"zoo": {"shards": 1, "pictures": {"part": "images", "base": "https://x.org/"}}},
        "collect": {"zoo": {"kind": "oven-labels", "source": "zoo", "recognition": recognition}},
        "models": MODELS,
        "systems": SYSTEMS,
        "search": {
            "systems": list(SYSTEMS),
            "settings": ["large"],
            "splits": ["validation"],
            "tasks": ["m2t"],
            "depth": 10,
        },
        "score": {"measures": ["Success@1", "MRR@10"]},
        "tabulate": {
            "system": "said",
            "facts": {"zoo": {"views": "views.csv"}},
        },
        "explain": {"mistakes": {"examples": 100, "subset": "entity", "seed": 0, "classes": KINDS}},
    }


def draw(folder: Path, titles: list[str], ids: list[str]) -> None:
    """Pictures of an entity are the same pixels; the last of each is for validation.

    One system says the names of all, another the ids of half of the entities, one of them wrongly.
    """
    (folder / "pictures").mkdir()
    lines, answers = ["image\tlabel\tcategory\tsplit"], []
    for n, title in enumerate(titles):
        for k in range(PICTURES):
            image = Image.new("RGB", (32, 32), (20 * n, 90, 200 - 15 * n))
            ImageDraw.Draw(image).rectangle((n, n, 2 * n + 3, 20), fill="white")
            image.save(folder / f"pictures/{n}-{k}.png")
            split = "validation" if k == PICTURES - 1 else "train"
            lines.append(f"{n}-{k}.png\t{title.replace(' ', '_')}\tplace\t{split}")
        answers.append({"data_id": f"{n}-{PICTURES - 1}.png", "prediction": title.lower()})
    asked = [row["data_id"] for row in answers[:HALF]]
    chosen = [{"data_id": i, "pred_entity_id": e} for i, e in zip(asked, ids, strict=False)]
    chosen[0]["pred_entity_id"] = "Q0"
    (folder / "half.jsonl").write_text("".join(json.dumps(c) + "\n" for c in chosen))
    # An average month of 2022; half of the entities have more than 5,000 views.
    views = [f"{title.replace(' ', '_')},{6000 - 1000 * (n % 2)}" for n, title in enumerate(titles)]
    (folder / "views.csv").write_text("\n".join(["page_title,views", *views]) + "\n")
    lines.append("no-such.png\tnothing\tplace\ttrain")
    (folder / "labels.tsv").write_text("".join(f"{line}\n" for line in lines))
    (folder / "said.jsonl").write_text("".join(json.dumps(s) + "\n" for s in answers) + "oops\n")


def parsed(folder: Path) -> dict[str, pl.DataFrame]:
    """What the workflow will parse, known beforehand: the same seed makes the same dump."""
    snapshot.generate(folder, pages=PAGES, seed=SEED, date=DATE)
    files = sorted((folder / "dump").glob("*.xml.bz2"))
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    dump.parse_dump(files, **{n: folder / n for n in names}, workers=1)  # pyright: ignore
    return {n: pl.read_parquet(folder / n) for n in ("out", "infoboxes")}


@pytest.fixture(scope="module")
def zoo(project, shell, tmp_path_factory) -> Path:
    """The project after a run on the labels."""
    folder, wiki = project(), parsed(tmp_path_factory.mktemp("wiki"))
    leads = wiki["out"].filter(section=0).sort("page_title").head(LABELS)
    draw(folder, leads["page_title"].to_list(), leads["text_id"].to_list())
    Image.new("RGB", (9, 9)).save(folder / "pictures/box.png")
    (folder / "pictures/box.png").rename(folder / f"pictures/{wiki['infoboxes']['file'][0]}")
    (folder / "zoo.yaml").write_text(yaml.safe_dump(overlay()))
    shell("snakemake", "--cores", "2", *TABLES, "--configfile", "zoo.yaml", cwd=folder)
    return folder


@pytest.fixture
def accuracy(zoo) -> dict[str, dict]:
    rows = pl.read_csv(zoo / "results/tables/zoo/accuracy.csv").iter_rows(named=True)
    return {row["system"]: row for row in rows if row["unanswered"] == "count as wrong"}


def test_each_label_is_linked_by_its_title(zoo):
    links = pl.read_parquet(zoo / "data/project/zoo/projection.parquet")
    assert links["method"].value_counts().sort("method").rows() == [("none", 1), ("title", LABELS)]
    assert (zoo / "results/tables/zoo/projection.md").is_file()


def test_entities_are_the_snapshots_articles_some_with_their_infobox(zoo):
    texts = pl.read_parquet(zoo / "data/collect/zoo/texts.parquet")
    sections = pl.read_parquet(zoo / "data/parse/wiki/sections.parquet")
    assert texts.height == sections["page_id"].n_unique()
    boxes = pl.read_parquet(zoo / "data/parse/wiki/infoboxes.parquet")
    shown = texts.drop_nulls("picture_id")
    assert shown["page_id"].to_list() == boxes.filter(file=boxes["file"][0])["page_id"].to_list()


def test_a_label_that_nothing_answers_is_kept_aside(zoo):
    rejected = pl.read_parquet(zoo / "data/collect/zoo/rejected.parquet")
    reasons = dict(rejected["reason"].value_counts().rows())
    assert reasons.pop("missing_picture") == 1
    assert set(reasons) == {"unseen_in_training"}
    assert reasons["unseen_in_training"] % (PICTURES - 1) == 0


def test_answers_by_name_are_right_for_seen_and_unseen_entities(accuracy):
    assert accuracy["said"]["queries"] == LABELS
    columns = ("score_entity_seen", "score_entity_unseen", "score_entity_hm")
    assert [accuracy["said"][c] for c in columns] == [100, 100, 100]


def test_unanswered_questions_are_wrong_and_left_out_as_the_official_scorer_does(zoo):
    rows = pl.read_csv(zoo / "results/tables/zoo/accuracy.csv").filter(system="half")
    shown = rows.select("unanswered", "queries", "score_all").rows()
    right = HALF - 1
    assert shown == [
        ("count as wrong", LABELS, 100 * right / LABELS),
        ("left out", HALF, 100 * right / HALF),
    ]
    rejected = pl.read_parquet(zoo / "results/search/zoo/answers/half.rejected.parquet")
    assert rejected.select("row", "reason", "detail").rows() == [(1, "unknown_entity", "Q0")]


def test_the_sets_and_the_knowledge_base_are_counted(zoo):
    sets = pl.read_csv(zoo / "results/tables/zoo/sets.csv").rows_by_key("examples_of", named=True)
    assert list(sets) == ["train", "validation"]
    ((validation,), (learned,)) = sets["validation"], sets["train"]
    assert (
        validation["examples"]
        == validation["seen_examples"] + validation["unseen_examples"]
        == LABELS
    )
    assert learned["unseen_examples"] == learned["unseen_entities"] == 0
    assert learned["seen_entities"] == validation["seen_entities"] == validation["seen_examples"]
    texts = pl.read_parquet(zoo / "data/collect/zoo/texts.parquet")
    counts = pl.read_csv(zoo / "results/tables/zoo/knowledge.csv").row(0, named=True)
    assert (counts["entities"], counts["pictures"]) == (texts.height, texts["picture_id"].count())


def test_popular_entities_are_those_above_the_papers_thresholds(zoo):
    intervals = pl.read_parquet(zoo / "results/tables/zoo/intervals.parquet")
    popularity = intervals.filter(
        kind="popularity by monthly views", system="said", measure="MRR@10"
    )
    queries = dict(popularity.select("stratum", "queries").rows())
    assert queries == {"head": LABELS // 2, "between": LABELS // 2, "macro": LABELS}
    assert "5 questions" in (zoo / FIGURE).read_text()


def test_every_system_is_on_the_sheet_with_the_same_questions(zoo):
    rows = pl.read_parquet(zoo / "results/tables/zoo/mistakes.parquet")
    asked = {name: set(rows.filter(system=name)["query_id"]) for name in SYSTEMS}
    assert all(len(questions) == LABELS for questions in asked.values())
    assert rows.filter(pl.col("found_id") == pl.col("truth_id"), system="said").height == LABELS


@pytest.mark.parametrize("model", ["clip2clip", "clip-fusion"])
def test_a_model_trained_whole_goes_from_a_clip_to_the_table(zoo, accuracy, model):
    """All parameters of both copies have moved away from the CLIP that both began as."""
    clip, trained = (
        load_file(zoo / f"data/train/zoo/{name}/model.safetensors") for name in ("clip", model)
    )
    begun = {n: v for n, v in clip.items() if v.is_floating_point() and n != "logit_scale"}
    for side in ("query", "target"):
        assert {n for n in begun if f"{side}.{n}" not in trained} == set()
        moved = {n for n, v in begun.items() if not torch.equal(v, trained[f"{side}.{n}"])}
        assert {n for n in begun if "running_" not in n} <= moved
    curve = pl.read_csv(zoo / f"data/train/zoo/{model}/accuracies.csv")
    assert curve["step"].to_list() == [4]
    assert curve["harmonic_mean"].is_between(0, 1).all()
    assert set(curve["query_seen"]) == {"nan"}, "the set has no such questions"
    assert accuracy[model]["queries"] == LABELS
    assert not (zoo / f".isotope/train/zoo/{model}/checkpoint.pt").exists()


@pytest.mark.parametrize(("model", "dim"), [("clip2clip", 2 * 128), ("clip-fusion", 128)])
def test_what_is_encoded_is_what_the_weights_make_of_pictures_with_words(zoo, model, dim):
    folder = zoo / f"data/encode/zoo/{model}"
    names = sorted(path.name for path in (folder / "texts").glob("*.npy"))
    vectors = np.concatenate([np.load(folder / "texts" / name) for name in names])
    texts = pl.read_parquet(zoo / "data/collect/zoo/texts.parquet").sort("text_id")
    assert vectors.shape == (texts.height, dim)
    encoder = MultimodalEncoder(zoo / f"data/train/zoo/{model}/model.safetensors", "cpu")
    bare = texts.with_row_index().filter(texts["picture_id"].is_null()).head(3)
    black = Image.new("RGB", (64, 64))
    expected = encoder.encode(TARGET, [(black, title) for title in bare["page_title"]])
    np.testing.assert_allclose(vectors[bare["index"].to_numpy()], expected, atol=1e-4)


def test_clip_fusion_over_frozen_vectors_knows_the_entities_that_it_has_seen(accuracy):
    """Equal pixels have equal vectors, so what was learned is remembered, and nothing more."""
    assert accuracy["fusion"]["score_entity_seen"] > 50
    assert accuracy["fusion"]["score_entity_unseen"] < accuracy["fusion"]["score_entity_seen"]


def test_approximate_search_over_so_few_is_exact(zoo):
    recall = pl.read_csv(zoo / "results/search/zoo/recall/fusion.csv")
    assert recall["recall"].to_list() == [1, 1]


def test_an_answer_that_is_no_json_is_kept_aside(zoo):
    path = zoo / "results/search/zoo/answers/said.rejected.parquet"
    assert pl.read_parquet(path).select("row", "reason").rows() == [(LABELS + 1, "bad_json")]
