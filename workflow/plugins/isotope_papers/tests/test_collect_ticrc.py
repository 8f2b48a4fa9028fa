"""The Temporal Image Caption Retrieval Competition: its files, its own numbers, known answers."""

import io
import statistics
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from PIL import Image
from scipy.special import stdtr
from tests.crawls import crawl_of
from tests.models import model_of

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect
from isotope.core import store
from isotope.core.errors import IntegrityError
from isotope.core.measures import score_run
from isotope.core.runs import ranked
from isotope.core.vectors import load_vectors
from isotope.crawl.pictures import crawl_pictures, list_pictures
from isotope.encode import metadata as encode_dates
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles
from isotope.models.open_clip import excerpt
from isotope.params.acquire import DigestedSource
from isotope.params.crawl import Pictures
from isotope.params.sections import ModelKind
from isotope.schemas.crawl import LEDGER, URLS
from isotope.search.systems import random_run
from isotope.tabulate import strata
from isotope.tabulate.table import rows
from isotope.train.frozen import train_dates
from isotope_papers import geval
from isotope_papers.resources import PACKAGE, SQL

OVERLAYS = PACKAGE / "params"
KIND = SQL / "collect/ticrc"
ALL_SETS = {"language": "en", "source_splits": None}
FIELDS = ["context_section_description"]
FOLDERS = {"train": "train", "validation": "dev-0", "test": "test-A"}


def build(files: dict[str, list[str]], names: list[str], folder: Path, broken: str = "") -> Path:
    """Collect the files as if all pictures but one had been decoded; return the tables' folder."""
    manifest = folder / "source/manifest.json"
    acquire(DigestedSource.of_plain({"files": files}), manifest, folder / "scratch")
    urls = [f"https://x.org/{name}" for name in names]
    listed = [
        {"image_id": str(uuid.uuid3(uuid.NAMESPACE_URL, u)), "image_url": u, "shard": 0}
        for u in urls
    ]
    ledger = [
        {"image_url": u, "status": "not_an_image" if broken and broken in u else "success"}
        for u in urls
    ]
    store.write_rows(listed, folder / "urls.parquet", URLS)
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    inputs = {"manifest": manifest} | {t: folder / f"{t}.parquet" for t in ("urls", "ledger")}
    collect(KIND, inputs, ALL_SETS, folder / "collected")
    return folder / "collected"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Callable[..., Path]:
    """Make a challenge of a few lines a split, once; keyword arguments replace files."""

    @cache
    def make(**files: str) -> Path:
        folder = tmp_path_factory.mktemp("ticrc")
        contents = {
            "train_in": "a.png\t1900-01-31\nb.png\t19010228\n",
            "train_captions": '1\t"A quote\\nand a line\n2\tB\n',
            "train_expected": "2\n1\n",
            "validation_in": "c.png\t1910-05-01\n",
            "validation_captions": "1\tC\n",
            "validation_expected": "1\n",
            "test_in": "d.png\t1890-12-24\n",
            "test_captions": "1\tD\n",
        } | files
        parts: dict[str, list[str]] = {"header": [str(folder / "in-header.tsv")]}
        (folder / "in-header.tsv").write_text("picture_id\tdate\n")
        for name, text in contents.items():
            split, _, kind = name.partition("_")
            path = folder / split / f"{kind}.tsv"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            parts.setdefault(split, []).append(str(path))
        return build(parts, ["a.png", "b.png", "c.png", "d.png"], folder, broken="never")

    return make


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory) -> Path:
    """The competition's own files as a collection."""
    root = shared / "collections/ticrc"
    files: dict[str, list[str]] = {"header": [str(root / "in-header.tsv")]}
    for split, folder in FOLDERS.items():
        paths = [p for n in ("in", "captions", "expected") for p in root.glob(f"{folder}/{n}.tsv")]
        files[split] = list(map(str, paths))
    names = [p.name for f in FOLDERS.values() for p in sorted(root.glob(f"{f}/pictures/*.png"))]
    return build(files, names, tmp_path_factory.mktemp("real"))


def read(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"{table}.parquet")


def test_a_literal_line_end_becomes_one_and_quotes_stay(small):
    texts = read(small(), "texts")
    assert texts["context_section_description"].to_list()[:2] == ["D", '"A quote\nand a line']
    assert texts["text_id"].to_list()[:2] == ["test-00001", "train-00001"]


def test_an_answer_is_the_number_of_a_caption_and_dates_come_in_two_forms(small):
    folder = small()
    images = read(folder, "images")
    dates = dict(zip(images["image_url"].str.slice(14), images["date"].cast(str), strict=True))
    assert dates == {"a.png": "1900-01-31", "b.png": "1901-02-28", "c.png": "1910-05-01"} | {
        "d.png": "1890-12-24"
    }
    pairs = read(folder, "qrels").join(images.select("image_id", "image_url"), on="image_id")
    named = {t: u[14:] for t, u in pairs.select("text_id", "image_url").iter_rows()}
    assert named == {
        "train-00002": "a.png",
        "train-00001": "b.png",
        "validation-00001": "c.png",
    }
    assert read(folder, "rejected").is_empty()


def test_a_caption_keeps_its_number_but_never_the_date_of_its_picture(small):
    texts = read(small(), "texts")
    assert "date" not in texts.columns
    assert texts["source_text_id"].to_list() == ["1", "1", "2", "1"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"train_in": "a.png\t1900-01-31\ngone.png\t1901-02-28\n"},
            [
                ("train/expected.tsv", 2, "unusable_picture"),
                ("train/in.tsv", 2, "missing_picture"),
            ],
        ),
        (
            {"train_in": "a.png\t1900-02-31\nb.png\n"},
            [
                ("train/expected.tsv", 1, "unusable_picture"),
                ("train/expected.tsv", 2, "unusable_picture"),
                ("train/in.tsv", 1, "bad_date"),
                ("train/in.tsv", 2, "short_row"),
            ],
        ),
        (
            {"test_in": "d.png\t1890-12-24\na.png\t1890-12-24\nd.png\t1890-12-24\n"},
            [("test/in.tsv", 2, "repeated_picture"), ("test/in.tsv", 3, "repeated_picture")],
        ),
        (
            {"train_captions": "1\t \n2\tB\nthree\n2\tagain\n"},
            [
                ("train/captions.tsv", 1, "empty_caption"),
                ("train/captions.tsv", 3, "short_row"),
                ("train/captions.tsv", 4, "repeated_number"),
                ("train/expected.tsv", 2, "unusable_caption"),
            ],
        ),
        (
            {"validation_expected": "1\n7\n", "train_expected": "2\nnine\n"},
            [
                ("train/expected.tsv", 2, "unusable_caption"),
                ("validation/expected.tsv", 2, "unusable_picture"),
            ],
        ),
    ],
)
def test_a_line_that_cannot_be_used_is_kept_with_its_reason(small, files, expected):
    folder = small(**files)
    assert read(folder, "rejected").select("file", "row", "reason").rows() == expected
    counts = read(folder, "filters").select(pl.col("before", "dropped", "after").sum()).row(0)
    assert counts[1] == len(expected)
    assert counts[0] - counts[1] == counts[2]


def test_a_picture_that_cannot_be_decoded_is_rejected_under_the_ledgers_name(shared, tmp_path):
    root = shared / "collections/ticrc"
    files = {"header": [str(root / "in-header.tsv")]}
    for split, folder in FOLDERS.items():
        names = ("in", "captions") if split == "test" else ("in", "captions", "expected")
        files[split] = [str(root / folder / f"{n}.tsv") for n in names]
    names = [p.name for f in FOLDERS.values() for p in sorted(root.glob(f"{f}/pictures/*.png"))]
    collected = build(files, names, tmp_path, broken="6fe401956f96bad77a7358d3bf49a367")
    rejected = read(collected, "rejected").select("file", "row", "reason", "detail").rows()
    picture = "6fe401956f96bad77a7358d3bf49a367.png"
    assert rejected == [
        ("validation/expected.tsv", 1, "unusable_picture", picture),
        ("validation/in.tsv", 1, "not_an_image", picture),
    ]


def test_the_published_files_become_a_collection_without_a_loss(real):
    counted = read(real, "filters").select("step", "split", "before", "dropped").rows()
    sizes = {"train": 675, "validation": 646, "test": 92}
    steps = [("pictures", s) for s in sizes] + [("captions", s) for s in sizes]
    steps += [("answers", "train"), ("answers", "validation")]
    assert counted == [(step, split, sizes[split], 0) for step, split in steps]


def test_the_sets_at_hand_have_the_instances_of_table_1(real):
    relations = {t: real / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    table = rows(SQL / "tables/source_splits.sql", relations, {})
    assert table.select("split", "source_split", "pictures", "captions", "answers").rows() == [
        ("train", "train", 675, 675, 675),
        ("validation", "dev-0", 646, 646, 646),
        ("test", "test-A", 92, 92, 0),
    ]


def test_every_answer_is_the_caption_that_the_folder_names(real, shared):
    folder = shared / "collections/ticrc/dev-0"
    asked, expected = geval.read(folder).pictures, geval.lines(folder / "expected.tsv")
    images, texts, qrels = (read(real, t) for t in ("images", "texts", "qrels"))
    pairs = qrels.join(images, on="image_id").join(texts.drop("split"), on="text_id")
    answer = dict(zip(pairs["image_url"].str.slice(14), pairs["source_text_id"], strict=True))
    assert [answer[picture] for picture in asked] == [row[0] for row in expected]


def test_the_statistics_of_the_data_are_those_counted_by_hand(real):
    """Counted once with Python's str.split, str.isalnum and len over the files."""
    relations = {t: real / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    folder = SQL / "tables"
    sizes = rows(folder / "split_sizes.sql", relations, {})
    counted = {"train": (675, 675, 675), "validation": (646, 646, 646), "test": (92, 92, 0)}
    assert {row[0]: row[1:] for row in sizes.rows()} == counted
    lengths = rows(folder / "caption_lengths.sql", relations, {})
    words = lengths.select("split", "words_mean", "fewest_words", "most_words").rows()
    assert [w[0] for w in words] == list(FOLDERS)
    assert [w[1] for w in words] == pytest.approx([10.025185, 9.082043, 17.293478], abs=1e-6)
    assert [w[2:] for w in words] == [(1, 52), (1, 84), (1, 121)]
    characters = lengths["characters_mean"].to_list()
    assert characters == pytest.approx([58.970370, 54.549536, 104.826087], abs=1e-6)
    years = rows(folder / "split_years.sql", relations, {})
    decades = years.filter(split="train").select("decade", "pictures").rows()
    assert decades == list(
        zip(
            ["1850s", "1860s", "1870s", "1880s", "1890s", "1900s", "1910s", "1920s"],
            [3, 22, 6, 66, 121, 213, 197, 47],
            strict=True,
        )
    )
    spans = years.select("split", "first_year", "last_year").unique(maintain_order=True).rows()
    expected = {"train": ("1853", "1922"), "validation": ("1867", "1922"), "test": ("1885", "1900")}
    assert {row[0]: row[1:] for row in spans} == expected


def chance_of(values: np.ndarray, *, above: float) -> float:
    """The one-sided p of Student's t for a mean that is no greater."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(stdtr(len(values) - 1, (above - values.mean()) / error))


def harmonic(n: int) -> float:
    return sum(1 / rank for rank in range(1, n + 1))


@pytest.fixture(scope="module")
def dev(real) -> pl.DataFrame:
    """The answers of dev-0, from pictures to captions."""
    qrels = read(real, "qrels").filter(split="validation")
    return qrels.select(query_id="image_id", doc_id="text_id", relevance="relevance")


@pytest.mark.parametrize(
    ("n", "most"), [(100, 0.0015), pytest.param(646, 0.0003, marks=pytest.mark.long)]
)
def test_random_answers_have_the_reciprocal_rank_that_chance_gives(dev, n, most):
    """The mean of 1 / rank over all ranks of n captions is H(n) / n; 100 seeds on dev-0."""
    dev = dev.head(n)
    queries, captions = dev["query_id"].to_list(), dev["doc_id"].to_list()
    drawn = [random_run(queries, captions, depth=len(captions), seed=s) for s in range(100)]
    relevant = (run.join(dev, on=["query_id", "doc_id"]) for run in drawn)
    means = [score_run(hits, dev, ["MRR"])["value"].to_numpy().mean() for hits in relevant]
    error = np.std(means, ddof=1) / np.sqrt(len(means))
    assert np.mean(means) == pytest.approx(harmonic(n) / n, abs=3.5 * error)
    assert error < most


@pytest.fixture(scope="module")
def temporal(real, dev, tmp_path_factory) -> pl.DataFrame:
    """The run of the temporal model of params/ticrc.yaml on dev-0; it sees no pixel."""
    spec = yaml.safe_load((OVERLAYS / "ticrc.yaml").read_text())["models"]["dates"]
    folder = tmp_path_factory.mktemp("dates")
    relations = {t: real / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    train_dates(
        **relations, model=model_of({**spec, "fields": FIELDS}), weights=folder / "m.safetensors"
    )
    out = {s: ShardFiles(folder / f"{s}.vectors", folder / f"{s}.ids") for s in ("texts", "images")}
    encoding = Encoding(ModelKind(), folder / "m.safetensors", 1)
    encode_dates.encode_dated_texts(relations["texts"], FIELDS, encoding, out["texts"])
    encode_dates.encode_dated_images(relations["images"], "date", encoding, out["images"])
    sides = {s: load_vectors([out[s].vectors], [out[s].ids]) for s in out}
    positions = {
        side: np.flatnonzero(sides[side].ids.is_in(dev[key].implode()).to_numpy())
        for side, key in (("images", "query_id"), ("texts", "doc_id"))
    }
    scores = (
        sides["images"].blocks[0][positions["images"]]
        @ sides["texts"].blocks[0][positions["texts"]].T
    )
    hits = pl.DataFrame(
        {
            "query_id": np.repeat(
                sides["images"].ids.to_numpy()[positions["images"]], scores.shape[1]
            ),
            "doc_id": np.tile(sides["texts"].ids.to_numpy()[positions["texts"]], scores.shape[0]),
            "score": scores.ravel().astype(float),
        }
    )
    return ranked(hits)


@pytest.mark.long
def test_the_language_of_a_caption_finds_its_date_better_than_chance(temporal, dev):
    """Without any vision model: learned on 675 captions, judged on dev-0."""
    scores_by_query = score_run(temporal, dev, ["MRR", "R@100"])
    values = {m: v["value"].to_numpy() for (m,), v in scores_by_query.group_by(["measure"])}
    assert len(values["MRR"]) == 646
    assert chance_of(values["MRR"], above=harmonic(646) / 646) < 0.01
    assert chance_of(values["R@100"], above=100 / 646) < 1e-4
    captions = dev["doc_id"].to_list()
    chance = [
        score_run(random_run(dev["query_id"], captions, depth=646, seed=s), dev, ["MRR"])["value"]
        for s in range(20)
    ]
    assert values["MRR"].mean() > max(c.to_numpy().mean() for c in chance)


@pytest.mark.long
def test_gevals_score_of_a_submission_is_our_mean_reciprocal_rank(
    temporal, dev, real, shared, tmp_path
):
    folder = shared / "collections/ticrc/dev-0"
    images, texts = read(real, "images"), read(real, "texts")
    number = dict(texts.select("text_id", "source_text_id").iter_rows())
    named = dict(zip(images["image_id"], images["image_url"].str.slice(14), strict=True))
    rankings = temporal.group_by("query_id", maintain_order=True).agg("doc_id")
    lines = {named[q]: [number[d] for d in docs] for q, docs in rankings.iter_rows()}
    geval.write([lines[p] for p in geval.read(folder).pictures], tmp_path / "out.tsv")
    ours = score_run(temporal, dev, ["MRR"])["value"].to_numpy().mean()
    assert geval.score(folder / "expected.tsv", tmp_path / "out.tsv") == pytest.approx(ours, 1e-12)


def test_the_decades_of_dev_0_part_its_pictures(real):
    facts = {t: real / f"{t}.parquet" for t in ("images", "qrels")}
    decades = strata.members(facts, "en").filter(kind="decade", split="validation", task="m2t")
    counted = dict(decades.group_by("stratum").len().sort("stratum").iter_rows())
    assert counted == {"1860s": 6, "1870s": 15, "1880s": 6, "1890s": 175} | {
        "1900s": 170,
        "1910s": 208,
        "1920s": 66,
    }


def test_the_overlay_names_what_the_competition_ran():
    models = yaml.safe_load((OVERLAYS / "ticrc.yaml").read_text())["models"]
    import open_clip  # noqa: PLC0415 (loads slowly)

    available = {(name, tag) for name, tag in open_clip.list_pretrained()}
    named = {(m["name"], m["pretrained"]) for m in models.values() if m["kind"] == "open_clip"}
    assert named == {("ViT-B-32", "openai"), ("EVA02-E-14-plus", "laion2b_s9b_b144k")}
    assert named <= available
    assert sorted(models) == ["clip-b32", "clip-b32-100", "dates", "eva02-e"]


def test_the_overlays_read_the_files_of_all_five_sets_and_rank_the_captions_of_one_set_each():
    """Table I names the sets; section IV-A: the captions of a picture's own set are ranked."""
    names = ("ticrc.yaml", "ticrc-sets.yaml")
    first, ranked = (yaml.safe_load((OVERLAYS / name).read_text()) for name in names)
    files = first["acquire"]["ticrc"]["files"] | ranked["acquire"]["ticrc"]["files"]
    sets = ("train", "train2", "dev-0", "test-A", "test-B")
    kinds = {name: ["in.tsv", "captions.tsv", "pictures/*.png"] for name in sets}
    for name in sets[:3]:
        kinds[name].append("expected.tsv")
    read = {path for part in files.values() for path in part}
    wanted = {
        f"{{root}}/ticrc/{name}/{file}" for name, kind_files in kinds.items() for file in kind_files
    }
    assert read == {"{root}/ticrc/in-header.tsv", *wanted}
    ranked_apart = {name: ranked["collect"][name]["source_splits"] for name in ranked["build"]}
    assert ranked_apart == {f"ticrc-{name.lower()}": [name] for name in sets}


def test_the_official_baseline_reads_of_each_caption_what_its_script_reads(real, shared):
    """Its baseline.py splits a line of captions.tsv at white space and cuts what it joins."""
    overlay = yaml.safe_load((OVERLAYS / "ticrc.yaml").read_text())
    model = overlay["models"][overlay["systems"]["clip-b32-official"]["model"]]
    texts = read(real, "texts")
    for split, name in FOLDERS.items():
        split_texts = texts.filter(split=split)
        captions = dict(
            split_texts.select("source_text_id", "context_section_description").iter_rows()
        )
        file = (shared / f"collections/ticrc/{name}/captions.tsv").read_bytes().decode()
        lines = [line.split() for line in file.removesuffix("\n").split("\n")]
        wanted = {number: " ".join(words)[:100] for number, *words in lines}
        assert {n: excerpt(c, **model["excerpt"]) for n, c in captions.items()} == wanted
        assert max(map(len, wanted.values())) == 100


def drawn(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(out, "WEBP", lossless=True)
    return out.getvalue()


def crawled(folder: Path, files: dict[str, list[str]]) -> Path:
    """Acquire, crawl and collect; return the tables' folder."""
    manifest = folder / "source/manifest.json"
    spec = Pictures(part="pictures", base="https://x.org/")
    acquire(DigestedSource.of_plain({"files": files}), manifest, folder / "scratch")
    tables = {t: folder / f"{t}.parquet" for t in ("urls", "ledger", "pixels")}
    list_pictures(manifest, spec, 1, tables["urls"])
    out = {t: tables[t] for t in ("ledger", "pixels")}
    crawl_pictures(manifest, tables["urls"], spec, crawl_of(), 0, out)
    relations = {"manifest": manifest} | {t: tables[t] for t in ("urls", "ledger")}
    collect(KIND, relations, ALL_SETS, folder / "collected")
    return folder / "collected"


def challenge(folder: Path, colours: dict[str, str]) -> dict[str, list[str]]:
    """A picture `a.webp` with a caption in each folder of `colours`; the parts that ask for it."""
    (folder / "in-header.tsv").write_text("picture_id\tdate\n")
    for name, colour in colours.items():
        (folder / name / "pictures").mkdir(parents=True)
        (folder / name / "pictures/a.webp").write_bytes(drawn(colour))
        (folder / name / "in.tsv").write_text("a.webp\t1900-01-31\n")
        (folder / name / "captions.tsv").write_text(f"1\tof {name}\n")
        (folder / name / "expected.tsv").write_text("1\n")
    header, pictures = str(folder / "in-header.tsv"), f"{folder}/*/pictures/*.webp"
    return {"header": [header], "pictures": [pictures]}


def test_train_and_train2_with_a_picture_of_one_name_are_both_there(tmp_path):
    files = challenge(tmp_path, {"train": "red", "train2": "blue", "dev-0": "green", "test": "red"})
    train = [f"{tmp_path}/train/*.tsv", f"{tmp_path}/train2/*.tsv"]
    parts = {"train": train, "validation": [f"{tmp_path}/dev-0/*.tsv"]}
    folder = crawled(tmp_path, files | parts | {"test": [f"{tmp_path}/test/*.tsv"]})
    answered = (
        read(folder, "qrels")
        .join(read(folder, "images").drop("split"), on="image_id")
        .join(read(folder, "texts").drop("split"), on="text_id")
        .filter(split="train")
    )
    pairs = answered.select("text_id", "context_section_description", "image_url").sort("text_id")
    assert pairs.rows() == [
        ("train-train-00001", "of train", "https://x.org/train/pictures/a.webp"),
        ("train-train2-00001", "of train2", "https://x.org/train2/pictures/a.webp"),
    ]


def five_sets(folder: Path, **more: str) -> dict[str, list[str]]:
    """A challenge whose five sets have each a picture `a.webp`, no two alike; its parts."""
    colours = {"train": "red", "train2": "blue", "dev-0": "green", "test-A": "white"}
    files = challenge(folder, {**colours, "test-B": "black", **more})
    for name in ("test-A", "test-B"):
        (folder / name / "expected.tsv").unlink()
    splits = {"train": ["train", "train2"], "validation": ["dev-0"], "test": ["test-A", "test-B"]}
    return files | {s: [f"{folder / n}/*.tsv" for n in names] for s, names in splits.items()}


def test_of_two_pictures_of_one_name_each_line_means_that_of_its_own_set(tmp_path):
    """Also where a set is a split alone, whose lines lie in no folder of their own here."""
    folder = crawled(tmp_path, five_sets(tmp_path))
    images = read(folder, "images").select("source_split", "image_url").sort("source_split").rows()
    sets = ("dev-0", "test-A", "test-B", "train", "train2")
    assert images == [(name, f"https://x.org/{name}/pictures/a.webp") for name in sets]
    assert read(folder, "rejected").is_empty()
    counts = (
        read(folder, "filters").filter(step="pictures").select("before", "dropped").sum().row(0)
    )
    assert counts == (5, 0)


def test_a_picture_that_only_other_sets_have_and_differently_is_ambiguous(tmp_path):
    """And it is not taken from the lines of those sets."""
    files = five_sets(tmp_path)
    for name in ("dev-0", "test-B"):
        (tmp_path / name / "pictures/a.webp").unlink()
    folder = crawled(tmp_path, files)
    reasons = read(folder, "rejected").select("file", "reason").rows()
    assert ("validation/in.tsv", "ambiguous_picture") in reasons
    assert ("test/test-B/in.tsv", "ambiguous_picture") in reasons
    counts = (
        read(folder, "filters").filter(step="pictures").select("before", "dropped").sum().row(0)
    )
    assert counts == (5, 2)


def test_each_set_can_be_a_collection_of_its_own(tmp_path):
    """Table I names five sets; the captions of a set are its own (section IV-A)."""
    manifest = tmp_path / "source/manifest.json"
    crawled(tmp_path, five_sets(tmp_path))
    inputs = {"manifest": manifest} | {t: tmp_path / f"{t}.parquet" for t in ("urls", "ledger")}
    splits = {"train": "train", "train2": "train", "dev-0": "validation"}
    for name in ("train", "train2", "dev-0", "test-A", "test-B"):
        spec = {"language": "en", "source_splits": [name]}
        collect(KIND, inputs, spec, tmp_path / name / "collected")
        texts, images, qrels = (
            read(tmp_path / name / "collected", t) for t in ("texts", "images", "qrels")
        )
        rows_read = texts.select("context_section_description", "split", "source_split").rows()
        assert rows_read == [(f"of {name}", splits.get(name, "test"), name)]
        assert images["image_url"].to_list() == [f"https://x.org/{name}/pictures/a.webp"]
        assert qrels.height == (0 if name.startswith("test") else 1)


def test_a_training_set_without_a_pair_is_still_refused(tmp_path):
    files = five_sets(tmp_path)
    (tmp_path / "train/expected.tsv").write_text("9\n")
    crawled(tmp_path, files)
    inputs = {"manifest": tmp_path / "source/manifest.json"}
    inputs |= {t: tmp_path / f"{t}.parquet" for t in ("urls", "ledger")}
    with pytest.raises(IntegrityError, match="some pair survives"):
        collect(KIND, inputs, {"language": "en", "source_splits": ["train"]}, tmp_path / "out")


def words_of(caption: str) -> list[str]:
    return [token for token in caption.split() if any(map(str.isalnum, token))]


def plain_of(caption: str) -> str:
    return "".join(c for c in caption if c.isalnum() or c.isspace())


def test_a_word_has_a_letter_or_a_digit_whatever_stands_around_it(tmp_path):
    captions = ["“Oh! -- no,” -", "... ?", "$5 & 'tis\n\n— É½", "*a* b.c d-e 7"]
    texts = [
        {"text_id": str(n), "split": "train", "source_split": "train"}
        | {"context_section_description": c.replace("\\n", "\n")}
        for n, c in enumerate(captions)
    ]
    pl.DataFrame(texts).write_parquet(tmp_path / "texts.parquet")
    lengths = rows(
        SQL / "tables/caption_lengths.sql",
        {"texts": tmp_path / "texts.parquet"},
        {},
    ).row(0, named=True)
    assert [len(words_of(c)) for c in captions] == [2, 0, 3, 4]
    assert (lengths["words_mean"], lengths["fewest_words"], lengths["most_words"]) == (9 / 4, 0, 4)
    plain = [len(plain_of(c)) for c in captions]
    assert lengths["mean_plain_characters"] == sum(plain) / len(plain)


def test_the_groups_of_the_statistics_are_what_plain_python_counts(real, shared):
    """Section VI-B's statistics on the files that are here: train, dev-0 and test-A."""
    root = shared / "collections/ticrc"
    years, captions_by_set = {}, {}
    for name in FOLDERS.values():
        lines = (root / name / "in.tsv").read_text().splitlines()
        years[name] = [int(line.split("\t")[1][:4]) for line in lines]
        captions = (root / name / "captions.tsv").read_text().removesuffix("\n").split("\n")
        captions_by_set[name] = [c.split("\t", 1)[1].replace("\\n", "\n").strip() for c in captions]
    groups = {"training": ["train", "dev-0"], "testing": ["test-A"]}
    groups |= {name: [name] for name in FOLDERS.values()}
    relations = {t: real / f"{t}.parquet" for t in ("texts", "images")}
    table = rows(SQL / "tables/group_statistics.sql", relations, {})
    assert table["pictures_of"].to_list() == [*FOLDERS.values(), "training", "testing"]
    for row in table.iter_rows(named=True):
        names = groups[row["pictures_of"]]
        group_years = [y for name in names for y in years[name]]
        captions = [c for name in names for c in captions_by_set[name]]
        assert (row["pictures"], row["first_year"], row["last_year"]) == (
            len(group_years),
            str(min(group_years)),
            str(max(group_years)),
        )
        assert row["median_year"] == f"{statistics.median(group_years):.1f}"
        measured = [row["year_mean"], row["year_sd"]]
        assert measured == pytest.approx(
            [statistics.mean(group_years), statistics.pstdev(group_years)], abs=1e-9
        )
        lengths = {"words": words_of, "characters": str, "plain_characters": plain_of}
        for name, part in lengths.items():
            counts = [len(part(c)) for c in captions]
            measured = [row[f"mean_{name}"], row[f"median_{name}"]]
            counted = [statistics.mean(counts), statistics.median(counts)]
            assert measured == pytest.approx(counted, abs=1e-9)


@pytest.fixture(scope="module")
def all_sets(shared, tmp_path_factory) -> Path:
    """All five sets of a checkout of the challenge as one collection."""
    root = shared / "collections/ticrc"
    splits = {"train": ["train", "train2"], "validation": ["dev-0"], "test": ["test-A", "test-B"]}
    names = [name for names in splits.values() for name in names]
    if lacking := [name for name in names if not (root / name / "in.tsv").is_file()]:
        pytest.skip(f"real data is absent: no {', '.join(lacking)} in {root}")
    files = {s: [f"{root / n}/*.tsv" for n in names] for s, names in splits.items()}
    files |= {"header": [str(root / "in-header.tsv")]}
    files |= {"pictures": [f"{root / n}/pictures/*.png" for n in names]}
    folder = tmp_path_factory.mktemp("whole")
    manifest = folder / "source/manifest.json"
    acquire(DigestedSource.of_plain({"files": files}), manifest, folder / "scratch")
    spec = Pictures(part="pictures", base="https://x.org/")
    list_pictures(manifest, spec, 1, folder / "u.parquet")
    urls = pl.read_parquet(folder / "u.parquet")["image_url"]
    ledger = [{"image_url": u, "status": "success", "upstream_sha256": u} for u in urls]
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    inputs = {"manifest": manifest, "urls": folder / "u.parquet"}
    collect(
        KIND,
        inputs | {"ledger": folder / "ledger.parquet"},
        ALL_SETS,
        folder / "collected",
    )
    return folder / "collected"


def test_table_1_has_its_3902_pictures(all_sets):
    """Table I: 675, 2,054, 646, 92 and 435 instances; in train2 two names recur."""
    relations = {t: all_sets / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    table = rows(SQL / "tables/source_splits.sql", relations, {})
    assert table.select("source_split", "pictures", "captions").rows() == [
        ("train", 675, 675),
        ("train2", 2054, 2054),
        ("dev-0", 646, 646),
        ("test-A", 92, 92),
        ("test-B", 435, 435),
    ]
    assert read(all_sets, "rejected").is_empty()


def test_the_years_are_those_of_section_6_b(all_sets):
    """Section VI-B: mean, median, standard deviation, first and last year of both groups."""
    relations = {t: all_sets / f"{t}.parquet" for t in ("texts", "images")}
    table = rows(SQL / "tables/group_statistics.sql", relations, {})
    by_group = {r["pictures_of"]: r for r in table.iter_rows(named=True)}
    for group, figures in {
        "testing": (1895.82, 4.18, "1897.0", "1880", "1900"),
        "training": (1903.52, 12.97, "1905.0", "1853", "1922"),
    }.items():
        row = by_group[group]
        assert (round(row["year_mean"], 2), round(row["year_sd"], 2)) == figures[:2]
        assert (row["median_year"], row["first_year"], row["last_year"]) == figures[2:]


def test_the_words_and_characters_are_those_of_section_6_b(all_sets):
    """Section VI-B: words exactly; characters without punctuation have its medians."""
    relations = {t: all_sets / f"{t}.parquet" for t in ("texts", "images")}
    table = rows(SQL / "tables/group_statistics.sql", relations, {})
    by_group = {r["pictures_of"]: r for r in table.iter_rows(named=True)}
    for group, words, characters in (
        ("testing", (11.77, 8), (66.79, 44)),
        ("training", (9.80, 7), (56.54, 43)),
    ):
        row = by_group[group]
        assert (round(row["mean_words"], 2), row["median_words"]) == words
        mean, median = characters
        assert row["median_plain_characters"] == median
        assert row["mean_plain_characters"] == pytest.approx(mean, abs=0.25)


def test_the_shares_of_table_1_are_those_of_its_instances(tmp_path):
    """Table I: 675 + 2,054, 646 and 92 + 435 pictures. It prints 70.0, 16.6 and 13.4 %."""
    sizes = {"train": 675, "train2": 2054, "dev-0": 646, "test-A": 92, "test-B": 435}
    splits = {"train": "train", "train2": "train", "dev-0": "validation"}
    instances = [
        {"image_id": f"{name}-{n}", "text_id": f"{name}-{n}", "source_split": name}
        | {"split": splits.get(name, "test")}
        for name, size in sizes.items()
        for n in range(size)
    ]
    relations = {t: tmp_path / f"{t}.parquet" for t in ("texts", "images", "qrels")}
    for path in relations.values():
        pl.DataFrame(instances).write_parquet(path)
    table = rows(SQL / "tables/source_splits.sql", relations, {})
    assert table.select("source_split", "pictures", "split_percent").rows() == [
        ("train", 675, 69.9),
        ("train2", 2054, 69.9),
        ("dev-0", 646, 16.6),
        ("test-A", 92, 13.5),
        ("test-B", 435, 13.5),
    ]
    assert table["pictures"].sum() == 3902
