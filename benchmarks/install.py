"""What an installation takes: its size by extra, and the time until a command answers.

    python benchmarks/install.py [EXTRA ...]     (default: each, and all)

The wheel of this checkout is installed into fresh environments with the locked versions, the base
alone, with each extra, and with all; the files in them are added up. Then `import isotope` and
commands are started in the smallest and in the largest one, each in a process of its own, after one
that isn't counted: what was compiled and read before is. `isotope report` prints the report of the
demo in this folder, and is left out, aloud, where there is none.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from common import machine, spent, write

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
LOCKED = re.compile(r"^(\S+==[^\s;]+(?: ; [^\\\n]+?)?) *\\?$", re.MULTILINE)
NVIDIA = ("nvidia", "triton", "cuda")
MOST_MB, IMPORT_S, REPORT_S = 900, 0.3, 1.0
TIMES = 7
COMMANDS = {
    "import isotope": ["-c", "import isotope"],
    "help of the command": ["--help"],
    "isotope report": ["report"],
    "a query of the catalog": ["sql", "FROM filters"],
}


# Seconds, and those of a processor, which say what the machine's other work hides.
Took = tuple[float, float]


class Size(NamedTuple):
    """An environment: how many packages, the megabytes of their files, and CUDA's among them."""

    packages: int
    megabytes: float
    cuda: float


def wheel(folder: Path) -> Path:
    """Build the wheel of the checkout in a copy of it."""
    tree = folder / "tree"
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others"]
    names = subprocess.run([*listed, "--exclude-standard"], capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        source, to = ROOT / name, tree / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            to.symlink_to(source.readlink())
        elif source.is_file():
            to.write_bytes(source.read_bytes())
    build = "import setuptools.build_meta as backend; print(backend.build_wheel('.'))"
    command = [sys.executable, "-c", build]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    return tree / done.stdout.split()[-1]


def installed(extras: Sequence[str], built: Path, place: Path) -> Path:
    """Make an environment with the wheel and extras; return its Python."""
    locked = place.with_suffix(".txt")
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    locked.write_text("\n".join(LOCKED.findall(lock)) + "\n")
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, place], check=True)
    asked = f"{built}[{','.join(extras)}]" if extras else str(built)
    options = ["-q", "--python", place, "--constraints", locked]
    subprocess.run([UV, "pip", "install", *options, asked], check=True)
    return place / "bin/python"


def size(python: Path) -> Size:
    """Add up the files of an environment's packages, but what Python compiles of them."""
    [folder] = python.parents[1].glob("lib/python*/site-packages")
    files = [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    bytes_of = {path: path.stat().st_size for path in files}
    cuda = sum(n for p, n in bytes_of.items() if p.relative_to(folder).parts[0].startswith(NVIDIA))
    packages = len([*folder.glob("*.dist-info")])
    return Size(packages, sum(bytes_of.values()) / 1e6, cuda / 1e6)


def seconds(python: Path, name: str) -> Took | None:
    """Return the median of a command's seconds, and the least of its processor seconds, which other
    work on the machine lengthens; None where it has nothing to print.
    """
    program = python if name.startswith("import") else python.with_name("isotope")
    command = [str(program), *COMMANDS[name]]
    # As an installer leaves it, or a first start: compiled.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    took: list[Took] = []
    for _ in range(TIMES + 1):
        start, before = time.perf_counter(), spent()
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        took.append((time.perf_counter() - start, spent() - before))
        if done.returncode:
            print(f"skipped: {name}: {done.stderr.strip()}", file=sys.stderr)
            return None
    wall, processor = zip(*took[1:], strict=True)
    return statistics.median(wall), min(processor)


def main(*chosen: str) -> None:
    """Measure, and write the tables and what was asked for."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [each for each in declared["optional-dependencies"] if each != "all"]
    rows: dict[str, Size] = {}
    times: dict[str, dict[str, Took | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        built = wheel(Path(folder))
        for name in ("base", *(chosen or (*extras, "all"))):
            place = Path(folder) / name
            python = installed([] if name == "base" else [name], built, place)
            rows[name] = size(python)
            print(name, rows[name], file=sys.stderr, flush=True)
            if name in ("base", "all"):
                times[name] = {command: seconds(python, command) for command in COMMANDS}
            subprocess.run(["rm", "-rf", place], check=True)
    write("install", report(rows, times) + machine(["uv", "setuptools"]))


def report(rows: dict[str, Size], times: dict[str, dict[str, Took | None]]) -> str:
    """Return the tables, and what was asked for and came of it."""
    base = rows["base"]
    lines = ["# install: sizes and start-up times\n"]
    lines.append("| extra | packages | MB | beyond the base | of it CUDA's |")
    lines.append("|---|---:|---:|---:|---:|")
    for name, each in rows.items():
        more = "" if name == "base" else f"{each.megabytes - base.megabytes:,.0f}"
        cuda = f"{each.cuda:,.0f}" if each.cuda else ""
        lines.append(f"| {name} | {each.packages} | {each.megabytes:,.0f} | {more} | {cuda} |")
    heads = " | ".join(f"{name}, s | processor, s" for name in times)
    lines.append(f"\n| started | {heads} |")
    lines.append("|---|" + "---:|---:|" * len(times))
    for command in COMMANDS:
        told = [
            f"{took[0]:.2f} | {took[1]:.2f}" if (took := of[command]) else "— | —"
            for of in times.values()
        ]
        lines.append(f"| {command} | " + " | ".join(told) + " |")
    asked = {f"The base has at most {MOST_MB} MB": base.megabytes <= MOST_MB}
    for command, most in (("import isotope", IMPORT_S), ("isotope report", REPORT_S)):
        took = times["base"][command]
        if took:
            asked[f"`{command}` takes under {most} s of a processor"] = took[1] < most
    held = [f"{what}: {'yes' if holds else 'no'}." for what, holds in asked.items()]
    return "\n".join([*lines, "", *held, "", ""])


if __name__ == "__main__":
    main(*sys.argv[1:])
