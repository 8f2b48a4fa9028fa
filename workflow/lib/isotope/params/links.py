"""What entries of params.yaml owe each other, and what single values mean, beyond types.

`link` has models, systems and collections checked by their kinds, `check` the collections of
several languages, which are made of others, `check_values` measures, dates, shares and names.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from isotope.core import measures
from isotope.core.contact import has_contact
from isotope.core.errors import BadParams
from isotope.core.languages import wiki_language
from isotope.core.schemas import PLACE, SEVERAL
from isotope.params import sections
from isotope.params.phases import collection_kind
from isotope.params.sections import (
    COLLECTIONS,
    Plain,
    answers_any_query,
    kinds,
    model_kind,
    parts_of,
    system_kind,
)

_EIGHT = re.compile(r"[0-9]{8}")
_BUILT_IN = ("open_clip", "toy")
_BY_PAGE = ("views", "topics")
_MEMBERS = "its editions number their pages each from 1: name its members instead"
_ARCHITECTURES = ("config", "name")
_RIGHT = "correct"
_ASKED = ("query", "document")


def link(params: Plain) -> None:
    """Check trained models, fusions and prompts; give a model the architecture it goes on from.

    Raises:
        BadParams: no architecture or two, a circle of `from`; weights or k besides `tune`, a
            grid that does not fit, or one whose split is not searched; a template that nothing
            fills, or whose model reads no text; a first split whose answers are withheld; a
            system whose earlier build can't be asked later; sets of a source that has none so
            called; a tail above its head; classes of answers without `correct`.
    """
    models = params["models"]
    trained = [name for name, entry in models.items() if model_kind(entry).continues]
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
    for name in params.get("crawl", {}):
        _check_bulk(params["crawl"], [name])
    for name in params["systems"]:
        _check_circle(params["systems"], [name])


def _architecture(models: Plain, name: str, path: list[str]) -> tuple[str, str]:
    where, entry = f"params models.{name}", models[name]
    if name in path:
        raise BadParams(where, f"a circle of `from`: {' > '.join([*path, name])}", "break it")
    if not model_kind(entry).continues:
        raise BadParams(where, f"`from` a model of kind {entry['kind']}", "name a trained model")
    own = [key for key in (*_ARCHITECTURES, "from") if key in entry]
    if len(own) != 1:
        found = f"{' and '.join(own) or 'none'} of config, name and from"
        raise BadParams(where, found, "give exactly one")
    if own != ["from"]:
        return own[0], entry[own[0]]
    if entry["from"] not in models:
        names = ", ".join(sorted(models))
        raise BadParams(f"{where}.from", f"unknown name {entry['from']!r}", f"known: {names}")
    return _architecture(models, entry["from"], [*path, name])


def _check_collection(where: str, entry: Plain, params: Plain) -> None:
    """Refuse a key of another kind by naming the kinds that have it."""
    kind = collection_kind(entry)
    for key in entry.keys() - kind.model_fields.keys():
        owners = [name for name, of in kinds(COLLECTIONS).items() if key in of.model_fields]
        remedy = f"leave it out: kind {' or '.join(owners)} has it"
        raise BadParams(f"{where}.{key}", f"a collection of kind {entry['kind']}", remedy)
    kind.of_plain(entry).check(where, params)


def _check_unjudged(params: Plain) -> None:
    """A foreign run, which is judged, has no part where nothing is."""
    search, systems = params["search"], params["systems"]
    apart = search.get("unjudged", [])
    if {*search["splits"][:1]} & {*apart}:
        found = f"{search['splits'][0]!r}, the first of search.splits, which tables are made of"
        raise BadParams("params search.unjudged", found, "put a split with answers first")
    for name, entry in systems.items() if apart else ():
        foreign = [s for s in parts_of(entry) if system_kind(systems[s]).foreign]
        if foreign:
            what = "reranking of" if system_kind(entry).reranks else "a fusion with"
            found = f"{what} the foreign run {foreign[0]!r}"
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


def _check_temporal(params: Plain, systems: list[str]) -> None:
    """Demand systems that can answer new queries: an index, an encoder, or fusions of those."""
    for name in systems:
        entry = params["systems"][name]
        kind = system_kind(entry)
        fixed = kind.fuses and "tune" not in entry
        if not (answers_any_query(entry, params["models"]) or fixed):
            found = f"{name!r} can't be asked for a later collection"
            remedy = "name systems of kind bm25 or dense, or untuned fusions of those"
            raise BadParams("params tabulate.temporal", found, remedy)
        _check_temporal(params, parts_of(entry))


def _check_after(where: str, after: dict[str, str], path: list[str]) -> None:
    earlier = after.get(path[-1])
    if earlier in path:
        found = f"a circle: {' > '.join([*path, earlier])}"
        kind = "collections" if where == "encode.after" else "sources"
        raise BadParams(f"params {where}", found, f"name earlier {kind} only")
    if earlier is not None:
        _check_after(where, after, [*path, earlier])


def _check_bulk(crawls: Plain, path: list[str]) -> None:
    """Refuse bulk sources beside pictures that came along, and crawls that wait for each other."""
    entry = crawls[path[-1]]
    where = f"params crawl.{path[-1]}.bulk"
    if "bulk" in entry and "pictures" in entry:
        found = "bulk sources beside `pictures`, which requests nothing"
        raise BadParams(where, found, "drop one of them")
    named = [entry.get("after"), *(item.get("crawl") for item in entry.get("bulk", []))]
    for earlier in filter(None, named):
        if earlier in path:
            found = f"a circle: {' > '.join([*path, earlier])}"
            raise BadParams(where, found, "name earlier crawls only")
        _check_bulk(crawls, [*path, earlier])


def _check_circle(systems: Plain, path: list[str]) -> None:
    for part in parts_of(systems.get(path[-1], {})):
        if part in path:
            found = f"a circle: {' > '.join([*path, part])}"
            raise BadParams(f"params systems.{path[0]}.of", found, "break it")
        _check_circle(systems, [*path, part])


def sources(params: Mapping[str, Any], collection: str) -> list[str]:
    """Return the sources that a collection is made of: one, or those of its members in order."""
    entry = params["collect"][collection]
    members = entry.get("of", [collection])
    return list(dict.fromkeys(params["collect"][name]["source"] for name in members))


def language_of(params: Mapping[str, Any], source: str) -> str:
    """Return the language that a source is collected in."""
    collected = params["collect"].values()
    return next(entry["language"] for entry in collected if entry.get("source") == source)


def unions(params: Mapping[str, Any]) -> list[str]:
    """Return the names of the collections that are made of others."""
    return [n for n, e in params.get("collect", {}).items() if collection_kind(e).is_union]


def speak(params: Mapping[str, Any]) -> None:
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


def unknown(params: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (where, name, known names) for every member that is no collection."""
    snapshots = [name for name in params["collect"] if name not in unions(params)]
    for union in unions(params):
        for name in params["collect"][union]["of"]:
            if name not in snapshots:
                yield f"collect.{union}.of", name, snapshots


def check(params: Mapping[str, Any]) -> None:
    """Check that the members of unions can be distinguished.

    Raises:
        BadParams: a member that is no snapshot, two of one language, or a union that is compared
            by page, or has facts by page, as pages of two editions may share a number and a title.
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


def _check_members(collect: Mapping[str, Any], union: str) -> None:
    where, spoken = f"params collect.{union}.of", dict[str, str]()
    for name in collect[union]["of"]:
        language = wiki_language(collect[name]["language"])
        if not collection_kind(collect[name]).is_snapshot:
            found = f"{name!r} is of kind {collect[name]['kind']}"
            raise BadParams(where, found, "name collections of snapshots")
        if language in spoken:
            found = f"{spoken[language]!r} and {name!r} are both in {language!r}"
            raise BadParams(where, found, "name one collection a language")
        spoken[language] = name


def check_values(params: Mapping[str, Any]) -> None:
    """Check measures, dates, shares, recipes, and the names of models and tokenizers.

    Raises:
        BadParams: the first value that no job could use: key, value and what is allowed.
    """
    _check_snapshots([str(name) for name in params.get("snapshots", [])])
    for name, entry in params["acquire"].items():
        if "date" in entry.get("generate", {}):
            _demand_date(f"params acquire.{name}.generate.date", entry["generate"]["date"])
    _check_shares(params)
    _check_contacts(params)
    for where, name in _measures(params):
        measures.parse(name, f"params {where}")
    _check_judged(params)
    for name in params["models"]:
        _check_model(name, params)
    for where, name in _tokenizers(params):
        _check_tokenizer(f"params {where}", name)
    for prompt in params["tabulate"].get("styles", {}).get("prompts", []):
        if "{style}" not in prompt:
            raise BadParams(
                "params tabulate.styles.prompts", f"{prompt!r}", "write {style} in each"
            )


def _check_snapshots(names: list[str]) -> None:
    for name in filter(_EIGHT.fullmatch, names):
        _demand_date("params snapshots", name)
    if all(map(_EIGHT.fullmatch, names)):
        for earlier, later in pairwise(names):
            if later < earlier:
                found = f"{later} after {earlier}"
                raise BadParams("params snapshots", found, "name the oldest first")


def _demand_date(where: str, value: str) -> None:
    try:
        datetime.strptime(value, "%Y%m%d")  # noqa: DTZ007 (a day, nowhere)
    except ValueError as error:
        remedy = "give a day as year, month and day: 20230101"
        raise BadParams(where, f"{value!r} is no day of the calendar", remedy) from error


def _check_shares(params: Mapping[str, Any]) -> None:
    for name, entry in params["parse"].items():
        splits = entry.get("splits", {})
        if sum(splits.values()) > 1:
            found = " and ".join(f"{k} {v}" for k, v in splits.items())
            remedy = "give shares that add up to 1 at most; the rest trains"
            raise BadParams(f"params parse.{name}.splits", found, remedy)


def _check_contacts(params: Mapping[str, Any]) -> None:
    for name, entry in params["crawl"].items():
        if "contact" in entry and not has_contact(entry):
            remedy = "give a mail address or a web page of yours, such as me@example.org"
            raise BadParams(f"params crawl.{name}.contact", f"{entry['contact']!r}", remedy)


def _measures(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    score = params["score"]
    for i, name in enumerate(score["measures"]):
        yield f"score.measures[{i}]", name
    for i, name in enumerate(score.get("judge", {}).get("measures", [])):
        yield f"score.judge.measures[{i}]", name
    for system, entry in params["systems"].items():
        if "measure" in entry.get("tune", {}):
            yield f"systems.{system}.tune.measure", entry["tune"]["measure"]


def _check_judged(params: Mapping[str, Any]) -> None:
    for key in ("setting", "split"):
        named = params["score"].get("judge", {}).get(key)
        searched = params["search"][f"{key}s"]
        if named is not None and named not in searched:
            remedy = f"add it to search.{key}s, or name one of {', '.join(searched)}"
            raise BadParams(f"params score.judge.{key}", f"{named!r} is not searched", remedy)
    for name, entry in params["score"].get("judge", {}).get("models", {}).items():
        _check_prompt(f"params score.judge.models.{name}.prompt", entry.get("prompt"))


def _check_prompt(where: str, prompt: str | None) -> None:
    """Refuse a prompt that does not show the pair, or names what nothing fills in."""
    if prompt is None:
        return
    named = PLACE.findall(prompt)
    lacking = [place for place in _ASKED if place not in named]
    strange = [place for place in named if place not in (*_ASKED, "scale")]
    if lacking or strange:
        found = f"no {{{lacking[0]}}}" if lacking else f"{{{strange[0]}}}, which nothing fills in"
        raise BadParams(where, found, "write {query}, {document} and, as you like, {scale}")


def _check_model(name: str, params: Mapping[str, Any]) -> None:
    entry = params["models"][name]
    sections.model_kind(entry).of_plain(entry).check(f"params models.{name}", dict(params))


def _tokenizers(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, spec in params["tabulate"]["tokenizers"].items():
        yield f"tabulate.tokenizers.{name}", spec


def _check_tokenizer(where: str, spec: str) -> None:
    """Refuse a likely misspelling of the name of a built-in tokenizer."""
    near = difflib.get_close_matches(spec.lower(), _BUILT_IN, n=1, cutoff=0.75)
    if near and spec not in _BUILT_IN:
        found = f"no tokenizer {spec!r}"
        allowed = "open_clip, toy, a vocabulary file or a name on the hub"
        raise BadParams(where, found, f"did you mean {near[0]!r}? (allowed: {allowed})")
