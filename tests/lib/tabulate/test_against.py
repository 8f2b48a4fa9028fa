"""Two collections against each other."""

import polars as pl
import pytest

from isotope.core import store
from isotope.core.errors import EmptyTable
from isotope.schemas.score import SCORES
from isotope.tabulate.exhibits import ExhibitRecipe, write_exhibit

CHOSEN = {
    "here": "atomic", "there": "coco", "measure": "R@10", "other": "Success@10",
    "setting": "small", "split": "test", "other_split": "test",
}  # fmt: skip


def against(scores, params, *, table, figure):
    """Write the exhibit `against` from the scores of two collections."""
    recipe = ExhibitRecipe({"scores": scores}, params, "against", draws="against")
    write_exhibit(recipe, table, figure)


@pytest.fixture
def scores(tmp_path):
    values = {
        "atomic": {"bm25": [0.0, 0.5], "clip": [0.5, 0.5], "blip": [1.0, 0.5], "only": [1.0, 1.0]},
        "coco": {"bm25": [0.0, 0.0], "clip": [0.0, 1.0], "blip": [1.0, 1.0]},
    }
    paths = []
    for collection, systems in values.items():
        rows = [
            {"collection": collection, "setting": "small", "split": "test", "task": "t2m"}
            | {"system": system, "query_id": f"q{n}", "measure": measure, "value": value}
            for system, of in systems.items()
            for n, value in enumerate(of)
            for measure in ("R@10", "Success@10")
        ]
        paths.append(tmp_path / f"{collection}.parquet")
        store.write_rows(rows, paths[-1], SCORES)
    return paths


def test_a_system_of_both_collections_is_a_point(scores, tmp_path):
    against(scores, CHOSEN, table=tmp_path / "against", figure=tmp_path / "a.svg")
    lines = (tmp_path / "against.csv").read_text().splitlines()
    assert lines == [
        "task,system,here,there", "t2m,blip,0.75,1.0", "t2m,bm25,0.25,0.0", "t2m,clip,0.5,0.5",
    ]  # fmt: skip


def test_the_drawing_names_both_and_tells_how_alike_the_rankings_are(scores, tmp_path):
    against(scores, CHOSEN, table=tmp_path / "against", figure=tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert "R@10 on atomic" in drawn
    assert "Success@10 on coco" in drawn
    assert "τ = 1.00" in drawn
    against(scores, CHOSEN, table=tmp_path / "against", figure=tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == drawn


def test_a_collection_agrees_with_itself(scores, tmp_path):
    chosen = CHOSEN | {"there": "atomic", "other": "R@10", "here": "atomic"}
    against(scores[:1], chosen, table=tmp_path / "t", figure=tmp_path / "a.svg")
    assert "τ = 1.00" in (tmp_path / "a.svg").read_text()


def test_collections_without_a_common_system_are_refused(scores, tmp_path):
    with pytest.raises(EmptyTable, match="no system scored on both"):
        against(
            scores, CHOSEN | {"there": "flickr"}, table=tmp_path / "t", figure=tmp_path / "a.svg"
        )
    assert not list(tmp_path.glob("t.*"))


def test_each_collection_may_have_a_split_of_its_own(scores, tmp_path):
    """AToMiC, appendix A: R@10 on its validation set against Success@10 on COCO's test set."""
    held = pl.read_parquet(scores[0])
    store.write(held.with_columns(split=pl.lit("validation")).to_arrow(), scores[0], SCORES)
    chosen = CHOSEN | {"split": "validation"}
    against(scores, chosen, table=tmp_path / "against", figure=tmp_path / "a.svg")
    lines = (tmp_path / "against.csv").read_text().splitlines()
    assert lines[1:] == ["t2m,blip,0.75,1.0", "t2m,bm25,0.25,0.0", "t2m,clip,0.5,0.5"]
    drawn = (tmp_path / "a.svg").read_text()
    assert "R@10 on atomic, validation" in drawn
    assert "Success@10 on coco, test" in drawn
    with pytest.raises(EmptyTable):
        against(scores, CHOSEN, table=tmp_path / "t", figure=tmp_path / "b.svg")
