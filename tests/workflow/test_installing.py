"""What `make` shows while it installs, bars on a terminal and lines elsewhere, and its size."""

import os
import platform
import re
import subprocess
import sys
import sysconfig
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


def said(page: str, words: str) -> list[str]:
    """The gigabytes that a page names between words."""
    text = " ".join((ROOT / page).read_text("utf-8").split())
    found = re.search(words, text)
    assert found, f"{page}: {words}"
    return [*found.groups()]


def measured() -> dict[str, list[int]]:
    """Megabytes by extra: all, beyond the base, and CUDA's."""
    page = (ROOT / "benchmarks/results/install.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z-]+) \| [\d,]+ \| (.*) \|$", page, re.MULTILINE)
    return {
        extra: [int(cell.replace(",", "") or 0) for cell in map(str.strip, cells.split("|"))]
        for extra, cells in rows
    }


def test_pages_name_the_sizes_that_were_measured():
    of = measured()
    assert {"base", "build", "neural", "all"} <= {*of}
    words = (
        r"The base takes ([\d.]+) GB, `build` ([\d.]+) GB beyond it, `neural` ([\d.]+) GB, "
        r"of which ([\d.]+) are CUDA's, and `all` is ([\d.]+) GB"
    )
    megabytes = [of["base"][0], of["build"][1], *of["neural"][1:], of["all"][0]]
    assert said("docs/install.md", words) == [f"{size / 1_000:.1f}" for size in megabytes]
    base, cuda = (f"{size / 1_000:.1f}" for size in (of["base"][0], of["all"][2]))
    assert said("README.md", r"\(docs/install.md\) begins at ([\d.]+) GB") == [base]
    for page in ("README.md", "docs/quickstart.md"):
        assert said(page, r"GB, of which ([\d.]+) are CUDA for PyTorch") == [cuda]
    assert said("docs/platforms.md", r"no CUDA, so ([\d.]+) GB of packages") == [cuda]


def test_pages_name_the_size_of_the_environment_of_a_checkout():
    """That of the tests, with modules that are compiled as they are installed."""
    packages = Path(sysconfig.get_path("purelib"))
    if platform.machine() != "x86_64" or not (packages / "nvidia").is_dir():
        pytest.skip("the pages say what it takes on Linux on x86-64, with CUDA")
    files = (Path(folder, name) for folder, _, names in os.walk(packages) for name in names)
    size = sum(path.stat(follow_symlinks=False).st_size for path in files) / 1e9
    for page in ("README.md", "docs/quickstart.md"):
        [gigabytes] = said(page, r"`\.venv` \(([\d.]+) GB")
        assert float(gigabytes) == pytest.approx(size, rel=0.05)
