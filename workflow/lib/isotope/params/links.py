"""What entries of params.yaml owe each other beyond names: models, fusions, prompts, splits."""

from isotope.core.errors import BadParams
from isotope.params.phases import collection_kind
from isotope.params.sections import COLLECTIONS, Params, kinds, model_kind, system_kind

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
        kind = system_kind(entry).of_plain(entry)
        kind.check(f"params systems.{name}", params)
    for name, entry in params.get("collect", {}).items():
        _check_collection(f"params collect.{name}", entry, params)
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


def _check_collection(where: str, entry: Params, params: Params) -> None:
    """A key of another kind is told apart from a typo: some kind has it."""
    kind = collection_kind(entry)
    for key in entry.keys() - kind.model_fields.keys():
        owners = [name for name, of in kinds(COLLECTIONS).items() if key in of.model_fields]
        remedy = f"leave it out: kind {' or '.join(owners)} has it"
        raise BadParams(f"{where}.{key}", f"a collection of kind {entry['kind']}", remedy)
    kind.of_plain(entry).check(where, params)


def _check_unjudged(params: Params) -> None:
    """A split is searched once; a foreign run, which is judged, can't be fused where none is."""
    search, systems = params["search"], params["systems"]
    apart = search.get("unjudged", [])
    both = sorted({*apart} & {*search["splits"]})
    if both:
        found = f"{both[0]!r} is in splits as well"
        raise BadParams("params search.unjudged", found, "keep it in one of them")
    for name, entry in systems.items() if apart else ():
        foreign = [s for s in entry.get("of", []) if system_kind(systems[s]).foreign]
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
        kind = system_kind(entry)
        fixed = kind.fuses and "tune" not in entry
        model = params["models"].get(entry.get("model"))
        plain = kind.asks_later and (not model or model_kind(model).is_encoder)
        if not (plain or fixed):
            found = f"{name!r} can't be asked for a later collection"
            remedy = "name systems of kind bm25 or dense, or untuned fusions of those"
            raise BadParams("params tabulate.temporal", found, remedy)
        _check_temporal(params, entry.get("of", []))
