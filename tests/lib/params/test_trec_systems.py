"""A TREC file at its place becomes a system; one that breaks a promise is refused by its line."""

import bz2
import gzip
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.cli import commands
from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingFile, TruncatedFile
from isotope.core.runs import ranked, read_run, read_trec_qrels, write_run
from isotope.params import files
from isotope.params.resolve import ExternalRun, discover, published_runs, with_external
from isotope.params.root import Params, parse
from isotope.schemas.collect import IMAGES, QRELS
from isotope.search.systems import checked, take_run

PARAMS: dict[str, Any] = {
    "build": ["toy"],
    "systems": {"bm25": {"kind": "bm25"}},
    "search": {"systems": ["bm25"], "settings": ["small"], "splits": ["test"], "tasks": ["t2m"]},
}
ROOT = Path(__file__).parents[3]
HERE = ExternalRun("toy", "small", "test", "t2m", "mine")


def parsed(plain: dict[str, Any]) -> Params:
    """The default params with these entries in their place."""
    whole = files.load(root=ROOT).spec()
    own = {k: {**whole[k], **plain.get(k, {})} for k in ("search", "tabulate")}
    return parse({**whole, **plain, **own})


def put(folder: Path, name: str, text: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_run_is_found_by_its_place_plain_or_gzipped(tmp_path):
    plain = put(tmp_path, "toy/small/test/t2m/mine.trec")
    packed = put(tmp_path, "toy/small/test/m2t/v1.2.trec.gz")
    put(tmp_path, "README.md")
    other = ExternalRun("toy", "small", "test", "m2t", "v1.2")
    assert discover(tmp_path) == {other: packed, HERE: plain}
    assert discover(tmp_path / "absent") == {}


@pytest.mark.parametrize(
    "name",
    [
        "mine.trec",
        "toy/small/test/t2m/more/mine.trec",
        "toy/small/test/t2m/.trec",
        "toy/tiny/test/t2m/mine.trec",
        "toy/small/dev/t2m/mine.trec",
        "toy/small/test/t2i/mine.trec",
    ],
)
def test_a_run_at_no_place_is_named_with_the_places_that_there_are(tmp_path, name):
    path = put(tmp_path, name)
    places = "<small|base|large>/<train|validation|test>/<t2m|m2t>/"
    with pytest.raises(BadParams, match=re.escape(places)) as error:
        discover(tmp_path)
    assert error.value.where == str(path)


@pytest.mark.parametrize("ending", ["trec", "run", "txt", "TREC", "Run.gz", "trec.bz2", "txt.GZ"])
def test_a_run_is_found_by_any_of_the_usual_endings(tmp_path, ending):
    path = put(tmp_path, f"toy/small/test/t2m/v1.2.{ending}")
    assert discover(tmp_path) == {HERE._replace(system="v1.2"): path}


@pytest.mark.parametrize("name", ["mine.tsv", "mine.json", "mine", "mine.trec.zip", "mine.xlsx"])
def test_a_file_among_runs_that_is_none_is_refused_by_its_name(tmp_path, name):
    path = put(tmp_path, f"toy/small/test/t2m/{name}")
    with pytest.raises(BadParams, match="no run by its place and name") as error:
        discover(tmp_path)
    assert error.value.where == str(path)


def test_hidden_files_readmes_and_metadata_may_lie_among_runs(tmp_path):
    for name in (".gitkeep", "toy/README.md", "readme.txt", ".DS_Store", ".git/index"):
        put(tmp_path, name)
    put(tmp_path, "toy/small/test/t2m/mine.ir-metadata.yaml")
    assert discover(tmp_path) == {}


@pytest.mark.parametrize(("ending", "pack"), [("bz2", bz2.compress), ("gz", gzip.compress)])
def test_a_packed_run_is_read_and_a_damaged_one_is_named(tmp_path, ending, pack):
    path = tmp_path / f"mine.run.{ending}"
    path.write_bytes(pack(GOOD.encode()))
    assert check(path).height == 3
    path.write_bytes(pack(GOOD.encode() * 100)[:-9])
    with pytest.raises(TruncatedFile, match=r"mine\.run"):
        check(path)


def test_a_run_may_answer_queries_that_are_not_judged_and_the_log_counts_them(tmp_path, caplog):
    others = "q8 Q0 z 1 2 mine\nq9 Q0 a 1 3 mine\n"
    with caplog.at_level("INFO"):
        found = check(put(tmp_path, "mine.trec", GOOD + others))
    assert found.equals(check(put(tmp_path, "mine.trec", GOOD)))
    assert "2 hits of 2 queries not judged left out" in caplog.text


def test_a_run_that_answers_no_judged_query_is_an_error(tmp_path):
    with pytest.raises(EmptyTable, match="none of its 2 queries is judged, such as 'q8'"):
        check(put(tmp_path, "mine.trec", "q8 Q0 a 1 2 mine\nq9 Q0 a 1 3 mine\n"))


def test_a_run_may_not_be_there_both_plain_and_gzipped(tmp_path):
    put(tmp_path, "toy/small/test/t2m/mine.trec")
    put(tmp_path, "toy/small/test/t2m/mine.trec.gz")
    with pytest.raises(BadParams, match="the same run"):
        discover(tmp_path)


def test_an_external_run_becomes_a_system_after_the_others():
    params = with_external(parsed(PARAMS), [HERE, HERE._replace(system="alpha")])
    assert params.search.systems == ["bm25", "alpha", "mine"]
    assert params.systems["mine"].spec() == {"kind": "trec"}
    assert PARAMS["search"]["systems"] == ["bm25"]


@pytest.mark.parametrize("field", ["collection", "setting", "split", "task"])
def test_a_run_outside_of_the_grid_is_left_alone(field):
    elsewhere = {"collection": "enwiki", "setting": "large", "split": "train", "task": "m2t"}
    assert with_external(parsed(PARAMS), [HERE._replace(**{field: elsewhere[field]})]) == parsed(
        PARAMS
    )


def test_a_run_that_bears_the_name_of_our_own_system_is_an_error():
    with pytest.raises(BadParams, match="kind bm25"):
        with_external(parsed(PARAMS), [HERE._replace(system="bm25")])


def test_a_named_external_system_keeps_its_place_and_must_have_a_run():
    named = {**PARAMS, "systems": {"mine": {"kind": "trec"}, **PARAMS["systems"]}}
    named["search"] = {**PARAMS["search"], "systems": ["mine", "bm25"]}
    assert with_external(parsed(named), [HERE]).search.systems == ["mine", "bm25"]
    with pytest.raises(MissingFile, match="mine"):
        with_external(parsed(named), [])


def test_a_fusion_needs_an_external_run_in_every_cell():
    both = {"both": {"kind": "rrf", "of": ["bm25", "mine"]}}
    fused = {**PARAMS, "systems": {**PARAMS["systems"], **both}}
    assert with_external(parsed(fused), [HERE]).systems["both"].values()["of"] == ["bm25", "mine"]
    fused["search"] = {**PARAMS["search"], "splits": ["validation", "test"]}
    with pytest.raises(BadParams, match="1 of 2 cells"):
        with_external(parsed(fused), [HERE])


def test_a_report_about_an_external_system_needs_its_run_in_the_first_cell():
    grid = {**PARAMS["search"], "splits": ["validation", "test"]}
    about = {**PARAMS, "search": grid, "tabulate": {"system": "mine"}}
    first = HERE._replace(split="validation")
    assert with_external(parsed(about), [HERE, first]).search.systems == ["bm25", "mine"]
    with pytest.raises(BadParams, match="no run in toy/small/validation") as error:
        with_external(parsed(about), [HERE])
    assert error.value.where == "params tabulate.system"
    with pytest.raises(BadParams, match="no run in again/small/validation"):
        with_external(parsed({**about, "build": ["toy", "again"]}), [HERE, first])


GOOD = "q1 Q0 b 1 2.0 mine\nq1 Q0 a 2 2.0 mine\nq2 Q0 a 1 0.5 mine\n"


def check(path: Path) -> pl.DataFrame:
    return checked(path, queries=["q1", "q2"], documents=["a", "b", "c"], depth=2)


def test_a_good_run_is_taken_as_it_is_whatever_the_order_of_its_lines(tmp_path):
    lines = GOOD.splitlines(keepends=True)
    for text in (GOOD, "".join(reversed(lines))):
        found = check(put(tmp_path, "mine.trec", text))
        assert sorted(found.rows()) == [("q1", "a", 2.0), ("q1", "b", 2.0), ("q2", "a", 0.5)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("q2 Q0 b 2 0.4 yours", "tag 'mine'"),
        ("q2 Q0 z 2 0.4 mine", "candidate pool"),
        ("q1 Q0 c 3 0.4 mine", "at most 2 hits"),
        ("q2 Q0 a 2 0.4 mine", "each document once"),
        ("q2 Q0 b 2 0.6 mine", "ranks that follow the scores"),
        ("q2 Q0 b 1 0.4 mine", "ranks that follow the scores"),
        ("q2 Q0 b 2", "query Q0 document"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(tmp_path, line, expected):
    path = put(tmp_path, "mine.trec", f"{GOOD}{line}\n")
    with pytest.raises(CorruptFile, match=expected) as error:
        check(path)
    assert error.value.where == f"{path}:4"
    assert repr(line) in error.value.problem


@pytest.mark.parametrize("tag", ["mine", "anserini", "Run-3:final_v2"])
def test_a_runs_own_tag_is_accepted_whatever_the_file_is_called(project, tag):
    path = put(project, "theirs.trec", f"t Q0 j 1 2 {tag}\nt Q0 i 2 1 {tag}\n")
    out, collected = project / "back/small/test/t2m/theirs.parquet", project / "data/collect/toy"
    relations = {"documents": collected / "images.parquet", "qrels": collected / "qrels.parquet"}
    take_run(submission=path, run=out, **relations, depth=10)
    assert read_run(out)["doc_id"].to_list() == ["j", "i"]


def test_a_run_without_a_line_is_an_error(tmp_path):
    with pytest.raises(EmptyTable, match="without a line"):
        check(put(tmp_path, "mine.trec"))


@pytest.fixture
def project(tmp_path) -> Path:
    """A collection with one judged pair, one more candidate, and a run of ours."""
    collected = tmp_path / "data/collect/toy"
    qrels = pl.DataFrame({"text_id": ["t"], "image_id": ["i"], "relevance": [1], "split": ["test"]})
    store.write(qrels.to_arrow(), collected / "qrels.parquet", QRELS)
    images = [{"image_id": name, "split": "test"} for name in ("i", "j")]
    store.write_rows(images, collected / "images.parquet", IMAGES)
    hits = pl.DataFrame({"query_id": ["t"] * 2, "doc_id": ["i", "j"], "score": [1 / 3, -0.25]})
    write_run(hits, tmp_path / "results/search/toy/small/test/t2m/mine.parquet")
    return tmp_path


def test_what_is_exported_is_taken_in_again_unchanged(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert commands.main(["trec", "toy", "out"]) == 0
    assert "3 files" in capsys.readouterr().out
    found = discover(Path("out/runs"))
    assert list(found) == [HERE]
    ours = Path("results/search/toy/small/test/t2m/mine.parquet")
    back = project / "back/small/test/t2m/mine.parquet"
    collected = Path("data/collect/toy")
    relations = {"documents": collected / "images.parquet", "qrels": collected / "qrels.parquet"}
    take_run(submission=found[HERE], run=back, **relations, depth=10)
    assert read_run(back).equals(read_run(ours))
    assert back.read_bytes() == ours.read_bytes()


def test_qrels_are_exported_in_both_directions(project, monkeypatch):
    monkeypatch.chdir(project)
    commands.main(["trec", "toy", "out"])
    assert read_trec_qrels("out/qrels/toy/test/t2m.qrels").rows() == [("t", "i", 1)]
    assert read_trec_qrels("out/qrels/toy/test/m2t.qrels").rows() == [("i", "t", 1)]
    with gzip.open("out/runs/toy/small/test/t2m/mine.trec.gz", "rt") as lines:
        assert {line.split()[-1] for line in lines} == {"mine"}


def test_a_collection_that_is_not_built_has_nothing_to_export(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert commands.main(["trec", "enwiki", "out"]) == 1
    assert "MissingFile" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_run_need_not_be_as_deep_as_the_pool(project):
    text = "t Q0 j 1 1 mine\n"
    path = put(project, "mine.trec", text)
    out = project / "back/small/test/t2m/mine.parquet"
    collected = project / "data/collect/toy"
    relations = {"documents": collected / "images.parquet", "qrels": collected / "qrels.parquet"}
    take_run(submission=path, run=out, **relations, depth=1)
    hits = pl.DataFrame({"query_id": ["t"], "doc_id": ["j"], "score": [1.0]})
    assert read_run(out).equals(ranked(hits))


def published(folder: Path, *names: str, **more: Any) -> dict[str, Any]:
    """Params with the runs of a folder, as `search.runs` has them."""
    for name in names:
        put(folder, name)
    runs = {"files": [str(folder / "input.*")], **more}
    return {**PARAMS, "search": {**PARAMS["search"], "runs": runs}}


def test_a_published_run_is_a_system_by_nists_name_of_its_file(tmp_path):
    names = ("input.b_bm25.gz", "input.UvA-IRLab-mlp-mlm-img_cap.gz", "input.plain", "input.a.trec")
    params = published(tmp_path, *names)
    found = published_runs(parsed(params))
    systems = ["UvA-IRLab-mlp-mlm-img_cap", "a", "b_bm25", "plain"]
    assert sorted(place.system for place in found) == systems
    assert {place[:4] for place in found} == {HERE[:4]}
    given = with_external(parsed(params), found)
    assert given.search.systems == ["bm25", *systems]
    assert given.systems["b_bm25"].spec() == {"kind": "trec"}


def test_runs_of_the_other_task_are_left_out_by_a_pattern(tmp_path):
    other = [str(tmp_path / "input.*_i2t*"), str(tmp_path / "input.none*")]
    params = published(tmp_path, "input.b_bm25.gz", "input.b_bm25_i2t.gz", without=other)
    assert [place.system for place in published_runs(parsed(params))] == ["b_bm25"]


def test_published_runs_belong_to_a_grid_of_one_cell(tmp_path):
    params = published(tmp_path, "input.a.gz")
    params["search"]["settings"] = ["small", "large"]
    with pytest.raises(BadParams, match=r"search\.runs.*grid of 2 cells"):
        published_runs(parsed(params))


def test_a_published_run_that_is_there_twice_is_refused(tmp_path):
    with pytest.raises(BadParams, match="two runs of 'a'"):
        published_runs(parsed(published(tmp_path, "input.a.gz", "input.a")))
    params = published(tmp_path / "one", "input.mine.gz")
    with pytest.raises(BadParams, match=r"input\.mine\.gz and runs: two runs of 'mine'"):
        published_runs(parsed(params), [HERE])


@pytest.mark.parametrize("name", ["input. .gz", "input.-x.gz", "input.a b.gz"])
def test_a_published_run_without_a_systems_name_is_refused(tmp_path, name):
    with pytest.raises(BadParams, match="the name of no run"):
        published_runs(parsed(published(tmp_path, name)))


def test_a_published_run_that_is_not_there_is_named(tmp_path):
    for paths in ([str(tmp_path / "input.*")], [str(tmp_path / "input.a.gz")]):
        params = {**PARAMS, "search": {**PARAMS["search"], "runs": {"files": paths}}}
        with pytest.raises(MissingFile, match=r"input\."):
            published_runs(parsed(params))


def test_a_published_run_of_one_of_our_systems_is_refused(tmp_path):
    params = published(tmp_path, "input.bm25.gz")
    with pytest.raises(BadParams, match="'bm25'"):
        with_external(parsed(params), published_runs(parsed(params)))
