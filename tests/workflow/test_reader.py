"""A reader runs commands of README and docs as they are written, in order, in one folder.

The folder is that of the demo; data of one's own comes after it. A step that changes the folder is
run before those after it, also where only one of them is asked for.
"""

import re
import shlex
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image
from tests.workflow.conftest import BIN, commit

SNAKEMAKE = "snakemake --cores all"
NOTES = "The bakery of Kelby has a fresco that shows how bread was baked there."
# Words in the docs that stand for whatever the reader has.
STANDS_FOR: dict[str, str] = {}
WAIT_S = 120


def notes(place: Path) -> None:
    """What a reader has: a text."""
    (place / "notes.txt").write_text(NOTES, "utf-8")


def photographs(place: Path) -> None:
    """What a reader has: a folder of pictures and a table of captions."""
    (place / "pictures").mkdir()
    lines = ["file,caption"]
    for n in range(24):
        name = f"p{n:02}.jpg"
        Image.new("RGB", (64, 48), (10 * n, 200 - 8 * n, 90)).save(place / "pictures" / name)
        lines.append(f"{name},A field of colour number {n} beside the road to village {n % 7}")
    (place / "captions.csv").write_text("\n".join(lines) + "\n", "utf-8")


@dataclass(frozen=True)
class Step:
    """A command of the docs; `says` are expressions that its output has, each on a line.

    `given` lays what the reader has before; `changes`: later steps need it; `makes`: files.
    """

    command: str
    says: tuple[str, ...] = ()
    given: Callable[[Path], None] | None = None
    changes: bool = False
    is_long: bool = False
    is_served: bool = False
    makes: tuple[str, ...] = ()


def step(command: str, *says: str, **more: object) -> Step:
    """Return a quick step."""
    return Step(command, says, **more)  # pyright: ignore[reportArgumentType]


def long(command: str, *says: str, **more: object) -> Step:
    """Return a step of the long tests."""
    return Step(command, says, is_long=True, **more)  # pyright: ignore[reportArgumentType]


NOTHING = "Nothing to be done"
STEPS = [
    step("make help", r"^make demo +install"),
    step(SNAKEMAKE, NOTHING),
    step(f"{SNAKEMAKE} --dry-run", NOTHING),
    step("snakemake -n", NOTHING),
    step("isotope report", r"^rrf +0\.\d{4} ", r"^Report: .*results/report/toy/index\.html$"),
    step("isotope costs", r"^acquire ", r"^tabulate ", r"^all "),
    step("isotope costs toy", r"^score ", r"^all "),
    step("isotope doctor", r"(?i)java", r"(?i)disk"),
    step("isotope estimate", r"^crawl +\d+ ", r"^all ", "estimate_curves"),
    # 8 billion weights of two bytes, and 8 GiB beside them.
    step("isotope estimate --configfile params/judge.yaml", r"^score .* 22\.9\d?$"),
    step("isotope estimate --configfile params/enwiki.yaml", r"^crawl +258 +11\d{6} "),
    step(
        "isotope suggest toy --section projected-00001020-003",
        r"Fresco of Kelby Bakery",
        r"commons\.wikimedia\.org/wiki/File:",
    ),
    step(
        "isotope verify toy --check means significance printed",
        r"^means +math.fsum .* 100 % +0 ",
        r"^letters +scipy .* 100 % +0 ",
        r"^printed .* 100 % +0 ",
    ),
    step(
        'isotope sql "SELECT collection, split, count(*) AS texts'
        ' FROM texts GROUP BY ALL ORDER BY ALL"',
        r"toy +test +\d+",
        r"toy-later +train +\d+",
    ),
    step(
        'isotope sql "SELECT status, fetched_from IS NOT NULL AS elsewhere, count(*) AS urls'
        ' FROM ledger GROUP BY ALL ORDER BY ALL"',
        r"not_an_image +(False|false) +\d+",
        r"success +(False|false) +\d+",
    ),
    step(
        'isotope sql --format csv "FROM filters"',
        r"^collection,step,split,before,dropped,after$",
        r"^toy,.*,train,\d+,\d+,\d+$",
    ),
    long(
        "isotope suggest toy --text notes.txt",
        r"Fresco of Kelby Bakery",
        r"commons\.wikimedia\.org/wiki/File:",
        given=notes,
    ),
    long("isotope suggest toy --serve", r"0 suggestions judged by \S+ in", is_served=True),
    step(
        "isotope judge toy --assessor ann --sheet failures",
        r"^0 of \d+ failures judged by ann",
        is_served=True,
    ),
    step("snakemake --rulegraph", r"digraph", r"search_bm25"),
    step(
        "isotope init captions.csv --pictures pictures",
        r"file",
        r"caption",
        given=photographs,
        changes=True,
        makes=("params/captions.yaml",),
    ),
]
# What the docs have, as `test_commands` reads it; the rest is what init has told the reader to run.
RUN = {" ".join(shlex.split(each.command)): each for each in STEPS}


class Reader:
    """Runs steps in a folder of the demo, each once."""

    def __init__(self, place: Path, shell: Callable[..., str]) -> None:
        self.place, self._shell = place, shell
        self._told = dict[int, str]()

    def reach(self, number: int) -> str:
        """Run the steps that this one needs, and it; return what it printed."""
        for before, each in enumerate(STEPS[:number]):
            if each.changes:
                self._run(before)
        return self._run(number)

    def _run(self, number: int) -> str:
        if number not in self._told:
            self._told[number] = self._answer(STEPS[number])
        return self._told[number]

    def _answer(self, one: Step) -> str:
        if one.given:
            one.given(self.place)
        words = [STANDS_FOR.get(word, word) for word in shlex.split(one.command)]
        if one.is_served:
            return self._served([*words, "--port", "0"])
        told = self._shell(*words, cwd=self.place)
        commit(self.place, one.command)
        return told

    def _served(self, words: list[str]) -> str:
        """Look at the page that a command serves, end it as a reader does, return what it said."""
        with subprocess.Popen(
            [BIN / words[0], *words[1:]],
            cwd=self.place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as running:
            try:
                assert running.stdout
                said = running.stdout.readline()
                [address] = re.findall(r"http://\S+", said) or [said]
                with urllib.request.urlopen(address, timeout=WAIT_S) as page:
                    assert b"<html" in page.read()
                running.send_signal(signal.SIGINT)
                rest, _ = running.communicate(timeout=WAIT_S)
            finally:
                running.kill()
        assert running.returncode == 0, rest
        return said + rest


@pytest.fixture(scope="module")
def reader(embedded: Path, shell: Callable[..., str], tmp_path_factory) -> Reader:
    """A reader whose folder is that of the demo, as the first reader of a session left it."""
    place = tmp_path_factory.mktemp("reader") / "project"
    subprocess.run(["cp", "-a", embedded, place], check=True)
    return Reader(place, shell)


NUMBERED = [
    pytest.param(number, id=each.command, marks=[pytest.mark.long] if each.is_long else [])
    for number, each in enumerate(STEPS)
]


def test_every_step_says_or_makes_something():
    assert [each.command for each in STEPS if not (each.says or each.makes)] == []
    assert len({each.command for each in STEPS}) == len(STEPS)


@pytest.mark.parametrize("number", NUMBERED)
def test_a_reader_who_runs_a_command_finds_what_the_docs_say(reader, number):
    told = reader.reach(number)
    missing = [form for form in STEPS[number].says if not re.search(form, told, re.MULTILINE)]
    assert missing == [], told[-4_000:]
    assert [name for name in STEPS[number].makes if not (reader.place / name).exists()] == []
