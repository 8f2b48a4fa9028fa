"""params/oven-published.yaml, from files of the published form to its tables and submissions."""

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml
from PIL import Image

from isotope.search.answers import read_answers

pytestmark = pytest.mark.long
PARAMS = "workflow/plugins/isotope_papers/params"
ENTITIES = 12
SETS = ("entity", "query")
# Of the overlay only what small data can't have: addresses, CLIP's weights, batches, cells.
STEPS = {
    **{"steps": 2, "batch": 4, "micro_batch": 4, "checkpoint_every": 1},
    **{"processes": 1, "threads": 1},
}
CLIP = {
    "kind": "trained",
    "config": "tiny-clip",
    "fields": ["page_title"],
    "train": {"steps": 1, "batch": 4, "learning_rate": 1e-4},
}
LEARN = {"epochs": 1, "batch": 4}


def lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.open if path.suffix == ".gz" else open
    with packed(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def asked(subset: str, split: str, entity: int, is_answered: bool) -> dict:
    """A line of an annotation; the last three entities are unseen in training."""
    category = "unseen" if entity >= ENTITIES - 3 else "seen"
    name = f"oven_{subset}_{split}_{entity:08}"
    row = {"data_id": name, "image_id": f"{subset}_{split}_{entity:08}", "question": "what is it?"}
    row |= {"data_split": subset if subset == "human" else f"{subset}_{split}"}
    if split != "train":
        row["data_split"] += f"_{category}"
    return row | (
        {"entity_id": f"Q{entity}", "entity_text": f"entity {entity}"} if is_answered else {}
    )


def annotations(folder: Path, *, answers: bool) -> None:
    """Write the seven files of annotations; test and human set without answers, or with them."""
    for subset in SETS:
        for split in ("train", "val", "test"):
            some = range(ENTITIES - 3) if split == "train" else range(1, ENTITIES)
            has_answers = answers or split != "test"
            rows = [asked(subset, split, n, has_answers) for n in some]
            lines(folder / f"oven/oven_{subset}_{split}.jsonl", rows)
    human = [asked("human", "test", n, answers) for n in range(2, ENTITIES)]
    lines(folder / "oven/oven_human.jsonl", human)


def benchmark(folder: Path) -> None:
    """Write OVEN's files: annotations, the knowledge base, archives of pictures, answers."""
    annotations(folder, answers=False)
    entities = [
        {"wikidata_id": f"Q{n}", "wikipedia_title": f"entity {n}", "wikipedia_summary": "Said."}
        | ({"wikipedia_image_url": f"https://x.org/a/{n}.jpg"} if n % 2 else {})
        for n in range(3 * ENTITIES)
    ]
    lines(folder / "Wiki6M_ver_1_0.jsonl.gz", entities)
    names = [row["image_id"] for path in (folder / "oven").glob("*") for row in rows_of(path)]
    pack(folder / "oven_images/shard00.tar", sorted(names))
    pack(folder / "all_wikipedia_images.tar", [f"Q{n}" for n in range(1, 3 * ENTITIES, 2)])
    all_ids = [row["data_id"] for path in (folder / "oven").glob("*") for row in rows_of(path)]
    predictions = [{"data_id": i, "prediction": f"entity {int(i[-2:])}"} for i in sorted(all_ids)]
    lines(folder / "answers/blip2.jsonl", predictions)


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def pack(path: Path, names: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for n, name in enumerate(names):
            picture = path.with_name(f"{name}.jpg")
            Image.new("RGB", (24, 20), (n % 256, 90, 7 * n % 256)).save(picture, quality=95)
            tar.add(picture, f"images/{picture.name}")
            picture.unlink()


def small(root: Path) -> dict:
    """The overlay itself, for small data."""
    params = yaml.safe_load((root / PARAMS / "oven-published.yaml").read_text())
    files = params["acquire"]["oven"]["files"]
    for part, addresses in files.items():
        files[part] = ["{root}/" + a.split("open-vision-language/")[-1] for a in addresses]
        files[part] = [a.replace("{root}/{root}", "{root}") for a in files[part]]
    params["crawl"]["oven"]["shards"], params["encode"]["shards"] = 1, 1
    models, systems = params["models"], params["systems"]
    models["clip"] = CLIP
    models["clip2clip"]["train"] = STEPS
    models["clip-fusion"]["train"] = STEPS
    models["clip2clip-frozen"]["learn"] = LEARN
    models["clip-fusion-frozen"]["learn"] = LEARN
    systems["clip2clip-ivf"] |= {"lists": 2, "probes": 2}
    systems["blip2"]["tokenizer"] = "words"
    params["tabulate"]["sizes"] = [20, 30]
    params["search"]["memory_mb"] = 500
    return params


@pytest.fixture(scope="module")
def published(
    project: Callable[[], Path], shell: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The project after a whole run on small files, the answers to the test set withheld."""
    project_folder, folder = project(), tmp_path_factory.mktemp("oven")
    benchmark(folder)
    (project_folder / "files").symlink_to(folder)
    (project_folder / "small.yaml").write_text(
        yaml.safe_dump(small(project_folder), sort_keys=False)
    )
    shell(*command(folder), cwd=project_folder)
    return project_folder


def command(folder: Path) -> list[str]:
    names = ["--configfile", "small.yaml", "--config", f"root={folder}"]
    return ["snakemake", "--cores", "2", "all", *names]


def test_a_split_whose_answers_are_withheld_is_searched_by_every_system_and_not_scored(published):
    scores = pl.read_parquet(published / "results/score/oven.parquet")
    assert set(scores["split"]) == {"validation"}
    systems = yaml.safe_load((published / "small.yaml").read_text())["search"]["systems"]
    assert set(scores["system"]) == {*systems}
    top = published / "results/search/oven"
    asked_of = 2 * (ENTITIES - 1) + ENTITIES - 2
    for system in systems:
        run = pl.read_parquet(top / f"unjudged/large/test/m2t/{system}.parquet")
        assert run["query_id"].n_unique() == asked_of
        assert pl.read_parquet(top / f"large/test/m2t/{system}.parquet").is_empty()


def test_a_submission_has_a_line_a_question_with_the_published_id_of_the_first_entity(published):
    all_ids = {
        r["data_id"] for s in SETS for r in rows_of(published / f"files/oven/oven_{s}_test.jsonl")
    }
    all_ids |= {r["data_id"] for r in rows_of(published / "files/oven/oven_human.jsonl")}
    folder = published / "results/search/oven/submissions/large/test"
    images = pl.read_parquet(published / "data/collect/oven/images.parquet")
    texts = pl.read_parquet(published / "data/collect/oven/texts.parquet")
    entities = dict(texts.select("text_id", "source_text_id").iter_rows())
    for path in sorted(folder.glob("*.jsonl")):
        lines_sent = rows_of(path)
        assert all(set(row) == {"data_id", "pred_entity_id"} for row in lines_sent)
        assert sorted(row["data_id"] for row in lines_sent) == sorted(all_ids)
        run = f"results/search/oven/unjudged/large/test/m2t/{path.stem}.parquet"
        first = pl.read_parquet(published / run).filter(rank=1)
        expected = {q: entities[d] for q, d in first.select("query_id", "doc_id").iter_rows()}
        read = read_answers([path], images)
        assert dict(read.chosen.select("query_id", "entity").iter_rows()) == expected
        assert not read.rejected
    predictions = rows_of(folder / "blip2.jsonl")
    assert all(row["pred_entity_id"] == f"Q{int(row['data_id'][-8:])}" for row in predictions)


def test_the_tables_have_the_validation_set_and_the_sheet_of_the_human_set_is_empty(published):
    folder = published / "results/tables/oven"
    accuracy = pl.read_csv(folder / "accuracy.csv")
    assert set(accuracy["split"]) == {"validation"}
    sets = pl.read_csv(folder / "sets.csv").rows_by_key("examples_of", named=True, unique=True)
    assert sets["test"]["examples"] == 2 * (ENTITIES - 1)
    assert pl.read_parquet(folder / "mistakes.parquet").is_empty()


def test_what_is_scored_is_verified_reported_and_released(published, shell):
    """A split without answers has no score that could differ, and no run in a release."""
    asked_for = command((published / "files").resolve())
    shell("isotope", "verify", "oven", *asked_for[4:], cwd=published)
    shell("isotope", "report", cwd=published)
    assert (published / "results/report/oven/systems.html").is_file()
    shell(*asked_for[:3], "results/release/oven", *asked_for[4:], cwd=published)
    runs = published / "results/release/oven/runs/large"
    assert [path.name for path in runs.iterdir()] == ["validation"]
    shell("isotope", "verify", "results/release/oven", cwd=published)


def test_where_the_answers_exist_table_2_has_its_entity_and_query_columns(published, shell):
    """With the answers the same params score the test set; the submissions stay as they are."""
    folder = (published / "files").resolve()
    annotations(folder, answers=True)
    submission = "results/search/oven/submissions/large/test/blip2.jsonl"
    before = (published / submission).read_bytes()
    tables = [f"results/tables/oven/{t}" for t in ("accuracy.md", "mistakes.csv")]
    shell(*command(folder)[:3], *tables, submission, *command(folder)[4:], cwd=published)
    rows = pl.read_csv(published / "results/tables/oven/accuracy.csv").filter(split="test")
    (blip,) = rows.filter(system="blip2").rows(named=True)
    columns = [f"score_{s}_{e}" for s in (*SETS, "human") for e in ("seen", "unseen")]
    assert [blip[column] for column in columns] == [100] * 6
    assert blip["score_overall"] == blip["score_human_hm"] == 100
    assert blip["queries"] == 2 * (ENTITIES - 1) + ENTITIES - 2
    sheet = pl.read_parquet(published / "results/tables/oven/mistakes.parquet")
    assert sheet["query_id"].n_unique() == ENTITIES - 2
    assert (published / submission).read_bytes() == before
