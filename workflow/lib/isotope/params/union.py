"""Collections of several languages, which are made of others: members, and sources behind them."""

from collections.abc import Iterator, Mapping
from typing import Any

from isotope.core.errors import BadParams
from isotope.core.schemas import SEVERAL
from isotope.params.phases import collection_kind

Params = Mapping[str, Any]
_BY_PAGE = ("views", "topics")


def sources(params: Params, collection: str) -> list[str]:
    """Return the sources that a collection is made of: one, or those of its members in order."""
    entry = params["collect"][collection]
    members = entry.get("of", [collection])
    return list(dict.fromkeys(params["collect"][name]["source"] for name in members))


def unions(params: Params) -> list[str]:
    """Return the names of the collections that are made of others."""
    return [n for n, e in params.get("collect", {}).items() if collection_kind(e).is_union]


def speak(params: Params) -> None:
    """Give each union the language of several, unless it has one: the default is for the others.

    Raises:
        BadParams: a union without members, or another collection without a source; or the reverse.
    """
    for name, entry in params["collect"].items():
        key, other = ("of", "source") if collection_kind(entry).is_union else ("source", "of")
        if key not in entry or other in entry:
            found = f"kind {entry['kind']} {'with' if key in entry else 'without'}"
            found += f" `{other if key in entry else key}`"
            raise BadParams(f"params collect.{name}", found, f"give `{key}` and no `{other}`")
    for name in unions(params):
        params["collect"][name].setdefault("language", SEVERAL)


def unknown(params: Params) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (where, name, known names) for every member that is no collection."""
    known = [name for name in params["collect"] if name not in unions(params)]
    for union in unions(params):
        for name in params["collect"][union]["of"]:
            if name not in known:
                yield f"collect.{union}.of", name, known


def check(params: Params) -> None:
    """Check that what is put together can be told apart.

    Raises:
        BadParams: a member that is no snapshot, two of one language, or a union that is compared
            by page, or told facts by page, as pages of two editions may share a number and a title.
    """
    for union in unions(params):
        _check_members(params["collect"], union)
        for pair in params["tabulate"].get("since", []):
            if union in pair:
                raise BadParams("params tabulate.since", f"{union!r} is a union", _MEMBERS)
        for fact in _BY_PAGE:
            if fact in params["tabulate"].get("facts", {}).get(union, {}):
                where = f"params tabulate.facts.{union}.{fact}"
                raise BadParams(where, "facts by page about a union", _MEMBERS)


def _check_members(collect: Params, union: str) -> None:
    where, spoken = f"params collect.{union}.of", dict[str, str]()
    for name in collect[union]["of"]:
        language = collect[name]["language"]
        if not collection_kind(collect[name]).is_snapshot:
            found = f"{name!r} is of kind {collect[name]['kind']}"
            raise BadParams(where, found, "name collections of snapshots")
        if language in spoken:
            found = f"{spoken[language]!r} and {name!r} are both in {language!r}"
            raise BadParams(where, found, "name one collection a language")
        spoken[language] = name


_MEMBERS = "its editions number their pages each from 1: name its members instead"
