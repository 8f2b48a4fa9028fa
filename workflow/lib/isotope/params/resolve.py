"""params.yaml: fill in {name} and {root}, refuse what the schema lacks, add defaults."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from isotope.core import addresses
from isotope.core.errors import BadParams
from isotope.params.foreign import Place, with_foreign
from isotope.params.links import link
from isotope.params.phases import collection_kind
from isotope.params.schema import demand_types, experiment, suggest, validate
from isotope.params.sections import Params, Section, model_kind
from isotope.params.snapshots import expand
from isotope.params.union import check, speak, unknown
from isotope.params.values import check_values

_COLLECTS = Path(__file__).parents[3] / "sql/collect"
_PLACE = re.compile(r"\{(name|root)\}")


def resolve(config: Mapping[str, Any], foreign: Iterable[Place] = ()) -> Params:
    """Return checked params, complete with defaults and the systems of `foreign` runs.

    Raises:
        BadParams: an unknown key, a value of the wrong kind, or a name that nothing defines; as
            `params_links.link`, `params_union.check` and `params_values.check_values`.
        As `trec_systems.with_foreign`.
    """
    demand_types(config)
    config = expand(config)
    params = substitute(dict(config), {k: str(config[k]) for k in ("name", "root") if k in config})
    validate(params)
    params.setdefault("parse", {})
    speak(params)
    for phase in ("shards", "encode", "search"):
        params.setdefault(phase, {})
    fill(params, experiment())
    params = with_foreign(params, foreign)
    for where, found, known in dangling(params):
        raise BadParams(f"params {where}", f"unknown name {found!r}", suggest(found, known))
    link(params)
    check(params)
    check_values(params)
    return params


def substitute(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Replace {name} and {root} in every key and string.

    Raises:
        BadParams: a placeholder without a value.
    """
    if isinstance(value, str):
        return _PLACE.sub(lambda found: _given(found[1], names), value)
    if isinstance(value, Mapping):
        return {substitute(k, names): substitute(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [substitute(v, names) for v in value]
    return value


def _given(key: str, names: Mapping[str, str]) -> str:
    if key not in names:
        raise BadParams("params", f"{{{key}}} has no value", f"add --config {key}=...")
    return names[key]


def fill(entry: Params, of: type[Section]) -> None:
    """Write the defaults of sections that jobs read whole into a mapping, and into its parts."""
    if of.fills:
        for key, value in of.defaults().items():
            entry.setdefault(key, copy.deepcopy(value))
    for name, field in of.model_fields.items():
        value = entry.get(field.alias or name)
        if isinstance(value, dict):
            _fill_part(cast("Params", value), field.annotation)


def _fill_part(value: Params, of: Any) -> None:  # noqa: ANN401
    for each in get_args(of) if get_origin(of) in (UnionType, Union) else (of,):
        if isinstance(each, type) and issubclass(each, Section):
            fill(value, each)
        elif get_origin(each) is dict:
            for part in value.values():
                if isinstance(part, dict):
                    _fill_part(cast("Params", part), get_args(each)[1])


def dangling(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (where, name, known names) for every reference to something that is not defined."""
    systems, models = list(params["systems"]), list(params["models"])
    yield from _unknown("build", params["build"], list(params["collect"]))
    yield from _collected(params)
    for name, entry in params["crawl"].items():
        brought = params["acquire"].get(name, {}).get("files", {})
        part = [entry["pictures"]["part"]] if "pictures" in entry else []
        yield from _unknown(f"crawl.{name}.pictures.part", part, list(brought))
        # A picture of another width is another picture, whatever its date says.
        others = [n for n, e in params["crawl"].items() if e.get("width") == entry.get("width")]
        earlier = [n for n in others if n != name]
        yield from _unknown(f"crawl.{name}.after", _listed(entry.get("after")), earlier)
    for name, earlier in params["encode"].get("after", {}).items():
        yield from _unknown("encode.after", [name], list(params["collect"]))
        others = [n for n in params["collect"] if n != name]
        yield from _unknown(f"encode.after.{name}", [earlier], others)
    yield from _unknown("search.systems", params["search"]["systems"], systems)
    yield from _shown(params)
    for name, entry in params["systems"].items():
        others = [s for s in systems if s != name]
        yield from _unknown(f"systems.{name}.of", entry.get("of", []), others)
        if "model" in entry:
            yield from _unknown(f"systems.{name}.model", [entry["model"]], models)
    yield from _modelled(params)


def _collected(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what sources and collections name and nothing defines."""
    for phase in ("parse", "crawl", "project"):
        yield from _unknown(phase, list(params[phase]), list(params["acquire"]))
    kinds = sorted(folder.name for folder in _COLLECTS.iterdir() if folder.is_dir())
    yield from unknown(params)
    for name, entry in params["collect"].items():
        yield from _unknown(f"collect.{name}.kind", [entry["kind"]], kinds)
        yield from _sourced(params, f"collect.{name}.source", entry)
        known = [entry["recognition"]["knowledge"]] if "recognition" in entry else []
        where = f"collect.{name}.recognition.knowledge"
        yield from _unknown(where, known, list(params["acquire"]))


def _sourced(params: Params, where: str, entry: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the source of a collection if a phase that it goes through lacks it."""
    snapshot = collection_kind(entry).is_snapshot
    phases = ("acquire", "crawl", "project") if snapshot else ("acquire",)
    for phase in phases:
        yield from _unknown(where, _listed(entry.get("source")), list(params[phase]))


def _modelled(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what a model names and nothing defines."""
    for name, entry in params["models"].items():
        if "weights_of" in entry:
            own = [m for m, e in params["models"].items() if not model_kind(e).shares_weights]
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


def _listed(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _sees(model: Params) -> bool:
    return model_kind(model).encodes_images and model.get("images", "pixels") == "pixels"


def _shown(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what the phase tabulate names and nothing defines."""
    tabulate = params["tabulate"]
    yield from _unknown("tabulate.system", [tabulate["system"]], list(params["systems"]))
    sides, searched = tabulate.get("cases", {}).get("systems", []), params["search"]["systems"]
    yield from _unknown("tabulate.cases.systems", sides, searched)
    shown = [s for pair in tabulate.get("gains", []) for s in pair]
    yield from _unknown("tabulate.gains", shown, params["search"]["systems"])
    compared = [name for group in tabulate.get("comparisons", []) for name in group]
    yield from _unknown("tabulate.comparisons", compared, list(params["systems"]))
    asked = tabulate.get("temporal", [])
    yield from _unknown("tabulate.temporal", asked, params["search"]["systems"])
    yield from _shown_collections(params)
    yield from _shown_captions(params)
    for name, parts in tabulate.get("groups", {}).items():
        for part, members in parts.items():
            yield from _unknown(f"tabulate.groups.{name}.{part}", members, params["build"])
    asked = [tabulate["styles"]["model"]] if "styles" in tabulate else []
    yield from _unknown("tabulate.styles.model", asked, list(params["models"]))
    for name, entry in tabulate.get("against", {}).items():
        where, measures = f"tabulate.against.{name}", [entry["here"], entry["there"]]
        yield from _unknown(where, [name, entry["collection"]], params["build"])
        yield from _unknown(where, measures, params["score"]["measures"])
        yield from _unknown(where, _listed(entry.get("setting")), params["search"]["settings"])
        yield from _unknown(where, entry.get("splits", []), params["search"]["splits"])


def _shown_collections(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    tabulate, collections = params["tabulate"], list(params["collect"])
    compared = [name for pair in tabulate.get("since", []) for name in pair]
    yield from _unknown("tabulate.since", compared, collections)
    for key in ("explain", "rankings", "facts"):
        yield from _unknown(f"tabulate.{key}", list(tabulate.get(key, [])), collections)


def _shown_captions(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    tabulate = params["tabulate"]
    described: list[str] = []
    for name, entry in tabulate.get("captioners", {}).items():
        described.append(entry["source"])
        where = f"tabulate.captioners.{name}.source"
        yield from _unknown(where, [entry["source"]], list(params["acquire"]))
    yield from _unknown("tabulate.side_by_side", list(tabulate.get("side_by_side", {})), described)


def _unknown(
    where: str, found: list[str], known: list[str]
) -> Iterator[tuple[str, str, list[str]]]:
    return ((where, name, known) for name in found if name not in known)


def expand_files(files: Mapping[str, list[Any]]) -> dict[str, list[Params]]:
    """Return {folder: [{url, bytes?, md5?, ...}]} with local patterns expanded, sorted.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return {
        folder: [file.entry for entry in entries for file in addresses.expand(entry)]
        for folder, entries in files.items()
    }


def local_files(patterns: list[str]) -> list[str]:
    """Return the local files that paths and patterns with `*` name, in the order of the patterns.

    Raises:
        MissingFile: a pattern that matches nothing.
    """
    return [str(file["url"]) for file in expand_files({"files": patterns})["files"]]
