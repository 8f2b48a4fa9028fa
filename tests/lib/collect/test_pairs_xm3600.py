"""Crossmodal-3600 as a collection: both forms of its lines, its pictures, its bad rows."""

import gzip
import json
import uuid
from collections import Counter, defaultdict
from statistics import mean
from typing import Any

import numpy as np
import polars as pl
import pytest
from pycocoevalcap.cider.cider_scorer import CiderScorer
from tests.pairs import published

from isotope.core import sql
from isotope.core.errors import EmptyTable, MissingColumn
from isotope.tabulate.captions import captions_table

BASE = "https://open-images-dataset.s3.amazonaws.com/crossmodal-3600/"
PUBLISHED = [
    {
        "image/key": "00aa",
        "image/locale": "de",
        "en": {"caption": ["A hen.", "Two hens"], "caption/tokenized": ["A hen ."]},
        "de": {"caption": ["Eine Henne"]},
        "zh": {"caption": ["一只鸡"]},
    },
    {
        "image/key": "00bb",
        "image/locale": "sw",
        "en": {"caption": ["A boat"]},
        "de": {"caption": ["Ein Boot", " . "]},
    },
]
FLAT = [
    {"image_id": "00aa", "language": "de", "caption": "Eine Henne", "caption_en": "A hen"},
    {"image_id": "00aa", "language": "en", "caption": "A hen.", "caption_en": "A hen."},
    {"image_id": "00bb", "language": "de", "caption": "Ein Boot", "synsets": ["boat.n.01"]},
]


def lines(*rows: Any) -> str:
    told = (r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows)
    return "\n".join(told) + "\n"


def entry(language: str) -> dict[str, str]:
    """Return the collection of a language."""
    return {"kind": "pairs", "form": "xm3600", "texts": "language", "language": language}


@pytest.fixture
def collected(tmp_path):
    def of(captions: str, language: str = "de", **more: Any) -> dict[str, pl.DataFrame]:
        parts = {"captions": {"captions.jsonl": captions}}
        if "attributions" in more:
            parts["attributions"] = {"image_attributions.csv": more["attributions"]}
        return published(tmp_path, parts, entry(language), more.get("ledger"))

    return of


def spoken(image: dict[str, Any]) -> list[tuple[str, str]]:
    return list(zip(image["language"], image["caption_reference_description"], strict=True))


def test_the_published_form_gives_a_text_for_each_caption_of_the_language(collected):
    made = collected(lines(*PUBLISHED))
    texts = made["texts"]
    assert texts["text_id"].to_list() == ["00aa-de-1", "00bb-de-1"]
    assert texts["context_section_description"].to_list() == ["Eine Henne", "Ein Boot"]
    assert set(texts["language"]) == {"de"}
    urls = [f"{BASE}{key}.jpg" for key in ("00aa", "00bb")]
    ids = {u: str(uuid.uuid3(uuid.NAMESPACE_URL, u)) for u in urls}
    images = made["images"].sort("image_url")
    assert images["image_url"].to_list() == urls
    assert images["image_id"].to_list() == [ids[u] for u in urls]
    assert images["locale"].to_list() == ["de", "sw"]
    assert made["qrels"].select("text_id", "image_id").rows() == [
        ("00aa-de-1", ids[urls[0]]),
        ("00bb-de-1", ids[urls[1]]),
    ]


@pytest.mark.parametrize(
    "said",
    [
        [{"image/key": "00aa", "de": {"caption": ["Eine Henne", "Ein Huhn", "Eine Henne"]}}],
        [FLAT[0], {**FLAT[0], "caption": "Ein Huhn"}, FLAT[0]],
    ],
)
def test_what_three_people_say_is_three_texts_even_where_two_of_them_say_the_same(collected, said):
    texts = collected(lines(*said))["texts"]
    assert texts["text_id"].to_list() == ["00aa-de-1", "00aa-de-2", "00aa-de-3"]
    told = texts["context_section_description"].to_list()
    assert told == ["Eine Henne", "Ein Huhn", "Eine Henne"]


def test_an_image_says_nothing_in_the_collections_own_language_nor_translated_from_it(collected):
    both = [*FLAT, {"image_id": "00aa", "language": "fr", "caption": "Une poule"}]
    both[-1]["caption_en"] = "One hen"
    german = collected(lines(*both))["images"].sort("image_url").row(0, named=True)
    assert spoken(german) == [("en", "A hen."), ("en-t-fr", "One hen"), ("fr", "Une poule")]
    english = collected(lines(*both), "en")["images"].sort("image_url").row(0, named=True)
    assert [said for said, _ in spoken(english)] == ["de", "en-t-de", "en-t-fr", "fr"]


def test_translations_and_synsets_travel_with_their_caption(collected):
    texts = collected(lines(*FLAT))["texts"]
    assert texts["translation"].to_list() == ["A hen", None]
    assert texts["synsets"].to_list() == [[], ["boat.n.01"]]


def test_every_line_that_cannot_be_used_is_kept_aside_with_its_reason(collected):
    bad = ["{no json", {"language": "de"}, {"image_id": "00aa", "caption": "x"}]
    made = collected(lines(*PUBLISHED, *bad, {**FLAT[0], "caption": "  "}))
    rejected = made["rejected"].select("row", "reason", "detail").rows()
    assert rejected == [
        (2, "empty_caption", "00bb, de"),
        (3, "not_json", ""),
        (4, "no_image", ""),
        (5, "no_language", "00aa"),
        (6, "empty_caption", "00aa, de"),
    ]
    assert made["rejected"]["raw"][1] == "{no json"
    assert made["filters"].rows() == [("read", "test", 2, 0, 2)]


def test_a_picture_that_is_missing_takes_its_captions_along(collected):
    ledger = {"image_url": f"{BASE}00aa.jpg", "status": "success", "sha256": "ab"}
    ledger |= {"width": 640, "height": 480}
    made = collected(lines(*FLAT), ledger=[ledger])
    assert made["texts"]["source_text_id"].to_list() == ["00aa"]
    assert made["images"].select("width", "height", "split").rows() == [(640, 480, "test")]
    rejected = made["rejected"].select("row", "reason", "detail").unique().rows()
    assert rejected == [(3, "missing_picture", f"{BASE}00bb.jpg")]


def test_credits_are_of_no_language(collected):
    csv = "ImageID,Subset,License,Author,Title\n00aa,train,CC BY 2.0,Ann,A coop\n"
    image = collected(lines(*FLAT), attributions=csv)["images"].sort("image_url")
    told = image.row(0, named=True)
    assert told["language"] == ["en", "und"]
    assert told["caption_attribution_description"] == ["", "A coop, Ann, CC BY 2.0"]
    assert image.row(1, named=True)["language"] == []


def test_an_image_without_a_caption_in_the_language_is_in_no_split(collected):
    images = collected(lines(*PUBLISHED), "zh")["images"].sort("image_url")
    assert images["split"].to_list() == ["test", "other"]


def test_a_language_that_no_file_has_leaves_nothing_to_collect(collected):
    with pytest.raises(EmptyTable, match="no pair can be used"):
        collected(lines(*FLAT), "xx")


def test_a_table_of_credits_without_a_column_is_named(collected):
    with pytest.raises(MissingColumn, match="no column Author, Title"):
        collected(lines(*FLAT), attributions="ImageID,License\n00aa,CC BY 2.0\n")


def test_the_kind_of_before_is_read_and_named_anew(tmp_path, capsys):
    old = {"kind": "xm3600", "language": "de", "captions": "en"}
    made = published(tmp_path, {"captions": {"captions.jsonl": lines(*FLAT)}}, old)
    assert made["texts"]["text_id"].to_list() == ["00aa-de-1", "00bb-de-1"]
    told = "`kind: xm3600` is now `kind: pairs, form: xm3600, texts: language`"
    assert told in capsys.readouterr().err


# Counted in the published files, of which the authors' post gives the sum over all 36 languages,
# 261,375; one caption of Cusco Quechua is two full stops.
COUNTS = {
    **{"ar": 7367, "de": 8643, "en": 7200, "es": 8614, "fr": 8562},
    **{"quz": 7200, "sw": 7046, "th": 7200, "zh": 7174},
}


@pytest.fixture(scope="module")
def real(shared):
    """The published captions of nine languages, in plain Python: language, image, caption."""
    files = sorted((shared / "collections/xm3600").glob("captions_*.jsonl.gz"))
    texts = [gzip.decompress(path.read_bytes()).decode("utf-8") for path in files]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    by_language: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        by_language[row["language"]].append((row["image_id"], row["caption"]))
    return files, by_language


@pytest.fixture(scope="module", params=["quz", pytest.param("zh", marks=pytest.mark.long)])
def built(request, real, tmp_path_factory):
    """A language's collection from the real files, and its table of captions."""
    out = tmp_path_factory.mktemp(request.param)
    parts = {"captions": {path.name: path.read_bytes() for path in real[0]}}
    published(out, parts, entry(request.param))
    out /= "collect"
    captions_table(out / "texts.parquet", out / "qrels.parquet", out / "captions.parquet")
    return request.param, out


def test_the_real_files_have_the_published_number_of_captions_on_3600_images(real):
    assert {language: len(rows) for language, rows in real[1].items()} == COUNTS
    assert {len({image for image, _ in rows}) for rows in real[1].values()} == {3600}


def test_of_the_real_captions_one_is_rejected_and_named(built):
    language, out = built
    rejected = pl.read_parquet(out / "rejected.parquet")
    told = rejected.select("file", "row", "reason", "detail").rows()
    assert told == [("captions_quz.jsonl.gz", 4466, "empty_caption", "b0288b2a3855dcd7, quz")]
    used = COUNTS[language] - int(language == "quz")
    assert pl.read_parquet(out / "filters.parquet").rows() == [("read", "test", used, 0, used)]
    assert pl.read_parquet(out / "images.parquet").height == 3600


def test_the_table_of_languages_is_what_plain_python_counts(built, real):
    language, out = built
    found = sql.query(
        sql.SQL / "tabulate/tables/captions.sql", {"captions": out / "captions.parquet"}, {}
    )
    assert found is not None
    row = found.row(0, named=True)
    said = [(i, c.strip()) for i, c in real[1][language] if c != ".."]
    per_image = Counter(image for image, _ in said)
    assert (row["captions"], row["images"]) == (len(said), len(per_image))
    assert row["per_image_mean"] == pytest.approx(len(said) / 3600, abs=1e-6)
    assert row["characters_mean"] == pytest.approx(mean(len(c) for _, c in said), abs=1e-6)
    assert row["compared"] == sum(n for n in per_image.values() if n > 1)
    words = mean(len(c.split()) for _, c in said) if language == "quz" else None
    assert row["words_mean"] == (words if words is None else pytest.approx(words, abs=1e-6))


def test_a_caption_in_cusco_quechua_has_five_or_six_words(built):
    """The post, section Caption Quality and Statistics: "as low as 5 or 6 for [...] Cusco Quechua".

    Chinese has no spaces between words, so it has no such number.
    """
    language, out = built
    found = sql.query(
        sql.SQL / "tabulate/tables/captions.sql", {"captions": out / "captions.parquet"}, {}
    )
    assert found is not None
    words = found["words_mean"].item()
    assert words is None if language == "zh" else round(words) in (5, 6)


def test_the_real_agreement_between_people_is_that_of_the_reference_scorer(built):
    _, out = built
    names = ("texts", "qrels")
    tokens = sql.query(
        sql.SQL / "tabulate/captions/tokens.sql", {n: out / f"{n}.parquet" for n in names}, {}
    )
    assert tokens is not None
    together = tokens.filter(pl.len().over("image_id") > 1)
    scorer = CiderScorer(n=4, sigma=6.0)
    for _, group in together.group_by("image_id", maintain_order=True):
        said = [" ".join(words) for words in group["tokens"].to_list()]
        for n, caption in enumerate(said):
            scorer += (caption, said[:n] + said[n + 1 :])
    scorer.compute_doc_freq()
    ours = pl.read_parquet(out / "captions.parquet")["cider"].drop_nulls().to_numpy()
    assert np.abs(ours - np.array(scorer.compute_cider())).max() < 1e-9
