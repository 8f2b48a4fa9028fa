"""The explainable paper's corpora take the road by params alone: published files to its tables.

Visual Genome, COCO, Flickr8k and the hub are not here: files of their forms and tiny summarisers
are made, and the overlays are run on them as they are.
"""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from PIL import Image
from tests.tiny_models import save_summariser

from isotope.core.errors import MissingFile
from isotope_explain import wordnet as wordnet_files

PARAMS = "workflow/plugins/isotope_papers/params"
EXPLAINABLE = "workflow/plugins/isotope_explain/params/explainable.yaml"
PICTURES = 8
THINGS = ("zebra", "dog", "cat", "horse", "clock", "boat", "tree", "house")
COLOURS = ("red", "green", "blue", "white", "black", "brown", "yellow", "pink")
SUMMARISED = ("words-t5", "words-pegasus")


def jpeg(n: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (80, 60), (30 * n, 90, 20)).save(out, "JPEG")
    return out.getvalue()


def packed(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def listed(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    packed(folder / f"{name}.json.zip", {f"{name}.json": json.dumps(rows).encode()})


def visual_genome(folder: Path) -> None:
    """Pictures of one animal or thing each; the first two are told alike, so that one fails."""
    things = [THINGS[max(1, n)] for n in range(PICTURES)]
    url = "https://cs.stanford.edu/people/rak248/VG_100K/{}.jpg"
    size = {"width": 80, "height": 60}
    ids = range(1, PICTURES + 1)
    listed(
        folder,
        "image_data",
        [{"image_id": i, "url": url.format(i), "coco_id": 500 + i, **size} for i in ids],
    )
    regions = [
        [f"a {COLOURS[n]} {things[n]}", f"the {things[n]} is large"] for n in range(PICTURES)
    ]
    listed(
        folder,
        "region_descriptions",
        [
            {
                "id": i,
                "regions": [
                    {"region_id": 10 * i + k, "image_id": i, "phrase": p, "x": 0, "y": 0, **size}
                    for k, p in enumerate(regions[i - 1])
                ],
            }
            for i in ids
        ],
    )
    box = {"x": 4, "y": 5, "w": 20, "h": 30, "merged_object_ids": []}
    listed(
        folder,
        "objects",
        [
            {
                "image_id": i,
                "image_url": url.format(i),
                "objects": [
                    {"object_id": 10 * i + k, "names": [t], "synsets": [f"{t}.n.01"], **box}
                    for k, t in enumerate((THINGS[i - 1], "sky"))
                ],
            }
            for i in ids
        ],
    )
    sentences = [
        [f"One {things[n]} here.", f"A large {COLOURS[n]} {things[n]}"] for n in range(PICTURES)
    ]
    captions = {
        "images": [{"id": 500 + i, "file_name": f"{i}.jpg"} for i in ids],
        "annotations": [
            {"id": 100 * i + k, "image_id": 500 + i, "caption": c}
            for i in ids
            for k, c in enumerate(sentences[i - 1])
        ],
    }
    (folder / "captions_train2014.json").write_text(json.dumps(captions))
    packed(folder / "images.zip", {f"VG_100K/{i}.jpg": jpeg(i) for i in ids})


def flickr8k(folder: Path) -> None:
    folder.mkdir()
    lines = [
        f"{n}_a.jpg#{k}\t{c} {THINGS[n]} .\n"
        for n in range(PICTURES)
        for k, c in enumerate(("one", "a", "the", "two", "in"))
    ]
    (folder / "Flickr8k.token.txt").write_text("".join(lines))
    names = "".join(f"{n}_a.jpg\n" for n in range(PICTURES))
    (folder / "Flickr_8k.trainImages.txt").write_text(names)


def few(root: Path) -> dict[str, Any]:
    """Both corpora in one run; the summarisers are tiny, the model hashes words."""
    summaries = {kind: {"name": str(root / kind)} for kind in ("t5", "pegasus")}
    words = {"kind": "hash", "dim": 64, "texts": "lines", "images": "captions"}
    return {
        "build": ["vg-coco", "flickr8k"],
        "collect": {
            "flickr8k": {"splits": {"train": f"{root}/flickr8k/Flickr_8k.trainImages.txt"}}
        },
        "crawl": {"vg-coco": {"shards": 1}},
        "shards": {"search": 1, "score": 1},
        "encode": {"summaries": summaries},
        "models": {f"words-{kind}": {**words, "summary": kind} for kind in summaries},
        "systems": {name: {"kind": "dense", "model": name} for name in SUMMARISED},
        "search": {"systems": ["words", *SUMMARISED], "splits": ["train"], "memory_mb": 256},
    }


@pytest.fixture(scope="module")
def run_folder(project, shell, tmp_path_factory) -> Path:
    """The project after both overlays were run on the small files."""
    try:
        wordnet_files.find()
    except MissingFile as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("corpora")
    visual_genome(root / "visual-genome")
    flickr8k(root / "flickr8k")
    (root / "flickr30k").mkdir()
    (root / "flickr30k/results_20130124.token").write_text("")
    for kind in ("t5", "pegasus"):
        save_summariser(root / kind, kind)
    folder = project()
    (folder / "few.yaml").write_text(yaml.safe_dump(few(root)))
    tables = ("explained", "ranking", "moved", "perturbed")
    wanted = [f"results/tables/vg-coco/{t}.md" for t in tables]
    wanted += ["results/report/vg-coco/failures.html", "results/tables/flickr8k/ranking.md"]
    overlays = [
        f"{PARAMS}/flickr.yaml",
        f"{PARAMS}/vg-coco.yaml",
        "few.yaml",
    ]
    config = ["--configfile", *overlays, "--config", f"root={root}"]
    shell("snakemake", "--cores", "2", *wanted, *config, cwd=folder)
    return folder


@pytest.mark.long
def test_the_published_files_become_the_papers_ranking_table(run_folder):
    """Tables 11 to 13: a query of all captions of a picture among all pictures, no rank cut off."""
    ranking = pl.read_csv(run_folder / "results/tables/vg-coco/ranking.csv")
    assert set(ranking["system"]) == {"words", *SUMMARISED}
    assert set(ranking["queries"]) == {PICTURES}
    runs = run_folder / "results/search/vg-coco/base/train/t2m"
    assert pl.read_parquet(runs / "words.parquet").height == PICTURES**2
    assert ranking["median_rank"].null_count() == 0
    words = ranking.row(by_predicate=pl.col("system") == "words", named=True)
    assert words["success_at_1"] > 0.5


@pytest.mark.long
def test_its_objects_explain_what_went_wrong(run_folder):
    """Section 4: the first picture is told as a dog and is a zebra; both have a sky."""
    failures = pl.read_parquet(run_folder / "results/tables/vg-coco/failures.parquet")
    assert failures.height > 0
    assert failures["ca"].null_count() == 0
    assert set(failures["ca"]) == {0.5}
    page = (run_folder / "results/report/vg-coco/failures.html").read_text()
    assert "zebra" in page
    assert "data:image/webp" in page


@pytest.mark.long
def test_exchanged_words_are_asked_as_sentences(run_folder):
    """Section 6.4: the second sentences name a size and a colour here, the first ones neither."""
    perturbed = pl.read_parquet(run_folder / "results/tables/vg-coco/perturbations.parquet")
    green = perturbed.filter(query_id="vg-coco-502", perturbation="colour-all").row(0, named=True)
    assert green["intact"] == "One dog here.\nA large green dog"
    assert re.fullmatch(r"One dog here\.\nA large (?!green)\w+ dog", green["perturbed"])
    size = perturbed.filter(query_id="vg-coco-502", perturbation="size")["perturbed"].item()
    assert re.fullmatch(r"One dog here\.\nA (?!large)\w+ green dog", size)
    moved = pl.read_csv(run_folder / "results/tables/vg-coco/moved.csv")
    assert set(moved["system"]) == {"words", *SUMMARISED}


@pytest.mark.parametrize("collection", ["vg-coco", "flickr8k"])
@pytest.mark.parametrize("kind", ["t5", "pegasus"])
@pytest.mark.long
def test_a_summary_stands_for_the_sentences_of_a_picture(run_folder, collection, kind):
    """Section 3.2 and appendix A.3: T5 and Pegasus, then one vector."""
    summaries = pl.read_parquet(run_folder / f"data/encode/{collection}/summaries/{kind}.parquet")
    assert summaries["caption_reference_description"].list.len().to_list() == [1] * PICTURES


@pytest.mark.long
def test_flickr_has_the_ranking_table_without_objects(run_folder):
    """Tables 6 to 8."""
    ranking = pl.read_csv(run_folder / "results/tables/flickr8k/ranking.csv")
    rows = {r["system"]: r for r in ranking.iter_rows(named=True)}
    assert set(rows) == {"words", *SUMMARISED}
    assert (rows["words"]["queries"], rows["words"]["fails"]) == (PICTURES, 0)
    assert not (run_folder / "results/tables/flickr8k/explained.csv").exists()


@pytest.mark.parametrize(
    ("corpus", "collections"),
    [
        ("vg-coco", ["vg-coco"]),
        pytest.param("flickr", ["flickr8k", "flickr30k"], marks=pytest.mark.long),
    ],
)
def test_all_models_with_both_summarisers_are_planned(root, shell, tmp_path, corpus, collections):
    """Tables 6 to 13: 23 models, each on sentences, on T5's summaries, and on Pegasus's."""
    visual_genome(tmp_path / "visual-genome")
    flickr8k(tmp_path / "flickr8k")
    (tmp_path / "flickr30k").mkdir()
    (tmp_path / "flickr30k/results_20130124.token").write_text("1.jpg#0\tA dog .\n")
    few = tmp_path / "few.yaml"
    few.write_text("shards: {search: 2, score: 2}\n")
    overlays = [
        "--configfile",
        f"{PARAMS}/{corpus}.yaml",
        EXPLAINABLE,
        few,
    ]
    wanted = [f"results/tables/{c}/ranking.md" for c in collections]
    config = ["--config", f"root={tmp_path}"]
    log = shell("snakemake", "-n", "--forceall", *wanted, *overlays, *config, cwd=root)
    for name in collections:
        encoded = set(re.findall(rf"encode {name} with ([\w.-]+), shard", log))
        models = {m for m in encoded if not m.endswith(("-t5", "-pegasus"))}
        assert len(models) == 23
        assert encoded == {f"{m}{s}" for m in models for s in ("", "-t5", "-pegasus")}
        summarised = re.findall(rf"summarise the captions of {name} with (\w+)", log)
        assert set(summarised) == {"t5", "pegasus"}
