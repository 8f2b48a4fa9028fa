"""Runs uv and shows what goes on, without the list of all packages that ends an installation.

    python .ci/uv.py uv pip sync requirements.lock

Where uv writes to a terminal it has bars that move, so it gets a terminal if there is one here.
Elsewhere it prints a line for each large file and each step.
"""

import fcntl
import os
import re
import subprocess
import sys
import termios
from contextlib import suppress

# A line of the list, with colours or without.
_LISTED = re.compile(rb"^ *(?:\x1b\[\d*m)*[-+~](?:\x1b\[\d*m)* .*\n?", re.MULTILINE)


def run(command: list[str]) -> int:
    """Run a command, show what it writes as it comes, and return its exit status."""
    has_terminal = sys.stderr.isatty()
    source, sink = os.openpty() if has_terminal else os.pipe()
    if has_terminal:
        size = fcntl.ioctl(sys.stderr, termios.TIOCGWINSZ, bytes(8))
        fcntl.ioctl(sink, termios.TIOCSWINSZ, size)
    with subprocess.Popen(command, stdout=sink, stderr=sink) as process:
        os.close(sink)
        # A terminal's bars are no lines. Linux's end of one is an error.
        with suppress(OSError), os.fdopen(source, "rb", closefd=False) as file:
            for data in iter(lambda: os.read(source, 65_536), b"") if has_terminal else file:
                sys.stderr.buffer.write(_LISTED.sub(b"", data))
                sys.stderr.flush()
    os.close(source)
    return process.returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
