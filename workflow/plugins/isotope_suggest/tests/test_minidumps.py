"""The encyclopedia as judge, on real pages at four dates, beside a second reading of their markup.

Suggestions are frozen at the first date: for each section without a picture the three files, of all
that these pages show at any date, whose captions are most like its text. What became of them is
read a second time from the raw wikitext, by its headings and `[[File:...]]` links alone.
"""

import html
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests.suggested_collection import write

from isotope.core.titles import file_name
from isotope.core.uploads import upload_url
from isotope.parse.dump import parse_dump
from isotope.parse.xml_dump import decompress
from isotope_suggest import later
from isotope_suggest.measure import editors
from isotope_suggest.origins import Origins
from isotope_suggest.schemas import FEED, SCORED, SECTION_ROLES

DATES = ("20200611", "20210122", "20210917", "20211213")
TABLES = ("links", "outline", "rejected", "infoboxes", "pictures", "counts")
ORIGINS = Origins(languages={"en": "en"})
ASKED: dict[str, Any] = {"origins": ORIGINS, "most": 3, "maximum_usage": 20, "snapshot": DATES[0]}
LINK = re.compile(r"\[\[\s*(?:File|Image)\s*:\s*([^|\]\n]+?)\s*(?=[|\]])", re.IGNORECASE)
HEADING = re.compile(r"^(={2,6})\s*(.+?)\s*\1[ \t]*(?:<!--.*?-->)?\s*$", re.MULTILINE)
Raw = dict[tuple[int, str], str]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def dumps(shared) -> dict[str, Path]:
    return {d: next((shared / "snapshots/minidumps" / d).glob("*.bz2")) for d in DATES}


@pytest.fixture(scope="module")
def parsed(dumps, tmp_path_factory) -> dict[str, dict[str, Path]]:
    files_by_date: dict[str, dict[str, Path]] = {}
    for date, dump in dumps.items():
        folder = tmp_path_factory.mktemp(date)
        files = {name: folder / f"{name}.parquet" for name in TABLES}
        parse_dump([dump], out=folder / "sections.parquet", **files, workers=1)
        files_by_date[date] = {**files, "sections": folder / "sections.parquet"}
    return files_by_date


@pytest.fixture(scope="module")
def raw(dumps) -> dict[str, Raw]:
    """The wikitext of each section, by page and heading, of headings that the page has once."""
    return {date: raw_sections(b"".join(decompress(dump)).decode()) for date, dump in dumps.items()}


def raw_sections(xml: str) -> Raw:
    texts: Raw = {}
    for page in re.findall(r"<page>.*?</page>", xml, re.DOTALL):
        text = re.search(r"<text[^>]*>(.*?)</text>", page, re.DOTALL)
        number = re.search(r"<id>(\d+)</id>", page)
        if text is None or number is None or "<ns>0</ns>" not in page:
            continue
        pieces = HEADING.split(html.unescape(text[1]))
        titles = Counter(pieces[2::3])
        for title, body in zip(pieces[2::3], pieces[3::3], strict=True):
            if titles[title] == 1:
                texts[int(number[1]), title] = body
    return texts


def linked(text: str) -> set[str]:
    return {file_name(name) for name in LINK.findall(text)}


@pytest.fixture(scope="module")
def followed(parsed, tmp_path_factory) -> pl.DataFrame:
    """What became of the suggestions, with page and heading of their section."""
    root = tmp_path_factory.mktemp("suggest")
    opened = open_sections(parsed[DATES[0]])
    pairs = nearest(opened, captions(parsed))
    base = {"probability": 0.5, "kind": "text", "system": "suggest", "score": 0.5}
    scored = [{"text_id": t, "image_id": i, "rank": rank, **base} for t, i, rank in pairs]
    named = ("text_id", "image_id", "rank", "probability", "kind")
    feed = [{name: row[name] for name in named} for row in scored if row["rank"] == 1]
    images = root / "images.parquet"
    names = sorted({i for _, i, _ in pairs})
    pl.DataFrame({"image_id": names, "image_url": [*map(upload_url, names)]}).write_parquet(images)
    pages = opened.select("text_id", "page_id").iter_rows()
    roles = [{"text_id": t, "page_id": p, "role": "open", "language": "en"} for t, p in pages]
    inputs = {
        "scored": write(scored, SCORED, root / "scored.parquet"),
        "feed": write(feed, FEED, root / "feed.parquet"),
        "sections": write(roles, SECTION_ROLES, root / "sections.parquet"),
        "images": images,
    }
    after = {
        date: later.Later(
            outlines=[str(files["outline"])], placed=[str(files["pictures"])], date=date
        )
        for date, files in parsed.items()
        if date != DATES[0]
    }
    out = root / "taken_up.parquet"
    outlines = [parsed[DATES[0]]["outline"]]
    later.follow(**inputs, outlines=outlines, later=after, out=out, **ASKED)
    places = opened.select("text_id", "page_id", "heading")
    return pl.read_parquet(out).join(places, on="text_id", maintain_order="left")


def open_sections(files: dict[str, Path]) -> pl.DataFrame:
    shown = pl.read_parquet(files["pictures"]).select("text_id")
    texts = pl.read_parquet(files["sections"]).select("text_id", text="context_section_description")
    outline = pl.read_parquet(files["outline"]).filter(pl.col("characters") > 200)
    return outline.join(shown, on="text_id", how="anti").join(texts, on="text_id")


def captions(parsed: dict[str, dict[str, Path]]) -> dict[str, str]:
    """Return the name and all captions of each file that a page shows at any date."""
    rows = pl.concat(pl.read_parquet(files["pictures"]) for files in parsed.values())
    texts: dict[str, str] = {}
    for file, caption, alt in rows.sort("file").select("file", "caption", "alt").iter_rows():
        texts[file] = f"{texts.get(file, file)} {caption or ''} {alt or ''}"
    return texts


def nearest(opened: pl.DataFrame, words: dict[str, str]) -> list[tuple[str, str, int]]:
    """Return text, file and rank of the three files whose words are most like each section's."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 (slow to import)

    model: Any = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    files = [*words]
    documents = model.fit_transform([*words.values()])
    texts = [f"{h} {t}" for h, t in opened.select("heading", "text").iter_rows()]
    scores = (model.transform(texts) @ documents.T).toarray()
    best = (-scores).argsort(axis=1, kind="stable")[:, :3]
    return [
        (text_id, files[number], rank)
        for text_id, numbers in zip(opened["text_id"], best.tolist(), strict=True)
        for rank, number in enumerate(numbers, 1)
    ]


def test_every_outcome_agrees_with_a_second_reading_of_the_markup(followed, raw) -> None:
    checked = Counter[str]()
    for row in followed.iter_rows(named=True):
        before, after = (
            raw[row[when]].get((row["page_id"], row["heading"])) for when in ("snapshot", "later")
        )
        if before is None or after is None:
            continue
        shows = re.search(re.escape(row["image_id"]).replace(r"\ ", "[ _]+"), after) is not None
        assert (row["outcome"] == "taken up") == shows, row
        if linked(after) and not shows:
            assert row["outcome"] == "other picture", row
        if row["outcome"] == "without picture":
            assert not linked(after), row
        checked[row["outcome"]] += 1
    assert checked["taken up"] > 0
    assert checked["other picture"] > 0
    assert checked["without picture"] > 500


def test_the_sections_that_got_a_picture_are_those_whose_markup_did(followed, raw) -> None:
    first, last = raw[DATES[0]], raw[DATES[-1]]
    asked = set(followed.select("page_id", "heading").iter_rows())
    gained = {
        key: linked(last[key])
        for key in asked & first.keys() & last.keys()
        if not linked(first[key]) and linked(last[key])
    }
    rows = followed.filter(later=DATES[-1])
    shown = rows.filter(pl.col("outcome").is_in(["taken up", "other picture"]))
    assert set(shown.select("page_id", "heading").iter_rows()) >= gained.keys()
    # As git blames it: editors put Kant's portrait beside what Schopenhauer says of him in 2020.
    assert gained[700, "Immanuel Kant"] == {"Immanuel Kant (painted portrait).jpg"}
    kant = rows.filter(heading="Immanuel Kant")
    assert (
        dict(kant.select("image_id", "outcome").iter_rows())["Immanuel Kant (painted portrait).jpg"]
        == "taken up"
    )


def test_a_section_that_was_renamed_is_followed(followed, raw) -> None:
    """Merkel's `Resignation plans` are her `Succession` from 2021 on, with a picture."""
    assert (72671, "Resignation plans") not in raw["20210122"]
    assert linked(raw["20210122"][72671, "Succession"])
    rows = followed.filter(page_id=72671, heading="Resignation plans", later="20210122")
    assert set(rows["outcome"]) <= {"taken up", "other picture"}
    assert rows.height > 0


def test_what_editors_chose_is_tabulated_with_the_time_that_they_took(followed) -> None:
    table = editors.outcomes(followed).filter(system="suggest")
    assert table["later"].to_list() == ["2021-01-22", "2021-09-17", "2021-12-13"]
    assert (table["illustrated"] > 0).all()
    assert (table["hit@3"] >= table["hit@1"]).all()
    assert editors.unit(followed) == "days"
    curve = editors.waiting(followed)["suggest"]
    # The days between 2020-06-11 and the later dates, by the calendar.
    assert set(curve["time"]) <= {225, 463, 550}
    assert curve["events"].sum() > 0
    assert editors.medians({"suggest": curve}, "days")["median"].to_list() == [None]
