"""One Java for all tests of a worker: `RunAll` reads what to run, and stays."""

import subprocess
import threading
from collections.abc import Sequence

from isotope.core import lucene

MEMORY_MB = 1024
# What starts a Java for some runs and waits for its end.
ON_ITS_OWN = lucene._java_runs


class OneJava:
    """Stands in for `lucene._java_runs`; a program that fails ends its Java, as always."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def __call__(
        self, lines: Sequence[str], memory_mb: int, flags: Sequence[str] = ()
    ) -> tuple[int, list[str]]:
        """Run the lines; return what a Java of their own would exit with, and its output."""
        with self._lock:
            found: list[str] = []
            for line in lines:
                status, output = self._run(line)
                found += output
                if status:
                    return status, found
            return 0, found

    def _run(self, line: str) -> tuple[int, list[str]]:
        java = self._process or self._started()
        assert java.stdin
        assert java.stdout
        java.stdin.write(f"{line}\n")
        java.stdin.flush()
        output: list[str] = []
        for written in java.stdout:
            output.append(written.rstrip("\n"))
            if output[-1] == lucene._DONE:
                return 0, output
        self._process = None
        java.stdin.close()
        java.stdout.close()
        return java.wait(), output

    def _started(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [*lucene._command(MEMORY_MB), lucene._RUNNER]
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True
        )
        return self._process

    def end(self) -> None:
        """Let Java end: its input does."""
        if self._process:
            self._process.communicate()
            self._process = None
