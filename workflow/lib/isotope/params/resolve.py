"""What params.yaml becomes: placeholders filled, snapshots repeated, parsed, completed, checked.

`resolve` does it all. A TREC run at its place below `runs/`,
`<collection>/<setting>/<split>/<task>/<system>.trec`, also .run or .txt, plain or packed, is a
system like any other, and so is one that `search.runs` names.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from isotope.core import patterns, plugins
from isotope.core.errors import BadParams, MissingFile
from isotope.core.grid import TASKS
from isotope.core.patterns import Stated
from isotope.core.plugins import Plugin
from isotope.core.runs import METADATA
from isotope.params import SETTINGS, SPLITS, links
from isotope.params.crawl import crawls_alike
from isotope.params.messages import KeyPath, excerpt, located, place
from isotope.params.overlays import lay_over
from isotope.params.pairs import lay_out
from isotope.params.renamed import moved, renamed
from isotope.params.root import Params, Placeholders, parse
from isotope.params.sections import Section, SystemKind, parts_of

FOLDER = Path("runs")
_CELL = "/".join(("([^/]+)", *(f"({'|'.join(of)})" for of in (SETTINGS, SPLITS, TASKS))))
_ENDING = r"\.(?i:trec|run|txt)(?i:\.(?:gz|bz2))?"
_RUN = re.compile(rf"{_CELL}/([^/]+?){_ENDING}")
_NAMELESS = re.compile(_ENDING)
# What to do about a file that is none.
_NAMED = (
    f"<collection>/<{'|'.join(SETTINGS)}>/<{'|'.join(SPLITS)}>/<{'|'.join(TASKS)}>/<system>.trec, "
    "or .run or .txt, plain, .gz or .bz2, or move it elsewhere"
)
# As NIST publishes what participants sent in, and as others keep runs.
_PUBLISHED = re.compile(r"(?:input\.)?(.+?)(?:\.(?:trec|run|txt))?(?:\.(?:gz|bz2))?", re.IGNORECASE)
_SYSTEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SNAPSHOT = "{snapshot}"
_PLACE = re.compile(r"\{(name|root)\}")
_S = TypeVar("_S", bound=Section)


class Place(NamedTuple):
    """Where a foreign run belongs."""

    collection: str
    setting: str
    split: str
    task: str
    system: str


def resolve(
    config: Mapping[str, Any],
    foreign: Collection[Place] = (),
    files: Sequence[Path] = (),
    said: Collection[str] = (),
) -> Params:
    """Return checked params with the systems of `foreign` runs.

    `files` are those that the config is merged of, and `said` the keys that `--config` has set:
    what is refused is looked for there.

    Raises:
        BadParams: an unknown key, a value of the wrong kind, or a name that nothing defines; as
            `links.Links.check`.
        As `with_foreign`.
    """
    demo = _of_demo(config)
    with located([plugin.file(plugin.demo) for plugin in demo] + [*files], said):
        fillers = {key: config[key] for key in Placeholders.model_fields if key in config}
        given = Placeholders.read("params", fillers)
        named = filled(_with_demo(config, demo), given.spec("name", "root"))
        snapshots = [str(name) for name in given.snapshots or []]
        plain = expand(named, snapshots)
        moved(plain)
        sections = {key: plain[key] for key in ("acquire", "crawl", "collect") if key in plain}
        renamed(sections)
        lay_out(sections)
        params = parse({**plain, **sections})
        params = with_foreign(params, [*foreign, *published_runs(params, foreign)])
        params.check_references()
        params = _continued(_completed(params), snapshots, named["build"])
        params = params.model_copy(update={"models": links.with_origins(params.models)})
        links.Links(params).check()
        for section in params.sections.values():
            section.check(params)
    return params


def _of_demo(config: Mapping[str, Any]) -> Sequence[Plugin]:
    """Return the plug-ins that add to the demo, where params ask for it."""
    is_asked = config.get("demo") is True
    return [one for one in plugins.registered().values() if one.demo and is_asked]


def _with_demo(config: Mapping[str, Any], adding: Sequence[Plugin]) -> Mapping[str, Any]:
    """Return params with what plug-ins add to the demo; what the params say counts.

    Raises:
        BadPlugin: a file that is not there.
    """
    whole = dict[str, Any]()
    for plugin in adding:
        lay_over(whole, plugin.yaml(plugin.demo))
    lay_over(whole, config)
    return whole


def filled(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return plain data with {name} and {root} replaced in every key and string.

    Raises:
        BadParams: a placeholder without a value.
    """
    return _mapped(value, lambda text: _PLACE.sub(lambda found: _value_of(found[1], names), text))


def _value_of(key: str, names: Mapping[str, str]) -> str:
    if key not in names:
        raise BadParams("params", f"{{{key}}} has no value", f"add --config {key}=...")
    return names[key]


def _mapped(value: Any, of: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return plain data with every key and string as a function makes it.

    Keys that become one are laid over each other in their order, as overlays are: one that calls
    a collection by its name changes what another says of `{name}`.
    """
    if isinstance(value, Mapping):
        made = dict[str, Any]()
        for key, entry in value.items():
            lay_over(made, {of(str(key)): _mapped(entry, of)})
        return made
    if isinstance(value, list):
        return [_mapped(entry, of) for entry in value]
    return of(value) if isinstance(value, str) else value


def expand(value: Any, snapshots: Sequence[str], path: KeyPath = ()) -> Any:  # noqa: ANN401
    """Return plain data in which every key and list item with {snapshot} stands once a snapshot.

    What stands below such a key has the same snapshot throughout.

    Raises:
        BadParams: {snapshot} without snapshots, or in a value that can't be repeated.
    """
    if isinstance(value, list):
        return [one for item in value for one in _repeated(item, snapshots, path)]
    if isinstance(value, str) and _SNAPSHOT in value:
        remedy = "name snapshots, and use it in a key above or in a list"
        raise BadParams(f"params {place(path)}", f"{value!r} has no snapshot", remedy)
    if not isinstance(value, Mapping):
        return value
    made = dict[str, Any]()
    for key, entry in value.items():
        if _SNAPSHOT in key:
            for each in _repeated({key: entry}, snapshots, path):
                made |= each
        else:
            made[key] = expand(entry, snapshots, (*path, key))
    return made


def _repeated(value: Any, snapshots: Sequence[str], path: KeyPath) -> list[Any]:  # noqa: ANN401
    """Return a value once for each snapshot, or alone if it names none."""
    if _SNAPSHOT not in str(value):
        return [value]
    if not snapshots:
        found = f"{excerpt(value)} without snapshots"
        raise BadParams(f"params {place(path)}", found, "add `snapshots: [...]`")
    return [_mapped(value, partial(_dated, name=name)) for name in snapshots]


def _dated(text: str, name: str) -> str:
    return text.replace(_SNAPSHOT, name)


def _completed(params: Params) -> Params:
    """Return params with what depends on other entries, where they do not say it themselves.

    A crawl stores pictures as large as the kind of its collection has them.
    """
    sides = {entry.source: entry.side_px for entry in params.collect.values() if entry.side_px}
    crawl = {name: _with(e, side_px=sides.get(name)) for name, e in params.crawl.items()}
    whole = params.model_copy(update={"crawl": crawl})
    sections = {name: of.completed(whole) for name, of in whole.sections.items()}
    return whole.model_copy(update=sections)


def _continued(params: Params, snapshots: Sequence[str], build: Sequence[str]) -> Params:
    """Return params in which each snapshot goes on from the one before, as far as they are silent.

    Each built collection of a snapshot is paired with that of the snapshot before: the pairs are
    added to `tabulate.since`, unions apart, and become `encode.after`, unions included, where the
    params have none. The crawl of such a collection's source continues the one before
    (`crawl.<source>.after`), unless the params name another or null.
    """
    dated = [name for name in build if _SNAPSHOT in name]
    pairs = [[_dated(name, n) for n in pair] for name in dated for pair in pairwise(snapshots)]
    if not pairs:
        return params
    part, listed, crawl = params.part("crawl", "collect"), params.tabulate.since, {**params.crawl}
    joined = {name for name, entry in params.collect.items() if entry.is_union}
    for pair in pairs:
        for earlier, later in zip(*(links.sources(part, name) for name in pair), strict=False):
            fetched = {n for n in (earlier, later) if n in crawl and not crawl[n].pictures}
            if len(fetched) > 1 and earlier in crawls_alike(part, ("crawl", later)):
                crawl[later] = _with(crawl[later], after=earlier)
    since = [pair for pair in pairs if pair not in listed and not {*pair} & joined]
    changed = {
        "crawl": crawl,
        "encode": _with(params.encode, after={later: earlier for earlier, later in pairs}),
        "tabulate": params.tabulate.model_copy(update={"since": [*listed, *since]}),
    }
    return params.model_copy(update=changed)


def _with(entry: _S, **usual: object) -> _S:
    """Return an entry with values for the keys that it leaves out."""
    return entry.model_copy(
        update={k: v for k, v in usual.items() if k not in entry.model_fields_set}
    )


def discover(folder: Path = FOLDER) -> dict[Place, Path]:
    """Return every TREC run below `folder` by its place, sorted; nothing if there is no folder.

    Every file is one, but for hidden ones, READMEs, and ir-metadata beside runs.

    Raises:
        BadParams: a file that is no run by its name and place, or one at the place of another
            (plain and packed).
    """
    runs: dict[Place, Path] = {}
    files = (p for p in folder.rglob("*") if p.is_file())
    for path in sorted(p for p in files if not _is_beside(p.relative_to(folder))):
        named = _RUN.fullmatch(path.relative_to(folder).as_posix())
        if named is None:
            raise BadParams(path, "no run by its place and name", f"name it {folder}/{_NAMED}")
        place = Place(*named.groups())
        if place in runs:
            raise BadParams(path, f"the same run as {runs[place]}", "remove one of the two")
        runs[place] = path
    return runs


def _is_beside(path: Path) -> bool:
    """Tell a file that may lie among runs and is none."""
    hidden = any(part.startswith(".") for part in path.parts) and not _NAMELESS.match(path.name)
    return hidden or path.stem.upper() == "README" or path.name.endswith(METADATA)


def published_runs(params: Params, others: Collection[Place] = ()) -> dict[Place, Path]:
    """Return the runs that `search.runs` names, by their place in the only cell of the grid.

    Raises:
        BadParams: a grid of several cells, a file whose name is no system's, or two runs of one,
            be it among `others`.
        MissingFile: a path that is not there, a pattern that matches nothing.
    """
    spec, where, grid = params.search.runs, "params search.runs", [*cells(params)]
    if spec is None:
        return {}
    if len(grid) != 1:
        remedy = "name one collection in build, and one setting, split and task in search"
        raise BadParams(where, f"a grid of {len(grid)} cells", remedy)
    found: dict[Place, Path] = {}
    left_out = {path for pattern in spec.without for path in patterns.matches(Path(pattern))}
    for file in map(Path, local_files(spec.files)):
        if file in left_out:
            continue
        if not file.is_file():
            raise MissingFile(f"{where}.files", f"{str(file)!r} is not there", "correct the path")
        place = Place._make((*grid[0], system_of(file)))
        if place in found or place in others:
            both = f"{file} and {found.get(place, FOLDER)}: two runs of {place.system!r}"
            raise BadParams(where, both, "rename one, or list it in `without`")
        found[place] = file
    return found


def system_of(run: Path) -> str:
    """Return the system whose run a file is by its name: `b_bm25` of `input.b_bm25.gz`.

    Raises:
        BadParams: a name that no system can have.
    """
    name = _PUBLISHED.fullmatch(run.name)
    if name is None or not _SYSTEM.fullmatch(name[1]):
        remedy = "name it input.NAME.gz or NAME.trec, NAME of letters, digits, dots, - and _"
        raise BadParams(run, "the name of no run", remedy)
    return name[1]


def with_foreign(params: Params, runs: Iterable[Place]) -> Params:
    """Return the params with a system of kind `trec` for each run that is in the grid.

    Systems that `search.systems` does not name come after those that it does, sorted.

    Raises:
        BadParams: a run that bears the name of a system of another kind; a fusion of a system that
            lacks a run in some cell; a report about a foreign system that lacks one in the first.
        MissingFile: a system of kind `trec` without a run.
    """
    grid = set(cells(params))
    own = [place for place in runs if place[:-1] in grid]
    count = Counter(place.system for place in own)
    names, search = sorted(count), params.search
    _refuse_runs(params.systems, count, len(grid))
    _refuse_unseen(params, own)
    searched = [*search.systems, *(name for name in names if name not in search.systems)]
    foreign = {name: SystemKind.of_spec({"kind": "trec"}) for name in names}
    changed = {
        "systems": {**params.systems, **foreign},
        "search": search.model_copy(update={"systems": searched}),
    }
    return params.model_copy(update=changed) if names else params


def cells(params: Params) -> Iterable[tuple[str, ...]]:
    """Return every (collection, setting, split, task) of the grid."""
    search = params.search
    return product(params.build, search.settings, search.splits, search.tasks)


def _refuse_runs(systems: Mapping[str, SystemKind], has: Mapping[str, int], cells: int) -> None:
    for name, entry in systems.items():
        if name in has and not entry.foreign:
            found = f"a run by {name!r}, which is a system of kind {entry.kind_name()}"
            raise BadParams(FOLDER, found, "rename the run")
        if entry.foreign and name not in has:
            found = f"no run by {name!r}, a system of kind trec"
            raise MissingFile(FOLDER, found, f"put {name}.trec there, or remove the system")
        for part in parts_of(entry):
            if has.get(part, cells) < cells:
                found = f"{part!r} has runs in {has[part]} of {cells} cells"
                remedy = "give it a run in every cell of the grid"
                raise BadParams(f"params systems.{name}.of", found, remedy)


def _refuse_unseen(params: Params, runs: Sequence[Place]) -> None:
    about, search = params.tabulate.system, params.search
    first = search.settings[0], search.splits[0]
    seen = {place.collection for place in runs if (place.system, *place[1:3]) == (about, *first)}
    absent = [name for name in params.build if name not in seen]
    if absent and any(place.system == about for place in runs):
        found = f"{about!r} has no run in {absent[0]}/{first[0]}/{first[1]}, which the report shows"
        raise BadParams("params tabulate.system", found, "put one there, or name another system")


def local_files(paths: Iterable[str]) -> list[str]:
    """Return the local files that paths and patterns with `*` name, in the order of the patterns.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return [file.stated.url for path in paths for file in patterns.expand(Stated(path))]
