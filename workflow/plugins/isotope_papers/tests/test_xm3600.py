"""Crossmodal-3600 takes the road by params alone: a few real images, from files to both tables."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
import yaml

pytestmark = pytest.mark.long
PARAMS = "workflow/plugins/isotope_papers/params"
LANGUAGES = ("en", "fr", "quz")
IMAGES = 60
TABLES = ("group", "captions", "captioners", "side_by_side", "correlation")
SMALL = {
    "build": ["xm3600-fr", "xm3600-quz"],
    "search": {"systems": ["random", "words"]},
    "tabulate": {
        "system": "words",
        "groups": {"xm3600": {"all": ["xm3600-fr", "xm3600-quz"], "low-resource": ["xm3600-quz"]}},
        "captioners": {
            "person": {"source": "xm3600", "files": ["captions/person.jsonl"]},
            "shuffled": {"source": "xm3600", "files": ["captions/shuffled.jsonl"]},
        },
        "side_by_side": {"xm3600": ["captions/choices.csv"]},
    },
}


def cut(source: Path, target: Path) -> None:
    """Keep the captions of the first images, and add one that can't be used."""
    for language in LANGUAGES:
        name = f"captions_{language}.jsonl.gz"
        lines = gzip.decompress((source / name).read_bytes()).decode("utf-8").splitlines()
        keys = list(dict.fromkeys(json.loads(line)["image_id"] for line in lines))[:IMAGES]
        chosen = [line for line in lines if json.loads(line)["image_id"] in keys]
        text = "\n".join([*chosen, '{"image_id": "0", "language": "fr", "caption": ""}'])
        (target / name).write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def caption(source: Path, folder: Path) -> None:
    """Two captioners: what one person says of an image, and what is said so of the next image.

    People prefer the first of every second image, and neither of the others.
    """
    folder.mkdir()
    captions_by_language: dict[str, dict[str, str]] = {}
    for language in ("fr", "quz"):
        lines = gzip.decompress((source / f"captions_{language}.jsonl.gz").read_bytes())
        records = [json.loads(line) for line in lines.decode("utf-8").splitlines()[:-1]]
        captions_by_language[language] = {r["image_id"]: r["caption"] for r in reversed(records)}
    for name, by in (("person", 0), ("shuffled", 1)):
        rows = [
            {"image": image, "language": language, "caption": [*captions.values()][n - by]}
            for language, captions in captions_by_language.items()
            for n, image in enumerate(captions)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    choices = [
        f"{image},{language},shuffled,person,{'second' if n % 2 else 'same'}\n"
        for language, captions in captions_by_language.items()
        for n, image in enumerate(captions)
    ]
    head = "image,language,first,second,choice\n"
    (folder / "choices.csv").write_text(head + "".join(choices))


@pytest.fixture(scope="module")
def run_folder(project, shell, shared, tmp_path_factory) -> Path:
    """The project after the overlay was run on the cut files."""
    root = tmp_path_factory.mktemp("collections")
    (root / "xm3600").mkdir()
    cut(shared / "collections/xm3600", root / "xm3600")
    folder = project()
    (folder / "small.yaml").write_text(yaml.safe_dump(SMALL))
    overlays = [
        "--configfile",
        f"{PARAMS}/xm3600.yaml",
        "small.yaml",
        "--config",
        f"root={root}",
    ]
    caption(root / "xm3600", folder / "captions")
    targets = [f"results/tables/xm3600/{t}.md" for t in TABLES]
    shell("snakemake", "--cores", "2", *targets, *overlays, cwd=folder)
    return folder


def test_each_language_and_each_part_of_the_group_has_its_recalls(run_folder):
    table = pl.read_csv(run_folder / "results/tables/xm3600/group.csv")
    groups = table.select("collection", "collections", "system").rows()
    assert groups == [
        (group, n, system)
        for group, n in (("xm3600-fr", 1), ("xm3600-quz", 1), ("all", 2), ("low-resource", 1))
        for system in ("random", "words")
    ]
    columns = [c for c in table.columns if not c.endswith(" beats")]
    measures = ["Success@1", "Success@5", "Success@10", "mean"]
    assert columns[3:] == [f"{task} {m}" for task in ("t2m", "m2t") for m in measures]
    words = table.filter(pl.col("system") == "words")
    by = {row[0]: row[1] for row in words.select("collection", "t2m Success@10").rows()}
    assert by["all"] == pytest.approx((by["xm3600-fr"] + by["xm3600-quz"]) / 2, abs=1e-6)
    assert by["low-resource"] == by["xm3600-quz"]


def test_words_that_languages_share_find_more_than_chance(run_folder):
    table = pl.read_csv(run_folder / "results/tables/xm3600/group.csv")
    french = table.filter(pl.col("collection") == "xm3600-fr").select("system", "t2m mean")
    means = dict(french.iter_rows())
    assert means["words"] > means["random"]


def test_the_table_of_captions_has_a_row_for_each_language(run_folder):
    table = pl.read_csv(run_folder / "results/tables/xm3600/captions.csv")
    assert table["language"].to_list() == ["fr", "quz"]
    assert table["images"].to_list() == [IMAGES, IMAGES]
    assert table["cider"].min() > 0  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]


def test_captions_by_models_have_cider_in_each_language_and_part(run_folder):
    table = pl.read_csv(run_folder / "results/tables/xm3600/captioners.csv")
    assert table.select("language", "languages", "captioner", "images").rows() == [
        (group, n, name, n * IMAGES)
        for group, n in (("fr", 1), ("quz", 1), ("all", 2), ("low-resource", 1))
        for name in ("person", "shuffled")
    ]
    by = {row[:2]: row[2] for row in table.select("language", "captioner", "cider").rows()}
    assert all(by[group, "person"] > 2 * by[group, "shuffled"] for group in ("fr", "quz", "all"))
    assert by["all", "person"] == pytest.approx(
        (by["fr", "person"] + by["quz", "person"]) / 2, abs=1e-6
    )
    assert by["low-resource", "person"] == by["quz", "person"]


def test_choices_between_models_are_held_against_their_cider(run_folder):
    table = pl.read_csv(run_folder / "results/tables/xm3600/side_by_side.csv")
    assert table.select("language", "first", "second", "images", "gain_share").rows() == [
        (language, "person", "shuffled", IMAGES, 0.5) for language in ("fr", "quz")
    ]
    captioners = pl.read_csv(run_folder / "results/tables/xm3600/captioners.csv")
    by = {row[:2]: row[2] for row in captioners.select("language", "captioner", "cider").rows()}
    assert table["cider_difference"].to_list() == pytest.approx(
        [by[language, "person"] - by[language, "shuffled"] for language in ("fr", "quz")], abs=2e-6
    )
    correlation = pl.read_csv(run_folder / "results/tables/xm3600/correlation.csv")
    assert correlation.select("over", "of", "points").rows() == [
        ("languages", "person - shuffled", 2),
        ("images", "fr", IMAGES),
        ("images", "quz", IMAGES),
    ]
    assert correlation["kendall"].null_count() == 1


def test_a_caption_without_words_is_kept_aside(run_folder):
    rejected = pl.read_parquet(run_folder / "data/collect/xm3600-quz/rejected.parquet")
    assert rejected.select("file", "reason").rows() == [
        (f"captions_{language}.jsonl.gz", "empty_caption") for language in LANGUAGES
    ]
