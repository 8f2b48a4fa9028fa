"""A snapshot's collection made in parts is the one made in one go, byte for byte."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wikipedia import Row, association, section, written

from isotope.collect import build
from isotope.collect import build as collect_parts
from isotope.core import sql
from isotope.core.errors import IntegrityError
from isotope.schemas.collect import EXCHANGED, GATHERED, IMAGE_PIECES, TEXT_PIECES

ENGLISH = {"language": "en"}
SPLITS = ("train", "validation", "test")
# Every page has the same words twice, and the last two pages one title and all words.
WORDS = ("lead", "same", "same")
SECTIONS = [
    section(page, n, "Plates" if n else "Introduction", f"{words} {min(page, 7)}")
    | {"page_title": f"P{min(page, 7)}", "context_page_description": f"lead {min(page, 7)}"}
    for page in range(1, 9)
    for n, words in enumerate(WORDS)
]
STRAY = "projected-99999999-000"
# A row: the text's number, its section (none, or one that is not there), image and split.
Told = tuple[int, int | None, str, str]
SURVIVOR: Told = (99, 0, "sure", "train")
ROWS: list[Told] = [
    # Texts of the same words, on one page and on two, with one picture.
    *[(1, 1, "a", "train"), (2, 2, "a", "train"), (3, 19, "b", "test"), (4, 22, "b", "test")],
    # A text in two splits, and an image in two, on two pages.
    *[(5, 4, "c", "train"), (5, 4, "d", "test"), (6, 7, "e", "train"), (7, 10, "e", "validation")],
    # Texts without a section, or with one that is not there.
    *[
        (8, None, "f", "test"),
        (9, None, "f", "test"),
        (10, 24, "g", "train"),
        (11, 24, "g", "train"),
    ],
    *[(12, 12, "dead", "train"), (13, 13, "h", "validation"), (14, 13, "i", "validation")],
    *[(15, 16, "j", "test"), (15, 16, "j", "test"), (16, 16, "k", "test")],
]


def world(folder: Path, told: Sequence[Told], dead: set[str]) -> dict[str, Path]:
    """A source of such rows, each image with captions in three languages, some of them alike."""
    folder.mkdir()
    rows: list[Row] = []
    for n, (text, _, image, split) in enumerate([*told, SURVIVOR]):
        rows.append(association(n, image, split, caption_reference_description=f"ball {text}"))
        for place, (language, words) in enumerate((("fr", "balle"), ("de", f"Ball {n % 3}"))):
            said = {"language": language, "caption_alt_text_description": words}
            rows.append(association(1000 + 10 * n + place, image, split, **said))
    rows.append(association(9999, "only-french", "test", language="fr"))
    ids = [s["text_id"] for s in SECTIONS] + [STRAY]
    about = {
        n: (f"s{text}", None if found is None else ids[found])
        for n, (text, found, *_) in enumerate([*told, SURVIVOR])
    }
    return written(folder, SECTIONS, rows, about, dead)


def whole(relations: dict[str, Path], out: Path) -> dict[str, bytes]:
    build.collect(collect_parts.KIND, relations, ENGLISH, out)
    return {name: (out / f"{name}.parquet").read_bytes() for name in build.SCHEMAS}


def gathered(relations: dict[str, Path], shards: int, root: Path) -> dict[str, bytes]:
    """What the rules do one after another."""

    def pieces(names: Sequence[str]) -> dict[str, list[Path]]:
        return {t: [root / f"{n}/{t}.parquet" for n in range(shards)] for t in names}

    for half, names in (("texts", TEXT_PIECES), ("images", IMAGE_PIECES)):
        for n in range(shards):
            out = {t: root / f"{n}/{t}.parquet" for t in names}
            if half == "texts":
                known = {k: v for k, v in relations.items() if k != "urls"}
                collect_parts.collect_texts(known, "en", (n, shards), out)
            else:
                known = {k: relations[k] for k in ("associations", "urls", "ledger")}
                known |= pieces(EXCHANGED)
                collect_parts.collect_images(known, (n, shards), out)
    outputs = {t: root / f"out/{t}.parquet" for t in build.SCHEMAS}
    collect_parts.collect_gather(pieces(GATHERED), outputs)
    assert {p.name for p in (root / "0").iterdir()} == {
        f"{t}.parquet" for t in (*TEXT_PIECES, *IMAGE_PIECES)
    }
    return {name: (root / "out" / f"{name}.parquet").read_bytes() for name in build.SCHEMAS}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Everything that may happen."""
    return world(tmp_path_factory.mktemp("source") / "tables", ROWS, {"dead"})


@pytest.fixture(scope="module")
def uncut(source: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uncut")
    whole(source, out)
    return out


def test_the_source_has_something_for_every_filter(uncut):
    """So that what follows could fail."""
    filters = pl.read_parquet(uncut / "filters.parquet")
    dropped = dict(filters.group_by("step").agg(pl.col("dropped").sum()).rows())
    assert dropped == {"projected": 3, "alive": 1, "canonical": 3, "one_split": 4}
    assert pl.read_parquet(uncut / "qrels.parquet")["split"].n_unique() == len(SPLITS)
    assert pl.read_parquet(uncut / "images.parquet")["language"].list.len().max() == 5


@pytest.mark.parametrize("shards", [1, 3, pytest.param(16, marks=pytest.mark.long)])
def test_tables_do_not_tell_the_number_of_shards(shards, source, uncut, tmp_path):
    found = gathered(source, shards, tmp_path)
    for name, table in found.items():
        assert table == (uncut / f"{name}.parquet").read_bytes(), name
    # Filters look at whole pages and whole images: no row of theirs is in two parts.
    for name, key in (("pages", "text_id"), ("images", "image_id")):
        parts = [pl.read_parquet(tmp_path / f"{n}/{name}.parquet") for n in range(shards)]
        ids = pl.concat(parts)[key]
        assert ids.is_unique().all()
        assert any(part.is_empty() for part in parts) == (shards == 16)


@settings(max_examples=3, deadline=None)
@given(
    told=st.lists(
        st.tuples(
            st.integers(0, 5),
            st.sampled_from(["i0", "i1", "i2", "i3"]),
            st.sampled_from(SPLITS),
        ),
        max_size=12,
    ),
    homes=st.lists(st.none() | st.integers(18, 24), min_size=6, max_size=6),
    shards=st.integers(2, 3),
)
def test_any_source_gives_the_same_in_parts(told, homes, shards, tmp_path_factory):
    """Texts crowd on two pages of one title, so that ids, splits and images are often shared."""
    place = tmp_path_factory.mktemp("drawn")
    rows = [(text, homes[text], image, split) for text, image, split in told]
    relations = world(place / "tables", rows, {"i3"})
    assert gathered(relations, shards, place / "parts") == whole(relations, place / "whole")


def test_every_query_is_answered_once_and_in_order():
    steps = [sql.table_of(p) for p in sorted(collect_parts.KIND.glob("[0-9]*_*.sql"))]
    stages = (collect_parts.BY_TEXT, collect_parts.BY_IMAGE, collect_parts.BY_GATHER)
    assert sorted(step for stage in stages for step in stage) == sorted(steps)
    for stage in stages:
        assert list(stage) == [step for step in steps if step in stage]


def test_a_broken_promise_leaves_the_old_tables_alone(tmp_path, source, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/texts.parquet").write_text("the old table")

    def broken(_):
        raise IntegrityError("every text appears once", "not so", "see the query")

    monkeypatch.setattr(collect_parts, "run_checks", broken)
    with pytest.raises(IntegrityError):
        gathered(source, 1, tmp_path)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["texts.parquet"]
    assert (tmp_path / "out/texts.parquet").read_text() == "the old table"
