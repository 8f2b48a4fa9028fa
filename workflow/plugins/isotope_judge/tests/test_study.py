"""Failures go out to people as a sheet, and come back as classes, ratings and rules."""

from pathlib import Path

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.core.errors import CorruptFile, EmptyTable, IntegrityError, MissingColumn, MissingFile
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.tabulate.exhibits import recipe, write_exhibit
from isotope_explain.params import STUDY
from isotope_explain.schemas import FAILURES
from isotope_explain.sheets import write_sheet
from isotope_judge.ledger import sheet_paths
from isotope_judge.resources import SQL
from isotope_judge.schemas import STUDIED
from isotope_judge.study import read_sheets, write_study

ROOT = Path(__file__).parents[4]
CLASSES = ["objects", "colour", "count"]
NAMES = [
    *("study_ratings", "study_rating_counts", "study_classes", "study_class_counts"),
    *("study_rules", "study_agreement"),
]
# Section 4.2, the options of the evaluators.
OPTIONS = ["object class", "object color", "object enumeration", "action", "size", "details"]
ALTERNATIVE = "successful alternative"


def tabulate_study(studied: Path, rules: dict[str, float], folder: Path) -> None:
    """Write the tables of a study as their entries say."""
    for name in NAMES:
        exhibit = recipe(name, {"studied": str(studied)}, {**rules, "systems": []})
        write_exhibit(exhibit, folder / name, folder / f"{name}.svg")


@pytest.fixture
def sheet(tmp_path) -> Path:
    """The sheet of ten failures of one system and two of another."""
    failures = [
        {"task": "t2m", "system": s, "query_id": f"t{n}", "truth_id": "i1", "found_id": "i2"}
        for s, most in (("a", 10), ("b", 2))
        for n in range(most)
    ]
    store.write_rows(failures, tmp_path / "failures.parquet", FAILURES)
    texts = [{"text_id": f"t{n}", "context_section_description": f"said {n}"} for n in range(10)]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    images = [{"image_id": f"i{n}", "image_url": f"u{n}"} for n in (1, 2)]
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    relations = {n: tmp_path / f"{n}.parquet" for n in ("failures", "texts", "images")}
    places = {"sample": tmp_path / "study.parquet", "sheet": tmp_path / "study.csv"}
    write_sheet(relations, seed=0, failures=4, **places)
    return tmp_path / "study.csv"


def fill(sheet: Path, *judged: tuple[str, int | None, str]) -> Path:
    """Return the sheet with judgements in its first rows."""
    rows = pl.read_csv(sheet, infer_schema=False).head(len(judged))
    columns_of = zip(*judged, strict=True)
    columns = [pl.Series(n, v, strict=False) for n, v in zip(FILLED, columns_of, strict=True)]
    name = "-".join(sorted({assessor or "nobody" for *_, assessor in judged}))
    rows.with_columns(columns).write_csv(sheet.with_name(f"{name}.csv"))
    return sheet.with_name(f"{name}.csv")


def drawn_rows(sheet: Path) -> Path:
    return sheet.with_suffix(".parquet")


FILLED = ("classes", "rating", "assessor")


def test_the_sheet_has_as_many_of_each_system_as_asked_and_nothing_filled_in(sheet):
    rows = pl.read_csv(sheet, infer_schema=False)
    drawn = pl.read_parquet(drawn_rows(sheet))
    assert dict(drawn["system"].value_counts().iter_rows()) == {"a": 4, "b": 2}
    assert drawn["lot"].to_list() == rows["lot"].to_list() == sorted(drawn["lot"])
    shown = ["lot", "task", "query", "truth_url", "found_url", *FILLED]
    assert rows.columns == shown, "both pictures, and not the system"
    assert set(rows.select("truth_url", "found_url").rows()) == {("u1", "u2")}
    assert rows.select(pl.col(FILLED).null_count()).row(0) == (6, 6, 6)
    assert rows["query"][0].startswith("said ")


def test_rows_that_nobody_judged_are_left(sheet):
    filled = fill(sheet, (" count ;objects;", 3, "ann"), ("", None, ""))
    judged = read_sheets([filled], drawn_rows(sheet), CLASSES)
    assert judged["classes"].to_list() == [["count", "objects"]]
    assert judged.select("rating", "assessor").row(0) == (3, "ann")


def test_the_classes_are_those_of_the_paper():
    """Section 4.2: six classes of failure, or a successful alternative."""
    assert ([*STUDY.classes], STUDY.alternative) == ([*OPTIONS], ALTERNATIVE)


def test_a_query_that_shares_too_few_words_with_its_captions_is_left_out(sheet, tmp_path):
    """Section 4.2: "Keyword matching between q_i and c_i excludes cases where the ground truth
    query-corpus pair contains very few common concepts".
    """
    contents = {"t0": "Two dogs near the boat.", "t1": "The dogs and the trees", "t2": None}
    texts = [{"text_id": t, "context_section_description": words} for t, words in contents.items()]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    captions = ["A boat and the sea", "Dogs, and more dogs"]
    images = [
        {"image_id": f"i{n}", "image_url": "u", "caption_reference_description": captions}
        for n in (1, 2)
    ]
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    relations = {n: tmp_path / f"{n}.parquet" for n in ("failures", "texts", "images")}
    places = {"sample": tmp_path / "study.parquet", "sheet": tmp_path / "study.csv"}
    for least, expected in ((2, {"t0"}), (1, {"t0", "t1"}), (0, {"t0", "t1", "t2"})):
        write_sheet(relations, seed=0, failures=99, common_words=least, **places)
        drawn = set(pl.read_parquet(drawn_rows(sheet))["query_id"])
        assert drawn & contents.keys() == expected
        assert drawn - contents.keys() == {f"t{n}" for n in range(3, 10)}


def test_an_alternative_is_named_alone(sheet):
    """Section 4.2: "Otherwise", if no semantics are misinterpreted."""
    alone = fill(sheet, (ALTERNATIVE, 9, "ann"))
    assert read_sheets([alone], drawn_rows(sheet), CLASSES, ALTERNATIVE)["rating"].to_list() == [9]
    both = fill(sheet, (f"count;{ALTERNATIVE}", 9, "ann"))
    with pytest.raises(CorruptFile, match=r"csv:2: 'successful alternative' beside a class"):
        read_sheets([both], drawn_rows(sheet), CLASSES, ALTERNATIVE)
    with pytest.raises(CorruptFile, match="a class other than"):
        read_sheets([alone], drawn_rows(sheet), CLASSES)


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        (("shape", 3, "ann"), CorruptFile, r"\.csv:2: a class other than"),
        (("count", 11, "ann"), CorruptFile, "a rating that is not 1 to 10"),
        (("count", 3, ""), CorruptFile, "by nobody"),
    ],
)
def test_a_bad_judgement_is_named_by_its_line(sheet, row, error, message):
    with pytest.raises(error, match=message):
        read_sheets([fill(sheet, row)], drawn_rows(sheet), CLASSES)


def test_sheets_that_are_none_are_refused(sheet, tmp_path):
    path = fill(sheet, ("count", 3, "ann"))
    with pytest.raises(IntegrityError, match="judged before"):
        read_sheets([path, path], drawn_rows(sheet), CLASSES)
    with pytest.raises(MissingFile):
        read_sheets([tmp_path / "none.csv"], drawn_rows(sheet), CLASSES)
    with pytest.raises(EmptyTable):
        read_sheets([sheet], drawn_rows(sheet), CLASSES)
    path.write_text(path.read_text().replace("\n", "\nx", 1))
    with pytest.raises(IntegrityError, match="not given out"):
        read_sheets([path], drawn_rows(sheet), CLASSES)
    path.write_text("task,rating\n")
    with pytest.raises(MissingColumn, match="lot"):
        read_sheets([path], drawn_rows(sheet), CLASSES)


@pytest.fixture
def studied(sheet, tmp_path) -> dict[str, pl.DataFrame]:
    """Six judgements by two people, counted by hand below."""
    ann = [("objects;count", 2, "ann"), ("objects;count", 4, "ann"), ("objects", 6, "ann")]
    ben = [("objects", 4, "ben"), ("objects;count", 4, "ben"), ("colour", 8, "ben")]
    sheets = [fill(sheet, *ann), fill(sheet, *ben)]
    write_study(sheets, drawn_rows(sheet), CLASSES, tmp_path / "studied.parquet")
    rules = {"support": 0.3, "confidence": 0.5}
    tabulate_study(tmp_path / "studied.parquet", rules, tmp_path)
    return {name: pl.read_csv(tmp_path / f"{name}.csv") for name in NAMES}


def test_rules_have_support_and_confidence(studied):
    """Three of six name both; five name objects, three count."""
    rules = studied["study_rules"].rows()
    assert rules == [
        ("count", "objects", 3, 0.5, 1.0, pytest.approx(5 / 6)),
        ("objects", "count", 3, 0.5, pytest.approx(3 / 5), 0.5),
    ]


# The paper prints shares of Table 2 and section 6.3 without the judgements that they are of, so
# none of its figures can be recomputed. These are ten of our own, counted by hand.
JUDGEMENTS = [
    *[[ALTERNATIVE]] * 2,
    *[["details"]] * 3,
    ["object class"],
    ["action", "details"],
    ["action", "details", "object color"],
    ["object enumeration", "object color"],
    ["action"],
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> dict[str, pl.DataFrame]:
    """The ten judgements, tabulated; every fourth has no rating."""
    folder = tmp_path_factory.mktemp("judged")
    rows = [
        {"task": "t2m", "system": "s", "query_id": str(n), "assessor": "a", "classes": classes}
        | {"rating": (None, 10, 1, 10)[n % 4]}
        for n, classes in enumerate(JUDGEMENTS)
    ]
    store.write_rows(rows, folder / "studied.parquet", STUDIED)
    least = {"support": 0.0, "confidence": 0.0}
    tabulate_study(folder / "studied.parquet", least, folder)
    return {name: pl.read_csv(folder / f"{name}.csv") for name in NAMES}


def test_a_class_has_its_share_of_all_judgements_an_alternative_its_own(judged):
    """The columns of Table 2; a judgement of two classes counts in both."""
    rows = judged["study_classes"].select("class", pl.col("judgements_share").round(4))
    assert dict(rows.iter_rows()) == {
        "details": 0.5,
        "action": 0.3,
        ALTERNATIVE: 0.2,
        "object color": 0.2,
        "object class": 0.1,
        "object enumeration": 0.1,
    }


def test_judgements_are_counted_by_how_many_classes_they_name(judged):
    """Section 6.3: "one semantic class disagreement ... two and three"; an alternative is one."""
    rows = judged["study_class_counts"].select("classes", pl.col("judgements_share").round(4))
    assert rows.rows() == [(1, 0.7), (2, 0.2), (3, 0.1)]


def test_a_rule_has_its_confidence_and_the_share_of_its_conclusion(judged):
    """Section 6.3: "if action appears then details will appear", of those with action; 2 of 3."""
    rows = judged["study_rules"].select(
        "premise", "conclusion", "confidence_share", "conclusion_share"
    )
    rules = {row[:2]: row[2:] for row in rows.iter_rows()}
    assert rules["action", "details"] == (pytest.approx(2 / 3), 0.5)
    assert rules["object enumeration", "object color"] == (1.0, pytest.approx(0.2))
    assert rules["object color", "object enumeration"] == (0.5, pytest.approx(0.1))


def test_ratings_are_counted_and_averaged(judged):
    """Figure 9: how often each rating is given, of those that are; section 6.3: their average."""
    counts = judged["study_rating_counts"].select("rating", "judgements", "judgements_share")
    assert counts.rows() == [(1, 2, pytest.approx(2 / 7)), (10, 5, pytest.approx(5 / 7))]
    row = judged["study_ratings"].row(0, named=True)
    assert (row["ratings"], row["rating_mean"]) == (7, pytest.approx(52 / 7))


def test_a_rule_may_have_two_premises(tmp_path):
    rows = [
        {"task": "t2m", "system": "s", "query_id": str(n), "assessor": "a", "classes": list(c)}
        for n, c in enumerate(["abc", "abc", "ab", "c"])
    ]
    store.write_rows(rows, tmp_path / "studied.parquet", STUDIED)
    query, asked = SQL / "tables/study_rules.sql", {"support": 0.0, "confidence": 0.0}
    table = sql.query(query, {"studied": tmp_path / "studied.parquet"}, asked)
    assert table is not None
    rules = {row[:2]: row[3:] for row in table.iter_rows()}
    assert rules["a and b", "c"] == (0.5, pytest.approx(2 / 3), 0.75)
    assert rules["a", "b"] == (0.75, 1.0, 0.75)


def test_ratings_classes_and_agreement_are_means_over_judgements(studied):
    assert studied["study_ratings"]["ratings"].sum() == 6
    objects = studied["study_classes"].filter(pl.col("class") == "objects")
    assert objects["judgements"].sum() == 5
    agreed = studied["study_agreement"].row(0, named=True)
    assert (agreed["failures"], agreed["rating_difference"]) == (3, pytest.approx(4 / 3))
    assert agreed["same_classes_share"] == pytest.approx(1 / 3)
    assert agreed["common_classes_share"] == pytest.approx((0.5 + 1 + 0) / 3)


def test_sheets_that_came_back_are_found_by_collection(tmp_path):
    (tmp_path / "toy/failures").mkdir(parents=True)
    (tmp_path / "toy/failures/ann.csv").touch()
    (tmp_path / "toy/pool.csv").touch()
    (tmp_path / "toy/failures/bob.jsonl").touch()
    (tmp_path / "toy/failures/bob.torn").touch()
    paths = sheet_paths("toy", "failures", tmp_path)
    assert paths == [str(tmp_path / f"toy/failures/{name}") for name in ("ann.csv", "bob.jsonl")]
    assert (
        sheet_paths("toy", "mistakes", tmp_path) == sheet_paths("other", "failures", tmp_path) == []
    )
