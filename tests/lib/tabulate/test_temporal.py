"""What systems lose from one snapshot to the next, on cases that a person can reckon."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.entries import resolved
from tests.lib.tabulate.test_snapshot_diff import Rows, changes, image, pair, text

from isotope.core import runs
from isotope.core.errors import BadParams, EmptyTable
from isotope.report.content import read_exhibits
from isotope.score import score
from isotope.tabulate.looks import COLOURS
from isotope.tabulate.snapshot_diff import Shown, tabulate_temporal
from isotope.tabulate.strata import Resampling

HOW = Resampling(200, 0, 0.95)
MEASURES = ["MRR@10", "R@10"]
SHOWN = Shown(MEASURES, "small", "test", systems=[], looks={"s": 3})
LEAD = "projected-{:08d}-000"


def snapshot(pages: dict[int, str], words: str = "") -> Rows:
    """A page a picture: page id and what it shows."""
    return {
        "texts": [text(page, 0, "", words if page == 2 else "") for page in pages],
        "images": [image(name) for name in pages.values()],
        "qrels": [pair(page, 0, name) for page, name in pages.items()],
    }


# Page 2 is edited, page 3 has another picture, page 4 is gone, page 5 is new.
BEFORE = snapshot({1: "keeps", 2: "edited", 3: "old", 4: "goes"})
AFTER = snapshot({1: "keeps", 2: "edited", 3: "repaired", 5: "fresh"}, words="said otherwise")


class Case:
    """Two snapshots, and the runs of one system on the later one's queries."""

    def __init__(self, folder: Path, before: Rows, after: Rows) -> None:
        self.folder = folder
        changes(folder, before, after)
        names = ("changes", "identities", "before_scores", "after_scores")
        self.reads = {k: folder / f"{k}.parquet" for k in names}
        self.reads |= {f"{w}_qrels": folder / f"{w}-qrels" for w in ("before", "after")}

    def run(self, where: str, task: str, found: dict[str, list[str]], name: str = "s") -> Path:
        path = self.folder / where / "small/test" / task / f"{name}.parquet"
        hits = [(q, d, 1.0 / (n + 1)) for q, ds in found.items() for n, d in enumerate(ds)]
        schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        path.parent.mkdir(parents=True, exist_ok=True)
        runs.write_run(pl.DataFrame(hits, schema=schema, orient="row"), path)
        return path

    def tabulated(
        self,
        old: list[Path],
        new: list[Path],
        home: Sequence[Path] = (),
        how: Resampling = HOW,
    ) -> pl.DataFrame:
        for when, given in (("before", home), ("after", new)):
            score.score_collection(
                runs=given,
                qrels=self.reads[f"{when}_qrels"],
                scores=self.reads[f"{when}_scores"],
                collection=when,
                measures=MEASURES,
            )
        drops, figure = self.folder / "temporal.parquet", self.folder / "temporal.svg"
        tabulate_temporal(old, self.reads, SHOWN, how=how, drops=drops, figure=figure)
        return pl.read_parquet(drops)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Where the drops of `aged`, their table and drawing lie."""
    return tmp_path_factory.mktemp("aged")


@pytest.fixture(scope="module")
def aged(place) -> pl.DataFrame:
    """Built later the system is always right; built earlier it knows what was there before."""
    case = Case(place, BEFORE, AFTER)
    pages = {1: "keeps", 2: "edited", 3: "repaired", 5: "fresh"}
    right = {LEAD.format(page): [name] for page, name in pages.items()}
    other = {name: [LEAD.format(page)] for page, name in pages.items()}
    # Texts ask: the picture of page 3 and that of page 5 are unknown; others come in their place.
    old = right | {LEAD.format(3): ["old", "goes"], LEAD.format(5): ["goes"]}
    # Pictures ask: the section of page 2 stands behind that of page 4, which is gone.
    back = other | {"edited": [LEAD.format(4), LEAD.format(2)], "fresh": [LEAD.format(4)]}
    given = [case.run("old", "t2m", old), case.run("old", "m2t", back)]
    return case.tabulated(given, [case.run("new", "t2m", right), case.run("new", "m2t", other)])


def told(drops: pl.DataFrame, task: str, measure: str = "MRR@10") -> dict[str, tuple]:
    own = drops.filter(task=task, measure=measure)
    return {r[0]: r[1:] for r in own.select("stratum", "queries", "earlier", "later").rows()}


def test_queries_survive_are_edited_have_other_answers_or_are_new(aged):
    assert told(aged, "t2m") == {
        "all": (4, 0.5, 1.0),
        "surviving": (3, pytest.approx(2 / 3), 1.0),
        "unchanged": (1, 1.0, 1.0),
        "edited": (1, 1.0, 1.0),
        "pairs changed": (1, 0.0, 1.0),
        "new": (1, 0.0, 1.0),
    }


def test_a_document_that_is_gone_keeps_its_place_and_is_wrong(aged):
    found = told(aged, "m2t")
    assert found["unchanged"] == (2, 0.75, 1.0)
    assert found["new"] == (2, 0.5, 1.0)
    assert told(aged, "m2t", "R@10")["unchanged"] == (2, 1.0, 1.0)


def test_the_drop_is_relative_to_the_system_that_was_built_anew(aged):
    row = aged.filter(task="t2m", stratum="all", measure="MRR@10").to_dicts()[0]
    assert row["relative_drop"] == 0.5
    assert 0 <= row["low"] <= 0.5 <= row["high"] <= 1
    gone = aged.filter(task="t2m", stratum="new", measure="MRR@10").to_dicts()[0]
    assert (gone["relative_drop"], gone["low"], gone["high"]) == (1.0, None, None)


def test_the_interval_is_that_of_draws_in_which_both_sides_see_the_same_queries(aged):
    generator = np.random.default_rng(0)
    earlier, later = np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4)
    drawn = generator.integers(0, 4, (HOW.samples, 4))
    drops = 1 - earlier[drawn].mean(axis=1) / later[drawn].mean(axis=1)
    row = aged.filter(task="t2m", stratum="all", measure="MRR@10").to_dicts()[0]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(drops, [0.025, 0.975]).tolist())


def test_a_section_that_was_renumbered_is_judged_under_its_later_id(tmp_path):
    after = {
        "texts": [text(1, 0, ""), text(1, 1, "New", "never said"), text(1, 2, "Life")],
        "images": [image("i")],
        "qrels": [pair(1, 2, "i")],
    }
    before = {**after, "texts": [text(1, 0, ""), text(1, 1, "Life")], "qrels": [pair(1, 1, "i")]}
    case = Case(tmp_path, before, after)
    old = case.run("old", "m2t", {"i": ["projected-00000001-001", "projected-00000001-000"]})
    new = case.run("new", "m2t", {"i": ["projected-00000001-002"]})
    drops = case.tabulated([old], [new])
    assert set(drops["stratum"]) == {"all", "surviving", "unchanged"}
    assert set(drops["relative_drop"]) == {0.0}


def test_nothing_is_lost_between_a_snapshot_and_itself(tmp_path):
    case = Case(tmp_path, BEFORE, BEFORE)
    pages = {1: "keeps", 2: "edited", 3: "old", 4: "goes"}
    texts = {LEAD.format(page): ["keeps", name][page == 1 :] for page, name in pages.items()}
    images = {name: [LEAD.format(page)] for page, name in pages.items()}
    given = [
        [case.run(where, "t2m", texts), case.run(where, "m2t", images)] for where in ("old", "new")
    ]
    drops = case.tabulated(*given, how=Resampling(50, 0, 0.5))
    assert set(drops["stratum"]) == {"all", "surviving", "unchanged"}
    assert drops.select("relative_drop", "low", "high").unique().rows() == [(0.0, None, None)]


def test_beside_it_stands_what_the_earlier_build_reached_on_its_own_snapshot(tmp_path):
    """Page 3 is asked in both with other answers, page 4 only at home, page 5 only later."""
    case = Case(tmp_path, BEFORE, AFTER)
    found = {1: "keeps", 2: "edited", 3: "old"}
    home = case.run("home", "t2m", {LEAD.format(p): [name] for p, name in found.items()})
    back = case.run("home", "m2t", {"keeps": [LEAD.format(2), LEAD.format(1)]})
    both = [case.run(w, t, {}) for w in ("old", "new") for t in ("t2m", "m2t")]
    drops = case.tabulated(both[:2], both[2:], [home, back])
    means = {
        task: dict(drops.filter(task=task, measure="MRR@10").select("stratum", "home").rows())
        for task in ("t2m", "m2t")
    }
    assert means["t2m"] == {
        **{"all": 0.75, "surviving": 1.0, "unchanged": 1.0, "edited": 1.0, "pairs changed": 1.0},
        "new": None,
    }
    assert means["m2t"] == {"all": 0.125, "surviving": 0.25, "unchanged": 0.25, "new": None}


def test_there_is_no_drop_where_the_later_system_finds_nothing(tmp_path):
    case = Case(tmp_path, BEFORE, AFTER)
    right = {LEAD.format(1): ["keeps"]}
    drops = case.tabulated([case.run("old", "t2m", right)], [case.run("new", "t2m", {})])
    assert drops.filter(stratum="all", measure="R@10")["earlier"].to_list() == [0.25]
    assert drops["relative_drop"].null_count() == drops["high"].null_count() == drops.height
    assert "—" in (tmp_path / "temporal.md").read_text()


def test_a_system_that_was_not_built_anew_is_refused(tmp_path):
    case = Case(tmp_path, BEFORE, AFTER)
    old, new = (case.run(w, "t2m", {}, name) for w, name in (("old", "other"), ("new", "s")))
    with pytest.raises(EmptyTable, match="no scores of other"):
        case.tabulated([old], [new])
    assert not (tmp_path / "temporal.parquet").exists()


def test_the_table_and_the_drawing_tell_the_same_twice(aged, place):
    table = pl.read_csv(place / "temporal.csv")
    assert table["queries"].unique(maintain_order=True).to_list() == [
        "all", "surviving", "unchanged", "edited", "pairs changed", "new",
    ]  # fmt: skip
    row = table.row(0, named=True)
    assert (row["task"], row["measure"], row["drop_share"]) == ("t2m", "MRR@10", 0.5)
    drawn = (place / "temporal.svg").read_text()
    assert "pairs changed (1)" in drawn
    assert drawn.count("% of MRR@10 lost") == 1
    assert COLOURS[3] in drawn


def test_the_report_shows_it_for_each_earlier_snapshot_under_a_name_of_its_own(
    aged, place, tmp_path
):
    made = []
    for earlier in ("jan", "feb"):
        folder = tmp_path / "results/b/since" / earlier
        folder.mkdir(parents=True)
        for suffix in (".csv", ".svg"):
            made.append(folder / f"temporal{suffix}")
            made[-1].write_bytes((place / f"temporal{suffix}").read_bytes())
    told = {"measure": "MRR@10", "setting": "small", "split": "test", "level": "95%"}
    shown = read_exhibits(made, told)
    assert set(shown) == {"since/jan/temporal", "since/feb/temporal"}
    for earlier in ("jan", "feb"):
        one = shown[f"since/{earlier}/temporal"]
        assert f"built on {earlier}," in one.exhibit.caption
        assert f'id="since-{earlier}-temporal-' in (one.drawing or "")


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "random"},
        {"kind": "dense", "model": "dated"},
        {"kind": "wsum", "of": ["plain", "loose"], "tune": {"grid": {"step": 0.5}}},
        {"kind": "rrf", "of": ["plain", "loose"]},
    ],
)
def test_what_no_index_answers_is_refused_where_it_is_asked_for(entry):
    systems = {"plain": {"kind": "bm25"}, "loose": {"kind": "random"}, "asked": entry}
    with pytest.raises(BadParams, match=r"tabulate\.temporal.*can't be asked"):
        resolved(
            models={"dated": {"kind": "dates"}},
            systems=systems,
            search={"systems": ["tiny-clip", "plain", "asked"]},
            tabulate={"temporal": ["plain", "asked"], "comparisons": []},
        )
