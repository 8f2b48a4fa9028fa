"""What was published is confirmed by other tools, and a planted error is found by its name."""

import csv
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests import report_project
from tests.once import once
from workflow.plugins.isotope_verify.tests import verify_project

from isotope.cli import commands
from isotope.core import errors
from isotope.core.runs import read_trec_ranks
from isotope.params.root import parse
from isotope.release import manifest
from isotope.report import registry
from isotope.tabulate.table import read_table, write_table
from isotope_verify import commands as command
from isotope_verify import record as verification
from isotope_verify import verify

RELEASE = "results/release/toy"
RUN = "results/search/toy/small/test/t2m/bm25.parquet"
RELEASED_RUN = "runs/small/test/t2m/bm25.trec.gz"
TABLES = "results/tables/toy"
PAGES = "results/report/toy"
# What two tools print when they are imported on newer versions of others.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="session")
def built() -> Path:
    """The project, which is only read."""
    return once("verify", verify_project.lay)


@pytest.fixture
def project(built, tmp_path, monkeypatch) -> Path:
    """A copy of the project, and the folder that a test is in."""
    folder = shutil.copytree(built, tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def release(built, tmp_path, monkeypatch) -> Path:
    """A copy of the release alone, in a folder of its own, with nothing else of the run."""
    folder = shutil.copytree(built / RELEASE, tmp_path / "alone/toy")
    monkeypatch.chdir(folder.parent)
    return folder


def no_params():
    raise AssertionError("a release has no need of params")


def of_release(*only: str, share: float = 1.0) -> verify.Verified:
    [done] = verify.verify("toy", no_params, share=share, only=only)
    return done


def of_collection(*only: str, share: float = 1.0) -> verify.Verified:
    [done] = verify.verify("toy", verify_project.params, share=share, only=only)
    return done


def different(done: verify.Verified) -> dict[str, list[str]]:
    """The cells that differ, by check and tool."""
    wrong = [check for check in done.checks if check.different]
    return {f"{c.name} {c.tool.split()[0]}": [d.cell for d in c.differences] for c in wrong}


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Change a text file, gzipped or not, and make sure that it changed."""
    packed = path.suffix == ".gz"
    old = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text()
    new = change(old)
    assert new != old
    path.write_bytes(gzip.compress(new.encode()) if packed else new.encode())


def swap_hits(text: str, first: str, second: str) -> str:
    """Let two documents change places in a TREC run."""
    return text.replace(first, "\0").replace(second, first).replace("\0", second)


def seal(folder: Path) -> None:
    """Write a new manifest, as somebody would who changes a release on purpose."""
    about = manifest.read_manifest(folder)
    (folder / manifest.NAME).unlink()
    manifest.write_manifest(folder, about.collection, about.languages)


OF_FILES = {"files", "pictures", "manifests", "DVC"}


# What is right is confirmed, and how much of it was compared is said.


def test_a_collection_is_confirmed_by_every_check(project):
    done = of_collection()
    assert different(done) == {}
    assert done.error is None
    compared = {check.name: check.compared for check in done.checks}
    names = {"digests", "means", "significance", "letters", "printed", "measures", "orders"}
    assert set(compared) == {*names, "ranks", "rankings", "vectors", *OF_FILES}
    # Nothing that jobs made, or DVC recorded, is here.
    assert min(n for name, n in compared.items() if name not in OF_FILES) > 0
    assert all(check.compared == check.total for check in done.checks)


def test_a_release_is_confirmed_alone_without_the_run(release):
    done = of_release()
    assert different(done) == {}
    tools = {check.tool.partition(" ")[0]: check for check in done.checks}
    counts = {tool: (check.compared, check.total) for tool, check in tools.items()}
    assert [counts.pop(tool) for tool in ("numpy", "the")] == [(0, 0), (0, 0)]
    assert all(compared == total > 0 for compared, total in counts.values())
    assert "a release has no vectors" in verify.text(done)
    assert [*release.parent.iterdir()] == [release]


@pytest.mark.parametrize(("system", "prepare"), [("bm25", "none"), ("titles", "atomic")])
def test_words_that_were_not_prepared_as_the_params_say_are_found(
    project, monkeypatch, system, prepare
):
    systems = verify_project.PARAMS["systems"]
    changed = {**systems, system: {**systems[system], "prepare": prepare}}
    monkeypatch.setitem(verify_project.PARAMS, "systems", changed)
    different_cells = different(of_collection("rankings"))
    assert {cell.split()[3] for cell in different_cells["rankings Pyserini"]} == {system}


def test_each_tool_is_named_with_its_version(release):
    tools = {check.tool.partition(" ")[0] for check in of_release().checks}
    named = {
        "SHA-256",
        "math.fsum",
        "scipy",
        "pytrec-eval-terrier",
        "ranx",
        "Pyserini",
        "numpy",
        "the",
    }
    assert tools == {*named, "by"}
    printed = verify.text(of_release())
    assert re.search(r"measures +pytrec-eval-terrier \d+\.\d+.* 1,152 +1,152 scores", printed)


def test_a_version_beside_a_tool_is_that_of_the_package_of_this_name(release):
    for tool in (check.tool for check in of_release().checks):
        name, _, number = tool.partition(" ")
        if re.fullmatch(r"\d+(\.\d+)+", number):
            assert version(name) == number


def test_the_largest_difference_is_that_of_rounding(release):
    largest = {check.name: check.largest for check in of_release().checks}
    assert 1e-9 < largest["means"] <= 5e-7
    assert largest["measures"] < 1e-12
    assert largest["rankings"] < 1e-15


# Planted errors, in a release.


def test_one_swapped_hit_in_a_release_is_found(release):
    edit(release / RELEASED_RUN, lambda text: swap_hits(text, "t00 Q0 i00", "t00 Q0 i05"))
    done = of_release()
    assert done.error is not None
    assert RELEASED_RUN in str(done.error)
    different_cells = different(done)
    assert different_cells["digests SHA-256"] == [str(release / RELEASED_RUN)]
    assert "small test t2m bm25 t00 MAP" in different_cells["measures pytrec-eval-terrier"]
    assert different_cells["measures pytrec-eval-terrier"] == different_cells["measures ranx"]
    assert any(
        cell.startswith("small test t2m bm25 t00 rank")
        for cell in different_cells["rankings Pyserini"]
    )


def test_a_swapped_hit_is_found_even_if_the_manifest_was_written_anew(release):
    edit(release / RELEASED_RUN, lambda text: swap_hits(text, "t00 Q0 i00", "t00 Q0 i05"))
    seal(release)
    different_cells = different(of_release())
    measured = {"measures pytrec-eval-terrier", "measures ranx"}
    # The run is a part of fusions, which ranx makes anew of it.
    assert set(different_cells) == {*measured, "rankings Pyserini", "rankings ranx"}


def test_two_swapped_hits_that_no_measure_sees_are_found_by_pyserini_and_in_what_was_fused(release):
    edit(release / RELEASED_RUN, lambda text: swap_hits(text, "t00 Q0 i05", "t00 Q0 i07"))
    seal(release)
    assert set(different(of_release())) == {"rankings Pyserini", "rankings ranx"}


@pytest.mark.parametrize("system", ["rrf", "wsum"])
def test_two_swapped_hits_of_a_fusion_that_no_measure_sees_are_found_by_ranx(release, system):
    path = release / RELEASED_RUN.replace("bm25", system)
    run = read_trec_ranks(path).filter(pl.col("query_id") == "t00", pl.col("doc_id") != "i00")
    first, second = run.filter(pl.col("score").is_unique())["doc_id"][:2]
    edit(path, lambda text: swap_hits(text, f"t00 Q0 {first}", f"t00 Q0 {second}"))
    seal(release)
    cells = [f"small test t2m {system} t00 {document}" for document in (second, first)]
    assert different(of_release()) == {"rankings ranx": cells}


def swap_ranks(text: str, query: str, first: int, second: int) -> str:
    """Let two hits of a query state each other's rank."""
    rows = [line.split(" ") for line in text.splitlines()]
    other = {str(first): str(second), str(second): str(first)}
    for row in rows:
        row[3] = other.get(row[3], row[3]) if row[0] == query else row[3]
    return "".join(" ".join(row) + "\n" for row in rows)


def test_ranks_that_say_otherwise_than_the_scores_are_found_though_no_measure_sees_them(release):
    edit(release / RELEASED_RUN, lambda text: swap_ranks(text, "t00", 3, 4))
    seal(release)
    done = of_release()
    run = "small test t2m bm25 t00"
    hits = {
        hit["rank"]: hit["doc_id"]
        for hit in read_trec_ranks(release / RELEASED_RUN).filter(query_id="t00").to_dicts()
    }
    assert different(done)["ranks by"] == [f"{run} {hits[4]}", f"{run} {hits[3]}"]
    assert {*different(done)} == {"ranks by", "rankings Pyserini", "rankings ranx"}


def test_a_swapped_rank_of_a_relevant_hit_is_found_by_trec_eval_too(release):
    edit(release / RELEASED_RUN, lambda text: swap_ranks(text, "t00", 1, 2))
    seal(release)
    different_cells = different(of_release())
    assert {"ranks by", "measures pytrec-eval-terrier", "orders pytrec-eval-terrier"} <= {
        *different_cells
    }


def test_one_altered_grade_in_a_release_is_found(release):
    qrels = release / "qrels/test/t2m.qrels"
    edit(qrels, lambda text: text.replace("t01 0 i03 2", "t01 0 i03 0"))
    different_cells = different(of_release())
    assert different_cells["digests SHA-256"] == [str(qrels)]
    seal(release)
    different_cells = different(of_release("measures"))
    assert set(different_cells) == {"measures pytrec-eval-terrier", "measures ranx"}
    assert all(" t01 " in cell for cell in different_cells["measures pytrec-eval-terrier"])


@pytest.mark.parametrize(
    ("name", "row", "column", "value", "check"),
    [
        ("means.csv", 7, "value", "0.123456", "means math.fsum"),
        ("means.csv", 7, "queries", "9", "means math.fsum"),
        ("significance.csv", 5, "p", "0.001", "significance scipy"),
        ("significance.csv", 5, "p_bonferroni", "0.001", "significance scipy"),
        ("significance.csv", 5, "difference", "0.3", "significance scipy"),
    ],
)
def test_one_edited_cell_of_a_released_table_is_found(  # noqa: PLR0913, PLR0917
    release, name, row, column, value, check
):
    path = release / "scores" / name
    rows = [*csv.DictReader(path.read_text().splitlines())]
    rows[row][column] = value
    with path.open("w") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    seal(release)
    done = of_release("digests", "means", "significance", share=0.01)
    [(check_name, [cell])] = different(done).items()
    assert check_name == check
    assert all(rows[row][key] in cell for key in ("setting", "task", "system", "measure"))
    assert value.rstrip("0") in str(done.error)


def test_a_row_that_was_left_out_of_a_released_table_is_found(release):
    for name in ("means.csv", "significance.csv"):
        edit(release / "scores" / name, lambda text: "".join(text.splitlines(True)[:-1]))
    assert set(different(of_release("means", "significance"))) == {
        "means math.fsum",
        "significance scipy",
    }


def test_an_edited_score_of_one_query_is_found_by_all_that_rests_on_it(release):
    path = release / "scores/queries.parquet"
    scores = pl.read_parquet(path)
    chosen = (pl.col("query_id") == "t00") & (pl.col("system") == "random")
    scores.with_columns(value=pl.when(chosen).then(0.77).otherwise("value")).write_parquet(path)
    seal(release)
    different_cells = different(of_release())
    assert {"means math.fsum", "significance scipy", "measures pytrec-eval-terrier"} <= set(
        different_cells
    )


def test_scores_without_a_run_and_a_run_without_scores_are_found(release):
    (release / RELEASED_RUN).rename(release / RELEASED_RUN.replace("bm25", "other"))
    seal(release)
    different_cells = different(of_release("measures"))
    assert different_cells == {
        "measures pytrec-eval-terrier": ["small test t2m bm25", "small test t2m other"]
    }


# Planted errors, in a project.


def swap_in_run(project: Path) -> None:
    """Let the first two documents of a query change places."""
    path = project / RUN
    run = pl.read_parquet(path)
    docs = run["doc_id"].to_list()
    docs[0], docs[1] = docs[1], docs[0]
    run.with_columns(doc_id=pl.Series(docs)).write_parquet(path)


def swap_dense_hits(project: Path) -> None:
    """Let two hits that are not relevant change places in a run by vectors."""
    path = project / RUN.replace("bm25", "hash")
    run = pl.read_parquet(path)
    documents = run.filter(query_id="t07")["doc_id"]
    first, second = [doc for doc in documents if doc != "i07"][:2]
    names = {first: second, second: first}
    swapped = pl.when(query_id="t07").then(pl.col("doc_id").replace(names)).otherwise("doc_id")
    run.with_columns(doc_id=swapped).write_parquet(path)


def alter_fused_score(project: Path) -> None:
    """Raise the score of the first hit of a query."""
    path = project / RUN.replace("bm25", "rrf")
    first = pl.when(query_id="t07", rank=1)
    raised = first.then(pl.col("score") + 1e-6).otherwise("score")
    pl.read_parquet(path).with_columns(score=raised).write_parquet(path)


def alter_grade(project: Path) -> None:
    path = project / "data/collect/toy/qrels.parquet"
    chosen = (pl.col("text_id") == "t01") & (pl.col("image_id") == "i03")
    altered = pl.when(chosen).then(0).otherwise("relevance").cast(pl.Int32)
    pl.read_parquet(path).with_columns(relevance=altered).write_parquet(path)


def first_value(path: Path, column: str, value: str) -> None:
    rows = [*csv.reader(path.read_text().splitlines())]
    rows[1][rows[0].index(column)] = value
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def edit_metrics(project: Path) -> None:
    path = project / TABLES / "metrics.json"
    content = json.loads(path.read_text())
    content["toy"]["large"]["test"]["m2t"]["titles"]["MAP"] += 0.000002
    path.write_text(json.dumps(content))


def edit_vector(project: Path) -> None:
    path = project / "data/encode/toy/hash/images/shard-00000.npy"
    block = np.load(path)
    block[3, 5] += 0.001
    np.save(path, block)


def replace_in(path: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda project: edit(project / path, lambda text: re.sub(old, new, text, count=1))


def in_table(name: str, column: str, value: object) -> Callable[[Path], None]:
    """In the rows alone, so that what is printed of them differs."""

    def plant(project: Path) -> None:
        path = project / TABLES / f"{name}.arrow"
        rows = read_table(path)
        rows[0, column] = value
        rows.write_ipc(path)

    return plant


def in_csv(name: str, column: str, value: str) -> Callable[[Path], None]:
    return lambda project: first_value(project / TABLES / name, column, value)


@pytest.mark.parametrize(
    ("plant", "check", "cell"),
    [
        (swap_in_run, "measures pytrec-eval-terrier", "small test t2m bm25 t00 MRR@10"),
        (swap_in_run, "measures ranx", "small test t2m bm25 t00 MRR@10"),
        (swap_in_run, "rankings Pyserini", "small test t2m bm25 t00 rank 1"),
        (swap_dense_hits, "rankings numpy", "small test t2m hash t07 i0"),
        (alter_fused_score, "rankings ranx", "small test t2m rrf t07 i"),
        (alter_grade, "measures pytrec-eval-terrier", "i03 nDCG@10"),
        (in_table("table3", "t2m MRR@10", 0.99), "means math.fsum", "table3 small test"),
        (in_table("table5", "m2t MAP", 0.99), "means math.fsum", "table5 small test"),
        (in_table("headline", "m2t", 0.99), "means math.fsum", "headline random m2t"),
        (in_table("intervals", "value", 0.9), "means math.fsum", "intervals small test"),
        (edit_metrics, "means math.fsum", "metrics.json large test m2t titles MAP"),
        (in_table("table3", "t2m R@10 beats", "b"), "letters scipy", "table3 small test"),
        (in_csv("table3.csv", "t2m MRR@10", "0.99"), "printed read", "table3.csv row 2"),
        (
            replace_in(f"{TABLES}/table3.md", r"\| 0\.\d{4}", "| 0.4321"),
            "printed read",
            "table3.md",
        ),
        (
            replace_in(f"{TABLES}/table3.tex", r"& 0\.\d{4}", "& 0.4321"),
            "printed read",
            "table3.tex",
        ),
        (
            replace_in(f"{PAGES}/systems.html", r'number">0\.\d{4}<', 'number">0.4321<'),
            "printed read",
            "systems.html#table5",
        ),
        (
            replace_in(f"{PAGES}/collection.html", r">12<", ">13<"),
            "printed read",
            "collection.html#",
        ),
        (edit_vector, "vectors the", "hash images i03 component 5"),
        (
            replace_in("data/acquire/src/dump/pages.xml", "dump", "jump"),
            "digests SHA-256",
            "data/acquire/src/dump/pages.xml",
        ),
    ],
)
def test_one_planted_error_in_a_project_is_found(project, plant, check, cell):
    plant(project)
    only = check.partition(" ")[0].replace("letters", "significance")
    done = of_collection(only)
    assert any(cell in text for text in different(done)[check]), different(done)
    assert isinstance(done.error, errors.Unconfirmed)
    assert cell in str(done.error) or check in ("measures ranx", "measures pytrec-eval-terrier")


def test_an_error_in_one_form_of_a_table_does_not_pass_for_another(project):
    in_table("table3", "t2m MRR@10", 0.99)(project)
    different_cells = different(of_collection("means", "printed"))
    places = {cell.split()[0].split("#")[0] for cell in different_cells["printed read"]}
    assert {"table3.csv", "table3.md", "table3.tex", "systems.html"} <= places


# Samples.


def test_a_sample_that_holds_the_altered_query_finds_it_and_says_its_share(release):
    edit(release / "qrels/test/t2m.qrels", lambda text: text.replace("t01 0 i03 2", "t01 0 i03 0"))
    seal(release)
    outcomes: set[bool] = set()
    for share in (0.01, 0.5, 1.0):
        done = of_release("measures", share=share)
        held = " t01 " in str(done.record["checks"])
        check = done.checks[0]
        assert check.total == 1_152
        assert check.compared == {0.01: 144, 0.5: 576, 1.0: 1_152}[share]
        outcomes.add(held)
        assert held == bool(check.different)
    assert outcomes >= {True}


def test_digests_tables_and_tests_are_compared_whole_whatever_the_sample(release):
    some = {check.name: check for check in of_release(share=0.01).checks}
    for name in ("digests", "means", "significance"):
        assert some[name].compared == some[name].total > 0
    assert 0 < some["measures"].compared < some["measures"].total
    by_tool = {c.tool.split()[0]: c for c in of_release("rankings", share=0.01).checks if c.total}
    assert by_tool.keys() == {"Pyserini", "ranx"}
    assert all(0 < check.compared < check.total for check in by_tool.values())


# What can't be compared is named and counted.


def test_a_measure_that_no_tool_has_is_named_and_counted(release):
    path = release / "scores/queries.parquet"
    scores = pl.read_parquet(path)
    rows = scores.filter(measure="MAP").with_columns(measure=pl.lit("RBP@10"))
    pl.concat([scores, rows]).write_parquet(path)
    seal(release)
    done = of_release("measures")
    assert different(done) == {}
    assert done.checks[0].skipped == {"RBP@10: no tool has this measure": 192}
    assert done.checks[0].compared == 1_152
    assert "not compared: measures: RBP@10: no tool has this measure (192)" in verify.text(done)


def test_a_verification_that_compares_nothing_is_an_error(release):
    with pytest.raises(errors.EmptyTable, match="nothing could be compared"):
        of_release("vectors")


def test_vectors_that_are_gone_are_skipped_with_the_reason(project):
    shutil.rmtree(project / "data/encode")
    done = of_collection("digests", "vectors")
    assert done.error is None
    assert "images by hash: the run's data are not here" in verify.text(done)


# The record, and the report that shows it.


def recorded(project: Path, *checks: str) -> Path:
    """The record that the job of the graph writes."""
    record, params = project / TABLES / "verified.json", parse(verify_project.PARAMS)
    verify.verify_collection(
        "toy", params=params, checks=checks or CHECKED, sample=1.0, record=record
    )
    return record


CHECKED = ("digests", "means", "significance", "printed", "measures", "rankings")
TOOL_NAMES = "trec_eval, ranx, scipy, Pyserini and numpy"


def shown(record: Path | None, page: str = "cite") -> str:
    return verification.block("toy", page, record)


@pytest.mark.parametrize("page", ["index", "cite"])
def test_a_page_says_by_whose_tools_its_numbers_were_verified(project, page):
    assert 'data-verified="no"' in shown(None, page)
    block = shown(recorded(project), page)
    assert 'data-verified="yes"' in block
    assert f"Verified by {TOOL_NAMES}: " in block


def test_only_tools_that_compared_something_are_named(project):
    record = verification.read_record(recorded(project, "means", "significance"))
    assert verification.tools(verification.by_others(record)) == "scipy"
    assert verification.tools([]) == "no other tool"
    record = verification.read_record(recorded(project))
    left = [check for check in record["checks"] if not check["tool"].startswith("Pyserini")]
    compared_checks = verification.by_others({"checks": left})
    assert verification.tools(compared_checks) == "trec_eval, ranx, scipy and numpy"


def test_what_isotope_compares_itself_is_not_counted_as_what_others_did(project):
    checks = verification.read_record(recorded(project))["checks"]
    tool_checks = [c for c in checks if c["tool"].split()[0] in verification.TOOLS]
    assert {c["name"] for c in checks} - {c["name"] for c in tool_checks} >= {"ranks", "printed"}
    count = sum(c["compared"] for c in tool_checks)
    assert f": {count:,} numbers were recomputed" in shown(project / TABLES / "verified.json")


def test_the_page_that_is_cited_has_each_check_and_the_first_page_leads_there(project):
    record = recorded(project)
    checks = verification.read_record(record)["checks"]
    assert all(f"<td>{check['tool']}</td>" in shown(record) for check in checks)
    assert 'href="cite.html#verification"' in shown(record, "index")


def test_the_same_input_gives_the_same_record(project):
    assert recorded(project).read_bytes() == recorded(project).read_bytes()


def test_a_difference_stands_on_the_page_with_its_cell_and_then_fails(project):
    in_table("headline", "m2t", 0.99)(project)
    record, confirmation = recorded(project), project / TABLES / "verified.txt"
    page = shown(record)
    assert 'data-verified="failed"' in page
    assert "headline random m2t" in page
    assert "published 0.99" in page
    with pytest.raises(errors.Unconfirmed, match=r"0\.99 was published, but math\.fsum finds"):
        verify.demand_confirmed(record=record, confirmation=confirmation)
    assert not confirmation.exists()


def test_what_is_confirmed_is_told_as_the_command_prints_it(project):
    confirmation = project / TABLES / "verified.txt"
    verify.demand_confirmed(record=recorded(project), confirmation=confirmation)
    printed = verify.text(of_collection(*CHECKED))
    assert confirmation.read_text() == printed


def test_the_command_keeps_a_record_of_its_own_and_leaves_pages_and_tables_alone(project):
    before = {p: p.read_bytes() for p in project.glob("results/[rt]*/toy/*") if p.is_file()}
    done = of_collection()
    assert done.path == Path("results/verify/toy.json")
    assert json.loads((project / done.path).read_text()) == done.record
    assert re.match(r"20\d\d-\d\d-\d\dT", done.record["date"])
    assert {p: p.read_bytes() for p in before} == before
    assert {*project.glob("results/[rt]*/toy/*")} >= {*before}


def test_a_record_that_is_none_is_an_error_with_its_file(tmp_path):
    (tmp_path / "verified.json").write_text("{")
    with pytest.raises(errors.CorruptFile, match=r"verified\.json"):
        verification.read_record(tmp_path / "verified.json")


def test_only_some_checks_leave_no_record(project):
    assert of_collection("digests").path is None
    assert not (project / "results/verify").exists()


# What may be named, and what bad input gets.


@pytest.mark.parametrize("named", ["toy", PAGES, f"{PAGES}/systems.html"])
def test_a_collection_is_named_by_its_name_its_report_or_a_page(project, named):
    [done] = verify.verify(named, verify_project.params, share=1, only=["digests"])
    assert (done.record["collection"], done.record["release"]) == ("toy", None)


def test_a_report_elsewhere_is_verified_where_it_lies(project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = str(project / PAGES)
    [done] = verify.verify(
        named, verify_project.params, share=1, only=["means", "printed", "vectors"]
    )
    assert done.error is None
    assert min(check.compared for check in done.checks) > 0
    assert Path.cwd() == tmp_path


def test_without_a_name_all_built_collections_are_verified(project):
    shutil.copy(project / "results/score/toy.parquet", project / "results/score/two.parquet")
    shutil.copytree(project / TABLES, project / "results/tables/two")
    toy = verify_project.PARAMS["collect"]["toy"]
    params = verify_project.params(collect={"toy": toy, "two": toy})
    done = verify.verify(None, lambda: params, share=1, only=["means"])
    assert [outcome.record["collection"] for outcome in done] == ["toy", "two"]


def entered(project: Path, setting: str) -> None:
    """Enter the collection in the registry, as a report about the pool of a setting."""
    record = project / registry.RECORD.format(collection="toy")
    fields = report_project.record("toy", setting=setting)._asdict()
    record.write_text(json.dumps(fields))


def test_a_collection_of_another_run_is_compared_by_its_own_pool_and_what_is_unknown_is_named(
    project,
):
    changed = {"settings": ["large"], "splits": ["validation"], "systems": ["random"]}
    search = {**verify_project.PARAMS["search"], **changed}
    params = verify_project.params(collect={}, search=search)
    entered(project, "small")
    [done] = verify.verify("toy", lambda: params, share=1, only=["means", "significance"])
    assert done.error is None
    compared = {check.name: check.compared for check in done.checks}
    counts = {check.name: check.compared for check in of_collection("means", "significance").checks}
    assert compared["means"] == counts["means"] > 0
    assert (compared["letters"], counts["letters"] > 0) == (0, True)
    assert "letters: the params do not know toy: name its overlay" in verify.text(done)


def test_the_headline_of_another_pool_is_a_difference(project):
    entered(project, "large")
    params = verify_project.params(collect={})
    [done] = verify.verify("toy", lambda: params, share=1, only=["means"])
    assert all(cell.startswith("headline ") for cell in different(done)["means math.fsum"])


def test_the_headline_has_the_first_measure_of_the_params_whatever_table_3_begins_with(project):
    """Table 3 has an order of its own, so the two differ as soon as params begin with nDCG."""
    last = verify_project.MEASURES[-1]
    chosen = (
        (pl.col("setting") == "small") & (pl.col("split") == "test") & (pl.col("measure") == last)
    )
    scores = pl.read_parquet(project / "results/score/toy.parquet").filter(chosen)
    means = scores.group_by("system", "task").agg(pl.col("value").mean().round(6))
    write_table(means.pivot("task", index="system", values="value"), project / TABLES / "headline")
    params = verify_project.params(score={"measures": [last]})
    [done] = verify.verify("toy", lambda: params, share=1, only=["means"])
    assert different(done) == {}
    assert different(of_collection("means"))["means math.fsum"][0].startswith("headline ")


def in_release(name: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda release: change(release / name)


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (in_release("manifest.json", Path.unlink), errors.MissingFile, "incomplete"),
        (in_release("qrels/test/t2m.qrels", Path.unlink), errors.MissingFile, r"1 of \d+ files"),
        (in_release("scores", shutil.rmtree), errors.MissingFile, "scores/queries.parquet"),
        (
            in_release("manifest.json", lambda path: path.write_text("{}")),
            errors.CorruptFile,
            "no manifest of a release",
        ),
        (
            in_release("scores/means.csv", lambda p: edit(p, lambda t: t.replace("0.", "O."))),
            errors.CorruptFile,
            "no table of numbers",
        ),
        (
            in_release(RELEASED_RUN, lambda p: edit(p, lambda t: t + "t00 Q0 i05\n")),
            errors.CorruptFile,
            "expected: query Q0 document rank score tag",
        ),
        (
            in_release("images.jsonl.gz", lambda p: edit(p, lambda t: t.replace('"text"', "", 1))),
            errors.CorruptFile,
            "line 1 is no JSON",
        ),
        (
            in_release("images.jsonl.gz", lambda p: p.write_bytes(p.read_bytes()[:40])),
            errors.TruncatedFile,
            "damaged gzip",
        ),
    ],
)
def test_a_release_that_cannot_be_read_is_named_with_its_file_and_row(release, spoil, error, words):
    spoil(release)
    with pytest.raises(error, match=words):
        of_release()


def test_a_damaged_run_of_a_project_is_named_with_its_row(project):
    path = project / RUN
    run = pl.read_parquet(path)
    run.with_columns(score=pl.col("score").reverse()).write_parquet(path)
    with pytest.raises(errors.IntegrityError, match=r"bm25\.parquet: query 't00' has a hit that"):
        of_collection("measures")


@pytest.mark.parametrize("named", ["toi", "results/report/toi", "results/releases/toy", "data"])
def test_what_is_no_report_gets_the_likely_spelling(project, named):
    with pytest.raises(errors.UnknownId, match=r"no report, built collection or release.*toy"):
        verify.verify(named, verify_project.params, share=1)


def test_where_nothing_was_scored_there_is_nothing_to_verify(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.MissingFile, match="no scores yet"):
        verify.verify(None, no_params, share=1)


# The command.


def test_the_command_prints_what_it_compared_and_ends_well(release, capsys):
    assert commands.main(["verify", "toy", "--all", "--check", "means", "digests"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"means +math.fsum +288 +288 cells +100 % +0 +\d\.\de-07", out)
    assert "different:" not in out


def test_the_command_fails_by_the_name_of_the_cell_and_prints_the_rest(release, capsys):
    path = release / "scores/means.csv"
    edit(path, lambda text: re.sub(r"(large,test,m2t,bm25,MAP,8),.*", r"\1,0.5", text))
    assert commands.main(["verify", "toy", "--check", "means", "significance"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("Unconfirmed: toy: scores/means.csv large test m2t bm25 MAP: ")
    assert "0.5 was published, but math.fsum finds" in printed.err
    assert "different: means: scores/means.csv large test m2t bm25 MAP" in printed.out
    assert re.search(r"significance +scipy", printed.out)


def test_the_command_prints_json(release, capsys):
    assert commands.main(["verify", "toy", "--json", "--check", "means"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert record["confirmed"] is True
    assert record["sample"]["share"] == 0.01
    assert [check["name"] for check in record["checks"]] == ["means"]


def test_the_command_knows_every_check():
    assert (*verify._BY_NAME,) == verify.CHECKS == command.CHECKS


def test_a_release_may_be_read_only(release):
    for path in (*release.rglob("*"), release):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert of_release(share=0.01).error is None
    finally:
        for path in (release, *release.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert os.access(release, os.W_OK)
