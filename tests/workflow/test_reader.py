"""A reader runs commands of README and docs as they are written, in order, in one folder.

The folder is that of the demo; data of one's own comes after it. A step that changes the folder is
run before those after it, also where only one of them is asked for.
"""

import os
import re
import shlex
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image
from tests.demo import BIN, commit

from isotope.core import plugins

SNAKEMAKE = "snakemake --cores all"
JUDGING = "workflow/plugins/isotope_judge/params"
NOTES = "The bakery of Kelby has a fresco that shows how bread was baked there."
# What the docs show stands for whatever the reader has; both lie beside the folder of the demo.
STANDS_FOR = {"/mnt/store/isotope": "../store"}
CLONE = "../clone"
NEW = "../demo"
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


def snapshot(place: Path) -> None:
    """What a reader has: a mirrored snapshot beside the project."""
    (place / "../snapshot").symlink_to(place.resolve() / "data/acquire/toy")


def repository(place: Path) -> None:
    """What a reader has: a repository of git in the new folder."""
    subprocess.run(["git", "init", "-q", place / NEW], check=True)


def installed(place: Path) -> None:
    """What a reader has: an environment that make takes for newer than what it was made from."""
    (place / ".venv").symlink_to(BIN.parent)
    for name in ("requirements.lock", "pyproject.toml"):
        os.utime(place / name, (0, 0))


def clone(place: Path) -> None:
    """What a reader has: another clone of the project, with an environment."""
    subprocess.run(["git", "clone", "-q", place, place / CLONE], check=True)
    installed(place / CLONE)


@dataclass(frozen=True)
class Step:
    """A command of the docs; `says` are expressions that its output has, each on a line.

    `given` lays what the reader has before; `changes`: later steps need it; `makes`: files, with an
    expression that their text has; `folder`: where it is run.
    """

    command: str
    says: tuple[str, ...] = ()
    given: Callable[[Path], None] | None = None
    changes: bool = False
    is_long: bool = False
    is_served: bool = False
    makes: dict[str, str] = field(default_factory=dict)
    folder: str = "."


def step(command: str, *says: str, **more: object) -> Step:
    """Return a quick step."""
    return Step(command, says, **more)  # pyright: ignore[reportArgumentType]


def long(command: str, *says: str, **more: object) -> Step:
    """Return a step of the long tests."""
    return Step(command, says, is_long=True, **more)  # pyright: ignore[reportArgumentType]


NOTHING = "Nothing to be done"
VERIFIED = r"100 % +0 "
PHASES = (
    "acquire", "parse", "crawl", "project", "collect", "train", "encode", "index", "search",
    "score", "suggest", "tabulate",
)  # fmt: skip
EVERY = [
    step("make help", r"^make demo +install"),
    step(SNAKEMAKE, NOTHING),
    step(f"{SNAKEMAKE} --dry-run", NOTHING),
    step("isotope report", r"^rrf +0\.\d{4} ", r"^Report: .*results/report/toy/index\.html$"),
    step("isotope push /mnt/store/isotope", r"^Sent [\d,]+ files, \d+ MB, .*version latest"),
    step("isotope pull /mnt/store/isotope", r"^Nothing to fetch: all [\d,]+ files"),
    step("isotope pull /mnt/store/isotope --list", r"^ +data/collect/toy: 5 files, \d+ kB"),
    step("isotope costs", r"^acquire ", r"^tabulate ", r"^all "),
    step("isotope costs toy", r"^score ", r"^all "),
    step("isotope doctor", r"(?i)java", r"(?i)disk"),
    step("isotope estimate", r"^crawl +\d+ ", r"^all ", "isotope_estimate/estimate.csv"),
    # 8 billion weights of two bytes, and 8 GiB beside them.
    step(
        f"isotope estimate --configfile {JUDGING}/judge.yaml",
        r"^score .* 22\.9\d? ",
    ),
    step("isotope estimate --configfile params/enwiki.yaml", r"^crawl +11\d{6} "),
    step(
        "isotope suggest toy --section projected-00003220-003",
        r"^ 1 .* Wickbeck Bakery +matches: .*shown on the linked page \*Wickbeck Bakery\*$",
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
        r"matches: .*fresco",
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
        "isotope new demo",
        r"^Made the experiment demo\. Next:$",
        folder="..",
        changes=True,
        makes={f"{NEW}/params.yaml": "toy", f"{NEW}/Snakefile": "include"},
    ),
    step(
        "dvc repro code",
        r"Running stage 'code'",
        folder=NEW,
        makes={f"{NEW}/.isotope/code/core": r"^[0-9a-f]{32}  core/"},
    ),
    step("dvc status", r"^code:$", r"^\s+always changed$", folder=NEW),
    step(
        "dvc config --unset core.no_scm",
        given=repository,
        folder=NEW,
        makes={
            f"{NEW}/.dvc/config": r"\A\[core\]\n    analytics = false\n    check_update = false\n\Z"
        },
    ),
    step(
        "isotope init captions.csv --pictures pictures",
        r"file",
        r"caption",
        given=photographs,
        changes=True,
        makes={"params/captions.yaml": "captions.csv"},
    ),
    # Data of one's own come after the demo, where the demo is.
    step(
        f"{SNAKEMAKE} --configfile params/captions.yaml",
        r"^ +captions +24 texts, 24 images, 24 judgements",
        changes=True,
        makes={"results/report/captions/index.html": "captions"},
    ),
    # The newest collection of the last command was that of captions.
    long(f"{SNAKEMAKE} tabulate", r"1/2 tabulate_newest: "),
    *(long(f"{SNAKEMAKE} {phase}", NOTHING) for phase in PHASES if phase != "tabulate"),
    long(
        f"{SNAKEMAKE} release", changes=True, makes={"results/release/toy/manifest.json": "sha256"}
    ),
    long(f"{SNAKEMAKE} lite", changes=True, makes={"results/release/toy-lite/lite.csv": "bm25"}),
    long("isotope release toy", r"CC", r"results/release/toy"),
    long("isotope release toy --lite --negatives 100", r"results/release/toy-lite"),
    long("isotope verify toy", VERIFIED),
    long("isotope verify toy --all", VERIFIED),
    long("isotope verify results/release/toy", VERIFIED),
    long("isotope verify", VERIFIED, r"captions"),
    long("dvc commit -f", changes=True, makes={"dvc.lock": "results/report"}),
    long("dvc metrics show", r"newest/metrics\.json"),
    long("dvc metrics diff HEAD~", r"newest/metrics\.json +.*MRR@10"),
    long("dvc plots show", r"file://.*index\.html"),
    long("dvc plots diff HEAD~", r"file://.*index\.html"),
    long("dvc repro", r"Data and pipelines are up to date"),
    long("dvc repro --force acquire", r"Running stage 'acquire'"),
    long(
        "dvc remote add -d store /mnt/store/isotope",
        changes=True,
        makes={".dvc/config": r"\.\./store"},
    ),
    long("dvc push", r"\d+ files? pushed", changes=True),
    long("make pull", r"files? (added|fetched)", given=clone, folder=CLONE, changes=True),
    long("dvc pull", r"up to date", folder=CLONE),
    long("make demo", NOTHING, r"^rrf +0\.\d{4} ", given=installed),
    long(
        f"{SNAKEMAKE} --configfile params/local.yaml --config root=../snapshot name=mine",
        r"^ +mine +[\d,]+ texts, [\d,]+ images, [\d,]+ judgements",
        given=snapshot,
        changes=True,
        makes={"results/report/mine/index.html": "mine"},
    ),
    # The newest collection is another one than that of the last commit.
    long("dvc metrics diff", r"newest/metrics\.json +\S+ +[\d.]+ +[\d.]+ +-?[\d.]+$"),
    long(
        f"{SNAKEMAKE} --configfile {JUDGING}/track.yaml",
        changes=True,
        makes={"results/score/toy/sheet.csv": "assessor"},
    ),
    long(
        f"isotope judge toy --assessor ann --configfile {JUDGING}/track.yaml",
        r"^0 of \d+ queries judged",
        is_served=True,
    ),
    # The sources of the demo are made: none of them is fetched again.
    long(f"{SNAKEMAKE} --forcerun acquire_source -- acquire", NOTHING),
    long("make full", r"^Report: ", changes=True),
    long(f"{SNAKEMAKE} --configfile params/full.yaml -- full", NOTHING),
]
# Words of commands that are of a plug-in, or that its pages alone show.
OF_PLUGINS = {
    "judge": ("isotope judge ", f"{JUDGING}/"),
    "suggest": ("isotope suggest ", " suggest"),
    "verify": ("isotope verify",),
    "estimate": ("isotope estimate", "isotope doctor"),
    "papers": ("SELECT status, fetched_from",),
}
GONE = [word for name in OF_PLUGINS.keys() - plugins.registered() for word in OF_PLUGINS[name]]
STEPS = [each for each in EVERY if not any(word in each.command for word in GONE)]
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
        told = self._shell(*words, cwd=self.place / one.folder)
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
    for name, form in STEPS[number].makes.items():
        assert re.search(form, (reader.place / name).read_text("utf-8"))
