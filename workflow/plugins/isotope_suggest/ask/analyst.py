"""The words of one text after the other, as Lucene's analyzers see them, by a Java that stays.

`bm25.words` starts a Java for each of its answers, half a second each; here one waits for texts.
It runs the same program on the same files, so the words are those of the index.
"""

import os
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from isotope.bm25.words import TermCounts
from isotope.core import lucene
from isotope.core.errors import ToolFailed
from isotope.core.resources import PACKAGE

_CLASSES = PACKAGE / "java"
_RUNNER, _PROGRAM, _DONE = "RunAll", "CountTerms", "RunAll: done"
_MEMORY_MB = 128
_SIZE_BYTES = 4
# A text is capped before it comes here; more output than this is not the program's.
_MOST_LINES = 1_000
_TRIES = 2


class Analyst:
    """One Java, started with the first text or by `start`, and again if it has ended."""

    def __init__(self, words: str) -> None:
        """Take the analyzer's name, of `bm25.words.analyzer`."""
        self._words = words
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="isotope-words-")

    def start(self) -> None:
        """Start Java and load its classes."""
        self.counts("isotope")

    def counts(self, text: str) -> TermCounts:
        """Return the terms of one text, of which each is there once, and how often it is in it.

        Raises:
            ToolFailed: Java can't be started, or ended twice.
        """
        with self._lock:
            output = list[str]()
            for _ in range(_TRIES):
                if self._ran(text, output):
                    return _read(Path(self._folder.name))
            problem = f"ended: {' | '.join(output[-3:]) or 'without a word'}"
            raise ToolFailed(_PROGRAM, problem, "run `isotope doctor`, which checks Java")

    def _ran(self, text: str, output: list[str]) -> bool:
        """Run the program on a text; tell whether it came to its end."""
        data = lucene.topic(text).encode()
        folder = Path(self._folder.name)
        (folder / "texts").write_bytes(len(data).to_bytes(_SIZE_BYTES, "little") + data)
        files = [str(folder / name) for name in ("texts", "terms", "numbers")]
        java = self._process or self._started()
        try:
            print(_PROGRAM, *files, "1", self._words, sep="\t", file=java.stdin, flush=True)
            for line, _ in zip(java.stdout or (), range(_MOST_LINES), strict=False):
                if line.rstrip("\n") == _DONE:
                    return True
                output.append(line.rstrip("\n"))
        except (BrokenPipeError, OSError):
            pass
        self._end()
        return False

    def _started(self) -> subprocess.Popen[str]:
        classes = os.pathsep.join(map(str, (lucene.jar(), _CLASSES)))
        flags = [*lucene.BRIEF, "-XX:+UseSerialGC", f"-Xmx{_MEMORY_MB}m"]
        command = [str(lucene.java()), *flags, "-cp", classes, _RUNNER]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            text=True,
            # Ctrl-C is for the server, which ends its children itself.
            start_new_session=True,
        )
        return self._process

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            with suppress(OSError):
                self._process.communicate()
            self._process = None

    def close(self) -> None:
        """End Java."""
        with self._lock:
            self._end()
            self._folder.cleanup()


def _read(folder: Path) -> TermCounts:
    """Read what the program wrote of one text."""
    terms = (folder / "terms").read_bytes().decode().split("\n")[:-1]
    numbers = np.fromfile(folder / "numbers", np.int32)
    return TermCounts(pl.Series("term", terms, pl.String), numbers, np.array([2], np.int64))
