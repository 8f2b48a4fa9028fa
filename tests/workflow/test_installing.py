"""What `make` shows while it installs: uv's bars on a terminal, lines elsewhere, no long list."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.terminal import Program

ROOT = Path(__file__).parents[2]
SHOW = (sys.executable, ROOT / ".ci/uv.py")
# What uv writes: a bar on a terminal, lines elsewhere, and at its end each package.
UV = """
import os, sys, time
wide = os.get_terminal_size(2).columns if os.isatty(2) else 0
print("Resolved 3 packages in 20ms", file=sys.stderr)
if wide:
    print("\\x1b[31mPreparing\\x1b[0m", wide, "columns", end="\\r\\n", file=sys.stderr)
else:
    print("Downloading torch (880.1MiB)", file=sys.stderr)
sys.stderr.flush()
time.sleep(0.2)
print("Installed 3 packages in 2ms", file=sys.stderr)
colour, plain = ("\\x1b[32m", "\\x1b[39m") if wide else ("", "")
for sign in "+-~":
    print(f" {colour}{sign}{plain} torch==2.15.0", file=sys.stderr)
print("Bytecode compiled 9 files in 3ms", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", [0, 2])
def test_lines_come_without_the_list_of_packages(status):
    done = subprocess.run(
        [*SHOW, sys.executable, "-c", UV, str(status)], check=False, capture_output=True, text=True
    )
    assert done.returncode == status
    assert done.stderr.splitlines() == [
        "Resolved 3 packages in 20ms",
        "Downloading torch (880.1MiB)",
        "Installed 3 packages in 2ms",
        "Bytecode compiled 9 files in 3ms",
    ]


@pytest.mark.parametrize("status", [0, 2])
def test_on_a_terminal_uv_has_one_as_wide(status, tmp_path):
    words = [*SHOW, sys.executable, "-c", UV, str(status)]
    program = Program(words, 93, cwd=tmp_path, env=os.environ)
    program.until("93 columns")
    ended, screen = program.end()
    shown = screen.text
    assert ended == status
    assert "Installed 3 packages" in shown
    assert "Bytecode compiled" in shown
    assert "torch==" not in shown


def test_make_shows_the_installation_and_asks_for_hashes():
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n\t", " ")
    [line] = [line for line in makefile.splitlines() if " pip sync " in line]
    assert line.startswith("\t@$(BIN)/python .ci/uv.py $(BIN)/uv pip sync ")
    assert "--require-hashes $(HASHED) requirements.lock" in " ".join(line.split())
    assert "--quiet" not in line
