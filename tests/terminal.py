"""A terminal without a window: what a program wrote, as a person would see it."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]")
ROWS = 24


class Terminal:
    """Rows of text and a cursor; a control sequence that it does not know is an error."""

    def __init__(self, columns: int) -> None:
        self.columns, self.rows, self.at = columns, [""], (0, 0)
        # What stood from the cursor on each time before it was cleared.
        self.frames: list[list[str]] = []

    def feed(self, text: str) -> "Terminal":
        """Write to the terminal."""
        end = 0
        for found in _TOKEN.finditer(text):
            assert found.start() == end, f"unknown control: {text[end : end + 20]!r}"
            end = found.end()
            self._do(found[0], found[2], int(found[1] or 1))
        assert end == len(text)
        return self

    def _do(self, token: str, control: str | None, count: int) -> None:
        row, column = self.at
        if token == "\r":
            self.at = row, 0
        elif token == "\n":
            self.at = row + 1, column
        elif control == "A":
            assert count <= row, "above the first line"
            self.at = row - count, column
        elif control == "J":
            self.frames.append([line for line in self.rows[row:] if line])
            self.rows[row:] = [self.rows[row][:column]]
        elif control is None:
            self._put(token)
        else:
            assert control == "m", f"unknown control: {token!r}"
        self.rows += [""] * (self.at[0] + 1 - len(self.rows))

    def _put(self, letter: str) -> None:
        row, column = self.at if self.at[1] < self.columns else (self.at[0] + 1, 0)
        self.rows += [""] * (row + 1 - len(self.rows))
        line = self.rows[row].ljust(column)
        self.rows[row] = line[:column] + letter + line[column + 1 :]
        self.at = row, column + 1

    @property
    def text(self) -> str:
        """What is on the screen and above it."""
        return "\n".join(self.rows)


class Program:
    """A program that runs in a terminal of its own."""

    def __init__(
        self, words: Sequence[str | Path], columns: int, *, cwd: Path, env: Mapping[str, str]
    ) -> None:
        self._own, theirs = os.openpty()
        self._columns, self.written = columns, ""
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env={**env, "TERM": "xterm"},
            process_group=0,
        )
        os.close(theirs)

    def until(self, words: str = "") -> "Program":
        """Read until some words were written, or to the end."""
        data = self.written.encode()
        while not words or words.encode() not in data:
            try:
                some = os.read(self._own, 65_536)
            except OSError:
                # The last process that had it open has ended.
                some = b""
            if not some:
                break
            data += some
        self.written = data.decode()
        assert words in self.written, self.written
        return self

    def kill(self) -> None:
        """End it at once, with what it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        os.close(self._own)
        self.process.wait()

    def end(self) -> tuple[int, Terminal]:
        """Read to the end; return the exit status and what is to be seen."""
        self.until()
        os.close(self._own)
        return self.process.wait(), Terminal(self._columns).feed(self.written)
