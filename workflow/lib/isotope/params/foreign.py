"""Foreign systems: a TREC run at its place below `runs/` is a system like any other.

The place of a run is `<collection>/<setting>/<split>/<task>/<system>.trec`, or `.trec.gz`.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import BadParams, MissingFile
from isotope.core.grid import TASKS

FOLDER = Path("runs")
_SUFFIXES = (".trec", ".trec.gz")
SETTINGS = ("small", "base", "large")
SPLITS = ("train", "validation", "test")
_KNOWN = {"setting": SETTINGS, "split": SPLITS, "task": tuple(TASKS)}


class Place(NamedTuple):
    """Where a foreign run belongs."""

    collection: str
    setting: str
    split: str
    task: str
    system: str


def discover(folder: Path = FOLDER) -> dict[Place, Path]:
    """Return every TREC run below `folder` by its place, sorted; nothing if there is no folder.

    Raises:
        BadParams: a run at no place, or twice at one (plain and gzipped).
    """
    found: dict[Place, Path] = {}
    for path in sorted(p for p in folder.rglob("*") if p.name.endswith(_SUFFIXES)):
        place = _place(path, folder)
        if place in found:
            raise BadParams(path, f"the same run as {found[place]}", "remove one of the two")
        found[place] = path
    return found


def _place(path: Path, folder: Path) -> Place:
    parts = path.relative_to(folder).parts
    name = parts[-1].removesuffix(".gz").removesuffix(".trec")
    remedy = f"name it {folder}/<collection>/<setting>/<split>/<task>/<system>.trec"
    if len(parts) != len(Place._fields) or not name:
        raise BadParams(path, "not at the place of a run", remedy)
    place = Place._make((*parts[:-1], name))
    for field, known in _KNOWN.items():
        given = getattr(place, field)
        if given not in known:
            raise BadParams(path, f"no {field} {given!r}", f"use one of {', '.join(known)}")
    return place


def with_foreign(params: Mapping[str, Any], runs: Iterable[Place]) -> dict[str, Any]:
    """Return the params with a system of kind `trec` for each run that is in the grid.

    Systems that `search.systems` does not name come after those that it does, sorted.

    Raises:
        BadParams: a run that bears the name of a system of another kind; a fusion of a system that
            lacks a run in some cell; a report about a foreign system that lacks one in the first.
        MissingFile: a system of kind `trec` without a run.
    """
    grid = set(cells(params))
    own = [place for place in runs if place[:-1] in grid]
    names = sorted({place.system for place in own})
    _refuse_clashes(params["systems"], names)
    _refuse_gaps(params["systems"], {name: _cells_of(name, own) for name in names}, len(grid))
    chosen: Sequence[str] = params["search"]["systems"]
    shown = [*chosen, *(name for name in names if name not in chosen)]
    _refuse_unseen(params, own)
    systems = {**params["systems"], **{name: {"kind": "trec"} for name in names}}
    return {**params, "systems": systems, "search": {**params["search"], "systems": shown}}


def cells(params: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """Return every (collection, setting, split, task) of the grid."""
    search = params["search"]
    return product(params["build"], search["settings"], search["splits"], search["tasks"])


def _cells_of(name: str, runs: Iterable[Place]) -> int:
    return sum(place.system == name for place in runs)


def _refuse_clashes(systems: Mapping[str, Any], names: Sequence[str]) -> None:
    for name, spec in systems.items():
        if name in names and spec["kind"] != "trec":
            found = f"a run by {name!r}, which is a system of kind {spec['kind']}"
            raise BadParams(FOLDER, found, "rename the run")
        if spec["kind"] == "trec" and name not in names:
            found = f"no run by {name!r}, a system of kind trec"
            raise MissingFile(FOLDER, found, f"put {name}.trec there, or remove the system")


def _refuse_unseen(params: Mapping[str, Any], runs: Sequence[Place]) -> None:
    about, search = params.get("tabulate", {}).get("system"), params["search"]
    first = search["settings"][0], search["splits"][0]
    places = {place.collection for place in runs if (place.system, *place[1:3]) == (about, *first)}
    absent = [c for c in params["build"] if c not in places]
    if absent and any(place.system == about for place in runs):
        found = f"{about!r} has no run in {absent[0]}/{first[0]}/{first[1]}, which the report shows"
        raise BadParams("params tabulate.system", found, "put one there, or name another system")


def _refuse_gaps(systems: Mapping[str, Any], has: Mapping[str, int], grid: int) -> None:
    for name, spec in systems.items():
        short = [part for part in spec.get("of", []) if has.get(part, grid) < grid]
        if short:
            found = f"{short[0]!r} has runs in {has[short[0]]} of {grid} cells"
            raise BadParams(f"systems.{name}.of", found, "give it a run in every cell of the grid")
