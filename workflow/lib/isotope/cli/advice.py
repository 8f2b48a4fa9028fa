"""What one can do next in a folder: `isotope` without a command.

`facts_of` looks at a few files and starts nothing, least of all Snakemake; `advice` says in at most
a dozen lines what follows from what it has seen.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isotope.core import extras, held, plugins
from isotope.core.errors import IsotopeError
from isotope.core.plugins import Step
from isotope.intake.yaml import yaml_value

# The phases in the order of the road, with the folder that has what they make.
_ROAD = (
    *(f"data/{p}" for p in ("acquire", "parse", "crawl", "project", "collect", "train", "encode")),
    *("data/index", "results/search", "results/score", "results/tables"),
)
_RECORDS = "results/report/*/record.json"
# Records of core.digests, which takes half a second to import.
_DIGESTS = "**/.digests/*.digest"
_TABLES = ("csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.gz", "jsonl.gz")
_ERROR = re.compile(r"^Error in rule (\w+):\n(?:    .*\n)*?    log: (\S+)", re.MULTILINE)
# The params that a run lays over those of params.yaml, by the head of its log.
_COMMAND = re.compile(r"^  Command: \S*snakemake( .*)?$", re.MULTILINE)
_OVERLAYS = re.compile(r" --config-?files?((?: +[^-\s]\S*)+)")
# What stands before each message of a job's log.
_HEAD = re.compile(r"^\d\d:\d\d:\d\d \w+: ")
_MOST, _SHOWN, _WIDTH, _LAST, _FIRST = 12, 2, 100, 1 << 16, 1 << 12


@dataclass(frozen=True)
class Failure:
    """A job that failed in the last run: its rule, its log, and the last line of that."""

    rule: str
    log: str
    message: str


@dataclass(frozen=True)
class FolderFacts:
    """What a few files of a folder say."""

    is_experiment: bool = False
    """There is a Snakefile with params."""
    above: str = ""
    """The experiment that the folder lies in, if it is none itself."""
    is_checkout: bool = False
    """It is isotope's own project, whose Makefile builds the demo."""
    lacks: str = ""
    """The line that installs what builds, where that is not installed."""
    fault: str = ""
    """Why the params can't be read."""
    overlays: Sequence[str] = ()
    """What the last run laid over params.yaml."""
    collections: Sequence[str] = ()
    """What the params of the last run build, or params.yaml before the first."""
    waiting: Sequence[tuple[str, str]] = ()
    """Overlays of one's own that nothing has run, each with what it builds."""
    built: Sequence[str] = ()
    """Collections with a report, the newest last."""
    is_changed: bool = False
    """The params are newer than the newest report."""
    phases: Sequence[str] = ()
    """Those that have left something whole, in the order of the road."""
    running: str = ""
    """Who is at work here, or may be, and what to do about it."""
    failures: Sequence[Failure] = ()
    """Jobs that failed in the last run."""
    tables: Sequence[str] = ()
    """Tables of one's own that no params mention."""
    releases: Sequence[str] = ()
    """Releases that lie here."""
    steps: Sequence[Step] = ()
    """What plug-ins add for the collections that are built."""


def advice(facts: FolderFacts) -> str:
    """Return what one can do next, in at most a dozen lines."""
    state, steps = _state_and_steps(facts)
    width = max((len(step.command) for step in steps), default=0)
    lines = [*state, *(f"  {step.command:<{width}}  # {step.purpose}" for step in steps)]
    return "".join(f"{line}\n" for line in lines[: _MOST - 1]) + _HELP


_HELP = "All commands: isotope --help\n"
_BUILD = "snakemake --cores all"
_BUILDING = re.compile(rf"`({_BUILD}[^`]*)`")


def _run(overlays: Sequence[str]) -> str:
    """Return the command that runs params with overlays."""
    return " ".join([_BUILD, *(("--configfile", *overlays) if overlays else ())])


def with_overlays(sentence: str, folder: Path) -> str:
    """Return a sentence in which a command that builds has the overlays of the folder's last run.

    Without them it would build what params.yaml describes, such as the demo.
    """
    if not _BUILDING.search(sentence):
        return sentence
    overlays = " ".join(_last_overlays(folder))
    return _BUILDING.sub(rf"`\1 --configfile {overlays}`", sentence) if overlays else sentence


def _state_and_steps(facts: FolderFacts) -> tuple[list[str], list[Step]]:
    """Return what is the case, and the steps that follow."""
    tables = [Step(f"isotope init {table}", "a collection of your data") for table in facts.tables]
    tables = [*(Step(_run([path]), f"builds {names}") for path, names in facts.waiting), *tables]
    if not facts.is_experiment:
        return _elsewhere(facts, tables)
    if facts.fault or facts.running:
        return _held(facts)
    first = [Step(facts.lacks, "what builds is not installed")] if facts.lacks else []
    lacking = [name for name in facts.collections if name not in facts.built]
    if facts.failures:
        again = Step(_run(facts.overlays), "when it is mended: goes on there")
        return _failed(facts), [*first, again, *tables]
    if not lacking:
        return _all_built(facts), [*_of_built(facts), *first, *tables]
    state, steps = _unbuilt(facts, ", ".join(lacking))
    is_run = steps[0].command.startswith(_BUILD)
    return state, [*(first if is_run else ()), *steps, *tables]


def _held(facts: FolderFacts) -> tuple[list[str], list[Step]]:
    if facts.fault:
        return [facts.fault], [Step("isotope doctor", "checks the params again")]
    return [facts.running], [Step("isotope costs", "time and memory of what has ended")]


def _unbuilt(facts: FolderFacts, names: str) -> tuple[list[str], list[Step]]:
    if facts.phases:
        state = f"{names}: half built; there is something of {', '.join(facts.phases)}."
        return [state], [Step(_run(facts.overlays), "goes on"), *_reports(facts)]
    if facts.is_checkout:
        state = "A checkout of isotope, in which nothing is built."
        return [state], [Step("make demo", f"installs, builds {names}, prints its results")]
    build = Step(_run(facts.overlays), f"builds {names}")
    return [f"An experiment, not built yet: {names}."], [build, *_HINTS]


_HINTS = [
    Step("isotope doctor", "what this machine lacks for it"),
    Step("isotope estimate", "time, disk and network, before it starts"),
]


def _elsewhere(facts: FolderFacts, tables: list[Step]) -> tuple[list[str], list[Step]]:
    if facts.above:
        return [f"A folder of the experiment {facts.above}."], [Step(f"cd {facts.above}", "there")]
    if facts.releases:
        name = facts.releases[0].rpartition("/")[2]
        steps = [
            Step(f"isotope release {name}", "what it has"),
            Step(f"isotope verify {facts.releases[0]}", "compares its files and numbers"),
        ]
        return [f"Releases: {', '.join(facts.releases)}."], steps
    steps = [
        Step("isotope new FOLDER", "an experiment, ready to build a demo"),
        *(tables or [Step("isotope init TABLE", "one here, of your pictures and texts")]),
        Step("isotope pull REMOTE", "results that others have sent"),
    ]
    return ["No experiment in this folder."], steps


def _failed(facts: FolderFacts) -> list[str]:
    lines = list[str]()
    for failure in facts.failures[:_SHOWN]:
        lines.append(f"Failed: {failure.rule}, {failure.log}")
        lines += [f"  {failure.message[:_WIDTH]}"] if failure.message else []
    more = len(facts.failures) - _SHOWN
    return [*lines, *([f"and {more} more"] if more > 0 else [])]


def _all_built(facts: FolderFacts) -> list[str]:
    newest = facts.built[-1] if facts.built else ""
    names = ", ".join(facts.collections)
    lines = [f"Built: {names}. Report: results/report/{newest}/index.html"]
    if facts.is_changed:
        command = _run(facts.overlays)
        lines.append(f"The params have changed since: `{command}` makes what that changes.")
    return lines


def _of_built(facts: FolderFacts) -> list[Step]:
    return [
        *_reports(facts),
        Step('isotope sql "FROM texts"', "any question to the tables"),
        *facts.steps,
        Step("isotope push REMOTE", "sends it to others"),
    ]


def _reports(facts: FolderFacts) -> list[Step]:
    return [Step("isotope report", "main scores, and where the pages are")] if facts.built else []


def facts_of(folder: Path) -> FolderFacts:
    """Look at a folder: at names, times and a few small files."""
    is_experiment = _is_experiment(folder)
    is_checkout = (folder / "workflow/lib/isotope").is_dir() and (folder / "Makefile").is_file()
    built, overlays = _built(folder), _last_overlays(folder)
    collections, fault = _collections(folder, overlays) if is_experiment else ([], "")
    running = _running(folder)
    return FolderFacts(
        is_experiment=is_experiment,
        above="" if is_experiment else _above(folder),
        is_checkout=is_checkout,
        lacks=extras.line_for_runs(),
        fault=fault,
        overlays=overlays,
        collections=collections,
        # A checkout has overlays of other experiments.
        waiting=[] if is_checkout else list(_waiting(folder, built)),
        built=built,
        is_changed=_is_changed(folder, built, overlays),
        phases=[_phase(at) for at in _ROAD if _has_records(folder / at)],
        running=running,
        failures=[] if running else list(_failures(folder)),
        tables=_tables(folder),
        releases=[p.parent.relative_to(folder).as_posix() for p in _releases(folder)],
        steps=list(_steps(built)),
    )


def _is_experiment(folder: Path) -> bool:
    return (folder / "Snakefile").is_file() and (folder / "params.yaml").is_file()


def _above(folder: Path) -> str:
    experiments = (above for above in folder.absolute().parents if _is_experiment(above))
    return str(next(experiments, ""))


def _collections(folder: Path, overlays: Sequence[str]) -> tuple[list[str], str]:
    """Return what params with overlays build, and why that is not known."""
    paths = [folder / "params.yaml", *(folder / overlay for overlay in overlays)]
    names = None
    for path in paths:
        try:
            names = _build_of(path) or names
        except IsotopeError as error:
            return [], f"{type(error).__name__}: {error}"
        except (OSError, UnicodeDecodeError, AttributeError, TypeError) as error:
            problem = type(error).__name__
            return [], f"{path}: no list `build` ({problem}); name what is to be built"
    if names is None:
        return [], f"{paths[0]}: no list `build`; name what is to be built"
    return names, ""


def _build_of(path: Path) -> list[str] | None:
    """Return what a file of params builds; None where it does not say so."""
    build = yaml_value(path.read_text(encoding="utf-8"), path).get("build")
    return None if build is None else [str(name) for name in build]


def _last_overlays(folder: Path) -> list[str]:
    """Return what the last run laid over params.yaml, as far as it is there."""
    log = _last_log(folder)
    head = ""
    with suppress(OSError):
        head = _start(log) if log else ""
    command = _COMMAND.search(head)
    options = (command[1] or "") if command else ""
    named = [name for names in _OVERLAYS.findall(options) for name in names.split()]
    return [name for name in named if (folder / name).is_file()]


def _waiting(folder: Path, built: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the newest overlays in params/ that build what is not built, and what that is."""
    paths = sorted(folder.glob("params/*.yaml"), key=lambda path: -path.stat().st_mtime)
    for path in paths[:_SHOWN]:
        with suppress(IsotopeError, OSError, UnicodeDecodeError, AttributeError, TypeError):
            names = [name for name in _build_of(path) or () if name not in built]
            if names:
                yield path.relative_to(folder).as_posix(), ", ".join(names)


def _built(folder: Path) -> list[str]:
    records = sorted(folder.glob(_RECORDS), key=lambda path: path.stat().st_mtime)
    return [path.parent.name for path in records]


def _is_changed(folder: Path, built: Sequence[str], overlays: Sequence[str]) -> bool:
    if not built or not (folder / "params.yaml").is_file():
        return False
    record = folder / _RECORDS.replace("*", built[-1])
    times = [(folder / name).stat().st_mtime for name in ("params.yaml", *overlays)]
    return max(times) > record.stat().st_mtime


def _phase(at: str) -> str:
    return at.rpartition("/")[2].replace("tables", "tabulate")


def _has_records(folder: Path) -> bool:
    records = folder.glob(_DIGESTS)
    return next(iter(records), None) is not None


def _running(folder: Path) -> str:
    """Return who holds a project, if it is held; a killed run holds it no longer."""
    holders = held.holders(folder)
    if any(holder.is_alive is not False for holder in holders):
        return held.lock_message(holders)
    locks = folder / held.LOCKS
    is_locked = not holders and locks.is_dir() and any(locks.iterdir())
    return held.lock_message(holders) if is_locked else ""


def _failures(folder: Path) -> Iterator[Failure]:
    """Yield the jobs that failed in the last run, by Snakemake's complete log of it."""
    last = _last_log(folder)
    if last is None:
        return
    rule_of_log = dict[str, str]()
    with suppress(OSError):
        rule_of_log = {log: rule for rule, log in _ERROR.findall(_end(last))}
    for log, rule in rule_of_log.items():
        message = ""
        with suppress(OSError):
            message = next(reversed([x for x in _end(folder / log).splitlines() if x.strip()]), "")
        yield Failure(rule, log, _HEAD.sub("", message))


def _last_log(folder: Path) -> Path | None:
    logs = sorted((folder / ".snakemake/log").glob("*.snakemake.log"))
    return logs[-1] if logs else None


def _start(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_FIRST).decode("utf-8", errors="replace")


def _end(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST))
        return file.read().decode("utf-8", errors="replace")


def _tables(folder: Path) -> list[str]:
    """Return tables in the folder, or in upstream/, that no file of params mentions."""
    names = [p for at in (folder, folder / "upstream") for s in _TABLES for p in at.glob(f"*.{s}")]
    if not names:
        return []
    params = [folder / "params.yaml", *folder.glob("params/*.yaml")]
    texts = [p.read_text(encoding="utf-8", errors="replace") for p in params if p.is_file()]
    relative = sorted(path.relative_to(folder).as_posix() for path in names if path.is_file())
    return [name for name in relative if not any(Path(name).name in text for text in texts)][
        :_SHOWN
    ]


def _releases(folder: Path) -> list[Path]:
    return sorted(folder.glob("results/release/*/manifest.json"))


def _steps(built: Sequence[str]) -> Iterator[Step]:
    for plugin in plugins.registered().values() if built else ():
        if plugin.advice:
            yield from plugin.load(plugin.advice)(built)
