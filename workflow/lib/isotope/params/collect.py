"""What every kind of collection has: the keys of `collect.<collection>`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import ValidationInfo, model_validator

from isotope.core import plugins
from isotope.core.prepare import NONE
from isotope.core.resources import PACKAGE
from isotope.params.messages import KeyPath, refuse
from isotope.params.references import Ref
from isotope.params.sections import COLLECTIONS, PART, Kind, Language, Opt, Rare

# Not by `/`: of which kinds there are no job depends.
_COLLECT = "sql/collect"


def folders() -> dict[str, Path]:
    """Return the folders of queries that make collections, of isotope and of plug-ins, by kind.

    Raises:
        BadPlugin: a folder that bears the name of another one.
    """
    by_kind = {path.name: path for path in PACKAGE.joinpath(_COLLECT).glob("*/")}
    for plugin in plugins.registered().values():
        added = {path.name: path for path in plugin.file(_COLLECT).glob("*/")}
        plugins.demand_new(plugin, "the kind of collection", added, by_kind)
        by_kind |= added
    return by_kind


def _folders(_params: object, _path: KeyPath) -> list[str]:
    return sorted(folders())


def _sources(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    """The sources that have gone through each phase before a collection."""
    phases = [params.acquire]
    if params.collect[path[1]].is_snapshot:
        phases += [params.crawl, params.project]
    return [name for name in params.acquire if all(name in phase for phase in phases)]


class CollectionKind(Kind):
    """A kind of collection: the queries of sql/collect/<kind>/ make its tables.

    A kind that needs no more than these keys is its folder of queries alone; any other one has a
    class in `collect.kinds`.
    """

    package: ClassVar[str] = COLLECTIONS
    beside: ClassVar[Sequence[str]] = ("acquire", "collect")
    # It is made of a snapshot of Wikipedia, whose articles change.
    is_snapshot: ClassVar[bool] = False
    # It is made of other collections.
    is_union: ClassVar[bool] = False
    # Its texts are the entities of a knowledge base, of which one answers a question.
    has_entities: ClassVar[bool] = False
    # The shorter side of its pictures, in px, where the crawl of its source does not say.
    side_px: ClassVar[int | None] = None
    # By what words its pages speak of it: those of `report.words`.
    origin: ClassVar[str] = "published"
    # How systems of words prepare its texts and captions (`core.prepare`), unless they say it.
    prepare: ClassVar[str] = NONE
    # Tables of the phase parse that its queries read, in place of the acquired files.
    parsed: ClassVar[Sequence[str]] = ()

    kind: Annotated[str, Ref(_folders)]
    """Folder of workflow/sql/collect/, or of sql/collect/ of a plug-in, whose queries make the
    tables."""
    source: Opt[Annotated[str, Ref(_sources, "acquire", "crawl", "project", "collect")]] = None
    """The source that is collected; a collection of kind union has none."""
    language: Language = "en"
    """Language of the texts, by its code."""
    captions: Rare[Opt[Language]] = None
    """Language of the captions that represent images in text-based systems, if not that of the
    texts; en-t-de is English translated from German."""

    def asked(self) -> dict[str, Any]:
        """Return the values that queries may ask for, None for what was left out."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    @model_validator(mode="after")
    def _has_a_source(self, info: ValidationInfo) -> Self:
        if info.context is PART:
            return self
        has_source, joins = self.source is not None, getattr(self, "of", None) is not None
        if (has_source, joins) != (not self.is_union, self.is_union):
            key, other = ("of", "source") if self.is_union else ("source", "of")
            lacks = not (joins if self.is_union else has_source)
            problem = (
                f"kind {self.kind} without `{key}`" if lacks else f"kind {self.kind} with `{other}`"
            )
            raise refuse(problem, f"give `{key}` and no `{other}`")
        return self
