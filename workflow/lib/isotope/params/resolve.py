"""What params.yaml becomes: snapshots repeated, placeholders filled, defaults, foreign runs.

`resolve` does it all. A TREC run at its place below `runs/`,
`<collection>/<setting>/<split>/<task>/<system>.trec`, also .run or .txt, plain or packed, is a
system like any other, and so is one that `search.runs` names.
"""

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

from isotope.core import patterns
from isotope.core.errors import BadParams, MissingFile
from isotope.core.grid import TASKS
from isotope.core.runs import METADATA
from isotope.params import SETTINGS, SPLITS
from isotope.params.links import check, check_values, link, speak, unions, unknown
from isotope.params.pairs import DATA, lay_out
from isotope.params.phases import collection_kind
from isotope.params.root import Params, written_class
from isotope.params.schema import demand_types, suggest, validate
from isotope.params.sections import Plain, Section, model_kind, parts_of, system_kind

FOLDER = Path("runs")
_RUN = re.compile(r"(.+?)\.(?:trec|run|txt)(?:\.(?:gz|bz2))?", re.IGNORECASE)
# As NIST publishes what participants sent in, and as others keep runs.
_PUBLISHED = re.compile(r"(?:input\.)?(.+?)(?:\.(?:trec|run|txt))?(?:\.(?:gz|bz2))?", re.IGNORECASE)
_SYSTEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_CHOICES = {"setting": SETTINGS, "split": SPLITS, "task": tuple(TASKS)}
_SNAPSHOT = "{snapshot}"
_COLLECTS = Path(__file__).parents[3] / "sql/collect"
_PLACE = re.compile(r"\{(name|root)\}")


class Place(NamedTuple):
    """Where a foreign run belongs."""

    collection: str
    setting: str
    split: str
    task: str
    system: str


def resolve(config: Mapping[str, Any], foreign: Collection[Place] = ()) -> Params:
    """Return checked params, complete with defaults and the systems of `foreign` runs.

    Raises:
        BadParams: an unknown key, a value of the wrong kind, or a name that nothing defines; as
            `links.link`, `links.check` and `links.check_values`.
        As `with_foreign`.
    """
    demand_types(config)
    config = expand(config)
    params = substitute(dict(config), {k: str(config[k]) for k in ("name", "root") if k in config})
    lay_out(params)
    validate(params)
    params.setdefault("parse", {})
    speak(params)
    for phase in ("shards", "encode", "search", "release"):
        params.setdefault(phase, {})
    fill(params, written_class())
    _choose_pool(params)
    params = with_foreign(params, [*foreign, *published_runs(params, foreign)])
    for where, name, names in dangling(params):
        raise BadParams(f"params {where}", f"unknown name {name!r}", suggest(name, names))
    _choose_sides(params)
    link(params)
    check(params)
    check_values(params)
    # Last: a fusion is refused for its own `k` beside `tune`, not for the default.
    for entry in params["systems"].values():
        fill(entry, system_kind(entry))
    return Params.of_filled(params)


def expand(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return params in which every key and list item with {snapshot} is repeated for each snapshot.

    What stands below such a key has the same snapshot throughout. Each built collection of a
    snapshot is paired with that of the snapshot before: the pairs are added to `tabulate.since`,
    unions apart, and become `encode.after`, unions included, where the params have none. The crawl
    of such a collection's source continues the one before (`crawl.<source>.after`), unless the
    params name another or null.

    Raises:
        BadParams: {snapshot} without snapshots, or in a value that can't be repeated; a crawl that
            would go on from itself.
    """
    names = [str(name) for name in config.get("snapshots", [])]
    if len(set(names)) < len(names):
        raise BadParams("params snapshots", f"{names}: one twice", "name each snapshot once")
    expanded = cast(dict[str, Any], _expanded(dict(config), names, "params"))
    pairs = [list(pair) for entry in config.get("build", []) for pair in _pairs(str(entry), names)]
    if pairs:
        listed = expanded.setdefault("tabulate", {}).get("since", [])
        apart = [pair for pair in pairs if pair not in listed and not {*pair} & {*unions(expanded)}]
        expanded["tabulate"]["since"] = [*listed, *apart]
        after = {later: earlier for earlier, later in pairs}
        expanded.setdefault("encode", {}).setdefault("after", after)
    _crawl_after(expanded, pairs)
    return expanded


def _crawl_after(params: dict[str, Any], pairs: Sequence[Sequence[str]]) -> None:
    """Let each crawl of a snapshot's source go on from that of the snapshot before."""
    crawl = _mapping(params.get("crawl"))
    for name, entry in crawl.items():
        if _mapping(entry).get("after") == name:
            remedy = "leave it out: a snapshot's crawl goes on from that of the snapshot before"
            raise BadParams(f"params crawl.{name}.after", f"{name!r} is the crawl itself", remedy)
    for pair in pairs:
        for earlier, later in zip(*(_sources_of(params, name) for name in pair), strict=False):
            both = [_mapping(crawl.get(name)) for name in (earlier, later)]
            fetched = all(both) and not any("pictures" in entry for entry in both)
            if earlier != later and fetched and _bytes_of(both[0]) == _bytes_of(both[1]):
                both[1].setdefault("after", earlier)


def _bytes_of(crawl: Mapping[str, Any]) -> tuple[object, bool]:
    """Return what decides the bytes of a crawl's pictures: their width, and who makes WebP."""
    return crawl.get("width"), bool(crawl.get("as_img2dataset"))


def _sources_of(params: Mapping[str, Any], collection: str) -> list[str]:
    """Return the sources of a collection as far as params that nobody has checked yet tell."""
    collect = _mapping(params.get("collect"))
    members = _mapping(collect.get(collection)).get("of", [collection])
    own = [_mapping(collect.get(member)).get("source") for member in members]
    return [str(source) for source in own if source]


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _pairs(entry: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return (
        pairwise(entry.replace(_SNAPSHOT, name) for name in names)
        if _SNAPSHOT in entry
        else iter(())
    )


def _expanded(value: object, names: Sequence[str], where: str) -> object:
    if isinstance(value, Mapping):
        entries = cast(Mapping[str, object], value).items()
        return {k: v for key, each in entries for k, v in _keyed(str(key), each, names, where)}
    if isinstance(value, list):
        return [one for each in cast(list[object], value) for one in _repeated(each, names, where)]
    if isinstance(value, str) and _SNAPSHOT in value:
        remedy = "name snapshots, and use it in a key above or in a list"
        raise BadParams(where, f"{value!r} has no snapshot", remedy)
    return value


def _keyed(
    key: str, value: object, names: Sequence[str], where: str
) -> Iterator[tuple[str, object]]:
    if _SNAPSHOT not in key:
        yield key, _expanded(value, names, f"{where} {key}")
        return
    if not names:
        raise BadParams(where, f"{key!r} without snapshots", "add `snapshots: [...]`")
    for name in names:
        yield key.replace(_SNAPSHOT, name), _bound(value, name)


def _repeated(value: object, names: Sequence[str], where: str) -> Iterator[object]:
    if not _mentions(value):
        yield value
        return
    if not names:
        raise BadParams(where, f"{value!r} without snapshots", "add `snapshots: [...]`")
    yield from (_bound(value, name) for name in names)


def _mentions(value: object) -> bool:
    if isinstance(value, Mapping):
        entries = cast(Mapping[str, object], value).items()
        return any(_mentions(key) or _mentions(each) for key, each in entries)
    if isinstance(value, list):
        return any(_mentions(each) for each in cast(list[object], value))
    return isinstance(value, str) and _SNAPSHOT in value


def _bound(value: object, name: str) -> object:
    if isinstance(value, Mapping):
        entries = cast(Mapping[str, object], value).items()
        return {str(_bound(key, name)): _bound(each, name) for key, each in entries}
    if isinstance(value, list):
        return [_bound(each, name) for each in cast(list[object], value)]
    return value.replace(_SNAPSHOT, name) if isinstance(value, str) else value


def substitute(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Replace {name} and {root} in every key and string.

    Keys that become one are laid over each other in their order, as overlays are: one that calls
    a collection by its name changes what another says of `{name}`.

    Raises:
        BadParams: a placeholder without a value.
    """
    if isinstance(value, str):
        return _PLACE.sub(lambda match: _value_of(match[1], names), value)
    if isinstance(value, Mapping):
        made = dict[str, Any]()
        for key, entry in value.items():
            lay_over(made, {substitute(key, names): substitute(entry, names)})
        return made
    if isinstance(value, list):
        return [substitute(v, names) for v in value]
    return value


def lay_over(params: dict[str, Any], overlay: Mapping[str, Any]) -> None:
    """Change in params what an overlay has, mappings key by key, as Snakemake does."""
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(params.get(key), dict):
            lay_over(params[key], value)
        else:
            params[key] = copy.deepcopy(value)


def _value_of(key: str, names: Mapping[str, str]) -> str:
    if key not in names:
        raise BadParams("params", f"{{{key}}} has no value", f"add --config {key}=...")
    return names[key]


def fill(entry: Plain, of: type[Section]) -> None:
    """Write the defaults of sections that jobs read whole into a mapping, and into its parts."""
    if of.fills:
        for key, value in of.defaults().items():
            entry.setdefault(key, copy.deepcopy(value))
    for name, field in of.model_fields.items():
        value = entry.get(field.alias or name)
        if isinstance(value, dict):
            _fill_part(cast("Plain", value), field.annotation)


def _choose_pool(params: Plain) -> None:
    """Say which cell is judged where the params leave it to what is searched."""
    judge, search = params["score"].get("judge"), params["search"]
    if judge is not None:
        splits = ["test"] if "test" in search["splits"] else search["splits"]
        judge.setdefault("setting", max(search["settings"], key=SETTINGS.index))
        judge.setdefault("split", splits[-1])


def _choose_sides(params: Plain) -> None:
    """Say how large pictures are stored where a crawl does not: as the kind of its collection."""
    sides = {
        entry["source"]: side_px
        for entry in params["collect"].values()
        if "source" in entry and (side_px := collection_kind(entry).side_px)
    }
    for name, entry in params["crawl"].items():
        entry.setdefault("side_px", sides.get(name))


def _fill_part(value: Plain, of: Any) -> None:  # noqa: ANN401
    for each in get_args(of) if get_origin(of) in (UnionType, Union) else (of,):
        if isinstance(each, type) and issubclass(each, Section):
            fill(value, each)
        elif get_origin(each) is dict:
            for part in value.values():
                if isinstance(part, dict):
                    _fill_part(cast("Plain", part), get_args(each)[1])


def dangling(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (where, name, known names) for every reference to something that is not defined."""
    systems, models = list(params["systems"]), list(params["models"])
    yield from _unknown("build", params["build"], list(params["collect"]))
    yield from _collected(params)
    for name, entry in params["crawl"].items():
        brought = params["acquire"].get(name, {}).get("files", {})
        part = [entry["pictures"]["part"]] if "pictures" in entry else []
        # What lies on this machine is read where it is.
        own = [*brought, *[DATA] * _is_pairs(params, name)]
        yield from _unknown(f"crawl.{name}.pictures.part", part, own)
        # Pictures of another width are other files, even with the same date.
        others = [n for n, e in params["crawl"].items() if _bytes_of(e) == _bytes_of(entry)]
        earlier = [n for n in others if n != name]
        yield from _unknown(f"crawl.{name}.after", _listed(entry.get("after")), earlier)
        yield from _bulk(params, name)
    for name, earlier in params["encode"].get("after", {}).items():
        yield from _unknown("encode.after", [name], list(params["collect"]))
        others = [n for n in params["collect"] if n != name]
        yield from _unknown(f"encode.after.{name}", [earlier], others)
    yield from _unknown("release.about", list(params["release"]["about"]), list(params["collect"]))
    yield from _unknown("search.systems", params["search"]["systems"], systems)
    for name, entry in params["score"].get("judge", {}).get("models", {}).items():
        yield from _unknown(f"score.judge.models.{name}.own", entry["own"], systems)
    yield from _suggested(params)
    yield from _tabulated(params)
    for name, entry in params["systems"].items():
        others = [s for s in systems if s != name]
        yield from _unknown(f"systems.{name}.of", parts_of(entry), others)
        if "model" in entry:
            yield from _unknown(f"systems.{name}.model", [entry["model"]], models)
    yield from _modelled(params)


def _bulk(params: Mapping[str, Any], name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what the bulk sources of a crawl name and nothing defines."""
    crawled = [n for n in params["crawl"] if n != name]
    for n, entry in enumerate(params["crawl"][name].get("bulk", [])):
        where, source = f"crawl.{name}.bulk[{n}]", entry.get("source")
        yield from _unknown(f"{where}.source", _listed(source), list(params["acquire"]))
        if source in params["acquire"]:
            parts = [*params["acquire"][source].get("files", {})]
            yield from _unknown(f"{where}.part", _listed(entry.get("part")), parts)
        yield from _unknown(f"{where}.crawl", _listed(entry.get("crawl")), crawled)


def _is_pairs(params: Mapping[str, Any], source: str) -> bool:
    return params["collect"].get(source, {}).get("kind") == "pairs"


def _collected(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what sources and collections name and nothing defines."""
    for phase in ("parse", "crawl", "project"):
        yield from _unknown(phase, list(params[phase]), list(params["acquire"]))
    kinds = sorted(folder.name for folder in _COLLECTS.iterdir() if folder.is_dir())
    yield from unknown(params)
    for name, entry in params["collect"].items():
        yield from _unknown(f"collect.{name}.kind", [entry["kind"]], kinds)
        yield from _sourced(params, f"collect.{name}.source", entry)
        knowledge = [entry["recognition"]["knowledge"]] if "recognition" in entry else []
        where = f"collect.{name}.recognition.knowledge"
        yield from _unknown(where, knowledge, list(params["acquire"]))


def _sourced(
    params: Mapping[str, Any], where: str, entry: Plain
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the source of a collection if a phase that it goes through lacks it."""
    snapshot = collection_kind(entry).is_snapshot
    phases = ("acquire", "crawl", "project") if snapshot else ("acquire",)
    for phase in phases:
        yield from _unknown(where, _listed(entry.get("source")), list(params[phase]))


def _modelled(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what a model names and nothing defines."""
    for name, entry in params["models"].items():
        if "weights_of" in entry:
            kinds = {m: model_kind(e) for m, e in params["models"].items()}
            own = [m for m, k in kinds.items() if k.is_encoder and not k.shares_weights]
            yield from _unknown(f"models.{name}.weights_of", [entry["weights_of"]], own)
        if entry.get("images", "captions") != "captions":
            seeing = [m for m, e in params["models"].items() if _sees(e)]
            own = [*seeing, *["pixels"] * model_kind(entry).encodes_images]
            yield from _unknown(f"models.{name}.images", [entry["images"]], [*own, "captions"])
        summaries = list(params["encode"].get("summaries", {}))
        yield from _unknown(f"models.{name}.summary", _listed(entry.get("summary")), summaries)
        if "of" in entry:
            seeing = [m for m, e in params["models"].items() if _sees(e)]
            yield from _unknown(f"models.{name}.of", [entry["of"]], seeing)
        learned_from = _listed(entry.get("collection"))
        yield from _unknown(f"models.{name}.collection", learned_from, params["build"])


def _listed(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _sees(model: Plain) -> bool:
    kind = model_kind(model)
    sees = kind.is_encoder and kind.encodes_images
    return sees and model.get("images", "pixels") == "pixels"


def _suggested(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what the phase suggest names and nothing defines, or what has no sections of a wiki."""
    suggest = params.get("suggest", {})
    kinds = {
        name: collection_kind(params["collect"][name])
        for name in params["build"]
        if name in params["collect"]
    }
    wikis = [name for name, kind in kinds.items() if kind.is_snapshot or kind.is_union]
    yield from _unknown("suggest.collections", suggest.get("collections", []), wikis)
    for kind in ("bm25", "dense"):
        fit = [
            s
            for s in params["search"]["systems"]
            if params["systems"].get(s, {}).get("kind") == kind
        ]
        yield from _unknown(f"suggest.{kind}", _listed(suggest.get(kind)), fit)


def _tabulated(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what the phase tabulate names and nothing defines."""
    tabulate = params["tabulate"]
    yield from _unknown("tabulate.system", [tabulate["system"]], list(params["systems"]))
    sides, searched = tabulate.get("cases", {}).get("systems", []), params["search"]["systems"]
    yield from _unknown("tabulate.cases.systems", sides, searched)
    gains = [s for pair in tabulate.get("gains", []) for s in pair]
    yield from _unknown("tabulate.gains", gains, params["search"]["systems"])
    compared = [name for group in tabulate.get("comparisons", []) for name in group]
    yield from _unknown("tabulate.comparisons", compared, list(params["systems"]))
    temporal = tabulate.get("temporal", [])
    yield from _unknown("tabulate.temporal", temporal, params["search"]["systems"])
    yield from _tabulated_collections(params)
    yield from _tabulated_captions(params)
    for name, parts in tabulate.get("groups", {}).items():
        for part, members in parts.items():
            yield from _unknown(f"tabulate.groups.{name}.{part}", members, params["build"])
    styling = [tabulate["styles"]["model"]] if "styles" in tabulate else []
    yield from _unknown("tabulate.styles.model", styling, list(params["models"]))
    for name, entry in tabulate.get("against", {}).items():
        where, measures = f"tabulate.against.{name}", [entry["here"], entry["there"]]
        yield from _unknown(where, [name, entry["collection"]], params["build"])
        yield from _unknown(where, measures, params["score"]["measures"])
        yield from _unknown(where, _listed(entry.get("setting")), params["search"]["settings"])
        yield from _unknown(where, entry.get("splits", []), params["search"]["splits"])


def _tabulated_collections(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    tabulate, collections = params["tabulate"], list(params["collect"])
    compared = [name for pair in tabulate.get("since", []) for name in pair]
    yield from _unknown("tabulate.since", compared, collections)
    for key in ("explain", "rankings", "facts"):
        yield from _unknown(f"tabulate.{key}", list(tabulate.get(key, [])), collections)


def _tabulated_captions(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    tabulate = params["tabulate"]
    described: list[str] = []
    for name, entry in tabulate.get("captioners", {}).items():
        described.append(entry["source"])
        where = f"tabulate.captioners.{name}.source"
        yield from _unknown(where, [entry["source"]], list(params["acquire"]))
    yield from _unknown("tabulate.side_by_side", list(tabulate.get("side_by_side", {})), described)


def _unknown(
    where: str, names: list[str], defined: list[str]
) -> Iterator[tuple[str, str, list[str]]]:
    return ((where, name, defined) for name in names if name not in defined)


def discover(folder: Path = FOLDER) -> dict[Place, Path]:
    """Return every TREC run below `folder` by its place, sorted; nothing if there is no folder.

    Every file is one, but for hidden ones, READMEs, and ir-metadata beside runs.

    Raises:
        BadParams: a file that is no run by its name, a run at no place, or twice at one (plain and
            packed).
    """
    runs: dict[Place, Path] = {}
    files = (p for p in folder.rglob("*") if p.is_file())
    for path in sorted(p for p in files if not _is_beside(p.relative_to(folder))):
        place = _place(path, folder)
        if place in runs:
            raise BadParams(path, f"the same run as {runs[place]}", "remove one of the two")
        runs[place] = path
    return runs


def _is_beside(path: Path) -> bool:
    """Tell a file that may lie among runs and is none."""
    nameless = _RUN.fullmatch(f"run{path.name}") is not None
    hidden = any(part.startswith(".") for part in path.parts) and not nameless
    return hidden or path.stem.upper() == "README" or path.name.endswith(METADATA)


def _place(path: Path, folder: Path) -> Place:
    parts = path.relative_to(folder).parts
    named = _RUN.fullmatch(parts[-1])
    remedy = f"name it {folder}/<collection>/<setting>/<split>/<task>/<system>.trec"
    if named is None and not parts[-1].startswith("."):
        found = "no run by its name, which would end in .trec, .run or .txt, plain, .gz or .bz2"
        raise BadParams(path, found, f"{remedy}, or move it elsewhere")
    name = named[1] if named else ""
    if len(parts) != len(Place._fields) or not name:
        raise BadParams(path, "not at the place of a run", remedy)
    place = Place._make((*parts[:-1], name))
    for field, choices in _CHOICES.items():
        value = getattr(place, field)
        if value not in choices:
            raise BadParams(path, f"no {field} {value!r}", f"use one of {', '.join(choices)}")
    return place


def published_runs(params: Mapping[str, Any], others: Collection[Place] = ()) -> dict[Place, Path]:
    """Return the runs that `search.runs` names, by their place in the only cell of the grid.

    Raises:
        BadParams: a grid of several cells, a file whose name is no system's, or two runs of one,
            be it among `others`.
        MissingFile: a path that is not there, a pattern that matches nothing.
    """
    spec = params["search"].get("runs")
    if spec is None:
        return {}
    where, grid = "params search.runs", [*cells(params)]
    if len(grid) != 1:
        remedy = "name one collection in build, and one setting, split and task in search"
        raise BadParams(where, f"a grid of {len(grid)} cells", remedy)
    found: dict[Place, Path] = {}
    left_out = {
        path for pattern in spec.get("without", ()) for path in patterns.matches(Path(pattern))
    }
    for file in map(Path, local_files(spec["files"])):
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
    searched = [*chosen, *(name for name in names if name not in chosen)]
    _refuse_unseen(params, own)
    systems = {**params["systems"], **{name: {"kind": "trec"} for name in names}}
    return {**params, "systems": systems, "search": {**params["search"], "systems": searched}}


def cells(params: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    """Return every (collection, setting, split, task) of the grid."""
    search = params["search"]
    return product(params["build"], search["settings"], search["splits"], search["tasks"])


def _cells_of(name: str, runs: Iterable[Place]) -> int:
    return sum(place.system == name for place in runs)


def _refuse_clashes(systems: Mapping[str, Any], names: Sequence[str]) -> None:
    for name, spec in systems.items():
        if name in names and not system_kind(spec).foreign:
            found = f"a run by {name!r}, which is a system of kind {spec['kind']}"
            raise BadParams(FOLDER, found, "rename the run")
        if system_kind(spec).foreign and name not in names:
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
        short = [part for part in parts_of(spec) if has.get(part, grid) < grid]
        if short:
            found = f"{short[0]!r} has runs in {has[short[0]]} of {grid} cells"
            raise BadParams(f"systems.{name}.of", found, "give it a run in every cell of the grid")


def expand_files(files: Mapping[str, list[Any]]) -> dict[str, list[Plain]]:
    """Return {folder: [{url, bytes?, md5?, ...}]} with local patterns expanded, sorted.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return {
        folder: [file.entry for entry in entries for file in patterns.expand(entry)]
        for folder, entries in files.items()
    }


def local_files(patterns: list[str]) -> list[str]:
    """Return the local files that paths and patterns with `*` name, in the order of the patterns.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return [str(file["url"]) for file in expand_files({"files": patterns})["files"]]
