"""A model grades the pool: every pair, or those that it has not answered yet."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from PIL import Image

from isotope.core import store
from isotope.core.errors import EmptyTable
from isotope.core.grid import RunKey
from isotope.core.pixels import batches, decode, iter_pixels
from isotope.core.progress import Progress, log
from isotope_judge.answers import AnswerFile, answer, answers_file
from isotope_judge.ledger import FOLDER, GradedPair
from isotope_judge.params import ModelJudge
from isotope_judge.prompts import PROMPT, Item, Message, MessagePicture, message, read_items
from isotope_judge.schemas import MODEL_GRADES

# Below this share of the probability for all grades together a model hardly answers the question.
_LITTLE = 0.5
_DECODED = 64
# Pairs whose answers are written at a time, while the pictures of the next ones are decoded.
_WRITTEN = 16
_READERS = 4
_HOW = ("kind", "answer", "pixels", "precision")


class GradingQuestion(NamedTuple):
    """A pair with what is asked about it, and the key of the answer."""

    pair: GradedPair
    message: Message
    key: str


class Questions:
    """The pairs of a pool, as messages to one judge."""

    def __init__(
        self,
        pool: pl.DataFrame,
        tables: Mapping[str, Path],
        pixels: Sequence[Path],
        *,
        spec: ModelJudge,
        scale: Mapping[int, str],
    ) -> None:
        """Read the items of a pool (schemas.POOL) from `tables`, by side.

        Raises:
            MissingFile, IntegrityError: as `prompts.read_items`.
        """
        self._pool, self._spec, self._scale = pool, spec, scale
        self.grades = sorted(scale)
        self._judge = identity(spec, self.grades)
        crawled = _crawled(pixels)
        self._items: dict[str, Mapping[str, Item]] = {
            side: read_items(table, side, _ids(pool, side), crawled)
            for side, table in tables.items()
        }

    def __iter__(self) -> Iterator[GradingQuestion]:
        """Yield the questions in the order of the pool."""
        prompt = self._spec.prompt or PROMPT
        for pair in (GradedPair(*row) for row in self._pool.select(GradedPair._fields).iter_rows()):
            cell = RunKey("", "", pair.task)
            query = self._items[cell.query_side][pair.query_id]
            document = self._items[cell.document_side][pair.doc_id]
            asked = message(prompt, self._scale, query, document)
            yield GradingQuestion(pair, asked, asked.key(self._judge))


def _ids(pool: pl.DataFrame, side: str) -> list[str]:
    """Return the pooled texts or images, as queries or as documents, sorted."""
    asking = pl.col("task").map_elements(lambda t: RunKey("", "", t).query_side, pl.String) == side
    either = pl.when(asking).then("query_id").otherwise("doc_id")
    return pool.select(ident=either)["ident"].unique().sort().to_list()


def _crawled(pixels: Sequence[Path]) -> frozenset[str]:
    """Return the ids of all pictures that have pixels."""
    if not pixels:
        return frozenset()
    return frozenset(
        pl.scan_parquet(list(pixels), glob=False).select("image_id").collect()["image_id"]
    )


def identity(spec: ModelJudge, grades: Sequence[int]) -> dict[str, Any]:
    """Return what an answer depends on beside its message: the model, and how it reads.

    A model in a folder is known by its files, wherever it lies; one of a hub by name and revision.
    """
    folder = Path(spec.name)
    if folder.is_dir():
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        total = hashlib.sha256()
        for path in files:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
        model: dict[str, Any] = {"files": total.hexdigest()}
    else:
        model = {"name": spec.name, "revision": spec.revision}
    return {**model, **{key: getattr(spec, key) for key in _HOW}, "grades": list(grades)}


def grade_pool(  # noqa: PLR0913
    *,
    pool: Path,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    grades: Path,
    collection: str,
    judge: str,
    spec: ModelJudge,
    scale: Mapping[Any, str],
) -> None:
    """Write `grades` (schemas.MODEL_GRADES): the grade that a model gives each pair of a pool.

    `scale` has the meaning of each grade. Answers are saved in `answers.answers_file` as they come;
    a pair that has one is not asked again.

    Raises:
        EmptyTable: no pair in the pool.
        UnknownModel, FetchFailed, CorruptFile: as `vlm.Vlm`, and a bad line among the answers.
        IntegrityError: answers by another commit of the hub's model.
        MissingFile, TruncatedFile: as `prompts.read_items` and `pixels.iter_pixels`.
    """
    pairs = pl.read_parquet(pool, glob=False)
    if not pairs.height:
        raise EmptyTable(pool, "no pair to grade", "pool runs with hits")
    meanings = {int(grade): means for grade, means in scale.items()}
    tables = {"texts": texts, "images": images}
    questions = Questions(pairs, tables, pixels, spec=spec, scale=meanings)
    answers = AnswerFile(answers_file(collection, judge, FOLDER))
    with store.scratch(grades) as folder:
        ask(questions, answers, spec=spec, pixels=pixels, folder=folder)
    rows = [_row(judge, question, answers) for question in questions]
    table = pairs.select("split").hstack(pl.DataFrame(rows))
    store.write(table.to_arrow(), grades, MODEL_GRADES)
    _warn(judge, table)


def ask(
    questions: Questions,
    answers: AnswerFile,
    *,
    spec: ModelJudge,
    pixels: Sequence[Path],
    folder: Path,
) -> None:
    """Ask a model what has no answer yet; pictures wait in `folder`, which is empty."""
    keys = [question.key for question in questions]
    waiting = {key for key in keys if key not in answers.by_key}
    progress = Progress("pairs graded by a model", total=len(keys))
    progress.resume(sum(key not in waiting for key in keys))
    if waiting:
        from isotope_judge.vlm import Vlm  # noqa: PLC0415 (slow to import)

        model = Vlm(spec, questions.grades)
        answers.demand_commit(keys, model.commit)
        pictures = _Pictures(folder)
        shown = (p.ident for q in questions if q.key in waiting for p in q.message.pictures)
        pictures.fetch(frozenset(shown), pixels)
        with ThreadPoolExecutor(_READERS) as readers:
            for some in batches(_once(questions, waiting), _WRITTEN):
                shown = [readers.submit(pictures.parts, q.message) for q in some]
                read = [model.read(parts.result()) for parts in shown]
                answered = [
                    answer(q.key, *r, model.commit) for q, r in zip(some, read, strict=True)
                ]
                answers.add([question.pair for question in some], answered)
                progress.add(len(some))
    progress.finish()


def _once(questions: Questions, waiting: set[str]) -> Iterator[GradingQuestion]:
    """Yield each question without an answer; the same words and pictures are asked once."""
    left = waiting.copy()
    for question in questions:
        if question.key in left:
            left.discard(question.key)
            yield question


class _Pictures:
    """The pictures of questions, as files of a folder: one pass through the crawl's shards."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._decoded = lru_cache(_DECODED)(self._decode)

    def fetch(self, ids: frozenset[str], pixels: Sequence[Path]) -> None:
        progress = Progress("pictures of the pool", total=len(ids))
        for ident, webp in iter_pixels(pixels, ids):
            self._path(ident).write_bytes(webp)
            progress.add()
        progress.finish()

    def parts(self, message: Message) -> list[str | Image.Image]:
        return [p if isinstance(p, str) else self._decoded(p) for p in message.parts]

    def _path(self, ident: str) -> Path:
        return self._folder / hashlib.sha256(ident.encode()).hexdigest()

    def _decode(self, picture: MessagePicture) -> Image.Image:
        return decode(self._path(picture.ident).read_bytes(), where=f"image {picture.ident}")


def _row(judge: str, question: GradingQuestion, answers: AnswerFile) -> dict[str, Any]:
    answer = answers.by_key[question.key]
    return {
        **question.pair._asdict(),
        "judge": judge,
        "grade": answer.grade,
        "expected": answer.expected,
        "mass": answer.mass,
        "pictured": bool(question.message.pictures),
        "key": answer.key,
    }


def _warn(judge: str, table: pl.DataFrame) -> None:
    """Say in the log what makes a judge's grades doubtful."""
    little = table.filter(pl.col("mass") < _LITTLE).height
    if little:
        text = "%s: of %s of %s pairs the grades have less than half of the probability: the model "
        text += "would have answered otherwise; see `prompt` and `answer` of judge.models"
        log.warning(text, judge, f"{little:,}", f"{table.height:,}")
    blind = table.height - int(table["pictured"].sum())
    if blind:
        log.warning("%s: %s pairs have no picture and were graded by words", judge, f"{blind:,}")
