"""Break what docs/fidelity calls "as the paper", record by record, and write down who noticed.

For every such record, tests/broken/<name>.yaml has one error that a colleague could make and that
would make it false. A copy of the project gets the error, the tests that the record names run
there, and the error is undone. docs/fidelity/<name>.csv has a row for each: which tests noticed and
which did not. A row whose break and tests are the same as before stays, unless `--again` is given.

A test has noticed if one of its cases fails that passes without the error, in its set-up or later.
Code that can't be read or run (`CRASHES`) shows nothing.
"""

import argparse
import contextlib
import csv
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
RECORDS, BROKEN = Path("docs/fidelity"), Path("tests/broken")
COLUMNS: Sequence[str] = ("item", "digest", "noticed", "unnoticed", "seconds")
# Seconds for the tests of one record; those of all records together have as many for each.
LIMIT_S = 900
# A failure that names one of them says that the code can't run, and not that it does another thing.
CRASHES = (
    *("SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError"),
    *("NameError", "UnboundLocalError", "AttributeError", "TypeError"),
    *("ParserException", "BinderException", "CatalogException"),
    # The first of pytest, the other of isotope's jobs, of what is no named error.
    *("collection failure", "unexpected error; please report"),
)

Case = tuple[str, str]


class Edit(NamedTuple):
    """A change of a file: one text, which occurs once in it, becomes another."""

    file: str
    old: str
    new: str


class Break(NamedTuple):
    """What makes a record false, and the tests that the record names."""

    item: str
    breaks: str
    edits: Sequence[Edit]
    tests: Sequence[str]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with the edits and with the names of the tests."""
        told = json.dumps([self.edits, sorted(self.tests)], ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()[:12]


def names(root: Path = ROOT) -> list[str]:
    """The records' files, without ending."""
    return sorted(path.stem for path in (root / RECORDS).glob("*.yaml"))


def claimed(name: str, root: Path = ROOT) -> dict[str, list[str]]:
    """The tests of each record of docs/fidelity/<name>.yaml that is "as the paper", by its item."""
    records = yaml.safe_load((root / RECORDS / f"{name}.yaml").read_text("utf-8"))
    return {r["item"]: r.get("tests", []) for r in records if r["status"] == "as the paper"}


def breaks(name: str, root: Path = ROOT) -> list[Break]:
    """What tests/broken/<name>.yaml has, in the order of the records.

    Raises:
        ValueError: it is not one break for each record that is "as the paper", or has other keys;
            the message has a line for each fault.
    """
    tests = claimed(name, root)
    path = root / BROKEN / f"{name}.yaml"
    listed = yaml.safe_load(path.read_text("utf-8")) if path.exists() else []
    items = [entry.get("item") for entry in listed]
    wrong = [f"{item}: no break" for item in tests if item not in items]
    wrong += [f"{i}: no record that is as the paper" for i in items if i not in tests]
    wrong += [f"{item}: two breaks" for item in {i for i in items if items.count(i) > 1}]
    wrong += [f"{entry.get('item')}: {w}" for entry in listed if (w := _wrong(entry))]
    if wrong:
        raise ValueError("\n".join([f"{BROKEN}/{name}.yaml", *wrong]))
    found = {entry["item"]: entry for entry in listed}
    return [
        Break(item, found[item]["breaks"], [_edit(e) for e in found[item]["edits"]], tests[item])
        for item in tests
    ]


def _wrong(entry: Mapping[str, Any]) -> str:
    if set(entry) != {"item", "breaks", "edits"} or not entry["edits"]:
        return "give item, breaks and edits"
    fits = all(set(e) == {"file", "from", "to"} and e["from"] != e["to"] for e in entry["edits"])
    return "" if fits else "give file, from and to of each edit, with another text in `to`"


def _edit(entry: Mapping[str, str]) -> Edit:
    return Edit(entry["file"], entry["from"], entry["to"])


def rotten(broken: Break, root: Path = ROOT) -> list[str]:
    """Which of its edits no longer fit their file, a sentence each."""
    found: list[str] = []
    for file, old, _ in broken.edits:
        times = (root / file).read_text("utf-8").count(old) if (root / file).is_file() else 0
        if times != 1:
            found.append(f"{broken.item}: {file} has {times} times, instead of once: {old!r}")
    return found


def rows(name: str, root: Path = ROOT) -> dict[str, dict[str, str]]:
    """What is written of the breaks of a record's file, by item."""
    path = root / RECORDS / f"{name}.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["item"]: row for row in csv.DictReader(lines)}


def write(name: str, found: Mapping[str, Mapping[str, str]], root: Path = ROOT) -> None:
    """Write the rows of the records that are there, in their order."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found[item] for item in claimed(name, root) if item in found)
    (root / RECORDS / f"{name}.csv").write_text(text.getvalue(), "utf-8")


@contextlib.contextmanager
def copied(root: Path = ROOT) -> Iterator[Path]:
    """A copy of what git tracks, or would, as a repository of its own beside the real data."""
    with tempfile.TemporaryDirectory(prefix="isotope-witnesses-") as folder:
        place = Path(folder) / "project"
        if (shared := root.parent / "shared").is_dir():
            (Path(folder) / "shared").symlink_to(shared.resolve())
        listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for file in filter(None, listed.split("\0")):
            if (root / file).is_file() or (root / file).is_symlink():
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / file, place / file, follow_symlinks=False)
        _git(place, "init", "-q", "-b", "main")
        _git(place, "add", "-A")
        author = ["-c", "user.name=tests", "-c", "user.email=tests@example.org"]
        _git(place, *author, "commit", "-qm", "the project")
        yield place


def _git(place: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=place, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


@contextlib.contextmanager
def applied(edits: Sequence[Edit], place: Path) -> Iterator[None]:
    """The files of a copy with the edits, and afterwards as they were, in their times too."""
    kept = [(place / file, (place / file).read_text("utf-8")) for file in {e.file for e in edits}]
    times = [path.stat().st_mtime_ns for path, _ in kept]
    try:
        for file, old, new in edits:
            text = (place / file).read_text("utf-8")
            (place / file).write_text(text.replace(old, new), "utf-8")
        yield
    finally:
        for (path, text), time_ns in zip(kept, times, strict=True):
            path.write_text(text, "utf-8")
            os.utime(path, ns=(time_ns, time_ns))


def outcomes(place: Path, tests: Sequence[str], limit_s: float = LIMIT_S) -> dict[Case, str]:
    """Run tests of a copy by one pytest, with the copy's library; say how each case ended.

    Returns:
        "passed", "skipped", "failed" or, with the first line of what was raised, "crashed: ...";
        nothing of tests that were not reached within `limit_s` seconds or could not be collected.
    """
    report = place.parent / "report.xml"
    report.unlink(missing_ok=True)
    library = str(place / "workflow/lib")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", f"--junitxml={report}", *tests]
    running = subprocess.Popen(
        command,
        cwd=place,
        # Of bytecode Python asks size and second of a file, which an edit may leave as they were.
        env={**os.environ, "PYTHONPATH": library, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        running.wait(limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    cases = ET.parse(report).iter("testcase") if report.exists() else ()
    return {(c.get("classname", ""), c.get("name", "")): _outcome(c) for c in cases}


def _outcome(case: ET.Element) -> str:
    ends = {child.tag: child for child in case if child.tag in {"failure", "error", "skipped"}}
    raised = next((ends[tag] for tag in ("error", "failure") if tag in ends), None)
    if raised is None:
        return "skipped" if "skipped" in ends else "passed"
    message = raised.get("message", "")
    if any(crash in message for crash in CRASHES):
        return f"crashed: {message[:300]}"
    return "failed"


def cases_of(test: str, found: Mapping[Case, str]) -> list[Case]:
    """The cases of `file::test`, or of `file::Class::test`, among those that ran."""
    file, *parts = test.split("::")
    module = ".".join([file.removesuffix(".py").replace("/", "."), *parts[:-1]])
    return [c for c in found if c[0] == module and c[1].partition("[")[0] == parts[-1]]


def noticed(test: str, whole: Mapping[Case, str], broken: Mapping[Case, str]) -> bool:
    """Whether a case of a test fails that passes where nothing is broken."""
    cases = cases_of(test, whole)
    return any(whole[c] == "passed" and broken.get(c) == "failed" for c in cases)


def witness(broken: Break, whole: Mapping[Case, str], place: Path) -> dict[str, str]:
    """Run the tests of a record with its break; return its row, and print who noticed."""
    began = time.monotonic()
    with applied(broken.edits, place):
        found = outcomes(place, broken.tests)
    seconds = time.monotonic() - began
    saw = [test for test in broken.tests if noticed(test, whole, found)]
    told = f"{broken.item}: noticed by {len(saw)} of {len(broken.tests)}, {seconds:.0f} s"
    print(told, flush=True)  # noqa: T201
    for test in broken.tests if not saw else ():
        for case in cases_of(test, {**whole, **found}):
            ended = f"{whole.get(case)}, broken {found.get(case)}"
            print(f"    {case[1]}: {ended}", flush=True)  # noqa: T201
    return {
        "item": broken.item,
        "digest": broken.digest,
        "noticed": " ".join(saw),
        "unnoticed": " ".join(test for test in broken.tests if test not in saw),
        "seconds": f"{seconds:.0f}",
    }


def run(chosen: Mapping[str, Sequence[Break]], root: Path = ROOT) -> list[str]:
    """Break the chosen records one after the other; return those that nobody noticed."""
    tests = sorted({t for listed in chosen.values() for b in listed for t in b.tests})
    missed: list[str] = []
    if not tests:
        return missed
    with copied(root) as place:
        whole = outcomes(place, tests, LIMIT_S * len(tests))
        for name, listed in chosen.items():
            for broken in listed:
                row = witness(broken, whole, place)
                write(name, {**rows(name, root), broken.item: row}, root)
                missed += [] if row["noticed"] else [f"{name}: {broken.item}"]
    return missed


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> None:
    """Break what is to be broken, and fail if a break was noticed by no test of its record."""
    told = argparse.ArgumentParser(prog="python tests/witnesses.py", description=__doc__)
    told.formatter_class = argparse.RawDescriptionHelpFormatter
    every = names(root)
    told.add_argument("--record", action="append", choices=every, help="one file; all by default")
    told.add_argument("--item", action="append", help="a text that the items have")
    told.add_argument("--again", action="store_true", help="whatever rows there are")
    asked = told.parse_args(arguments)
    try:
        listed = {name: breaks(name, root) for name in asked.record or every}
    except ValueError as error:
        told.exit(1, f"{error}\n")
    if rot := [r for found in listed.values() for b in found for r in rotten(b, root)]:
        told.exit(1, "\n".join(["the breaks have rotted", *rot, ""]))
    pending = {name: _pending(found, rows(name, root), asked) for name, found in listed.items()}
    if missed := run(pending, root):
        told.exit(1, "\n".join(["noticed by no test that the record names:", *missed, ""]))


def _pending(
    listed: Sequence[Break], done: Mapping[str, Mapping[str, str]], asked: argparse.Namespace
) -> list[Break]:
    """The breaks that were asked for, without those that were noticed as they are."""
    named = [b for b in listed if not asked.item or any(text in b.item for text in asked.item)]
    return [b for b in named if asked.again or not settled(b, done.get(b.item))]


def settled(broken: Break, row: Mapping[str, str] | None) -> bool:
    """Whether a row says that this very break was noticed by these very tests."""
    return row is not None and row["digest"] == broken.digest and bool(row["noticed"])


if __name__ == "__main__":
    main()
