"""Runs and judgements of a release are read by other people's tools, and theirs by us."""

import csv
import gzip
import json
import logging
import random
import re
import runpy
import shutil
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import polars as pl
import pytest
import yaml
from tests import trec_eval

from isotope.core import runs, store
from isotope.core.errors import CorruptFile
from isotope.core.measures import score_run
from isotope.release import manifest
from isotope.schemas.score import SCORES, SIGNIFICANCE

# It has no wheel for ARM.
pytrec_eval = pytest.importorskip("pytrec_eval")
# What mteb, datasets and mlcroissant say of themselves while they load.
pytestmark = pytest.mark.filterwarnings("ignore")
DOCS = Path(__file__).parents[3] / "docs/release.md"
Rows = set[tuple[Any, ...]]
Reader = Callable[[Path], Any]


def lines(path: Path) -> list[str]:
    """The lines of a file, or of what a .gz has in it."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()


def plain(path: Path) -> str:
    """A copy that is not packed, for tools that unpack nothing."""
    copy = path.with_name("plain" + path.name.removesuffix(".gz"))
    copy.write_text("\n".join(lines(path)) + "\n", encoding="utf-8")
    return str(copy)


def local(path: Path) -> Any:
    from ir_datasets.util import GzipExtract, LocalDownload  # noqa: PLC0415 (slow to import)

    file = LocalDownload(path, mkdir=False)
    return GzipExtract(file) if path.suffix == ".gz" else file


def flat(nested: Any) -> Rows:
    return {(q, d, number) for q, of in nested.items() for d, number in of.items()}


def run_by_trec_eval(path: Path) -> Rows:
    """The hits of a run, with their scores, if it puts them in the order of single precision."""
    own = runs.read_trec_run(path)
    found = trec_eval.order(Path(plain(path)), own, path.parent)
    places = {(q, d, n) for q, of in found.items() for n, d in enumerate(of, start=1)}
    named = own.rename({"query_id": "query"})
    single = named.with_columns(pl.col("score").cast(pl.Float32))
    single = single.sort("query", "score", "doc_id", descending=[False, True, True])
    place = pl.int_range(1, pl.len() + 1).over("query")
    assert places == {*single.select("query", "doc_id", place.alias("place")).iter_rows()}
    return {*named.select("query", "doc_id", "score").iter_rows()}


def run_by_pytrec_eval(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return flat(pytrec_eval.parse_run(file))


def run_by_ir_measures(path: Path) -> Rows:
    return {(hit.query_id, hit.doc_id, hit.score) for hit in ir_measures.read_trec_run(str(path))}


def run_by_ranx(path: Path) -> Rows:
    from ranx import Run  # noqa: PLC0415 (slow to import)

    return flat(Run.from_file(plain(path), kind="trec").to_dict())


def run_by_ir_datasets(path: Path) -> Rows:
    from ir_datasets.formats import TrecScoredDocs  # noqa: PLC0415

    hits = TrecScoredDocs(local(path)).scoreddocs_iter()
    return {(hit.query_id, hit.doc_id, hit.score) for hit in hits}


def own_run(path: Path) -> Rows:
    return {*runs.read_trec_run(path).select("query_id", "doc_id", "score").iter_rows()}


def qrels_by_trec_eval(path: Path) -> Rows:
    """Each grade apart: the hits that have it, of a run that has all documents."""
    own = runs.read_trec_qrels(path)
    run = path.with_name("all.trec")
    run.write_text("".join(f"{q} Q0 {d} 1 1 x\n" for q, d, _ in own.iter_rows()))
    most = own.height
    printed = trec_eval.values(path, run, f"relstring.{most}")
    rows: Rows = set()
    for (query, _), grades in printed.items():
        documents = sorted(own.filter(query_id=query)["doc_id"], reverse=True)
        digits = grades.strip("'")
        rows |= {(query, d, int(g)) for d, g in zip(documents, digits, strict=True)}
    return rows


def qrels_by_pytrec_eval(path: Path) -> Rows:
    with path.open(encoding="utf-8") as file:
        return flat(pytrec_eval.parse_qrel(file))


def qrels_by_ir_measures(path: Path) -> Rows:
    return {(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(path))}


def qrels_by_ranx(path: Path) -> Rows:
    from ranx import Qrels  # noqa: PLC0415

    return flat(Qrels.from_file(plain(path), kind="trec").to_dict())


def qrels_by_ir_datasets(path: Path) -> Rows:
    from ir_datasets.formats import TrecQrels  # noqa: PLC0415

    judged = TrecQrels(local(path), {}).qrels_iter()
    return {(q.query_id, q.doc_id, q.relevance) for q in judged}


def own_qrels(path: Path) -> Rows:
    return {*runs.read_trec_qrels(path).iter_rows()}


def by_datasets(kind: str) -> Reader:
    """All columns but pictures, which `datasets` decodes, row by row."""

    def read(path: Path) -> list[dict[str, Any]]:
        import datasets  # noqa: PLC0415 (slow to import)

        loaded: Any = datasets.load_dataset(kind, data_files=str(path), split="train")
        return loaded.to_list()

    return read


def own_parquet(path: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(path).to_dicts()


def own_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(path)]


def lines_by_ir_datasets(path: Path) -> list[dict[str, Any]]:
    from ir_datasets.formats import JsonlDocs, JsonlQueries  # noqa: PLC0415

    if "topics" in path.parts:
        queries = JsonlQueries(local(path)).queries_iter()
        return [{"query_id": each.query_id, "text": each.text} for each in queries]
    documents = JsonlDocs(local(path)).docs_iter()
    return [{"doc_id": each.doc_id, "text": each.text} for each in documents]


def folder_by_beir(path: Path) -> Any:
    """A folder in BEIR's form, by the split of one of its files of judgements."""
    from beir.datasets.data_loader import GenericDataLoader  # noqa: PLC0415

    corpus, queries, qrels = GenericDataLoader(str(path.parents[1])).load(split=path.stem)
    titled = {d: f"{of['title']} {of['text']}".strip() for d, of in corpus.items()}
    return titled, queries, flat(qrels)


def own_beir(path: Path) -> Any:
    """What the release's own forms of the same split have."""
    task, root = path.parts[-3], path.parents[3]
    split = {"dev": "validation"}.get(path.stem, path.stem)
    documents = "images" if task == "t2m" else "texts"
    judged = own_qrels(root / f"qrels/{split}/{task}.qrels")
    return (
        {row["doc_id"]: row["text"] for row in own_lines(root / f"{documents}.jsonl.gz")},
        {r["query_id"]: r["text"] for r in own_lines(root / f"topics/{split}/{task}.jsonl.gz")},
        judged,
    )


def lines_by_ir_datasets_for_beir(path: Path) -> list[str]:
    from ir_datasets.datasets.beir import BeirDocs, BeirQueries, BeirTitleUrlDoc  # noqa: PLC0415
    from ir_datasets.formats import GenericQuery  # noqa: PLC0415

    if path.stem == "queries":
        queries = BeirQueries("toy", local(path), GenericQuery).queries_iter()
        return [each.query_id for each in queries]
    return [d.doc_id for d in BeirDocs(path.parent.name, local(path), BeirTitleUrlDoc).docs_iter()]


def tasks_by_mteb(path: Path) -> Any:
    found: dict[str, Any] = {}
    for task in runpy.run_path(str(path))["TASKS"]:
        task.load_data()
        ((name, splits),) = task.dataset.items()
        test = splits["test"]
        found[name] = {*test["corpus"]["id"]}, {*test["queries"]["id"]}, flat(test["relevant_docs"])
    return found


def own_tasks(path: Path) -> Any:
    root = path.parents[1]
    ids = {s: {*pl.read_parquet(root / f"{s}/test.parquet")[f"{s[:-1]}_id"]} for s in SIDES}
    texts, images = (ids[side] for side in SIDES)
    judged = {task: own_qrels(root / f"qrels/test/{task}.qrels") for task in ("t2m", "m2t")}
    return {"t2m": (images, texts, judged["t2m"]), "m2t": (texts, images, judged["m2t"])}


SIDES = ("texts", "images")


def files_by_mlcroissant(path: Path) -> set[str]:
    import mlcroissant  # noqa: PLC0415

    logging.getLogger("absl").setLevel(logging.ERROR)
    described: Any = mlcroissant.Dataset(str(path)).metadata
    return {str(each.content_url) for each in described.file_objects if each.content_url}


def front_matter(path: Path) -> Any:
    from huggingface_hub import DatasetCard  # noqa: PLC0415

    return DatasetCard.load(path).data.to_dict()


def own_front_matter(path: Path) -> Any:
    return yaml.safe_load(path.read_text().split("---\n")[1])


def as_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def as_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def rows_of_csv(path: Path) -> list[list[str]]:
    return [*csv.reader(StringIO(path.read_text(encoding="utf-8")))]


def own_csv(path: Path) -> list[list[str]]:
    table = pl.read_csv(path, infer_schema=False)
    return [table.columns, *(["" if v is None else v for v in row] for row in table.iter_rows())]


def every_file(path: Path) -> set[str]:
    """The files that the release's manifest has, but for the description itself."""
    return {row["path"] for row in as_json(path.with_name("manifest.json"))["files"]} - {path.name}


RUN: dict[str, Reader] = {
    "trec_eval": run_by_trec_eval,
    "pytrec_eval": run_by_pytrec_eval,
    "ir_measures": run_by_ir_measures,
    "ranx": run_by_ranx,
    "ir_datasets": run_by_ir_datasets,
}
JUDGEMENTS: dict[str, Reader] = {
    "trec_eval": qrels_by_trec_eval,
    "pytrec_eval": qrels_by_pytrec_eval,
    "ir_measures": qrels_by_ir_measures,
    "ranx": qrels_by_ranx,
    "ir_datasets": qrels_by_ir_datasets,
}
PARQUET: dict[str, Reader] = {"datasets": by_datasets("parquet")}
# Files of a release, how isotope reads them, and how each tool that docs/release.md names does.
FILES: dict[str, tuple[Reader, dict[str, Reader]]] = {
    "runs/*.trec.gz": (own_run, RUN),
    "runs/*.ir-metadata.yaml": (as_yaml, {"YAML": as_yaml}),
    "qrels/*/*.qrels": (own_qrels, JUDGEMENTS),
    "qrels/*.parquet": (own_parquet, PARQUET),
    "texts/*.parquet": (own_parquet, PARQUET),
    "images/*.parquet": (own_parquet, PARQUET),
    "attributions.parquet": (own_parquet, PARQUET),
    "topics/*.jsonl.gz": (
        own_lines,
        {"ir_datasets": lines_by_ir_datasets, "datasets": by_datasets("json")},
    ),
    "*s.jsonl.gz": (
        own_lines,
        {"ir_datasets": lines_by_ir_datasets, "datasets": by_datasets("json")},
    ),
    "beir/*.jsonl": (
        lambda path: [row["_id"] for row in own_lines(path)],
        {
            "ir_datasets": lines_by_ir_datasets_for_beir,
            "datasets": lambda path: [row["_id"] for row in by_datasets("json")(path)],
        },
    ),
    "beir/*/qrels/*.tsv": (own_beir, {"beir": folder_by_beir}),
    "mteb/tasks.py": (own_tasks, {"mteb": tasks_by_mteb}),
    "mteb/*.parquet": (own_parquet, PARQUET),
    "mteb/tasks.json": (as_json, {"JSON": as_json}),
    "scores/*.parquet": (own_parquet, PARQUET),
    "scores/*.csv": (own_csv, {"csv": rows_of_csv}),
    "croissant.json": (every_file, {"mlcroissant": files_by_mlcroissant}),
    "README.md": (own_front_matter, {"huggingface_hub": front_matter}),
    "mteb/README.md": (own_front_matter, {"huggingface_hub": front_matter}),
    "about.json": (as_json, {"JSON": as_json}),
    "manifest.json": (as_json, {"JSON": as_json}),
}
PAIRS = [
    pytest.param(pattern, tool, id=f"{pattern} by {tool}")
    for pattern, (_, tools) in FILES.items()
    for tool in tools
]


def kind_of(path: str) -> str:
    """The first pattern that a file of a release fits."""
    return next((pattern for pattern in FILES if fnmatch(path, pattern)), "")


def names(folder: Path) -> Iterable[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def complete(released, tmp_path_factory) -> Path:
    """A release with the scores of its runs."""
    folder = tmp_path_factory.mktemp("complete") / "toy"
    shutil.copytree(released, folder)
    cell = {"collection": "toy", "setting": "large", "split": "test", "task": "t2m"}
    path = folder / "runs/large/test/t2m/good.trec.gz"
    qrels = runs.read_trec_qrels(folder / "qrels/test/t2m.qrels")
    scores = score_run(runs.read_trec_run(path), qrels, ["MAP"]).to_dicts()
    pair = {**cell, "measure": "MAP", "system": "good", "other": "poor", "t": None, "p": 0.5}
    tables = folder.with_name("scores.parquet"), folder.with_name("tests.parquet")
    store.write_rows([{**cell, "system": "good", **row} for row in scores], tables[0], SCORES)
    store.write_rows([{**pair, "difference": 0.1, "p_bonferroni": 1.0}], tables[1], SIGNIFICANCE)
    manifest.write_scores(*tables, folder)
    return folder


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch, hub_cache):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(("pattern", "tool"), PAIRS)
def test_every_file_of_a_release_is_read_by_every_tool_that_docs_name(
    complete: Path, tmp_path: Path, pattern: str, tool: str
):
    copy = tmp_path / "toy"
    shutil.copytree(complete, copy)
    own, tools = FILES[pattern]
    paths = [path for path in names(copy) if kind_of(path) == pattern]
    assert paths
    for path in paths:
        found, expected = tools[tool](copy / path), own(copy / path)
        assert expected
        assert without_pictures(found) == without_pictures(expected), path


def without_pictures(rows: Any) -> Any:
    """Rows of a table without what `datasets` decodes; anything else as it is."""
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        return rows
    return [{name: v for name, v in row.items() if name != "image"} for row in rows]


def test_no_file_of_a_release_is_without_a_reader(complete: Path):
    assert [path for path in names(complete) if not kind_of(path)] == []


def test_the_page_of_releases_names_these_files_with_these_tools():
    table = DOCS.read_text().split(READ)[1].split("\n\n")[2]
    rows = re.findall(r"^\| `([^|]*)` \| ([^|]*) \|$", table, re.M)
    told = {pattern: tools.split(", ") for pattern, tools in rows}
    assert told == {pattern: [*tools] for pattern, (_, tools) in FILES.items()}


READ = "## Who reads what"


def test_beside_every_run_stands_what_made_it(released: Path):
    paths = sorted((released / "runs").rglob("*.trec.gz"))
    assert paths
    for path in paths:
        assert path.with_name(path.name.removesuffix(".trec.gz") + runs.METADATA).is_file()


MEASURES = {"MAP": "map", "MRR": "recip_rank", "nDCG": "ndcg", "R@1": "recall_1", "P@5": "P_5"}


def test_trec_eval_finds_in_every_run_of_a_release_what_isotope_finds(released, tmp_path):
    paths = sorted((released / "runs").rglob("*.trec.gz"))
    assert paths
    for path in paths:
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        _, split, task, _ = path.relative_to(released / "runs").parts
        qrels = released / f"qrels/{split}/{task}.qrels"
        asked = [name.replace("_1", ".1").replace("P_", "P.") for name in MEASURES.values()]
        printed = trec_eval.values(qrels, Path(plain(copy)), *asked)
        scores = score_run(runs.read_trec_run(path), runs.read_trec_qrels(qrels), [*MEASURES])
        own = {(q, MEASURES[m]): f"{v:.4f}" for q, m, v in scores.iter_rows()}
        assert printed == own, path


@pytest.mark.parametrize("read", RUN.values(), ids=RUN)
def test_ids_may_begin_with_a_number_sign(tmp_path: Path, read: Reader):
    rows = [("#1", "#a", 2.0), ("#1", "b", 1.0), ("2", "#", 1.0)]
    run = runs.ranked(pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"))
    runs.write_trec_run(run, tmp_path / "run.trec.gz", tag="#tag")
    assert own_run(tmp_path / "run.trec.gz") == read(tmp_path / "run.trec.gz") == {*rows}


@pytest.mark.parametrize("read", JUDGEMENTS.values(), ids=JUDGEMENTS)
def test_ids_of_judgements_may_begin_with_a_number_sign(tmp_path: Path, read: Reader):
    rows = [("#1", "#a", 2), ("#1", "b", 1), ("2", "#", 1)]
    columns = ["query_id", "doc_id", "relevance"]
    runs.write_trec_qrels(pl.DataFrame(rows, columns, orient="row"), tmp_path / "t2m.qrels")
    assert own_qrels(tmp_path / "t2m.qrels") == read(tmp_path / "t2m.qrels") == {*rows}


def test_trec_eval_orders_hits_as_single_precision_does(tmp_path):
    draw = random.Random(0)
    hits = [(f"q{q}", f"d{d}", 1 + draw.randrange(4) * 4e-8) for q in range(40) for d in range(25)]
    run = runs.ranked(pl.DataFrame(hits, ["query_id", "doc_id", "score"], orient="row"))
    runs.write_trec_run(run, tmp_path / "run.trec.gz", tag="x")
    assert run_by_trec_eval(tmp_path / "run.trec.gz") == {*hits}


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


@pytest.mark.parametrize("read", RUN.values(), ids=RUN)
def test_what_ir_metadata_has_in_a_run_stops_each_tool_or_is_a_hit(tmp_path, read: Reader):
    """The cause for metadata beside the run."""
    path = tmp_path / "run.trec.gz"
    path.write_bytes(gzip.compress(f"{HEAD}1 Q0 d 1 2 x\n".encode()))
    with pytest.raises((ValueError, IndexError)):
        read(path)
