"""Answers of a model judge: a file of JSON lines beside those of people, and what is asked anew.

A line is an answer to one message, found by its key (`prompts.Message.key`): the same question to
the same model is asked once, whatever the run, the pool or the systems. Lines are appended as they
come, so that a killed run goes on where it was; a torn last line is asked again.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import CorruptFile, IntegrityError, as_disk_full, as_unwritable
from isotope.core.progress import log
from isotope_judge.ledger import FOLDER, SUFFIX, GradedPair

# Below the folder of a collection; sheets of people are not looked for there.
MODELS = "models"
_DECIMALS = 6


class ModelAnswer(NamedTuple):
    """What a model says of a pair.

    `probabilities` are those of the grades, which add up to 1; `mass` is the share that all grades
    have of the probability of the next token. `commit` is that of the hub, None for a folder.
    """

    key: str
    probabilities: Mapping[int, float]
    mass: float
    commit: str | None = None

    @property
    def grade(self) -> int:
        """The likeliest grade, the lower one of two: doubt is not relevance."""
        return max(sorted(self.probabilities), key=lambda g: self.probabilities[g])

    @property
    def expected(self) -> float:
        """The mean grade under the probabilities."""
        return sum(grade * p for grade, p in self.probabilities.items())


def answer(
    key: str, probabilities: Mapping[int, float], mass: float, commit: str | None
) -> ModelAnswer:
    """Return an answer with the digits that its line has."""
    rounded = {grade: round(p, _DECIMALS) for grade, p in sorted(probabilities.items())}
    return ModelAnswer(key, rounded, round(mass, _DECIMALS), commit)


def answers_file(collection: str, judge: str, folder: Path = FOLDER) -> Path:
    """Return the place of a judge's answers about a collection."""
    return folder / collection / MODELS / f"{judge}{SUFFIX}"


class AnswerFile:
    """The answers in a file, by key."""

    def __init__(self, path: Path) -> None:
        """Read the file at `path`, if there is one.

        Raises:
            CorruptFile: a line that is no answer, by its number; a torn last line is left out.
        """
        self.path = path
        content = path.read_bytes() if path.exists() else b""
        *lines, torn = content.split(b"\n")
        if torn:
            log.warning("%s: the last line is torn, and its pair asked again: %r", path, torn[:80])
        # Where the whole lines end: what follows is overwritten.
        self._size = len(content) - len(torn)
        read = (_parsed(line, f"{path}:{n}") for n, line in enumerate(lines, 1))
        self.by_key = {answer.key: answer for answer in read}

    def add(self, pairs: Sequence[GradedPair], answers: Sequence[ModelAnswer]) -> None:
        """Append the answers to some pairs: all of them are on the disk, or none.

        Raises:
            DiskFull, Unwritable: the file is as it was.
        """
        rows = zip(pairs, answers, strict=True)
        content = b"".join(_serialized(pair, answer) for pair, answer in rows)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.path.exists() else "w+b") as file:
                file.truncate(self._size)
                self._append(file.fileno(), content)
        except OSError as error:
            raise as_unwritable(as_disk_full(error, self.path), self.path) from error
        self.by_key |= {answer.key: answer for answer in answers}

    def _append(self, descriptor: int, content: bytes) -> None:
        try:
            if os.pwrite(descriptor, content, self._size) != len(content):
                raise OSError(28, "no space left on device")
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self._size)
            raise
        self._size += len(content)

    def demand_commit(self, keys: Iterable[str], commit: str | None) -> None:
        """Check that answers come from the model that is loaded now.

        Raises:
            IntegrityError: answers by another commit of the hub.
        """
        commits = {self.by_key[key].commit for key in keys if key in self.by_key}
        other_commits = sorted(str(other_commit) for other_commit in commits - {commit})
        if other_commits:
            problem = f"answers by commit {other_commits[0]} of a model that is now at {commit}"
            remedy = f"name `revision: {other_commits[0]}` in the params, or move the file away"
            raise IntegrityError(self.path, problem, remedy)


def _serialized(pair: GradedPair, answer: ModelAnswer) -> bytes:
    record = {
        **pair._asdict(),
        "grade": answer.grade,
        "probabilities": answer.probabilities,
        "mass": answer.mass,
        "commit": answer.commit,
        "key": answer.key,
    }
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _parsed(line: bytes, where: str) -> ModelAnswer:
    try:
        record: Any = json.loads(line)
        shares = {int(grade): float(p) for grade, p in record["probabilities"].items()}
        commit = record["commit"]
        answer = ModelAnswer(str(record["key"]), shares, float(record["mass"]), commit)
        answer.grade  # noqa: B018 (no grade at all is no answer)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        remedy = "remove the line: its pair is asked again"
        raise CorruptFile(where, f"no answer of a model: {line[:80]!r}", remedy) from error
    return answer
