"""Judgement lists of one corpus are taken as they are; what is split by picture stays guarded."""

import csv
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.pairs import Built, built, of_atomic

from isotope.acquire.fetch import acquire
from isotope.cli import schema
from isotope.core import sql
from isotope.core.errors import IntegrityError
from isotope.core.grid import RunKey, document_ids
from isotope.core.measures import parse_all, score_cells
from isotope.core.runs import write_run
from isotope.params.acquire import DigestedSource
from isotope.release.words import shared_pool

# It has no wheel for ARM.
pytrec_eval = pytest.importorskip("pytrec_eval")

SPLITS = {"train": "train", "dev": "validation", "test": "test"}
MEASURES = {"R@10": "recall_10", "nDCG@10": "ndcg_cut_10", "MAP": "map"}


def shared_beir(folder: Path, documents: int = 60) -> Path:
    """A folder as BEIR and MTEB have it: the documents of the splits overlap."""
    draw = random.Random(1)
    (folder / "qrels").mkdir(parents=True)
    names = [f"d{n}" for n in range(documents)]
    corpus = [{"_id": d, "title": "", "text": f"words of {d}"} for d in names]
    queries = list[dict[str, str]]()
    for split in SPLITS:
        lines = ["query-id\tcorpus-id\tscore"]
        for n in range(12):
            queries.append({"_id": f"{split}-{n}", "text": f"words {n} of {split}"})
            judged = zip((2, 1, 0), draw.sample(names, 3), strict=True)
            lines += [f"{split}-{n}\t{d}\t{grade}" for grade, d in judged]
        (folder / f"qrels/{split}.tsv").write_text("\n".join(lines) + "\n")
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return folder


def published(folder: Path, split: str) -> dict[str, dict[str, int]]:
    """The judgements of a split as the folder has them."""
    judged = defaultdict[str, dict[str, int]](dict)
    with (folder / f"qrels/{split}.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            judged[row["query-id"]][row["corpus-id"]] = int(row["score"])
    return dict(judged)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    place = tmp_path_factory.mktemp("shared")
    folder = shared_beir(place / "things")
    return folder, built(place, {"data": str(folder), "pictures": "none"})


def test_every_judgement_of_a_beir_folder_is_one_of_the_collection(made):
    folder, collection = made
    names = dict(collection.table("images").select("image_id", "source_image_id").iter_rows())
    found = {
        (split, text, names[image], grade)
        for text, image, grade, split in collection.table("qrels").iter_rows()
    }
    assert found == {
        (ours, query, document, grade)
        for theirs, ours in SPLITS.items()
        for query, judged in published(folder, theirs).items()
        for document, grade in judged.items()
    }
    assert collection.reasons() == {}


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_the_small_pool_of_a_split_is_what_it_judges(made, split):
    folder, collection = made
    theirs = next(name for name, ours in SPLITS.items() if ours == split)
    images = collection.folder / "images.parquet"
    names = dict(collection.table("images").select("image_id", "source_image_id").iter_rows())
    small = {names[i] for i in document_ids(images, RunKey("small", split, "t2m"))}
    assert small == {d for judged in published(folder, theirs).values() for d in judged}
    every = {d for name in SPLITS for j in published(folder, name).values() for d in j}
    base = {names[i] for i in document_ids(images, RunKey("base", split, "t2m"))}
    assert base == every
    assert len(document_ids(images, RunKey("large", split, "t2m"))) == len(names)


def test_scores_are_those_of_pytrec_eval_on_the_folder_itself(made, tmp_path):
    folder, collection = made
    draw, judged = random.Random(2), published(folder, "test")
    ids = dict(collection.table("images").select("source_image_id", "image_id").iter_rows())
    run = {q: {d: draw.random() for d in draw.sample(sorted(ids), 30)} for q in judged}
    rows = [(q, ids[d], s) for q, hits in run.items() for d, s in hits.items()]
    path = tmp_path / "large/test/t2m/drawn.parquet"
    write_run(pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"), path)
    qrels = collection.folder / "qrels.parquet"
    [(_, values)] = score_cells([path], qrels, parse_all(list(MEASURES)))
    ours = {(q, m): v for q, m, v in values.select("query_id", "measure", "value").iter_rows()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recall", "ndcg_cut", "map"}).evaluate(run)
    for (query, measure), value in ours.items():
        assert value == pytest.approx(theirs[query][MEASURES[measure]], abs=1e-9)
    assert len(ours) == len(judged) * len(MEASURES)


def test_the_guard_against_leaks_can_be_asked_for(tmp_path):
    folder = shared_beir(tmp_path / "things")
    entry = {"data": str(folder), "pictures": "none", "corpus": "split"}
    collection = built(tmp_path, entry)
    assert collection.reasons()["mixed_splits"] > 0
    assert not collection.table("images")["split"].str.contains("+", literal=True).any()
    steps = collection.table("filters").filter(step="mixed_splits")
    assert set(steps["split"]) == {"train", "validation", "test"}


@pytest.mark.parametrize("text", [True, False])
def test_rows_that_say_their_text_are_split_by_picture_and_rows_of_ids_are_judgements(
    tmp_path, text
):
    (tmp_path / "words.csv").write_text("text_id,text\nt1,a boat\nt2,a hill\n")
    said = {"t1": "a boat", "t2": "a hill"}
    rows = [("a.jpg", "t1", "train"), ("a.jpg", "t2", "test")]
    lines = [f"{i},{t},{said[t] if text else ''},{s}" for i, t, s in rows]
    (tmp_path / "pairs.csv").write_text("\n".join(["image,text_id,text,split", *lines]) + "\n")
    columns = {name: name for name in ("image", "text_id", "text", "split")}
    data = [
        str(tmp_path / name) for name in (["pairs.csv"] if text else ["words.csv", "pairs.csv"])
    ]
    entry: dict[str, Any] = {"data": data, "pictures": "none", "columns": columns}
    if text:
        with pytest.raises(Exception, match="mixed_splits"):
            built(tmp_path, entry)
    else:
        assert set(built(tmp_path, entry).table("images")["split"]) == {"train+test"}


def test_a_corpus_is_shared_or_split_and_nothing_else(tmp_path):
    assert {"shared", "split"} <= set(str(schema.text()).replace('"', " ").split())


def track(place: Path) -> dict[str, pl.DataFrame]:
    """AToMiC's judgements, and graded ones of topics of all splits, as TREC's are."""
    texts = [f"projected-{n:08}-001" for n in range(12)]
    images = [f"{n:08}-0000-3000-8000-000000000000" for n in range(12)]
    files = {
        "texts.jsonl": [json.dumps({"id": t, "title": f"words {t}"}) for t in texts],
        "images.jsonl": [json.dumps({"id": i, "title": f"captions {i}"}) for i in images],
        "qrels.atomic.train.t2i.trec": [f"{texts[n]} Q0 {images[n]} 1" for n in range(4)],
        "qrels.atomic.test.t2i.trec": [f"{texts[n]} Q0 {images[n]} 1" for n in range(4, 8)],
        "qrels.trec2023.test.t2i.trec": [
            *(f"{texts[2]} 0 {images[n]} {grade}" for n, grade in ((2, 3), (5, 1), (9, 0))),
            *(f"{texts[5]} 0 {images[n]} {grade}" for n, grade in ((5, 2), (1, 0))),
            f"{texts[6]} 0 {images[6]} 0",
        ],
    }
    for name, lines in files.items():
        (place / name).write_text("\n".join(lines) + "\n")
    parts = {"text_topics": "texts.jsonl", "image_topics": "images.jsonl", "judgements": "qrels.*"}
    spec = {"files": {part: [str(place / name)] for part, name in parts.items()}}
    acquire(DigestedSource.of_plain(spec), place / "acquired/manifest.json", place / "scratch")
    return of_atomic(place / "acquired/manifest.json", place / "out")


def test_the_tracks_grades_stand_beside_the_published_judgements_of_topics_of_all_splits(tmp_path):
    tables = track(tmp_path)
    numbers = pl.col("text_id").str.slice(10, 8).cast(int), pl.col("image_id").str.head(8).cast(int)
    own = tables["qrels"].select(*numbers, "relevance", "split")
    test = {row[:3] for row in own.filter(split="test").iter_rows()}
    # A pair that both lists judge has the grade that people gave, be it lower.
    graded = {(2, 2, 3), (2, 5, 1), (2, 9, 0), (5, 5, 2), (5, 1, 0), (6, 6, 0)}
    assert test == graded | {(4, 4, 1), (7, 7, 1)}
    assert (2, 2, 1) in {row[:3] for row in own.filter(split="train").iter_rows()}
    order = ["text_id", "image_id", "split"]
    assert tables["qrels"].equals(tables["qrels"].sort(order)), "whatever the lists' order was"
    assert tables["rejected"]["reason"].to_list() == ["judged_again"] * 2
    again = tables["filters"].filter(step="judged_again")
    assert again.rows() == [("judged_again", "test", 10, 2, 8)]
    splits = dict(tables["texts"].select("text_id", "split").iter_rows())
    assert splits["projected-00000002-001"] == "train+test"


def test_checks_of_a_shared_corpus_hold_and_can_fail(tmp_path):
    tables = track(tmp_path)
    good = {n: tmp_path / f"out/{n}.parquet" for n in ("texts", "images", "qrels")}
    spoils = [
        ("every_judged_item_is_in_the_split_of_its_judgement", "texts", "other"),
        ("every_judged_item_is_in_the_split_of_its_judgement", "images", "train"),
        ("every_split_has_a_known_name", "texts", "test+train"),
        ("every_pair_is_judged_once", "qrels", "test"),
    ]
    checks = {path.stem: path for path in (sql.SQL / "check/shared").glob("*.sql")}
    assert {claim for claim, _, _ in spoils} == {*checks}
    for claim, name, split in spoils:
        check = checks[claim]
        sql.check(check, good, {})
        tables[name].with_columns(split=pl.lit(split)).write_parquet(tmp_path / "bad.parquet")
        with pytest.raises(IntegrityError):
            sql.check(check, {**good, name: tmp_path / "bad.parquet"}, {})


def test_a_release_finds_the_pool_of_a_split_also_in_the_file_of_the_others(tmp_path):
    for name, ids in (("test", ["a"]), ("train", ["b"]), ("other", ["c", "d"])):
        (tmp_path / "images").mkdir(exist_ok=True)
        pl.DataFrame({"image_id": ids}).write_parquet(tmp_path / f"images/{name}.parquet")
    (tmp_path / "qrels").mkdir()
    for name, ids in (("test", ["a", "c"]), ("train", ["b"])):
        pl.DataFrame({"image_id": ids}).write_parquet(tmp_path / f"qrels/{name}.parquet")
    assert shared_pool(tmp_path, "images", ["test"]) == {"a", "c"}
    assert shared_pool(tmp_path, "images", ["train"]) is None
