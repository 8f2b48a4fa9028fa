"""What became of suggestions: sections found again, and what they show in later snapshots."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import store
from isotope.schemas.parse import OUTLINE, PICTURES
from isotope_suggest import later
from isotope_suggest.origins import Origins
from isotope_suggest.schemas import DELTA, FEED, SCORED, SECTION_ROLES, TAKEN_UP

COMMONS = "https://upload.wikimedia.org/wikipedia/commons/a/ab"
ORIGINS = Origins(languages={"en": "en"})
ASKED: dict[str, Any] = {"origins": ORIGINS, "most": 3, "maximum_usage": 2, "snapshot": "20200611"}


def outline(*headings: tuple[str, int, str], page: int = 1) -> pl.DataFrame:
    """Return the outline of a page; a section is its id, its level and its heading."""
    rows = [
        {"text_id": i, "page_id": page, "place": n, "level": level, "heading": heading}
        for n, (i, level, heading) in enumerate(headings)
    ]
    return pl.DataFrame(rows).with_columns(language=pl.lit("en"))


def identities(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, str]:
    return dict(later.identify(before, after).rows())


def test_a_section_is_the_one_of_the_same_path_even_where_its_heading_stands_twice() -> None:
    before = outline(("a", 0, "Introduction"), ("b", 1, "Life"), ("c", 2, "Work"), ("d", 1, "Work"))
    after = outline(
        *(("A", 0, "Introduction"), ("N", 1, "New"), ("D", 1, "Work")),
        *(("B", 1, "Life"), ("C", 2, "Work")),
    )
    assert identities(before, after) == {"a": "A", "b": "B", "c": "C", "d": "D"}


def test_a_section_that_moved_below_another_is_known_by_its_heading() -> None:
    before = outline(("a", 0, "Introduction"), ("b", 1, "Life"), ("c", 1, "Grave"))
    after = outline(("A", 0, "Introduction"), ("B", 1, "Life"), ("C", 2, "Grave"))
    assert identities(before, after)["c"] == "C"


def test_a_renamed_section_is_known_by_those_around_it_and_a_new_one_is_nobody() -> None:
    before = outline(("a", 0, "Introduction"), ("b", 1, "Youth"), ("c", 1, "Grave"))
    after = outline(
        ("A", 0, "Introduction"), ("B", 1, "Early life"), ("C", 1, "Grave"), ("N", 1, "N")
    )
    assert identities(before, after) == {"a": "A", "b": "B", "c": "C"}


def test_headings_that_a_page_has_twice_identify_nothing() -> None:
    before = outline(("a", 0, "Introduction"), ("b", 1, "Work"), ("c", 1, "Work"), ("d", 1, "End"))
    after = outline(("A", 0, "Introduction"), ("B", 1, "Work"), ("D", 1, "End"))
    # Of two sections one is left; which of them, nobody can say.
    assert identities(before, after) == {"a": "A", "d": "D"}


def test_pages_of_two_languages_with_one_number_are_two_pages() -> None:
    before = outline(("a", 0, "Introduction"))
    after = before.with_columns(language=pl.lit("de"), text_id=pl.lit("A"))
    assert identities(before, after) == {}


def write(rows: list[dict[str, Any]], schema: Any, path: Path) -> Path:
    empty = pl.DataFrame(schema.empty_table())
    frame = pl.DataFrame(rows, schema_overrides={c: empty.schema[c] for c in (rows or [{}])[0]})
    store.write(pl.concat([empty, frame], how="diagonal").to_arrow(), path, schema)
    return path


def picture(text_id: str, file: str, page: int = 1) -> dict[str, Any]:
    return {"page_id": page, "text_id": text_id, "file": file, "place": 0}


def write_outline(rows: pl.DataFrame, path: Path) -> Path:
    return write(rows.drop("language").to_dicts(), OUTLINE, path)


@pytest.fixture
def world(tmp_path: Path) -> dict[str, Path]:
    """A page of four open sections, each with a suggestion, of which three change later."""
    outlines = outline(
        *(("a", 0, "Introduction"), ("b", 1, "Life"), ("c", 1, "Grave")),
        *(("d", 1, "Books"), ("e", 1, "X")),
    )
    sections = outlines.with_columns(
        role=pl.Series(["open", "open", "open", "open", "judged"]), split=pl.lit("test")
    )
    urls = {"i1": f"{COMMONS}/A_tower.jpg", "i2": f"{COMMONS}/B.jpg"}
    pairs = [("a", "i1"), ("b", "i1"), ("c", "i1"), ("d", "i2"), ("e", "i2")]
    base = {"rank": 1, "probability": 0.95, "kind": "text"}
    scored = [
        {"text_id": t, "image_id": i, "system": s, **base, "score": 1.0}
        for t, i in pairs
        for s in ("suggest", "wikimedia")
    ]
    scored.append({**scored[0], "image_id": "i2", "rank": 4})
    feed = [{"text_id": t, "image_id": i, "image_url": urls[i], **base} for t, i in pairs[:2]]
    images = tmp_path / "images.parquet"
    pl.DataFrame({"image_id": [*urls], "image_url": [*urls.values()]}).write_parquet(images)
    return {
        "images": images,
        "outline": write_outline(outlines, tmp_path / "outline.parquet"),
        "sections": write(sections.to_dicts(), SECTION_ROLES, tmp_path / "sections.parquet"),
        "scored": write(scored, SCORED, tmp_path / "scored.parquet"),
        "feed": write(feed, FEED, tmp_path / "feed.parquet"),
    }


def snapshot(folder: Path, date: str, sections: pl.DataFrame, shown: list[Any]) -> later.Later:
    outline = write_outline(sections, folder / f"outline-{date}.parquet")
    placed = write(shown, PICTURES, folder / f"placed-{date}.parquet")
    return later.Later(outlines=[str(outline)], placed=[str(placed)], date=date)


def taken_up(world: dict[str, Path], after: dict[str, Any], out: Path) -> pl.DataFrame:
    places = {name: world[name] for name in ("scored", "feed", "sections", "images")}
    later.follow(**places, outlines=[world["outline"]], later=after, out=out, **ASKED)
    return pl.read_parquet(out)


def test_what_editors_did_with_each_suggestion_stands_beside_it(world, tmp_path) -> None:
    first = outline(
        ("A", 0, "Introduction"), ("B", 1, "Life"), ("C", 1, "Grave"), ("D", 1, "Books")
    )
    second = outline(("A2", 0, "Introduction"), ("B2", 1, "Life"), ("D2", 1, "Books"))
    after = {
        "one": snapshot(tmp_path, "20210122", first, [picture("B", "Z.jpg")]),
        # The name of a file may have underscores, and begin with a small letter.
        "two": snapshot(tmp_path, "20211213", second, [picture("A2", "a_tower.jpg")]),
    }
    rows = taken_up(world, after, tmp_path / "out.parquet")
    assert rows.to_arrow().schema.names == TAKEN_UP.names
    mine = rows.filter(system="suggest").sort("later", "text_id")
    assert mine.select("later", "text_id", "outcome").rows() == [
        ("20210122", "a", "without picture"),
        ("20210122", "b", "other picture"),
        ("20210122", "c", "without picture"),
        ("20210122", "d", "without picture"),
        ("20211213", "a", "taken up"),
        ("20211213", "b", "without picture"),
        ("20211213", "c", "section gone"),
        ("20211213", "d", "without picture"),
    ]
    # 2020-06-11 to 2021-01-22 and to 2021-12-13, by the calendar.
    assert sorted(set(rows["days"])) == [225, 550]
    assert rows["system"].value_counts().sort("system").rows() == [
        *(("feed", 4), ("suggest", 8), ("wikimedia", 8)),
    ]


def test_a_file_on_very_many_pages_illustrates_nothing(world, tmp_path) -> None:
    pages = [outline((f"p{n}", 0, "Introduction"), page=n) for n in range(2, 5)]
    sections = pl.concat([outline(("A", 0, "Introduction"), ("B", 1, "Life")), *pages])
    icon = [picture(f"p{n}", "Icon.png", n) for n in range(2, 5)]
    shown = [picture("B", "Icon.png"), *icon]
    after = {"one": snapshot(tmp_path, "20210122", sections, shown)}
    rows = taken_up(world, after, tmp_path / "out.parquet")
    assert rows.filter(text_id="b")["outcome"].unique().to_list() == ["without picture"]


def test_names_that_are_no_dates_leave_the_days_open(world, tmp_path) -> None:
    after = {"toy-later": snapshot(tmp_path, "toy-later", outline(("A", 0, "Introduction")), [])}
    rows = taken_up(world, after, tmp_path / "out.parquet")
    assert rows["days"].null_count() == rows.height > 0


def row(text_id: str, file: str, position: int, **more: Any) -> dict[str, Any]:
    url = f"{COMMONS}/{file}"
    base = {"wiki": "enwiki", "page_id": 1, "section_index": position, "rank": 1, "image_id": file}
    return {**base, "text_id": text_id, "image_url": url, "probability": 0.9, **more}


def test_a_delta_says_what_is_new_withdrawn_and_taken_up(tmp_path) -> None:
    names = ("Introduction", "Life", "Grave", "Books")
    before = outline(
        *((i, min(n, 1), h) for n, (i, h) in enumerate(zip("abcd", names, strict=True)))
    )
    after = outline(
        *((i, min(n, 1), h) for n, (i, h) in enumerate(zip("ABCD", names, strict=True)))
    )
    tables = {
        "before_feed": write(
            [row("a", "1.jpg", 0), row("b", "2.jpg", 1), row("c", "3.jpg", 2)], FEED, tmp_path / "b"
        ),
        # A suggestion that stays is no change, though section and probability have other figures.
        "feed": write(
            [row("A", "1.jpg", 0, probability=0.8), row("D", "4.jpg", 3)], FEED, tmp_path / "a"
        ),
        "before_sections": write(before.to_dicts(), SECTION_ROLES, tmp_path / "bs"),
        "sections": write(after.to_dicts(), SECTION_ROLES, tmp_path / "as"),
    }
    placed = [write([picture("B", "2.jpg")], PICTURES, tmp_path / "placed")]
    out = tmp_path / "delta.parquet"
    later.write_delta(**tables, placed=placed, out=out, origins=ORIGINS, maximum_usage=2)
    rows = pl.read_parquet(out)
    assert rows.to_arrow().schema.names == DELTA.names
    assert rows.select("change", "image_id").rows() == [
        *(("taken up", "2.jpg"), ("withdrawn", "3.jpg"), ("new", "4.jpg")),
    ]


def test_two_feeds_that_are_the_same_differ_in_nothing(tmp_path) -> None:
    feed = write([row("a", "1.jpg", 0)], FEED, tmp_path / "feed")
    sections = write(outline(("a", 0, "Introduction")).to_dicts(), SECTION_ROLES, tmp_path / "s")
    placed, out = [write([], PICTURES, tmp_path / "placed")], tmp_path / "delta.parquet"
    later.write_delta(
        feed, feed, sections, sections, placed=placed, out=out, origins=ORIGINS, maximum_usage=2
    )
    assert pl.read_parquet(out).is_empty()
