"""The figures: the same bytes every time, nothing lost, readable without colour."""

import re
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from tests.drawings import touching

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.score import SCORES
from isotope.tabulate import figures, looks

SQL = sql.SQL / "tabulate/tables/corpus_size.sql"
SPLITS = ["train"] * 30 + ["validation"] * 5 + ["test"] * 5 + ["other"] * 2
SYSTEMS = ("bm25", "clip", "rrf", "wsum", "random", "vit", "siglip", "splade")
CHOSEN = {"split": "test", "measure": "MAP"}


def panel_of(lines):
    """A panel from 0 to 2 and 0 to 1 with the lines of systems, drawn by their looks."""
    panel = Figure(figsize=(5, 4)).add_subplot()
    panel.set(xlim=(0, 2), ylim=(0, 1))
    looks.draw_lines(panel, lines, looks.looks_of([*lines], {}))
    return panel


def unscaled(line):
    """The start and the pattern of a line's dash, in widths of the line."""
    start, pattern = line._unscaled_dash_pattern
    return start, tuple(pattern)


def offsets(panel):
    """How far the marks at a point stand beside it, in points."""
    moved = defaultdict(list)
    for line in panel.lines:
        if line.get_linestyle() == "None":
            for x, y in np.asarray(line.get_xydata()):
                shift = line.get_transform().transform((x, y)) - panel.transData.transform((x, y))
                moved[x, y].append(round(float(shift[0]) * 72 / panel.figure.dpi, 3))
    return moved


def line_colours(svg):
    """The colours of lines: paths within a panel that have no filling, grids left out."""
    found = re.findall(r'clip-path="[^"]*" style="fill: none;[^"]*stroke: (#\w{6})', svg)
    return {*found}


@pytest.fixture(scope="module")
def relations(tmp_path_factory):
    folder = tmp_path_factory.mktemp("relations")
    scores = [
        {"collection": "c", "setting": setting, "split": "test", "task": task, "system": system}
        | {"query_id": "q", "measure": "MAP", "value": 0.5}
        for setting in ("small", "base", "large")
        for task in ("t2m", "m2t")
        for system in SYSTEMS
    ]
    texts = [{"text_id": str(n), "split": s} for n, s in enumerate(SPLITS)]
    images = [{"image_id": str(n), "split": s} for n, s in enumerate(SPLITS)]
    store.write_rows(scores, folder / "scores.parquet", SCORES)
    store.write_rows(texts, folder / "texts.parquet", TEXTS)
    store.write_rows(images, folder / "images.parquet", IMAGES)
    return {n: folder / f"{n}.parquet" for n in ("scores", "texts", "images")}


@pytest.fixture(scope="module")
def drawn(relations, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    figures.corpus_size(SQL, relations, CHOSEN, folder / "corpus_size.svg")
    return (folder / "corpus_size.svg").read_text()


def test_the_same_numbers_give_the_same_bytes(relations, drawn, tmp_path):
    figures.corpus_size(SQL, relations, CHOSEN, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == drawn


def test_every_system_and_both_tasks_are_named(drawn):
    for name in ("bm25", "siglip", "splade", "Image suggestion (T2M)", "Image promotion (M2T)"):
        assert f">{name}<" in drawn
    for size in ("5", "40", "42"):
        assert drawn.count(f">{size}<") == 2


def test_the_ink_is_that_of_the_page_around_it(drawn):
    assert "currentColor" in drawn
    allowed = {c.lower() for c in (*looks.COLOURS, looks.PAPER)}
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn.lower())) <= allowed


def test_a_system_has_its_look_whoever_else_is_in_the_figure(relations, tmp_path):
    looks_of = {system: n for n, system in enumerate(SYSTEMS)}
    alone = pl.read_parquet(relations["scores"]).filter(pl.col("system") == "rrf")
    alone.write_parquet(tmp_path / "alone.parquet")
    chosen = {**CHOSEN, "looks": looks_of, "systems": ["wsum", "rrf"]}
    figures.corpus_size(
        SQL, {**relations, "scores": tmp_path / "alone.parquet"}, chosen, tmp_path / "a.svg"
    )
    figures.corpus_size(SQL, relations, chosen, tmp_path / "b.svg")
    one, every = ((tmp_path / f"{name}.svg").read_text() for name in "ab")
    colour = looks.COLOURS[SYSTEMS.index("rrf")]
    assert set(re.findall(r"#[0-9a-f]{6}\b", one)) == {colour, looks.PAPER}
    assert colour in every
    names = [name for name in re.findall(r">([\w]+)</text>", every) if name in SYSTEMS]
    assert names == ["wsum", "rrf", *sorted({*SYSTEMS} - {"wsum", "rrf"})]


def test_lines_that_coincide_take_turns_and_their_marks_stand_side_by_side():
    same = {"a": [(0, 0.5), (1, 0.4), (2, 0.4)], "b": [(0, 0.5), (1, 0.4), (2, 0.1)]}
    panel = panel_of({**same, "c": [(0, 0.9), (1, 0.9), (2, 0.9)]})
    lines = [line for line in panel.lines if line.get_linestyle() != "None"]
    paths = [[tuple(p) for p in np.asarray(line.get_xydata())] for line in lines]
    assert paths == [
        [(0, 0.5), (1, 0.4)], [(1, 0.4), (2, 0.4)],
        [(0, 0.5), (1, 0.4)], [(1, 0.4), (2, 0.1)],
        [(0, 0.9), (1, 0.9), (2, 0.9)],
    ]  # fmt: skip
    (start, (on, off)), (other, dash) = (unscaled(lines[n]) for n in (0, 2))
    assert dash == (on, off) == (on, on)
    assert abs(start - other) == on
    assert sorted(offsets(panel)[0, 0.5]) == [-3.1, 3.1]
    assert offsets(panel)[2, 0.1] == offsets(panel)[0, 0.9] == [0]


def test_marks_of_one_system_stay_where_they_are():
    panel = panel_of({"a": [(1, 0.5), (1.01, 0.5)], "b": [(1, 0.5), (1.01, 0.5)]})
    assert [sorted(at) for at in offsets(panel).values()] == [[-3.1, 3.1]] * 2


def test_lines_beside_each_other_keep_their_own_dashes():
    panel = panel_of({"a": [(0, 0.5), (1, 0.4)], "b": [(0, 0.5), (1, 0.3)]})
    lines = [line for line in panel.lines if line.get_linestyle() != "None"]
    assert lines[0].get_linestyle() == "-"
    assert unscaled(lines[1]) == (0, looks.look(1).dash)


def test_both_panels_have_one_scale_and_one_name_of_each_axis(drawn):
    assert drawn.count(">documents<") == drawn.count(">MAP<") == 1
    assert drawn.count(">0.4<") == 1
    rules = re.findall(r'd="M [\d.]+ ([\d.]+) \nL [\d.]+ \1 ?\n?" [^>]*stroke-opacity', drawn)
    assert len(rules) == 2 * len(set(rules)) >= 6


def test_a_system_with_one_point_is_a_mark_without_a_line(relations, tmp_path):
    held = pl.read_parquet(relations["scores"])
    some = held.filter((pl.col("system") != "rrf") | (pl.col("setting") == "base"))
    some.write_parquet(tmp_path / "some.parquet")
    chosen = {**CHOSEN, "looks": {system: n for n, system in enumerate(SYSTEMS)}}
    files = {**relations, "scores": tmp_path / "some.parquet"}
    figures.corpus_size(SQL, files, chosen, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert line_colours(drawn) == {*looks.COLOURS} - {looks.COLOURS[SYSTEMS.index("rrf")]}
    assert looks.COLOURS[SYSTEMS.index("rrf")] in drawn


def test_of_one_pool_the_systems_stand_side_by_side_without_lines(relations, tmp_path):
    held = pl.read_parquet(relations["scores"]).filter(pl.col("setting") == "small")
    held.write_parquet(tmp_path / "one.parquet")
    files = {**relations, "scores": tmp_path / "one.parquet"}
    figures.corpus_size(SQL, files, CHOSEN, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert line_colours(drawn) == set()
    places = re.findall(r'<use [^>]*x="([\d.]+)" y="[\d.]+" style="fill: #', drawn)
    # Two panels and the legend, whose columns are fewer.
    assert len(set(places)) >= 2 * len(SYSTEMS)


@pytest.mark.parametrize("sizes", [(40, 42), (1000, 1050, 1100, 11_000_000), (87, 573, 610)])
def test_labels_of_sizes_do_not_touch_in_a_browser(sizes, tmp_path, chromium):
    rows = [
        {"task": task, "system": "s", "queries": 9, "split": "test", "measure": "MAP"}
        | {"documents": n, "value": 0.5, "exact": 1.0}
        for task in ("t2m", "m2t")
        for n in sizes
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "subsets.parquet")
    query, files = SQL.with_name("subsets_drawn.sql"), {"subsets": tmp_path / "subsets.parquet"}
    figures.subsets(query, files, CHOSEN, tmp_path / "a.svg")
    page = chromium.open((tmp_path / "a.svg").as_uri())
    assert touching(page) == [[]]
    page.close()
    drawn = (tmp_path / "a.svg").read_text()
    assert [drawn.count(f">{n:,}<") for n in sizes] == [2] * len(sizes)


def test_a_figure_of_nothing_is_refused(relations, tmp_path):
    with pytest.raises(EmptyTable, match="no scores"):
        figures.corpus_size(SQL, relations, CHOSEN | {"split": "train"}, tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()


def test_the_learning_curve_shows_loss_and_both_tasks(tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n1,10,2.5,0.1,0.2\n2,20,1.5,0.3,0.4\n")
    figures.learning_curve(curve, tmp_path / "a.svg")
    figures.learning_curve(curve, tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    for words in ("Training loss", "MRR@10 on validation", "Image promotion (M2T)"):
        assert words in text


def test_the_curve_of_early_stopping_shows_the_accuracy_of_each_group_that_has_pairs(tmp_path):
    """As the right half of Figure 4 of Hu et al. (OVEN, ICCV 2023)."""
    columns = "entity_seen,entity_unseen,query_seen,query_unseen,harmonic_mean"
    rows = "1,10,2.5,0.1,0.2,nan,nan,0.13\n1,20,1.5,0.3,0.4,nan,nan,0.34\n"
    (tmp_path / "accuracies.csv").write_text(f"epoch,step,loss,{columns}\n{rows}")
    figures.learning_curve(tmp_path / "accuracies.csv", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for words in ("Accuracy on validation, %", "entity seen", "entity unseen", "harmonic mean"):
        assert words in text
    assert "query seen" not in text


def test_a_curve_without_points_is_refused(tmp_path):
    (tmp_path / "curve.csv").write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n")
    with pytest.raises(EmptyTable, match="no points"):
        figures.learning_curve(tmp_path / "curve.csv", tmp_path / "x.svg")


def test_a_note_in_place_of_a_figure_is_a_line_of_text(tmp_path):
    figures.write_note("no size has an exact value", tmp_path / "note.svg")
    drawn = (tmp_path / "note.svg").read_text()
    assert ">no size has an exact value<" in drawn
    width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)[0])
    assert height < width / 10


def test_words_that_touch_are_found(chromium):
    words = '<text x="9" y="20">one</text><text x="12" y="24">two</text><text y="60">three</text>'
    page = chromium.open("about:blank")
    page.set_content(f"<svg>{words}</svg>")
    assert touching(page) == [[("one", "two")]]
    page.close()
