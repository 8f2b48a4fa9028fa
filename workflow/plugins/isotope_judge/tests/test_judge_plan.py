"""What judging adds to params and plan."""

from pathlib import Path
from typing import Any

import pytest

from isotope.core.errors import BadParams
from isotope.params import files
from isotope.params.renamed import moved
from isotope.params.resolve import resolve
from isotope.plan.plan import Plan
from isotope_judge.params import Judge
from isotope_judge.plan import Judges

ROOT = Path(__file__).parents[4]
TRACK = ROOT / "workflow/plugins/isotope_judge/params/track.yaml"
JUDGE: dict[str, Any] = {"depth": 3, "setting": "large", "split": "test", "measures": ["MAP"]}


def plan(**sections: Any) -> Plan:
    return Plan(resolve({**files.load(root=ROOT).spec(), **sections}), {})


def judges(demo_plan: Plan) -> Judges:
    added = demo_plan.extensions["judge"]
    assert isinstance(added, Judges)
    return added


def test_runs_are_pooled_where_the_params_ask_for_judging(tmp_path, monkeypatch):
    assert judges(plan()).collections == []
    demo_plan = plan(judge=JUDGE)
    added = judges(demo_plan)
    runs = added.pooled_runs("toy")
    assert len(runs) == 2 * len(demo_plan.systems.search.systems)
    assert all("/large/test/" in run for run in runs)
    assert added.entry.depth == 3
    monkeypatch.chdir(tmp_path)
    assert added.collections == demo_plan.params.build
    assert added.graded == []
    (tmp_path / "judgements/toy").mkdir(parents=True)
    (tmp_path / "judgements/toy/ann.csv").touch()
    assert added.graded == ["toy"]


def test_a_collection_ends_with_its_sheet_and_with_what_people_and_models_gave(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = "results/score/toy"
    assert judges(plan()).ends("toy") == []
    assert judges(plan(judge=JUDGE)).ends("toy") == [f"{folder}/sheet.csv"]
    by_model = plan(judge={**JUDGE, "models": {"m": {"kind": "vlm", "name": "a/b"}}})
    Path("judgements/toy").mkdir(parents=True)
    Path("judgements/toy/ann.csv").touch()
    ends = judges(by_model).ends("toy")
    assert {f"{folder}/graded.parquet", f"{folder}/estimates.parquet"} <= {*ends}
    shown = {*by_model.exhibits.of_subject("toy")}
    assert {"graded", "reuse", "tau", "agreement", "judged", "circularity"} <= shown


def test_judged_failures_become_tables_once_their_sheet_is_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo_plan = plan()
    assert "study_classes" not in demo_plan.exhibits.of_subject("toy")
    Path("judgements/toy/failures").mkdir(parents=True)
    Path("judgements/toy/failures/ann.csv").touch()
    assert demo_plan.exhibits.relations("toy")["studied"] == "results/tables/toy/studied.parquet"
    assert "study_classes" in demo_plan.exhibits.of_subject("toy")


def test_sorted_answers_are_shown_once_their_sheet_is_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mistakes = {"seed": 0, "examples": 3, "classes": ["correct", "other"]}
    asked = plan(explain={"mistakes": mistakes})
    assert judges(asked).tables("toy") == []
    Path("judgements/toy/mistakes").mkdir(parents=True)
    Path("judgements/toy/mistakes/ann.csv").touch()
    assert "results/tables/toy/mistakes_sorted.csv" in judges(asked).tables("toy")
    assert judges(plan()).tables("toy") == []


def test_a_track_is_judged_in_the_largest_pool_that_an_overlay_of_init_searches(tmp_path):
    def judged(*overlays: Path) -> tuple[str | None, str | None]:
        section = files.load(overlays, root=ROOT).section("judge", Judge)
        assert section
        return section.setting, section.split

    overlay = tmp_path / "own.yaml"
    assert judged(TRACK) == ("large", "test")
    overlay.write_text("search: {settings: [small], splits: [validation]}\n")
    assert judged(overlay, TRACK) == ("small", "validation")


def test_the_key_of_earlier_versions_is_read_and_the_new_one_said(tmp_path, capsys):
    old = tmp_path / "old.yaml"
    old.write_text("score: {judge: {depth: 4, measures: [MAP]}}\n")
    section = files.load([old], root=ROOT).section("judge", Judge)
    assert section
    assert (section.depth, section.setting) == (4, "large")
    assert "params score.judge is now `judge`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"measures": ["R10"]}, "judge.measures[0]: no measure 'R10'; did you mean 'R@10'?"),
        ({"setting": "base"}, "judge.setting: unknown name 'base'; known: large, small"),
        ({"split": "train"}, "judge.split: unknown name 'train'"),
    ],
)
def test_what_can_not_be_judged_is_refused_by_its_key(changed, message):
    search = files.load(root=ROOT).spec()["search"]
    with pytest.raises(BadParams) as refused:
        plan(search={**search, "settings": ["small", "large"]}, judge={**JUDGE, **changed})
    assert message in str(refused.value)


def test_models_under_the_old_key_stand_beside_those_under_the_new_one(capsys):
    """An overlay that says `score.judge` still changes only the keys that it has, at any depth."""
    plain = {"score": {"judge": {"models": {"one": {}}}}, "judge": {"models": {"two": {}}}}
    moved(plain)
    assert plain == {"score": {}, "judge": {"models": {"two": {}, "one": {}}}}
    assert capsys.readouterr().err == "params score.judge is now `judge`\n"
