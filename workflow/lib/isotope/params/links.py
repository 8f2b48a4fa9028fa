"""What entries of params.yaml owe each other beyond names: models, fusions, prompts, splits."""

import math
from pathlib import PurePosixPath
from typing import Any

from isotope.core.errors import BadParams
from isotope.params.schema import suggest
from isotope.params.sections import model_kind
from isotope.search import prompted

Params = dict[str, Any]
_ARCHITECTURES = ("config", "name")
_RIGHT = "correct"


def link(params: Params) -> None:
    """Check trained models, fusions and prompts; give a model the architecture it goes on from.

    Raises:
        BadParams: no architecture or two, a circle of `from`; weights or k besides `tune`, a
            grid that does not fit, or one whose split is not searched; a template that nothing
            fills, or whose model reads no text; a split that is judged and unjudged; a system whose
            earlier build can't be asked later; sets of a source that has none so called; a tail
            above its head; classes of answers without `correct`.
    """
    models = params["models"]
    trained = [name for name, entry in models.items() if entry["kind"] == "trained"]
    origins = {name: _architecture(models, name, []) for name in trained}
    for name, (key, value) in origins.items():
        models[name][key] = value
    for name, entry in params["systems"].items():
        if entry["kind"] in ("rrf", "wsum"):
            _check_fusion(f"params systems.{name}", entry, params["search"]["splits"])
        if entry["kind"] == "prompt":
            _check_prompt(f"params systems.{name}", entry, models)
    for name, entry in params.get("collect", {}).items():
        _check_source_splits(params, f"params collect.{name}.source_splits", entry)
    _check_unjudged(params)
    tabulate = params.get("tabulate", {})
    _check_temporal(params, tabulate.get("temporal", []))
    _check_views(**tabulate.get("monthly_views", {"head": 0, "tail": 0}))
    _check_classes(tabulate.get("mistakes", {}).get("classes", [_RIGHT]))
    crawled = {n: e["after"] for n, e in params.get("crawl", {}).items() if e.get("after")}
    encoded = params.get("encode", {}).get("after", {})
    for where, after in (("encode.after", encoded), ("crawl.<source>.after", crawled)):
        for name in after:
            _check_after(where, after, [name])
    for name in params["systems"]:
        _check_circle(params["systems"], [name])


def _architecture(models: Params, name: str, seen: list[str]) -> tuple[str, str]:
    where, entry = f"params models.{name}", models[name]
    if name in seen:
        raise BadParams(where, f"a circle of `from`: {' > '.join([*seen, name])}", "break it")
    if entry["kind"] != "trained":
        raise BadParams(where, f"`from` a model of kind {entry['kind']}", "name a trained model")
    own = [key for key in (*_ARCHITECTURES, "from") if key in entry]
    if len(own) != 1:
        found = f"{' and '.join(own) or 'none'} of config, name and from"
        raise BadParams(where, found, "give exactly one")
    if own != ["from"]:
        return own[0], entry[own[0]]
    if entry["from"] not in models:
        known = ", ".join(sorted(models))
        raise BadParams(f"{where}.from", f"unknown name {entry['from']!r}", f"known: {known}")
    return _architecture(models, entry["from"], [*seen, name])


def _check_after(where: str, after: dict[str, str], seen: list[str]) -> None:
    earlier = after.get(seen[-1])
    if earlier in seen:
        found = f"a circle: {' > '.join([*seen, earlier])}"
        kind = "collections" if where == "encode.after" else "sources"
        raise BadParams(f"params {where}", found, f"name earlier {kind} only")
    if earlier is not None:
        _check_after(where, after, [*seen, earlier])


def _check_circle(systems: Params, seen: list[str]) -> None:
    for part in systems.get(seen[-1], {}).get("of", []):
        if part in seen:
            found = f"a circle: {' > '.join([*seen, part])}"
            raise BadParams(f"params systems.{seen[0]}.of", found, "break it")
        _check_circle(systems, [*seen, part])


def _check_fusion(where: str, entry: Params, splits: list[str]) -> None:
    fixed, tune = "weights" if entry["kind"] == "wsum" else "k", entry.get("tune")
    if tune is None:
        if entry["kind"] == "wsum" and "weights" not in entry:
            raise BadParams(where, "neither weights nor tune", "give one of them")
        _check_weights(f"{where}.weights", [entry.get("weights", entry["of"])], entry["of"])
        return
    if fixed in entry:
        raise BadParams(where, f"both {fixed} and tune", "keep one of them")
    _check_weights(f"{where}.tune.grid.weights", tune["grid"].get("weights", []), entry["of"])
    split = tune.get("split", "validation")
    if split not in splits:
        found = f"split {split!r} is not searched"
        remedy = f"add it to search.splits, or name one of {', '.join(splits)}"
        raise BadParams(f"{where}.tune.split", found, remedy)
    step = tune["grid"].get("step", 1)
    if not math.isclose(round(1 / step) * step, 1):
        raise BadParams(f"{where}.tune.grid.step", f"{step}", "use one that divides 1, as 0.1")


def _check_weights(where: str, given: list[list[float]], of: list[str]) -> None:
    wrong = next((weights for weights in given if len(weights) != len(of)), None)
    if wrong is not None:
        found = f"{wrong}: weights that are not one for each system"
        raise BadParams(where, found, f"give {len(of)}, of {', '.join(of)}")


def _check_prompt(where: str, entry: Params, models: Params) -> None:
    prompted.check(entry["templates"], where)
    if not model_kind(models[entry["model"]]).is_encoder:
        found = f"model {entry['model']!r} is no encoder of prompts"
        raise BadParams(where, found, "name a model that reads texts and sees pictures")


def _check_source_splits(params: Params, where: str, entry: Params) -> None:
    """A set is called as the folder of its files; a folder with `*` may be called anything."""
    asked, kind = entry.get("source_splits"), entry.get("kind")
    if asked is None:
        return
    if kind != "ticrc":
        raise BadParams(where, f"a collection of kind {kind}", "leave it out: kind ticrc has sets")
    files = params["acquire"].get(entry.get("source"), {}).get("files", {})
    listed = [file for split in ("train", "validation", "test") for file in files.get(split, [])]
    urls = [file if isinstance(file, str) else str(file["url"]) for file in listed]
    known = sorted({PurePosixPath(url).parent.name for url in urls})
    unknown = [name for name in asked if name not in known]
    if unknown and not any("*" in folder for folder in known):
        raise BadParams(where, f"unknown name {unknown[0]!r}", suggest(unknown[0], known))


def _check_unjudged(params: Params) -> None:
    """A split is searched once; a foreign run, which is judged, can't be fused where none is."""
    search, systems = params["search"], params["systems"]
    apart = search.get("unjudged", [])
    both = sorted({*apart} & {*search["splits"]})
    if both:
        found = f"{both[0]!r} is in splits as well"
        raise BadParams("params search.unjudged", found, "keep it in one of them")
    for name, entry in systems.items() if apart else ():
        foreign = [s for s in entry.get("of", []) if systems[s]["kind"] == "trec"]
        if foreign:
            found = f"a fusion with the foreign run {foreign[0]!r}"
            raise BadParams(f"params systems.{name}", found, "drop it, or search.unjudged")


def _check_classes(classes: list[str]) -> None:
    if _RIGHT not in classes:
        where = "params tabulate.mistakes.classes"
        raise BadParams(
            where, f"no class {_RIGHT!r} in {classes}", "add it: the sample has right ones"
        )


def _check_views(*, head: float, tail: float) -> None:
    if tail > head:
        found = f"a tail below {tail:,} and a head above {head:,} views"
        raise BadParams("params tabulate.monthly_views", found, "let tail be no more than head")


def _check_temporal(params: Params, systems: list[str]) -> None:
    """Only what an index and an encoder answer can be asked anew; a fusion by what it fuses."""
    for name in systems:
        entry = params["systems"][name]
        fixed = entry["kind"] in ("rrf", "wsum") and "tune" not in entry
        model = params["models"].get(entry.get("model"))
        plain = entry["kind"] in ("bm25", "dense") and (not model or model_kind(model).is_encoder)
        if not (plain or fixed):
            found = f"{name!r} can't be asked for a later collection"
            remedy = "name systems of kind bm25 or dense, or untuned fusions of those"
            raise BadParams("params tabulate.temporal", found, remedy)
        _check_temporal(params, entry.get("of", []))
