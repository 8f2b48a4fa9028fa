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
from isotope.params.messages import KeyPath, dotted, excerpt, located
from isotope.params.overlays import lay_over
from isotope.params.pairs import expand_entries
from isotope.params.renamed import moved, renamed
from isotope.params.root import Params, Placeholders, parse
from isotope.params.sections import Section, SystemKind, parts_of

FOLDER = Path("runs")
_CELL = "/".join(("([^/]+)", *(f"({'|'.join(values)})" for values in (SETTINGS, SPLITS, TASKS))))
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
_PLACEHOLDER = re.compile(r"\{(name|root)\}")
_S = TypeVar("_S", bound=Section)


class ExternalRun(NamedTuple):
    """Where an external run belongs."""

    collection: str
    setting: str
    split: str
    task: str
    system: str


def resolve(
    config: Mapping[str, Any],
    external: Collection[ExternalRun] = (),
    files: Sequence[Path] = (),
    overrides: Collection[str] = (),
) -> Params:
    """Return checked params with the systems of `external` runs.

    `files` are those that the config is merged of, and `overrides` the keys that `--config` has
    set: what is refused is looked for there.

    Raises:
        BadParams: an unknown key, a value of the wrong kind, or a name that nothing defines; as
            `links.Links.check`.
        As `with_external`.
    """
    demo = _of_demo(config)
    with located([plugin.file(plugin.demo) for plugin in demo] + [*files], overrides):
        fillers = {key: config[key] for key in Placeholders.model_fields if key in config}
        placeholders = Placeholders.read("params", fillers)
        named = filled(_with_demo(config, demo), placeholders.spec("name", "root"))
        snapshots = [str(name) for name in placeholders.snapshots or []]
        plain = expand(named, snapshots)
        moved(plain)
        renamed(plain)
        sections = {key: plain[key] for key in ("acquire", "crawl", "collect") if key in plain}
        expand_entries(sections)
        params = parse({**plain, **sections})
        params = with_external(params, [*external, *published_runs(params, external)])
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
    return [plugin for plugin in plugins.registered().values() if plugin.demo and is_asked]


def _with_demo(config: Mapping[str, Any], adding: Sequence[Plugin]) -> Mapping[str, Any]:
    """Return params with what plug-ins add to the demo; what the params say counts.

    Raises:
        BadPlugin: a file that is not there.
    """
    merged = dict[str, Any]()
    for plugin in adding:
        lay_over(merged, plugin.yaml(plugin.demo))
    lay_over(merged, config)
    return merged


def filled(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Return plain data with {name} and {root} replaced in every key and string.

    Raises:
        BadParams: a placeholder without a value.
    """
    return _mapped(
        value, lambda text: _PLACEHOLDER.sub(lambda match: _value_of(match[1], names), text)
    )


def _value_of(key: str, names: Mapping[str, str]) -> str:
    if key not in names:
        raise BadParams("params", f"{{{key}}} has no value", f"add --config {key}=...")
    return names[key]


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return plain data with every key and string as a function makes it.

    Keys that become one are laid over each other in their order, as overlays are: one that calls
    a collection by its name changes what another says of `{name}`.
    """
    if isinstance(value, Mapping):
        mapped = dict[str, Any]()
        for key, entry in value.items():
            lay_over(mapped, {change(str(key)): _mapped(entry, change)})
        return mapped
    if isinstance(value, list):
        return [_mapped(entry, change) for entry in value]
    return change(value) if isinstance(value, str) else value


def expand(value: Any, snapshots: Sequence[str], path: KeyPath = ()) -> Any:  # noqa: ANN401
    """Return plain data in which every key and list item with {snapshot} stands once a snapshot.

    What stands below such a key has the same snapshot throughout.

    Raises:
        BadParams: {snapshot} without snapshots, or in a value that can't be repeated.
    """
    if isinstance(value, list):
        return [
            expanded_item for item in value for expanded_item in _repeated(item, snapshots, path)
        ]
    if isinstance(value, str) and _SNAPSHOT in value:
        remedy = "name snapshots, and use it in a key above or in a list"
        raise BadParams(f"params {dotted(path)}", f"{value!r} has no snapshot", remedy)
    if not isinstance(value, Mapping):
        return value
    expanded = dict[str, Any]()
    for key, entry in value.items():
        if _SNAPSHOT in key:
            for repeated in _repeated({key: entry}, snapshots, path):
                expanded |= repeated
        else:
            expanded[key] = expand(entry, snapshots, (*path, key))
    return expanded


def _repeated(value: Any, snapshots: Sequence[str], path: KeyPath) -> list[Any]:  # noqa: ANN401
    """Return a value once for each snapshot, or alone if it names none."""
    if _SNAPSHOT not in str(value):
        return [value]
    if not snapshots:
        problem = f"{excerpt(value)} without snapshots"
        raise BadParams(f"params {dotted(path)}", problem, "add `snapshots: [...]`")
    return [_mapped(value, partial(_dated, name=name)) for name in snapshots]


def _dated(text: str, name: str) -> str:
    return text.replace(_SNAPSHOT, name)


def _completed(params: Params) -> Params:
    """Return params with what depends on other entries, where they do not say it themselves.

    A crawl stores pictures as large as the kind of its collection has them.
    """
    sides = {entry.source: entry.side_px for entry in params.collect.values() if entry.side_px}
    crawl = {name: _with(e, side_px=sides.get(name)) for name, e in params.crawl.items()}
    with_sides = params.model_copy(update={"crawl": crawl})
    sections = {
        name: section.completed(with_sides) for name, section in with_sides.sections.items()
    }
    return with_sides.model_copy(update=sections)


def _continued(params: Params, snapshots: Sequence[str], build: Sequence[str]) -> Params:
    """Return params in which each snapshot goes on from the one before, as far as they are silent.

    Each built collection of a snapshot is paired with that of the snapshot before: the pairs are
    added to `tabulate.diff`, unions apart, and become `encode.after`, unions included, where the
    params have none. The crawl of such a collection's source continues the one before
    (`crawl.<source>.after`), unless the params name another or null.
    """
    dated = [name for name in build if _SNAPSHOT in name]
    pairs = [[_dated(name, n) for n in pair] for name in dated for pair in pairwise(snapshots)]
    if not pairs:
        return params
    part, listed, crawl = params.part("crawl", "collect"), params.tabulate.diff, {**params.crawl}
    joined = {name for name, entry in params.collect.items() if entry.is_union}
    for pair in pairs:
        for earlier, later in zip(*(links.sources(part, name) for name in pair), strict=False):
            fetched = {n for n in (earlier, later) if n in crawl and not crawl[n].pictures}
            if len(fetched) > 1 and earlier in crawls_alike(part, ("crawl", later)):
                crawl[later] = _with(crawl[later], after=earlier)
    added = [pair for pair in pairs if pair not in listed and not {*pair} & joined]
    changed = {
        "crawl": crawl,
        "encode": _with(params.encode, after={later: earlier for earlier, later in pairs}),
        "tabulate": params.tabulate.model_copy(update={"diff": [*listed, *added]}),
    }
    return params.model_copy(update=changed)


def _with(entry: _S, **usual: object) -> _S:
    """Return an entry with values for the keys that it leaves out."""
    return entry.model_copy(
        update={k: v for k, v in usual.items() if k not in entry.model_fields_set}
    )


def discover(folder: Path = FOLDER) -> dict[ExternalRun, Path]:
    """Return every TREC run below `folder` by its place, sorted; nothing if there is no folder.

    Every file is one, but for hidden ones, READMEs, and ir-metadata beside runs.

    Raises:
        BadParams: a file that is no run by its name and place, or one at the place of another
            (plain and packed).
    """
    runs: dict[ExternalRun, Path] = {}
    files = (p for p in folder.rglob("*") if p.is_file())
    for path in sorted(p for p in files if not _is_beside(p.relative_to(folder))):
        named = _RUN.fullmatch(path.relative_to(folder).as_posix())
        if named is None:
            raise BadParams(path, "no run by its place and name", f"name it {folder}/{_NAMED}")
        key = ExternalRun(*named.groups())
        if key in runs:
            raise BadParams(path, f"the same run as {runs[key]}", "remove one of the two")
        runs[key] = path
    return runs


def _is_beside(path: Path) -> bool:
    """Tell a file that may lie among runs and is none."""
    hidden = any(part.startswith(".") for part in path.parts) and not _NAMELESS.match(path.name)
    return hidden or path.stem.upper() == "README" or path.name.endswith(METADATA)


def published_runs(
    params: Params, known_runs: Collection[ExternalRun] = ()
) -> dict[ExternalRun, Path]:
    """Return the runs that `search.runs` names, by their place in the only cell of the grid.

    Raises:
        BadParams: a grid of several cells, a file whose name is no system's, or two runs of one,
            be it among `known_runs`.
        MissingFile: a path that is not there, a pattern that matches nothing.
    """
    spec, where, grid = params.search.runs, "params search.runs", [*cells(params)]
    if spec is None:
        return {}
    if len(grid) != 1:
        remedy = "name one collection in build, and one setting, split and task in search"
        raise BadParams(where, f"a grid of {len(grid)} cells", remedy)
    published: dict[ExternalRun, Path] = {}
    left_out = {path for pattern in spec.without for path in patterns.matches(Path(pattern))}
    for file in map(Path, local_files(spec.files)):
        if file in left_out:
            continue
        if not file.is_file():
            raise MissingFile(f"{where}.files", f"{str(file)!r} is not there", "correct the path")
        key = ExternalRun._make((*grid[0], system_of(file)))
        if key in published or key in known_runs:
            both = f"{file} and {published.get(key, FOLDER)}: two runs of {key.system!r}"
            raise BadParams(where, both, "rename one, or list it in `without`")
        published[key] = file
    return published


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


def with_external(params: Params, runs: Iterable[ExternalRun]) -> Params:
    """Return the params with a system of kind `trec` for each run that is in the grid.

    Systems that `search.systems` does not name come after those that it does, sorted.

    Raises:
        BadParams: a run that bears the name of a system of another kind; a fusion of a system that
            lacks a run in some cell; a report about an external system that lacks one in the first.
        MissingFile: a system of kind `trec` without a run.
    """
    grid = set(cells(params))
    keys_in_grid = [key for key in runs if key[:-1] in grid]
    count = Counter(key.system for key in keys_in_grid)
    names, search = sorted(count), params.search
    _refuse_runs(params.systems, count, len(grid))
    _refuse_unseen(params, keys_in_grid)
    searched = [*search.systems, *(name for name in names if name not in search.systems)]
    external = {name: SystemKind.of_spec({"kind": "trec"}) for name in names}
    changed = {
        "systems": {**params.systems, **external},
        "search": search.model_copy(update={"systems": searched}),
    }
    return params.model_copy(update=changed) if names else params


def cells(params: Params) -> Iterable[tuple[str, ...]]:
    """Return every (collection, setting, split, task) of the grid."""
    search = params.search
    return product(params.build, search.settings, search.splits, search.tasks)


def _refuse_runs(
    systems: Mapping[str, SystemKind], run_counts: Mapping[str, int], cells: int
) -> None:
    for name, entry in systems.items():
        if name in run_counts and not entry.external:
            problem = f"a run by {name!r}, which is a system of kind {entry.kind_name()}"
            raise BadParams(FOLDER, problem, "rename the run")
        if entry.external and name not in run_counts:
            problem = f"no run by {name!r}, a system of kind trec"
            raise MissingFile(FOLDER, problem, f"put {name}.trec there, or remove the system")
        for part in parts_of(entry):
            if run_counts.get(part, cells) < cells:
                problem = f"{part!r} has runs in {run_counts[part]} of {cells} cells"
                remedy = "give it a run in every cell of the grid"
                raise BadParams(f"params systems.{name}.of", problem, remedy)


def _refuse_unseen(params: Params, runs: Sequence[ExternalRun]) -> None:
    about, search = params.tabulate.system, params.search
    first = search.settings[0], search.splits[0]
    collections_with_run = {
        key.collection for key in runs if (key.system, *key[1:3]) == (about, *first)
    }
    absent = [name for name in params.build if name not in collections_with_run]
    if absent and any(key.system == about for key in runs):
        problem = (
            f"{about!r} has no run in {absent[0]}/{first[0]}/{first[1]}, which the report shows"
        )
        raise BadParams("params tabulate.system", problem, "put one there, or name another system")


def local_files(paths: Iterable[str]) -> list[str]:
    """Return the local files that paths and patterns with `*` name, in the order of the patterns.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return [file.stated.url for path in paths for file in patterns.expand(Stated(path))]
