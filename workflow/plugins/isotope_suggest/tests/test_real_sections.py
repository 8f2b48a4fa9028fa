"""Which sections of a real encyclopedia ought to have a picture, and of pages made for this."""

from pathlib import Path

import polars as pl
import pytest
from tests.snapshots import Page, write_export

from isotope.core import store
from isotope.parse.dump import parse_dump
from isotope.schemas.collect import QRELS
from isotope_suggest.measure.sections import quality
from isotope_suggest.origins import Origins
from isotope_suggest.sections import describe_sections

FIRST_ID = 90_000_000
PARAGRAPH = (
    "The [[tower {n}]] of [[Graz {n}]] was built of [[granite {n}]] in 1621, burned down twice and "
    "was rebuilt by the [[guild {n}]] of the town, whose [[arms {n}]] are on its gate.<ref>A</ref>"
    " A [[bell {n}]] of 1700 was melted in the war, and a new one hung in its place, which still "
    "rings at noon and at six, but for the [[week {n}]] before Easter."
)
PROSE = "\n\n".join(PARAGRAPH.format(n=n) for n in range(9))
EVENTS = "\n".join(f"* [[{day}. Januar]]: [[Person {day}]] geboren" for day in range(1, 31))
ROWS = "\n".join(f"|-\n| [[Turm {n}]] || [[Graz]] || {n} m" for n in range(40))
# None of these headings is in the encyclopedia, so what they are is not said by their names.
STRANGE = {
    "1931": f"Kalenderjahr.\n== Qwertz ==\n{EVENTS}\n== Uiop ==\n{EVENTS}",
    "Merkur": "'''Merkur''' steht für:\n" + "\n".join(f"* [[Merkur {n}]], X" for n in range(8)),
    "Liste der Türme": f'Türme.\n== Asdf ==\n{{| class="wikitable"\n! A !! B !! C\n{ROWS}\n|}}',
    "Turm": f"{PROSE}\n== Ghjkl ==\n{PROSE}\n== Yxcv ==\n<references />\n* [https://a.example B]",
}


@pytest.fixture(scope="module")
def sections(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Sections of the real pages of one topic, a fifth of them held out, and of strange ones."""
    folder = tmp_path_factory.mktemp("real")
    pages = [Page(FIRST_ID + n, 0, title, text) for n, (title, text) in enumerate(STRANGE.items())]
    dumps = sorted((shared / "snapshots/raycharles/dump").glob("*.bz2"))
    dumps.append(write_export(pages, folder / "strange.xml"))
    parse_dump(
        dumps,
        out=folder / "sections",
        links=folder / "links",
        outline=folder / "outline",
        rejected=folder / "rejected",
        infoboxes=folder / "infoboxes",
        pictures=folder / "pictures",
        counts=folder / "counts",
        workers=1,
    )
    _collect(folder)
    describe_sections(
        texts=folder / "texts.parquet",
        qrels=folder / "qrels.parquet",
        outlines=[folder / "outline"],
        placed=[folder / "pictures"],
        topics=[],
        out=folder / "described.parquet",
        model=folder / "ought.json",
        origins=Origins(languages={"en": "en"}),
        maximum_usage=100,
    )
    titles = pl.read_parquet(folder / "texts.parquet").select("text_id", "page_title")
    return pl.read_parquet(folder / "described.parquet").join(titles, on="text_id")


def _collect(folder: Path) -> None:
    """Judge the first picture of every fifth page, and of each strange one, in test."""
    parsed = pl.read_parquet(folder / "sections")
    held_out = (pl.col("page_id") % 5 == 0) | (pl.col("page_id") >= FIRST_ID)
    first = parsed.filter(held_out).group_by("page_id").agg(pl.col("text_id").min())["text_id"]
    split = pl.when(pl.col("text_id").is_in(first.implode())).then(pl.lit("test"))
    texts = parsed.with_columns(split=split.otherwise(pl.lit("other")))
    texts.write_parquet(folder / "texts.parquet")
    store.write_rows([], folder / "qrels.parquet", QRELS)


def chances_of(sections: pl.DataFrame, title: str) -> list[float]:
    return sections.filter(page_title=title).sort("place")["probability"].to_list()


def test_on_real_pages_held_out_the_model_knows_far_more_than_the_share_of_illustrated_ones(
    sections: pl.DataFrame,
):
    table = quality(sections.filter(pl.col("page_id") < FIRST_ID))
    assert table["split"].to_list() == ["train", "test"]
    assert (table["sections"] > 400).all()
    assert (table["auc"] > 0.8).all()
    assert (table["log_loss"] < 0.8 * table["base_log_loss"]).all()
    assert table["ece"][0] < 0.04
    assert table["ece"][1] < 0.08  # of a fifth of the sections


def test_references_and_what_is_like_them_stay_out_on_real_pages(sections: pl.DataFrame):
    names = ["References", "External links", "Notes", "Further reading", "Track listing"]
    ends = sections.filter(pl.col("heading").is_in(names), pl.col("page_id") < FIRST_ID)
    assert ends.height > 300
    assert (ends["probability"] < 0.5).sum() > 0.99 * ends.height


def test_years_lists_tables_and_unmarked_disambiguation_stay_out_whatever_their_headings(
    sections: pl.DataFrame,
):
    (lead, prose, sources), (senses,) = chances_of(sections, "Turm"), chances_of(sections, "Merkur")
    lists = [
        *chances_of(sections, "1931")[1:],
        *chances_of(sections, "Liste der Türme")[1:],
        sources,
    ]
    assert max(lists) < 0.15
    assert prose > 2 * max(lists)
    assert senses < 0.5 < lead


def test_years_and_lists_are_known_by_what_they_have(sections: pl.DataFrame):
    classes = dict(sections.select("page_title", "page_class").unique().iter_rows())
    assert [classes[title] for title in STRANGE] == ["year", "list", "list", "article"]
    assert classes["Abraham Lincoln"] == classes["Alaska"] == "article"
    assert classes["List of anthropologists"] == "list"
