"""Captions by models, scored by CIDEr, and people's choices: the purpose of Crossmodal-3600.

Captions are those that the authors' post shows of one picture (section Caption Generation). What is
known of scores is its words in the section Overview: CIDEr "ranges from 0 (unrelated to the
reference captions) to 10 (perfectly matching the reference captions)".
"""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pycocoevalcap.cider.cider_scorer import CiderScorer

from isotope.core import sql, store
from isotope.core.errors import BadCaptions, CorruptFile, MissingColumn, MissingFile
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.tabulate.captions import captioners_table
from isotope.tabulate.side_by_side import agreement, choices_table, correlations
from isotope.tabulate.table import rows, tabulate

CARS = "A vintage sports car in a showroom with many other vintage sports cars"
ROW = "The branded classic cars in a row at display"
COCHE = "Coche pequeño de carreras color plateado con el número 42 en una exhibición de coches"
AUTO = "Automóvil clásico deportivo en exhibición de automóviles de galería"
THAI = "รถเปิดประทุนหลายสีจอดเรียงกันในที่จัดแสดง"
THAI_2 = "รถแข่งวินเทจจอดเรียงกันหลายคันในงานจัดแสดง"
BASE = "https://open-images-dataset.s3.amazonaws.com/crossmodal-3600/"
LANGUAGES = ["en", "es", "th"]


@pytest.fixture
def collection(tmp_path):
    """Make texts, images and qrels of a language: image to captions."""

    def make(language: str, said: dict[str, list[str]]) -> dict[str, Path]:
        folder, empty = tmp_path / language, dict.fromkeys(TEXTS.names)
        found = [(i, f"{i}-{n}", c) for i, own in said.items() for n, c in enumerate(own)]
        texts = [
            {**empty, "text_id": t, "language": language, "context_section_description": c}
            for _, t, c in found
        ]
        pairs = [
            {"text_id": t, "image_id": f"id-{i}", "relevance": 1, "split": "test"}
            for i, t, _ in found
        ]
        images = [
            {**dict.fromkeys(IMAGES.names), "image_id": f"id-{i}"} | {"image_url": f"{BASE}{i}.jpg"}
            for i in said
        ]
        store.write_rows(texts, folder / "texts.parquet", TEXTS)
        store.write_rows(pairs, folder / "qrels.parquet", QRELS)
        store.write_rows(images, folder / "images.parquet", IMAGES)
        return {t: folder / f"{t}.parquet" for t in ("texts", "images", "qrels")}

    return make


def jsonl(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return path


def caption(image: str, language: str, text: str) -> dict[str, str]:
    return {"image": image, "language": language, "caption": text}


def scored(collected: dict[str, Path], files: dict[str, list[Path]]) -> pl.DataFrame:
    out = collected["texts"].parent / "captioners.parquet"
    captioners_table(collected, files, LANGUAGES, out)
    return pl.read_parquet(out)


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [("en", CARS, ROW), ("es", COCHE, AUTO), ("th", THAI, THAI_2)],
)
def test_a_perfect_caption_has_ten_and_an_unrelated_one_nothing(
    collection, tmp_path, language, first, second
):
    """The ends of the scale as the post's section Overview gives them, on its captions."""
    collected = collection(language, {"00aa": [first], "00bb": [second]})
    same = [caption("00aa", language, first), caption("00bb", language, second)]
    other = [caption("00aa", language, "5 6 7 8"), caption("00bb", language, "9")]
    files = {
        "perfect": [jsonl(tmp_path / "perfect.jsonl", *same)],
        "unrelated": [jsonl(tmp_path / "unrelated.jsonl", *other)],
    }
    found = scored(collected, files).group_by("captioner").agg(pl.col("cider").mean())
    means = dict(found.iter_rows())
    assert means["perfect"] == pytest.approx(10)
    assert means["unrelated"] == 0


def test_the_score_is_that_of_the_reference_scorer_on_all_references(collection, tmp_path):
    """An image's references count together, as in pycocoevalcap."""
    said = {"00aa": [CARS, ROW], "00bb": ["Two boats at a pier", "A small boat on blue water"]}
    model = {"00aa": "Many vintage cars in a row", "00bb": "A boat at a pier"}
    file = jsonl(tmp_path / "m.jsonl", *(caption(i, "en", c) for i, c in model.items()))
    found = scored(collection("en", said), {"m": [file]})
    scorer = CiderScorer(n=4, sigma=6.0)
    for image, references in said.items():
        scorer += (model[image].lower(), [r.lower() for r in references])
    scorer.compute_doc_freq()
    assert found["cider"].to_list() == pytest.approx(scorer.compute_cider(), abs=1e-9)
    assert found["tokens"].to_list() == [6, 5]


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c.csv", "c.parquet"])
@pytest.mark.parametrize("image", ["00aa", f"{BASE}00aa.jpg", "id-00aa"])
def test_every_form_of_file_and_every_name_of_an_image_is_read(collection, tmp_path, name, image):
    rows = [caption(image, "en", f'{CARS}, "old"'), caption("00bb", "en", ROW)]
    path, table = tmp_path / name, pl.DataFrame(rows)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    write = {
        "c.jsonl": lambda: path.write_text(text),
        "c.jsonl.gz": lambda: path.write_bytes(gzip.compress(text.encode())),
        "c.csv": lambda: table.write_csv(path),
        "c.parquet": lambda: table.write_parquet(path),
    }
    write[name]()
    found = scored(collection("en", {"00aa": [CARS], "00bb": [ROW]}), {"m": [path]})
    assert found.select("image_id", "characters").rows() == [
        ("id-00aa", len(CARS) + 7),
        ("id-00bb", len(ROW)),
    ]


@pytest.mark.parametrize(("code", "own"), [("iw", "he"), ("tl", "fil"), ("nb", "no")])
def test_captions_may_have_another_code_of_the_collections_language(
    collection, tmp_path, code, own
):
    file = jsonl(tmp_path / "c.jsonl", caption("00aa", code, CARS), caption("00bb", code, ROW))
    found = scored(collection(own, {"00aa": [CARS], "00bb": [ROW]}), {"m": [file]})
    assert found["image_id"].to_list() == ["id-00aa", "id-00bb"]


GOOD = [caption("00aa", "en", CARS), caption("00bb", "en", ROW)]


@pytest.mark.parametrize(
    ("rows", "error", "found"),
    [
        (
            [*GOOD, caption("00aa", "xx", CARS)],
            BadCaptions,
            r"c.jsonl, row 3: no collection in language 'xx'; known: en, es, th",
        ),
        ([*GOOD, caption("00cc", "en", CARS)], BadCaptions, r"row 3: no image '00cc'"),
        (
            [*GOOD, caption("none", "en", CARS)],
            BadCaptions,
            r"row 3: image 'none' has no reference in en",
        ),
        (
            [*GOOD, caption("id-00aa", "en", ROW)],
            BadCaptions,
            r"row 3: image 'id-00aa' has a caption in en at .*c.jsonl, row 1",
        ),
        (
            GOOD[:1],
            BadCaptions,
            r"captioners.m: no caption of 1 of 2 images in en; .* image '00bb'",
        ),
        ([*GOOD, {"image": "00aa", "language": "en"}], MissingColumn, r"row 3: no caption; give"),
        ([*GOOD, [1]], CorruptFile, r"row 3: no JSON object"),
        ([{**GOOD[0], "caption": 7}, *GOOD[1:]], CorruptFile, r"row 1: caption 7 is no text"),
    ],
)
def test_captions_that_do_not_fit_are_refused_with_their_row(
    collection, tmp_path, rows, error, found
):
    collected = collection("en", {"00aa": [CARS], "00bb": [ROW], "none": []})
    with pytest.raises(error, match=found):
        scored(collected, {"m": [jsonl(tmp_path / "c.jsonl", *rows)]})
    assert not (tmp_path / "en/captioners.parquet").exists()


def test_files_that_can_not_be_read_are_refused(collection, tmp_path):
    collected = collection("en", {"00aa": [CARS]})
    with pytest.raises(MissingFile, match=r"gone.csv: no such file; correct `tabulate.captioners`"):
        scored(collected, {"m": [tmp_path / "gone.csv"]})
    (tmp_path / "c.jsonl").write_text("{no json\n")
    with pytest.raises(CorruptFile, match=r"c.jsonl, row 1: no JSON"):
        scored(collected, {"m": [tmp_path / "c.jsonl"]})
    (tmp_path / "c.txt").write_text("x")
    with pytest.raises(CorruptFile, match="no csv, JSON lines or Parquet"):
        scored(collected, {"m": [tmp_path / "c.txt"]})


@pytest.fixture
def place(collection, tmp_path):
    """Two languages, three models on three images each, with CIDEr of both languages."""
    said = {
        "en": {"00aa": [CARS], "00bb": [ROW], "00cc": ["Two boats at a pier"]},
        "es": {"00aa": [COCHE], "00bb": [AUTO], "00cc": ["Dos barcos en un muelle"]},
    }
    wrong = {"good": (), "fair": ("00bb",), "poor": ("00aa", "00bb", "00cc")}
    files: dict[str, list[Path]] = {}
    for name, images in wrong.items():
        own = [
            caption(i, of, "7 8 9" if i in images else c[0])
            for of, captions in said.items()
            for i, c in captions.items()
            if (name, of) != ("poor", "es")
        ]
        files[name] = [jsonl(tmp_path / f"{name}.jsonl", *own)]
    made = {language: collection(language, captions) for language, captions in said.items()}
    for own in made.values():
        scored(own, files)
    return made


def test_each_language_and_part_has_its_mean_of_the_models_that_have_captions_in_all(place):
    paths = [own["texts"].parent / "captioners.parquet" for own in place.values()]
    given = {"parts": ["all", "low-resource"], "members": [["en", "es"], ["es"]]}
    table = rows(
        sql.SQL / "tabulate/tables/captioners.sql",
        {"captioners": paths},
        {**given, "systems": ["poor", "fair", "good"]},
    )
    found = {(r[0], r[2]): (r[1], r[3], r[4]) for r in table.rows()}
    assert found["en", "good"] == (1, 3, pytest.approx(10))
    assert found["en", "fair"] == (1, 3, pytest.approx(20 / 3))
    assert found["en", "poor"] == (1, 3, 0)
    assert found["all", "fair"] == (2, 6, pytest.approx(20 / 3))
    assert found["low-resource", "good"] == (1, 3, pytest.approx(10))
    assert ("all", "poor") not in found
    assert ("es", "poor") not in found
    assert table["captioner"].to_list()[:3] == ["poor", "fair", "good"]
    alone = rows(
        sql.SQL / "tabulate/tables/captioners.sql",
        {"captioners": paths[:1]},
        {"parts": [], "members": []},
    )
    assert alone["language"].unique().to_list() == ["en"]


def choice(
    image: str, first: str, second: str, chosen: str, language: str = "en"
) -> dict[str, str]:
    return caption(image, language, "") | {"first": first, "second": second, "choice": chosen}


def chosen(place: dict[str, dict[str, Path]], language: str, *rows: Any) -> pl.DataFrame:
    folder = place[language]["texts"].parent
    file = jsonl(folder / "choices.jsonl", *rows)
    languages = [language, *(each for each in place if each != language)]
    out = folder / "side_by_side.parquet"
    choices_table(folder / "captioners.parquet", folder / "images.parquet", [file], languages, out)
    return pl.read_parquet(out)


def test_most_people_decide_and_a_pair_may_be_shown_either_way_round(place):
    table = chosen(
        place,
        "en",
        choice("00aa", "good", "fair", "first"),
        choice("00aa", "fair", "good", "second"),
        choice("00aa", "good", "fair", "second"),
        choice("00bb", "fair", "good", "first"),
        choice("00cc", "good", "fair", "same"),
        choice("00cc", "good", "fair", "first", "es"),
    )
    assert table.select("image_id", "first", "second", "people", "preference").rows() == [
        ("id-00aa", "good", "fair", 3, 1),
        ("id-00bb", "good", "fair", 1, -1),
        ("id-00cc", "good", "fair", 1, 0),
    ]
    assert table["cider_first"].to_list() == pytest.approx([10, 10, 10])
    assert table["cider_second"].to_list() == pytest.approx([10, 0, 10])


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            choice("00aa", "good", "best", "first"),
            r"no captions by 'best' .*known: good, fair, poor",
        ),
        (choice("00aa", "good", "good", "first"), "'good' beside itself"),
        (choice("00dd", "good", "fair", "first"), "no image '00dd'"),
        (choice("00aa", "good", "fair", "left"), "choice 'left'; write one of first, second, same"),
        (choice("00aa", "good", "fair", "first", "xx"), "no collection in language 'xx'"),
    ],
)
def test_choices_that_do_not_fit_are_refused_with_their_row(place, row, found):
    with pytest.raises(BadCaptions, match=rf"choices.jsonl, row 2: {found}"):
        chosen(place, "en", choice("00aa", "good", "fair", "first"), row)
    assert not (place["en"]["texts"].parent / "side_by_side.parquet").exists()


def test_a_choice_of_captions_that_a_language_lacks_is_refused(place):
    with pytest.raises(BadCaptions, match="no captions by 'poor' in this language"):
        chosen(place, "es", choice("00aa", "good", "poor", "first", "es"))


def test_differences_in_cider_are_correlated_with_choices_over_languages_and_images(
    place, tmp_path
):
    """What the post correlates (section Empirical Evaluation): differences and choices."""
    english = [
        choice(image, "good", "fair", said)
        for image, said in (("00aa", "same"), ("00bb", "first"), ("00cc", "same"))
    ]
    english += [choice(image, "fair", "poor", "first") for image in ("00aa", "00cc")]
    chosen(place, "en", *english)
    chosen(place, "es", choice("00bb", "good", "fair", "first", "es"))
    folders = [own["texts"].parent for own in place.values()]
    choices = [folder / "side_by_side.parquet" for folder in folders]
    scores = [folder / "captioners.parquet" for folder in folders]
    correlations(choices, scores, tmp_path / "correlations.parquet")
    found = pl.read_parquet(tmp_path / "correlations.parquet")
    # By hand: en good - fair 3.33 and gain 1/3, fair - poor 6.67 and 1; es good - fair 3.33 and 1.
    assert found.select("over", "of", "points").rows() == [
        ("languages", "good - fair", 2),
        ("languages", "fair - poor", 1),
        ("languages and pairs", "all", 3),
        ("images", "en", 5),
        ("images", "es", 1),
    ]
    every = found.row(2, named=True)
    assert every["pearson"] == pytest.approx(0.5)
    assert every["spearman"] == pytest.approx(0.5)
    assert every["kendall"] == pytest.approx(0.5)
    # In en, CIDEr differs by 0, 10, 0, 10, 10 where people chose 0, 1, 0, 1, 1.
    assert found.row(3)[3:] == pytest.approx((1, 1, 1))
    assert found.row(0)[3:] == found.row(4)[3:] == (None, None, None)
    stem = tmp_path / "side_by_side"
    given = {"side_by_side": choices, "captioners": scores}
    tabulate(
        sql.SQL / "tabulate/tables/side_by_side.sql", given, {"systems": ["good", "fair"]}, stem
    )
    table = pl.read_csv(f"{stem}.csv")
    assert table.select("language", "first", "second", "images").rows() == [
        ("en", "good", "fair", 3),
        ("es", "good", "fair", 1),
        ("en", "fair", "poor", 2),
    ]
    assert table["gain_share"].to_list() == pytest.approx([1 / 3, 1, 1])
    assert table["cider_difference"].to_list() == pytest.approx([10 / 3, 10 / 3, 20 / 3], abs=1e-6)


@pytest.mark.parametrize(
    ("differences", "choices", "expected"),
    [
        ([1, 2, 3, 4], [1, 3, 2, 4], (0.8, 0.8, 2 / 3)),
        ([1, 2, 3], [3, 2, 1], (-1, -1, -1)),
        ([0, 0, 1, 1], [0, 1, 0, 1], (0, 0, 0)),
    ],
)
def test_the_coefficients_are_those_worked_out_by_hand(differences, choices, expected):
    found = agreement(pl.Series(differences), pl.Series(choices))
    assert found[1:] == pytest.approx(expected)


def test_a_correlation_needs_three_points_that_differ():
    assert agreement(pl.Series([1, 2]), pl.Series([1, 2]))[1:] == (None, None, None)
    assert agreement(pl.Series([1, 1, 1]), pl.Series([1, 2, 3]))[1:] == (None, None, None)


def test_a_language_without_a_choice_or_a_model_has_tables_without_rows(place, tmp_path):
    """The files may cover some of the languages only."""
    folder = place["es"]["texts"].parent
    assert chosen(place, "es", choice("00aa", "good", "fair", "first")).is_empty()
    scored(place["es"], {"english": [jsonl(tmp_path / "english.jsonl", *GOOD)]})
    assert pl.read_parquet(folder / "captioners.parquet").is_empty()
    choices, scores = [folder / "side_by_side.parquet"], [folder / "captioners.parquet"]
    correlations(choices, scores, tmp_path / "correlations.parquet")
    assert pl.read_parquet(tmp_path / "correlations.parquet").is_empty()
    given = {"captioners": scores, "side_by_side": choices}
    given |= {"correlations": [tmp_path / "correlations.parquet"]}
    asked = {"captioners": {"parts": [], "members": []}}
    for name, reads in (
        ("captioners", ["captioners"]),
        ("side_by_side", ["captioners", "side_by_side"]),
        ("correlation", ["correlations"]),
    ):
        relations = {key: given[key] for key in reads}
        tabulate(
            sql.SQL / f"tabulate/tables/{name}.sql", relations, asked.get(name, {}), tmp_path / name
        )
        assert pl.read_csv(tmp_path / f"{name}.csv").is_empty()
