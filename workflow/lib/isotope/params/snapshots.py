"""`snapshots: [...]` in the params: what names {snapshot} stands there once for each of them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from isotope.core.errors import BadParams
from isotope.params.union import unions

_SNAPSHOT = "{snapshot}"


def expand(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return params in which every key and list item with {snapshot} is repeated for each snapshot.

    What stands below such a key has the same snapshot throughout. `tabulate.since` names, beside
    what it is given, each built collection of a snapshot, unions apart, with that of the snapshot
    before; `encode.after` does, with unions, unless it is given. `crawl.<source>.after` of such a
    collection's source names that of the snapshot before, unless it is given (null is none).

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
        given = expanded.setdefault("tabulate", {}).get("since", [])
        apart = [pair for pair in pairs if pair not in given and not {*pair} & {*unions(expanded)}]
        expanded["tabulate"]["since"] = [*given, *apart]
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
            if earlier != later and fetched and both[0].get("width") == both[1].get("width"):
                both[1].setdefault("after", earlier)


def _sources_of(params: Mapping[str, Any], collection: str) -> list[str]:
    """Return the sources of a collection as far as params that nobody has checked yet tell."""
    collect = _mapping(params.get("collect"))
    members = _mapping(collect.get(collection)).get("of", [collection])
    told = [_mapping(collect.get(member)).get("source") for member in members]
    return [str(source) for source in told if source]


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _pairs(entry: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return pairwise(entry.replace(_SNAPSHOT, name) for name in names) if _SNAPSHOT in entry else iter(())


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
