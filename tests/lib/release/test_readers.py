"""Runs and judgements of a release are read by other people's tools, and theirs by us."""

import gzip
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
import pytrec_eval

from isotope.core import runs
from isotope.core.errors import CorruptFile

Hits = dict[str, dict[str, float]]


def by_pytrec_eval(path: Path) -> Hits:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return pytrec_eval.parse_run(file)


def by_trec_eval(path: Path) -> Hits:
    """What trec_eval 9.0.8 takes (get_trec_results.c): six fields a line, and no comments."""
    hits: Hits = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        query, _, document, _, score, _ = line.split()
        hits.setdefault(query, {})[document] = float(score)
    return hits


def by_ranx(path: Path) -> Hits:
    from ranx import Run  # noqa: PLC0415 (slow to import)

    plain = path.with_name("plain.trec")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return {q: dict(d) for q, d in Run.from_file(str(plain), kind="trec").to_dict().items()}


def by_ir_datasets(path: Path) -> Hits:
    from ir_datasets.formats import TrecScoredDocs  # noqa: PLC0415 (slow to import)
    from ir_datasets.util import GzipExtract, LocalDownload  # noqa: PLC0415

    hits: Hits = {}
    file = GzipExtract(LocalDownload(path, mkdir=False))
    for each in TrecScoredDocs(file).scoreddocs_iter():
        hits.setdefault(each.query_id, {})[each.doc_id] = each.score
    return hits


READERS = (by_trec_eval, by_pytrec_eval, by_ranx, by_ir_datasets)


def ours(path: Path) -> Hits:
    hits: Hits = {}
    for query, document, _, score in runs.read_trec_run(path).iter_rows():
        hits.setdefault(query, {})[document] = score
    return hits


@pytest.mark.parametrize("read", READERS)
def test_every_run_of_a_release_is_read_by_every_tool(
    released: Path, tmp_path: Path, read: Callable[[Path], Hits]
):
    paths = sorted((released / "runs").rglob("*.trec.gz"))
    assert paths
    for path in paths:
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        assert read(copy) == ours(copy), path
        assert path.with_name(path.name.removesuffix(".trec.gz") + runs.METADATA).is_file()


def test_every_file_of_judgements_of_a_release_is_read_by_pytrec_eval(released: Path):
    paths = sorted((released / "qrels").rglob("*.qrels"))
    assert paths
    for path in paths:
        own = runs.read_trec_qrels(path)
        with path.open(encoding="utf-8") as file:
            theirs = pytrec_eval.parse_qrel(file)
        assert {(q, d, g) for q, judged in theirs.items() for d, g in judged.items()} == {
            *own.iter_rows()
        }


@pytest.mark.parametrize("read", READERS)
def test_ids_may_begin_with_a_number_sign(tmp_path: Path, read: Callable[[Path], Hits]):
    rows = [("#1", "#a", 2.0), ("#1", "b", 1.0), ("2", "#", 1.0)]
    run = runs.ranked(pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"))
    runs.write_trec_run(run, tmp_path / "run.trec.gz", tag="#tag")
    assert ours(tmp_path / "run.trec.gz") == read(tmp_path / "run.trec.gz")
    assert {*ours(tmp_path / "run.trec.gz")} == {"#1", "2"}


HEAD = "# ir_metadata.start\n# tag: x\n# a b c 1 2 d\n# ir_metadata.end\n"


@pytest.mark.parametrize(
    "text", [f"{HEAD}#1 Q0 d 1 2 x\n", "#made by x\n#1 Q0 d 1 2 x\n", "#1 Q0 d 1 2 x\n"]
)
def test_comment_lines_at_the_head_of_anothers_run_are_no_hits(tmp_path: Path, text: str):
    (tmp_path / "run.trec").write_text(text)
    assert runs.read_trec_run(tmp_path / "run.trec").rows() == [("#1", "d", 1, 2.0)]


def test_a_broken_line_of_an_id_with_a_number_sign_is_not_taken_for_a_comment(tmp_path: Path):
    (tmp_path / "run.trec").write_text("#1 Q0 d 1 2 x\n#1 Q0 e 2\n")
    with pytest.raises(CorruptFile, match=r"run\.trec:2"):
        runs.read_trec_run(tmp_path / "run.trec")


def test_what_ir_metadata_has_in_a_run_is_what_stops_other_tools():
    """The cause for metadata beside the run: pytrec_eval, as the others, reads no comments."""
    with pytest.raises(ValueError, match="unpack"):
        pytrec_eval.parse_run(StringIO(f"{HEAD}1 Q0 d 1 2 x\n"))
