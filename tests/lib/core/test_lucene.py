"""BM25 through Anserini: found, fed and read without surprises."""

import math
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import one_java

from isotope.core import lucene, provenance
from isotope.core.errors import EmptyTable, ToolFailed
from isotope.core.lucene import merge_indexes
from isotope.core.store import part_of

DOCUMENTS = [
    ("d1", "ray charles plays the piano"),
    ("d2", "a piano in a quiet room"),
    ("d3", "stars over the harbour"),
    ("d4", "the harbour, the harbour and a piano piano"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("lucene") / "index"
    assert lucene.build_index(DOCUMENTS, path, threads=1, memory_mb=512) == 4
    return path


def ask(index: Path, *texts: str, **given) -> pl.DataFrame:
    queries = [(f"q{n}", text) for n, text in enumerate(texts)]
    model = lucene.Bm25Parameters(0.9, 0.4, memory_mb=512)
    return lucene.search(index, queries, model, hits=given.get("hits", 10), threads=1)


def test_the_score_is_the_textbooks(index):
    """Robertson's BM25 as Lucene has it: idf ln(1 + (N - n + .5) / (n + .5)), k1 0.9, b 0.4."""
    lengths = {"d1": 4, "d2": 3, "d3": 3, "d4": 4}
    n, mean = 4, sum(lengths.values()) / 4
    idf = math.log(1 + (n - 1 + 0.5) / (1 + 0.5))
    weight = 1 / (1 + 0.9 * (1 - 0.4 + 0.4 * lengths["d1"] / mean))
    found = ask(index, "ray")
    assert found["doc_id"].to_list() == ["d1"]
    assert found["score"][0] == pytest.approx(idf * weight, abs=1e-3)


def test_more_of_a_rare_word_ranks_higher(index):
    assert ask(index, "harbour")["doc_id"].to_list() == ["d4", "d3"]


def test_words_meet_by_their_stem(index):
    assert ask(index, "harbours")["doc_id"].to_list() == ["d4", "d3"]


def test_a_query_without_a_word_finds_nothing_and_spoils_nothing(index):
    found = ask(index, "", "  \n ", "the of", "stars\tand\nharbour")
    assert set(found["query_id"]) == {"q3"}


def test_no_queries_find_nothing(index):
    assert ask(index).is_empty()


def test_hits_are_limited(index):
    assert ask(index, "piano", hits=2).height == 2


def test_a_query_beyond_lucenes_limit_is_cut_and_still_answered(index):
    words = " ".join(f"word{n}" for n in range(5_000))
    assert ask(index, f"harbour {words}")["doc_id"].to_list() == ["d4", "d3"]


def test_a_query_of_more_signs_than_lucenes_limit_is_answered(index):
    """No letters, so not cut, but terms of their own to the analyzer."""
    signs = " ".join(chr(0x1F300 + n) for n in range(1_500))
    assert ask(index, f"harbour {signs}")["doc_id"].to_list() == ["d4", "d3"]


def test_a_query_is_cut_by_distinct_terms_not_by_length():
    assert lucene.topic("again " * 5_000) == ("again " * 5_000).strip()
    cut = lucene.topic(" ".join(f"w{n}" for n in range(1_500)))
    assert cut.split() == [f"w{n}" for n in range(1_000)]


def test_scripts_without_spaces_count_by_letter():
    letters = "".join(chr(0x4E00 + n) for n in range(1_500))
    assert lucene.topic(letters) == letters[:1_000]


def test_no_documents_are_an_error(tmp_path):
    with pytest.raises(EmptyTable, match="no documents to index"):
        lucene.build_index([], tmp_path / "index", threads=1)


def test_a_missing_index_is_named(tmp_path):
    with pytest.raises(ToolFailed, match=r"BatchSearch: .*nowhere"):
        ask(tmp_path / "nowhere", "piano")


def test_one_java_makes_several_indexes_and_searches_them(tmp_path, monkeypatch):
    starts: list[int] = []

    def counted(
        lines: Sequence[str], memory_mb: int, flags: Sequence[str]
    ) -> tuple[int, list[str]]:
        starts.append(len(lines))
        return one_java.ON_ITS_OWN(lines, memory_mb, flags)

    monkeypatch.setattr(lucene, "_java_runs", counted)
    halves = [lucene.Documents(tmp_path / f"{n}", DOCUMENTS[n::2]) for n in range(2)]
    assert lucene.build_indexes(halves, threads=1, memory_mb=512) == 4
    model = lucene.Bm25Parameters(0.9, 0.4, memory_mb=512)
    asked = [lucene.LuceneQueries(half.folder, [("q", "piano")], model) for half in halves]
    asked.insert(1, lucene.LuceneQueries(tmp_path / "0", [], model))
    found = [hits["doc_id"].to_list() for hits in lucene.search_all(asked, hits=9, threads=1)]
    assert found == [["d1"], [], ["d4", "d2"]]
    assert starts == [2, 2]
    absent = lucene.LuceneQueries(tmp_path / "nowhere", [("q", "piano")], model)
    with pytest.raises(ToolFailed, match=r"BatchSearch: exit status 1.*run it by hand: .*nowhere"):
        next(lucene.search_all([asked[0], absent], hits=9, threads=1))


def test_a_failed_program_tells_the_cause_below_its_error(monkeypatch):
    output = [
        "Exception in thread main java.lang.RuntimeException",
        "\tat CountTerms.main",
        "Caused by: java.io.IOException: No space left on device",
    ]
    monkeypatch.setattr(lucene, "_java_runs", lambda *_: (1, output))
    with pytest.raises(ToolFailed, match=r"RuntimeException.*Caused by: .*No space left"):
        lucene.run_tool("CountTerms", memory_mb=64)


def test_documents_beyond_a_limit_are_indexed_before_more_are_written(tmp_path, monkeypatch):
    runs: list[int] = []

    def noted(_: str, lists: Sequence[Sequence[str | Path]], **_named: int) -> None:
        runs.append(len(lists))
        assert len([*tmp_path.glob(".documents-*")]) == len(lists)

    monkeypatch.setattr(lucene, "run_tools", noted)
    monkeypatch.setattr(lucene, "_WAITING_BYTES", 100)
    each = [lucene.Documents(tmp_path / f"{n}", DOCUMENTS[:1]) for n in range(5)]
    assert lucene.build_indexes(each, threads=1) == 5
    assert runs == [2, 2, 1]
    assert not [*tmp_path.iterdir()]


def by_anserini(index: Path, queries: list[tuple[str, str]], hits: int, *flags: str):
    """Return the hits of Anserini's own program, from the run that it writes."""
    topics, run = index.parent / "topics.tsv", index.parent / "run.txt"
    lucene.write_topics(queries, topics)
    where = ["-index", index, "-topics", topics, "-topicReader", "TsvString", "-output", run]
    more = ["-hits", str(hits), "-threads", "1", *flags]
    program = "io.anserini.search.SearchCollection"
    lucene.run_tool(program, *where, "-bm25", *more, memory_mb=512)
    rows = [line.split(" ") for line in run.read_text(encoding="utf-8").splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows]


def few_words(seed: int, count: int) -> list[tuple[str, str]]:
    """Return short texts of few words, many of them alike, with numbers for names."""
    words = ["the", "piano", "pianos", "harbours", "häuser", "haus", "häusern", "star", "Ray's"]
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(words, k=draw.randint(2, 6))) for _ in range(count)]
    return [(f"{n:04}", text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("own", "depths"),
    [
        ({"language": "en"}, [1, 9, 1_000]),
        ({"language": "de"}, [25]),
        ({"pretokenized": True}, [25]),
    ],
)
def test_the_answers_are_anserinis_digit_by_digit(tmp_path, own, depths):
    """Documents, order and scores: in ties, at a cut, and where few or most documents are hits."""
    documents, queries = few_words(2, 1_200), few_words(3, 20)
    lucene.build_index(documents[::-1], tmp_path / "i", threads=1, memory_mb=512, **own)
    flags = lucene.analysis(**{"language": "en"} | own)
    for hits in depths:
        model = lucene.Bm25Parameters(0.9, 0.4, memory_mb=512, **own)
        found = lucene.search(tmp_path / "i", queries, model, hits=hits, threads=2)
        assert found.height > 15
        assert found.rows() == by_anserini(tmp_path / "i", queries, hits, *flags)


def in_parts(documents: list[tuple[str, str]], folder: Path, n: int, **own) -> list[Path]:
    """Index n slices of the documents; one without a document has no index."""
    parts = [folder / f"{i}-of-{n}" for i in range(n)]
    for i, part in enumerate(parts):
        own_documents = part_of(documents, (i, n))
        if own_documents:
            lucene.build_index(own_documents, part, threads=1, memory_mb=512, **own)
    return parts


@pytest.mark.parametrize(
    ("own", "count", "n"),
    [({"language": "en"}, 1_200, 3), ({"language": "de"}, 5, 7)],
)
def test_an_index_merged_of_parts_answers_as_one_built_at_once_digit_by_digit(
    tmp_path, own, count, n
):
    """Ties, cuts, few hits and many, and more parts than documents."""
    documents, queries = few_words(5, count)[::-1], few_words(6, 20)
    lucene.build_index(documents, tmp_path / "once", threads=1, memory_mb=512, **own)
    merge_indexes(in_parts(documents, tmp_path, n, **own), tmp_path / "merged", memory_mb=512)
    assert len(list((tmp_path / "merged").glob("*.si"))) == 1
    for hits in (1, 1_000):
        model = lucene.Bm25Parameters(0.9, 0.4, memory_mb=512, **own)
        once, merged = (
            lucene.search(tmp_path / name, queries, model, hits=hits, threads=2)
            for name in ("once", "merged")
        )
        assert once.height > 10
        assert once.equals(merged)
    flags = lucene.analysis(**own)
    assert once.rows() == by_anserini(tmp_path / "merged", queries, 1_000, *flags)


def test_an_index_of_parts_without_documents_is_an_error(tmp_path):
    (tmp_path / "part").mkdir()
    with pytest.raises(EmptyTable, match="no documents to index"):
        merge_indexes([tmp_path / "part", tmp_path / "none"], tmp_path / "index")


def test_a_merge_that_fails_or_is_interrupted_leaves_what_was_there(index, tmp_path, monkeypatch):
    parts = [index, tmp_path / "broken"]
    shutil.copytree(*parts)
    next(parts[1].glob("*.si")).write_bytes(b"")
    whole = tmp_path / "index"
    shutil.copytree(index, whole)
    before = {path.name: path.read_bytes() for path in whole.iterdir()}
    with pytest.raises(ToolFailed, match=r"MergeIndexes: .*broken"):
        merge_indexes(parts, whole, memory_mb=512)

    def interrupted(_, made: Path, *_parts: Path, memory_mb: int) -> None:
        (made / "_0.fdt").write_bytes(b"0" * memory_mb)
        raise KeyboardInterrupt

    monkeypatch.setattr(lucene, "run_tool", interrupted)
    for place in (whole, tmp_path / "new"):
        with pytest.raises(KeyboardInterrupt):
            merge_indexes([index], place)
    assert {path.name: path.read_bytes() for path in whole.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} == {"broken", "index"}


def test_several_languages_share_an_index_without_the_endings_of_one(tmp_path):
    own: dict[str, Any] = {"memory_mb": 512, "language": "mul"}
    documents = [
        *(("en", "Running dogs in parks"), ("ru", "Собаки живут"), ("ar", "القاهرة والمدارس")),
        ("zh", "北京历史"),
    ]
    lucene.build_index(documents, tmp_path / "i", threads=1, **own)
    words = ["dogs", "RUNNING", "dog", "run", "собаки", "собака", "المدارس", "والمدارس", "历史"]
    queries = [(word, word) for word in words]
    found = lucene.search(
        tmp_path / "i", queries, lucene.Bm25Parameters(0.9, 0.4, **own), hits=9, threads=1
    )
    assert dict(found.select("query_id", "doc_id").rows()) == {
        "dogs": "en",
        "RUNNING": "en",
        "собаки": "ru",
        "والمدارس": "ar",
        "历史": "zh",
    }


def test_the_classes_are_what_a_compiler_makes_of_their_sources(tmp_path):
    compiler = shutil.which("javac")
    if not compiler or " 17." not in subprocess.check_output([compiler, "--version"], text=True):
        pytest.skip("no javac 17, which made the classes (make java)")
    sources = Path(lucene.__file__).parents[1] / "java"
    flags = ["-g:none", "--release", "17", "-cp", lucene.jar(), "-d", tmp_path]
    subprocess.run([compiler, *flags, *sources.glob("*.java")], check=True)
    made, kept = (
        {path.name: path.read_bytes() for path in folder.glob("*.class")}
        for folder in (tmp_path, sources)
    )
    assert made == kept
    assert {"BatchSearch.class", "MergeIndexes.class", "RunAll.class"} < set(made)


@pytest.mark.parametrize(
    ("module", "program", "other"),
    [
        ("search.bm25", "BatchSearch", "MergeIndexes"),
        ("index.bm25:index_bm25_gather", "MergeIndexes", ""),
    ],
)
def test_what_starts_a_program_depends_on_it(module, program, other):
    files = {f"java/{path.name}" for path in (Path(lucene.__file__).parents[1] / "java").iterdir()}
    own = {name for name in files if program in name}
    tracked = set(provenance.closure(module))
    assert len(own) > 1
    assert own | {"java/RunAll.java", "java/RunAll.class"} <= tracked
    assert not {name for name in files if other and other in name} & tracked
    assert not files & set(provenance.closure("score.score"))


def fake_java(home: Path, version: str) -> Path:
    program = home / "bin/java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return home


@pytest.mark.parametrize(
    ("version", "honoured"), [("21.0.2", True), ("25", True), ("17.0.15", False)]
)
def test_java_home_is_honoured_from_21_on(tmp_path, monkeypatch, version, honoured):
    monkeypatch.setenv("JAVA_HOME", os.fspath(fake_java(tmp_path / "jdk", version)))
    lucene.java.cache_clear()
    chosen = lucene.java()
    lucene.java.cache_clear()
    assert (chosen == tmp_path / "jdk/bin/java") is honoured


def test_queries_are_counted_while_java_answers_them(tmp_path):
    """Two searches of the same queries, of which some find nothing and so have no line."""
    searches = [(tmp_path / f"{n}.topics", tmp_path / f"{n}.answers") for n in range(2)]
    for topics, _ in searches:
        topics.write_text("".join(f"q{n}\tsome words\n" for n in range(5)))
    answered = lucene._answered(searches)
    assert next(answered) == 0
    first, second = (answers for _, answers in searches)
    first.write_text("q0\td1\t9\nq0\td2\t8\nq2\td1\t7\nq3\td")
    assert next(answered) == 3
    assert next(answered) == 3
    first.write_text(f"{first.read_text()}1\t6\n" + "q4\td1\t6\n" * 10_000)
    assert next(answered) == 5
    second.touch()
    assert next(answered) == 5
    second.write_text("q0\td1\t9\n")
    assert next(answered) == 6


def test_java_home_that_is_no_java_is_passed_over(tmp_path):
    assert lucene.java_version(tmp_path) is None
