"""A feed from candidates to JSON lines, on a small world whose truth is known."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from workflow.plugins.isotope_suggest.tests.suggest_world import OUTPUTS, World, word

from isotope.core.errors import IntegrityError
from isotope_suggest.feed import write_feed
from isotope_suggest.params import Publishing
from isotope_suggest.schemas import FEED, FILTERED, SCORED


def _feed(world: World, folder: Path, **options: Any) -> dict[str, Any]:
    paths = world.files(folder, **options)
    write_feed(**paths)
    read = {name: pl.read_parquet(paths[name]) for name in ("scored", "rejected", "feed")}
    calibration = json.loads(paths["calibration"].read_text("utf-8"))
    return {**read, "calibration": calibration, "paths": paths}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _feed(World(), tmp_path_factory.mktemp("feed"))


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_a_feed_is_for_open_sections_alone_in_the_order_of_their_pages(
    outputs: dict[str, Any], world: World
):
    feed = outputs["feed"]
    assert feed.schema == pl.DataFrame(FEED.empty_table()).schema
    assert {world.roles[world.text_ids.index(text_id)] for text_id in feed["text_id"]} == {"open"}
    assert feed.select("wiki", "page_id", "section_index", "rank").rows() == sorted(
        feed.select("wiki", "page_id", "section_index", "rank").rows()
    )
    assert len(feed) > 30


def test_nine_of_ten_suggestions_are_right_in_the_feed(outputs: dict[str, Any]):
    numbers = outputs["feed"].select(
        pl.col("text_id").str.slice(5).alias("text"), pl.col("image_id").str.slice(6).alias("image")
    )
    assert numbers.select(pl.col("text") == pl.col("image"))["text"].mean() > 0.9


def test_a_row_of_the_feed_says_what_a_wiki_needs(outputs: dict[str, Any]):
    n = 114
    row = outputs["feed"].row(by_predicate=pl.col("text_id") == f"text-{n:04}", named=True)
    assert row["reasons"][:2] == [
        "used by the German article",
        f"matches: {word(n)}s, {word(n + 900)}",
    ]
    assert row["reasons"][2].startswith("like the picture of *Page ")
    fields = {
        **{"wiki": "worldwiki", "page_id": n, "page_title": f"Page {word(n)}", "rank": 1},
        **{"section_index": 2, "section_title": "Looks", "image": f"{word(n).title()}.jpg"},
        "image_url": f"https://upload.x.org/{word(n).title()}.jpg",
        **{"kind": "several", "found_on": [f"de: Seite {word(n)} # Bau"], "snapshot": "20230101"},
        "credit": f"Painter {word(n)}, CC BY-SA 4.0, https://x.org/File:{word(n)}.jpg",
    }
    assert {name: row[name] for name in fields} == fields
    assert 0.5 < row["probability"] < 1


def test_json_lines_are_the_rows_of_the_parquet_file(outputs: dict[str, Any]):
    lines = outputs["paths"]["lines"].read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == outputs["feed"].to_dicts()
    assert all(list(json.loads(line)) == FEED.names for line in lines)


def test_every_system_ranks_the_judged_sections_and_two_rank_the_open_ones(
    outputs: dict[str, Any], world: World
):
    scored = outputs["scored"]
    assert scored.schema == pl.DataFrame(SCORED.empty_table()).schema
    systems = scored.group_by("text_id").agg(pl.col("system").unique())
    for text_id, names in systems.iter_rows():
        n = world.text_ids.index(text_id)
        aligned = {"wikimedia"} if n % 2 or n % 3 == 0 else set()
        ranking = {"bm25", "dense"} if world.roles[n] != "open" else set()
        assert set(names) >= {"suggest"} | ranking
        assert set(names) <= {"suggest", "wikimedia"} | ranking
        assert aligned <= set(names) or n % world.wrong == world.wrong - 1
    ranks = scored.group_by("text_id", "system", maintain_order=True).agg("rank")["rank"]
    assert all(
        section_ranks.to_list() == list(range(1, len(section_ranks) + 1)) for section_ranks in ranks
    )
    assert ranks.list.len().max() == 10
    probability = scored.group_by("system").agg(pl.col("probability").null_count() == pl.len())
    assert dict(probability.iter_rows()) == {
        **{"bm25": True, "dense": True, "suggest": False, "wikimedia": False}
    }


def test_validation_is_scored_by_weights_that_never_saw_its_page(tmp_path: Path):
    world = World(wrong=5)
    # The page shows nothing, so that another truth does not make its picture one of the page.
    placed = world.placed().filter(pl.col("page_id") != 0)
    before = _feed(world, tmp_path / "a", placed=placed)["scored"]
    # Another truth for the sections of one page; its own scores must not follow.
    other = World(wrong=5).files(tmp_path / "b", placed=placed)
    qrels = pl.read_parquet(other["qrels"])
    is_first = pl.col("text_id") == "text-0000"
    image = pl.when(is_first).then(pl.lit("image-0001")).otherwise("image_id")
    qrels.with_columns(image.alias("image_id")).write_parquet(other["qrels"])
    write_feed(**other)
    after = pl.read_parquet(other["scored"])

    def scores_of(rows: pl.DataFrame, text_id: str) -> dict[str, float]:
        section_rows = rows.filter((pl.col("text_id") == text_id) & (pl.col("system") == "suggest"))
        return dict(section_rows.select("image_id", "score").iter_rows())

    same = scores_of(before, "text-0000").keys() & scores_of(after, "text-0000").keys()
    assert same
    for image_id in same:
        assert scores_of(after, "text-0000")[image_id] == scores_of(before, "text-0000")[image_id]
    assert scores_of(after, "text-0090") != scores_of(before, "text-0090")


def test_a_picture_on_the_page_or_rejected_before_is_never_suggested(tmp_path: Path):
    world = World()
    opened = [n for n, role in enumerate(world.roles) if role == "open"]
    on_page, refused = opened[0], opened[1]
    infobox = world.placed().with_columns(
        page_id=pl.lit(on_page, pl.Int64),
        file=pl.lit(f"{word(on_page).title()}.jpg"),
        origin=pl.lit("infobox"),
    )[:1]
    world.rejections.append((world.text_ids[refused], world.image_ids[refused]))
    got = _feed(world, tmp_path, placed=pl.concat([world.placed(), infobox]))
    for n, reason in ((on_page, "on the page"), (refused, "rejected before")):
        pair = (pl.col("text_id") == world.text_ids[n]) & (pl.col("image_id") == world.image_ids[n])
        assert got["feed"].filter(pair).is_empty()
        assert got["scored"].filter(pair).is_empty()
        assert got["rejected"].filter(pair)["reason"].to_list() == [reason]
    assert got["rejected"].schema == pl.DataFrame(FILTERED.empty_table()).schema


@pytest.mark.parametrize("most", [1, 2])
def test_no_section_has_more_suggestions_than_allowed(tmp_path: Path, most: int):
    world = World(seed=1)
    world.spec = Publishing(most=most)
    feed = _feed(world, tmp_path)["feed"]
    assert feed.group_by("text_id").len()["len"].max() <= most


def test_second_suggestions_have_a_threshold_of_their_own_where_two_pictures_fit(tmp_path: Path):
    world = World(wrong=1000, pairs=True)
    world.spec = Publishing(most=2)
    got = _feed(world, tmp_path)
    first, second = got["calibration"]["ranks"]
    assert first["threshold"] is not None
    assert second["threshold"] >= first["threshold"]
    assert second["error"] == pytest.approx(0.02)
    feed = got["feed"]
    assert set(feed["rank"]) == {1, 2}
    ranks = feed.group_by("text_id", maintain_order=True).agg("rank")["rank"].to_list()
    assert all(section_ranks in ([1], [1, 2]) for section_ranks in ranks)
    for row in feed.iter_rows(named=True):
        n = world.text_ids.index(row["text_id"])
        assert row["image_id"] in (world.image_ids[n], world.image_ids[world.seconds[n]])


def test_two_runs_write_the_same_bytes(outputs: dict[str, Any], tmp_path: Path):
    again = _feed(World(), tmp_path)
    for name in OUTPUTS:
        assert again["paths"][name].read_bytes() == outputs["paths"][name].read_bytes(), name


def test_what_a_live_engine_reads_is_in_the_calibration(outputs: dict[str, Any]):
    calibration = outputs["calibration"]
    assert calibration["why"] == ""
    assert calibration["threshold"] == calibration["ranks"][0]["threshold"]
    assert calibration["reached"]["precision"] > 0.9
    assert calibration["sections"] == {
        **{"validation": 80, "with candidates": 80, "with a right candidate": 80}
    }
    shown = outputs["feed"].filter(pl.col("rank") == 1)
    scored = outputs["scored"].filter(pl.col("system") == "suggest")
    least = shown.join(scored, on=["text_id", "image_id"])["score"].min()
    assert least >= calibration["threshold"]


def test_open_sections_that_no_picture_fits_raise_the_threshold(tmp_path: Path):
    world = World({"validation": 80, "open": 80}, wrong=15)
    # Of every second open section the picture that fits is not in the collection.
    lacking = [world.text_ids[n] for n in range(80, 160, 2)]
    matches = pl.col("text_id").str.slice(5) == pl.col("image_id").str.slice(6)
    world.candidates = world.candidates.filter(~(matches & pl.col("text_id").is_in(lacking)))
    got = _feed(world, tmp_path)
    calibration, feed = got["calibration"], got["feed"]
    assert calibration["certified"] < calibration["threshold"]
    assert {step["threshold"] for step in calibration["raised"]} >= {calibration["threshold"]}
    assert feed["probability"].mean() >= 0.9
    assert feed["text_id"].is_in(lacking).mean() < 0.1
    assert len(feed) > 20


def _nothing(got: dict[str, Any]) -> str:
    """Check that no suggestion is a valid feed; return why there is none."""
    assert got["feed"].is_empty()
    assert got["feed"].schema == pl.DataFrame(FEED.empty_table()).schema
    assert got["paths"]["lines"].read_bytes() == b""
    assert got["calibration"]["threshold"] is None
    return got["calibration"]["why"]


def test_without_validation_sections_nothing_is_suggested(tmp_path: Path):
    got = _feed(World({"test": 5, "open": 5}), tmp_path)
    why = "the collection has no judged section in the split validation to learn from"
    assert _nothing(got) == why
    assert set(got["scored"]["system"]) == {"wikimedia", "bm25", "dense"}


def test_too_few_validation_sections_certify_nothing(tmp_path: Path):
    got = _feed(World({"validation": 12, "test": 5, "open": 5}, wrong=4), tmp_path)
    assert _nothing(got) == (
        "not certified: 12 sections of validation have a suggestion of rank 1 that scores enough, "
        "at least 24 without an error are needed"
    )
    assert "suggest" in set(got["scored"]["system"])


def test_candidates_that_are_all_wrong_teach_nothing(tmp_path: Path):
    world = World({"validation": 30, "open": 5})
    shifted = pl.col("image_id").is_in(world.image_ids[30:])
    world.candidates = world.candidates.filter(shifted)
    got = _feed(world, tmp_path)
    assert _nothing(got) == "no candidate of the 30 sections of validation is right"


def test_no_candidates_at_all_make_an_empty_feed(tmp_path: Path):
    world = World({"validation": 30, "open": 5})
    world.candidates = world.candidates.clear()
    got = _feed(world, tmp_path)
    why = "none of the 30 sections of validation has a candidate the filters leave"
    assert _nothing(got) == why
    assert got["scored"].is_empty()


def test_without_a_dense_system_text_alone_is_enough(tmp_path: Path):
    world = World()
    null = pl.lit(None)
    world.candidates = world.candidates.with_columns(dense=null, dense_rank=null)
    got = _feed(world, tmp_path, dense=False)
    assert len(got["feed"]) > 25
    reasons = {reason for row in got["feed"]["reasons"] for reason in row}
    assert not any(reason.startswith("like the picture") for reason in reasons)
    assert "dense" not in set(got["scored"]["system"])


def test_candidates_out_of_order_are_refused_and_nothing_is_written(tmp_path: Path):
    world = World({"validation": 30, "open": 5})
    world.candidates = world.candidates.reverse()
    with pytest.raises(IntegrityError, match="not sorted by text_id"):
        _feed(world, tmp_path)
    assert not [*(tmp_path / "out").glob("*")] if (tmp_path / "out").is_dir() else True


def test_a_failure_while_writing_leaves_what_was_there(
    outputs: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    paths = World().files(tmp_path)
    write_feed(**paths)
    before = {name: paths[name].read_bytes() for name in OUTPUTS}

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("isotope_suggest.feed.describe", fail)
    with pytest.raises(KeyboardInterrupt):
        write_feed(**paths)
    assert {name: paths[name].read_bytes() for name in OUTPUTS} == before
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        paths[name].name for name in OUTPUTS
    )


def test_blocks_of_candidates_make_no_difference(
    outputs: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("isotope_suggest.score._ROWS", 57)
    again = _feed(World(), tmp_path)
    for name in ("scored", "rejected", "feed"):
        assert again[name].equals(outputs[name]), name
    np.testing.assert_equal(again["calibration"], outputs["calibration"])
