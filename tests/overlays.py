"""Overlays take their whole road on small data of their form, as their first lines say to run them.

Of an overlay only what small data and random weights can't have is exchanged: addresses, weights,
batches and the number of shards. `tests/workflow/test_overlays.py` says which test runs which.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import yaml
from tests import standins
from tests.effects import ROOT, overlays_in

from isotope.params.overlays import lay_over

_ONE = dict.fromkeys(("parse", "project", "collect", "index", "search", "score"), 1)
# Entries that name models of a hub.
_NAMING = (("models",), ("encode", "summaries"))
Params = dict[str, Any]


class Case(NamedTuple):
    """An overlay, what lays out its data, overlays that go over it, and files that show these.

    Without its packages it can't run; `said` is the end of a log, and what must stand in it.
    Overlays are paths from the root.
    """

    overlay: str
    world: Callable[[Path, Path], Params]
    more: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    said: tuple[str, str] | None = None


def name_of(case: Case) -> str:
    """Return what a test of the case is called by."""
    return Path(case.overlay).name


def first_lines(overlay: str) -> str:
    """Return the comments above an overlay's first key."""
    text = (ROOT / overlay).read_text("utf-8")
    return re.split(r"^[^#\n]", text, maxsplit=1, flags=re.M)[0]


def commands(overlay: str) -> list[list[str]]:
    """Return the commands in an overlay's first lines, as words."""
    lines = re.findall(r"^#   (snakemake .*)$", first_lines(overlay), re.M)
    return [shlex.split(line) for line in lines]


def lacking(
    case: Case, place: Path, shell: Callable[..., str], *, root: Path, shared: Path
) -> list[str]:
    """Run an overlay in a project on data that is laid below `root`; return what it has not made.

    These are systems without runs or scores, pages, files and words of a log.
    """
    for package in case.packages:
        pytest.importorskip(package, reason="uv pip install 'isotope-ir[offline]'")
    asked, params = _prepared(case, place, root, shared)
    shell(*asked, cwd=place)
    again = shell(*asked, "--dry-run", cwd=place)
    missing = [] if "Nothing to be done" in again else ["an end: the same command plans jobs"]
    systems = {*params["search"]["systems"]}
    for collection in (name.replace("{name}", "atomic") for name in params["build"]):
        runs = (place / f"results/search/{collection}").rglob("*.parquet")
        missing += [f"a run of {name}" for name in systems - {path.stem for path in runs}]
        if "search" not in asked:
            scores = pl.read_parquet(place / f"results/score/{collection}.parquet")
            missing += [f"scores of {name}" for name in systems ^ {*scores["system"]}]
            shown = (*case.shown, "results/report/{}/systems.html")
        else:
            shown = case.shown
        files = [place / name.format(collection) for name in shown]
        missing += [str(path) for path in files if not path.is_file()]
    if case.said:
        log, words = case.said
        text = (place / "logs" / log.format("atomic")).read_text("utf-8")
        missing += [] if words in text else [words]
    return missing


def _prepared(case: Case, place: Path, root: Path, shared: Path) -> tuple[list[str], Params]:
    """Return the overlay's own command over a file for small data, and the params that it has."""
    words = commands(case.overlay)[0]
    overlays = [*overlays_in(words), *case.more]
    one = {"shards": _ONE, "encode": {"shards": 1, "batch": 16}}
    changes = _merged(one, _small(_read(*(place / w for w in overlays))), case.world(root, shared))
    (place / "small.yaml").write_text(yaml.safe_dump(changes, sort_keys=False))
    at = words.index("--configfile")
    told = {"root=FOLDER": f"root={root}", "root=ROOT": f"root={root}", "name=NAME": "name=atomic"}
    others = [told.get(w, w) for w in words[at + 1 :] if w not in overlays]
    asked = [*words[:at], "--configfile", *overlays, "small.yaml", *others]
    return asked, _read(*(place / w for w in ("params.yaml", *overlays, "small.yaml")))


def _small(own: Mapping[str, Any]) -> Params:
    """Return what an overlay's entries are changed to for weights that are here."""
    detector = own.get("tabulate", {}).get("detector")
    made = {"tabulate": {"detector": standins.changed(detector)}} if detector else {}
    for keys in _NAMING:
        entries: Any = own
        for key in keys:
            entries = entries.get(key, {})
        every = {name: standins.changed(entry) for name, entry in entries.items()}
        changes: Any = {name: change for name, change in every.items() if change}
        for key in reversed(keys if changes else ()):
            changes = {key: changes}
        made = _merged(made, changes)
    return made


def _merged(*overlays: Mapping[str, Any]) -> Params:
    made: Params = {}
    for overlay in overlays:
        lay_over(made, overlay)
    return made


def _read(*paths: Path) -> Params:
    return _merged(*(yaml.safe_load(path.read_text("utf-8")) for path in paths))


def listed(folders: Sequence[Path]) -> list[str]:
    """Return the overlays in some folders as paths from the root, sorted."""
    files = (path for folder in folders for path in folder.glob("*.yaml"))
    return sorted(str(path.relative_to(ROOT)) for path in files)
