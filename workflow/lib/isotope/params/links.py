"""What entries of the params owe each other beyond names: circles, architectures, unions, grids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isotope.core import plugins
from isotope.core.errors import BadParams
from isotope.core.languages import wiki_language
from isotope.params.root import Params
from isotope.params.sections import answers_any_query, parts_of

_MEMBERS = "its editions number their pages each from 1: name its members instead"


def with_origins(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return models in which a model has the architecture of the one that it goes on from.

    Raises:
        BadParams: a circle of `from`.
    """
    starts = {n: [entry.from_] for n, entry in models.items() if entry.continues and entry.from_}
    for name in starts:
        _check_circle("models.{}.from", starts, [name])
    changed = dict[str, Any]()
    for name in starts:
        first = models[name]
        while first.from_:
            first = models[first.from_]
        architecture = {key: getattr(first, key) for key in ("config", "name")}
        changed[name] = models[name].model_copy(update=architecture)
    return {**models, **changed}


@dataclass(frozen=True)
class Links:
    """What entries of params owe each other, and what each of them owes to its kind."""

    params: Params

    def check(self) -> None:
        """Check every model, system and collection by its kind, and what they owe each other.

        Raises:
            BadParams: what a kind refuses; a source that no plug-in makes; a circle; a first split
                whose answers are withheld; a system whose earlier build can't be asked later; a
                union of what is no snapshot, or of two in one language, or that is compared by
                page.
        """
        for phase in ("models", "systems", "collect"):
            for name, entry in getattr(self.params, phase).items():
                entry.check(f"params {phase}.{name}", self.params.part(*entry.beside))
        self._check_generated()
        self._check_circles()
        self._check_unjudged()
        self._check_temporal(self.params.tabulate.temporal)
        for name, entry in self.params.collect.items():
            if entry.is_union:
                self._check_union(name)

    def _check_generated(self) -> None:
        """Demand a plug-in that makes sources where the params want one made."""
        generated = [name for name, source in self.params.acquire.items() if source.generate]
        if generated and not plugins.generated():
            remedy = "install a plug-in that does, as isotope_toy, or name `files`"
            where = f"params acquire.{generated[0]}.generate"
            raise BadParams(where, "no plug-in makes sources", remedy)

    def _check_circles(self) -> None:
        systems = {name: parts_of(entry) for name, entry in self.params.systems.items()}
        crawls = {
            name: [entry.after, *(item.crawl for item in entry.bulk or ())]
            for name, entry in self.params.crawl.items()
        }
        encoded = {name: [earlier] for name, earlier in self.params.encode.after.items()}
        for where, edges in (
            ("systems.{}.of", systems),
            ("crawl.{}", crawls),
            ("encode.after.{}", encoded),
        ):
            for name in edges:
                _check_circle(where, edges, [name])

    def _check_unjudged(self) -> None:
        """An external run, which is judged, has no part where nothing is."""
        search, systems = self.params.search, self.params.systems
        apart, first = search.unjudged or (), search.splits[0]
        if first in apart:
            problem = f"{first!r}, the first of search.splits, of which tables are made"
            raise BadParams("params search.unjudged", problem, "put a split with answers first")
        for name, entry in systems.items() if apart else ():
            external = [part for part in parts_of(entry) if systems[part].external]
            if external:
                reading = "reranking of" if entry.reranks else "a fusion with"
                problem = f"{reading} the external run {external[0]!r}"
                raise BadParams(f"params systems.{name}", problem, "drop it, or search.unjudged")

    def _check_temporal(self, names: Sequence[str]) -> None:
        """Demand systems that can answer new queries: an index, an encoder, or fusions of those."""
        for name in names:
            entry = self.params.systems[name]
            fixed = entry.fuses and getattr(entry, "tune", None) is None
            if not (answers_any_query(entry, self.params.models) or fixed):
                problem = f"{name!r} can't be asked for a later collection"
                remedy = "name systems of kind bm25 or dense, or untuned fusions of those"
                raise BadParams("params tabulate.temporal", problem, remedy)
            self._check_temporal(parts_of(entry))

    def _check_union(self, union: str) -> None:
        """Check that the members can be distinguished: pages of two may share number and title."""
        where, spoken = f"params collect.{union}.of", dict[str, str]()
        for name in members(self.params.part("collect"), union):
            entry = self.params.collect[name]
            language = wiki_language(entry.language)
            if not entry.is_snapshot:
                problem = f"{name!r} is of kind {entry.kind}"
                raise BadParams(where, problem, "name collections of snapshots")
            if language in spoken:
                problem = f"{spoken[language]!r} and {name!r} are both in {language!r}"
                raise BadParams(where, problem, "name one collection a language")
            spoken[language] = name
        if any(union in pair for pair in self.params.tabulate.diff):
            raise BadParams("params tabulate.diff", f"{union!r} is a union", _MEMBERS)
        facts = self.params.tabulate.facts.get(union)
        for fact in ("views", "topics"):
            if getattr(facts, fact, None):
                where = f"params tabulate.facts.{union}.{fact}"
                raise BadParams(where, "facts by page about a union", _MEMBERS)


def _check_circle(where: str, edges: Mapping[str, Sequence[str | None]], path: list[str]) -> None:
    for name in filter(None, edges.get(path[-1], ())):
        if name in path:
            problem = f"a circle: {' > '.join([*path, name])}"
            raise BadParams(f"params {where.format(path[0])}", problem, "break it")
        _check_circle(where, edges, [*path, name])


def members(params: Any, collection: str) -> list[str]:  # noqa: ANN401
    """Return the collections of `params` that a union is made of; of another itself."""
    return list(getattr(params.collect[collection], "of", None) or [collection])


def sources(params: Any, collection: str) -> list[str]:  # noqa: ANN401
    """Return the sources that a collection is made of: one, or those of its members in order."""
    joined = members(params, collection)
    return list(dict.fromkeys(params.collect[name].source for name in joined))


def language_of(params: Any, source: str) -> str:  # noqa: ANN401
    """Return the language that a source is collected in."""
    return next(entry.language for entry in params.collect.values() if entry.source == source)
