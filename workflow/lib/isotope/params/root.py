"""The params as one frozen object: `Params`, whose entries are instances of their kinds.

Who reads a key reads an attribute: `params.tabulate.cases.seed`, `params.systems["bm25"].k1`.
"""

import re
from collections.abc import Mapping
from functools import cache, reduce
from itertools import pairwise
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar, Union

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationError, create_model

from isotope.core import plugins
from isotope.core.errors import BadParams, BadPlugin
from isotope.params.acquire import Source, check_day
from isotope.params.collect import CollectionKind
from isotope.params.crawl import Crawl
from isotope.params.messages import KeyPath, as_error, dotted, refuse, suggest
from isotope.params.phases import (
    Digests,
    Encode,
    Intake,
    Parse,
    Release,
    Score,
    Search,
    Shards,
)
from isotope.params.project import Project
from isotope.params.references import Collection, Ref, SourceName
from isotope.params.removed import that_may_go, without
from isotope.params.sections import (
    BY_TYPE,
    COLLECTIONS,
    MODELS,
    PART,
    SYSTEMS,
    Distinct,
    Handout,
    Kind,
    ModelKind,
    Name,
    Opt,
    PluginSection,
    Section,
    SystemKind,
    kinds,
    walk,
)
from isotope.params.tabulate import Tabulate

_Snapshot = Annotated[
    Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), Tag("string")]
    | Annotated[int, Tag("integer")],
    BY_TYPE,
]
# Ours, which a part of the distribution, or a folder of the checkout, may lack.
_PLUGINS = ("estimate", "explain", "judge", "papers", "suggest", "toy", "verify")
_S = TypeVar("_S", bound=PluginSection)
# The tag of a collection whose kind is a folder of queries and has no class.
_FOLDER = "folder"


def _check_order(names: list[str | int]) -> list[str | int]:
    """Refuse names of eight digits that are no days, or that go back in time."""
    days = [str(name) for name in names if re.fullmatch("[0-9]{8}", str(name))]
    for day in days:
        check_day(day)
    if len({*map(str, names)}) < len(names):
        raise refuse(f"{names}: one twice", "name each snapshot once")
    back = [f"{later} after {earlier}" for earlier, later in pairwise(days) if later < earlier]
    if back and len(days) == len(names):
        raise refuse(back[0], "name the oldest first")
    return names


class Placeholders(Section):
    """What placeholders stand for."""

    name: Opt[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]] = None
    """What `{name}` stands for anywhere in the params; set it with `--config name=...`."""
    root: Opt[str] = None
    """What `{root}` stands for anywhere in the params; set it with `--config root=...`."""
    snapshots: Opt[Annotated[Distinct[_Snapshot], AfterValidator(_check_order)]] = None
    """Dates, or other names, that `{snapshot}` stands for: a key or list item that has it is
    repeated for each, oldest first."""


class Params(Placeholders):
    """One experiment. The top-level keys follow the road, phase by phase; those of plug-ins, which
    `params_class` adds, bear their names."""

    build: Annotated[Distinct[Collection], Field(min_length=1)]
    """Collections to build; each is a key of `collect`."""
    demo: bool = False
    """Whether each plug-in adds the params by which it shows itself on the demo; what stands here
    counts before these."""
    shards: Shards = Field(default_factory=Shards)
    """Jobs that a phase is cut into, by phase; results do not depend on it. Crawl and encode have
    shards of their own, which stay as files."""
    digests: Digests = Field(default_factory=Digests)
    """How jobs compare what they read with the digests that were written when it was made; results
    do not depend on it."""
    intake: Intake = Field(default_factory=Intake)
    """What may come from outside: bounds of archives and records, beyond which they are refused."""
    remote: Opt[str] = None
    """Where `isotope push` and `isotope pull` have results, if they are not told: a folder, or an
    address such as `s3://bucket/folder`. ISOTOPE_REMOTE of the environment counts before it."""
    acquire: dict[Name, Source]
    """Where the upstream files of each source come from."""
    parse: dict[SourceName, Parse] = Field(default_factory=dict)
    """Where the associations of each source come from."""
    crawl: dict[SourceName, Crawl]
    """How the images of each source are downloaded."""
    project: dict[SourceName, Project]
    """How the texts of WIT find their section in the dump of each source."""
    collect: dict[Name, CollectionKind]
    """How each collection is made from a source."""
    models: dict[Name, ModelKind]
    """Encoders of texts and images, by name."""
    encode: Encode
    """How collections become vectors."""
    systems: dict[Name, SystemKind]
    """Retrieval systems, by name."""
    search: Search
    """Which cells of the grid of systems, settings, splits and tasks are searched."""
    score: Score
    """What is measured."""
    tabulate: Tabulate
    """What the report shows."""
    release: Release = Field(default_factory=Release)
    """What releases have, and what they say of their collections."""

    @classmethod
    def instead_of(cls, key: str) -> str:
        """Return what to write in place of a key: a section may be of a plug-in that is absent."""
        if key in _PLUGINS and key not in plugins.registered():
            return f"install the plug-in that has it, package isotope_{key}"
        return super().instead_of(key)

    def section(self, name: str, section_class: type[_S]) -> _S | None:
        """Return the section of a plug-in; None where the params do not have it."""
        del section_class
        return getattr(self, name, None)

    @property
    def sections(self) -> dict[str, PluginSection]:
        """The sections of plug-ins that the params have."""
        named = {name: getattr(self, name, None) for name in plugins.registered()}
        return {
            name: section for name, section in named.items() if isinstance(section, PluginSection)
        }

    def handout(self, collection: str, name: str) -> Handout | None:
        """Return a sheet of a collection that a plug-in hands out for people to sort."""
        sections = (getattr(self, plugin, None) for plugin in plugins.registered())
        sheets = (
            section.handouts(collection)
            for section in sections
            if isinstance(section, PluginSection)
        )
        return next((by_name[name] for by_name in sheets if name in by_name), None)

    def part(self, *keys: str) -> Any:  # noqa: ANN401
        """Return some parts of the params, as attributes: for what reads no others."""
        return SimpleNamespace(**{key: getattr(self, key) for key in keys})

    def check_references(self) -> None:
        """Refuse the first name of something that nothing defines.

        Raises:
            BadParams: that name, with its key and the likely one.
        """
        for path, value, marks, _ in walk(self, type(self)):
            for ref in (mark for mark in marks if isinstance(mark, Ref)):
                if value is not None and value not in (names := self.allowed(ref, path)):
                    problem = f"unknown name {value!r}"
                    raise BadParams(f"params {dotted(path)}", problem, suggest(str(value), names))

    def allowed(self, ref: Ref, path: KeyPath) -> list[str]:
        """Return what may be named."""
        if callable(ref.defined_in):
            return [*ref.defined_in(self.part(*ref.reads), path)]
        defined: Any = reduce(
            lambda section, key: getattr(section, key) or (), ref.defined_in.split("."), self
        )
        if ref.fits is not None:
            return [name for name, entry in defined.items() if ref.fits(entry)]
        if ref.kind is not None:
            return [name for name in defined if self.systems[name].kind_name() == ref.kind]
        return [*defined]

    @classmethod
    def of_spec(cls, spec: Mapping[str, Any]) -> "Params":
        """Return the params of which a rule hands over some parts, with entries of any kind.

        Raises:
            BadParams: as `parse`.
        """
        return params_class().read("params", spec, PART)


@cache
def params_class() -> type[Params]:
    """Return the class of params with every kind, and the section of every plug-in, that there is.

    Raises:
        BadPlugin: a plug-in with the name of a key of ours.
    """
    folder = Annotated[CollectionKind, Tag(_FOLDER)]
    types = {
        "collect": _entry(COLLECTIONS, folder),
        "models": _entry(MODELS),
        "systems": _entry(SYSTEMS),
    }
    parts: dict[str, Any] = {
        key: (dict[Name, type_of_entry], Field(description=Params.model_fields[key].description))
        for key, type_of_entry in types.items()
    }
    for plugin in plugins.registered().values():
        if plugin.name in Params.model_fields:
            remedy = f"uninstall {plugin.package}, or have it renamed"
            raise BadPlugin(plugin.name, "the name of a key of the params", remedy)
        if plugin.section:
            section_class: type[PluginSection] = plugin.load(plugin.section)
            usual: Any = (
                {"default_factory": section_class} if section_class.is_always else {"default": None}
            )
            hint = section_class if section_class.is_always else Opt[section_class]
            parts[plugin.name] = (hint, Field(description=_summary(section_class), **usual))
    return create_model("Params", __base__=Params, __doc__=Params.__doc__, **parts)


def _summary(section_class: type) -> str:
    return (section_class.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")


def _entry(package: str, *usual: Any) -> Any:  # noqa: ANN401
    """Return the type of an entry of any kind in a package; without `usual` no other is known."""
    named: Mapping[str, type[Kind]] = kinds(package)

    def tag(entry: Any) -> str | None:  # noqa: ANN401
        is_plain = isinstance(entry, Mapping)
        kind: Any = entry.get("kind") if is_plain else getattr(entry, "kind", None)
        if not isinstance(kind, str):
            return None
        return kind if kind in named else _FOLDER if usual else None

    branches = [Annotated[kind_class, Tag(name)] for name, kind_class in named.items()]
    messages = {"custom_error_type": "kind", "custom_error_message": "no such kind"}
    context: dict[str, Any] = {"kinds": [*named]}
    by_kind = Discriminator(tag, **messages, custom_error_context=context)
    return Annotated[Union[(*branches, *usual)], by_kind]


def parse(plain: object) -> Params:
    """Return the params of plain data; a line is printed for each key that may be deleted.

    Raises:
        BadParams: the first error: a key that nothing knows before any other, as a typo makes
            others follow.
    """
    while True:
        try:
            return params_class().of_plain(plain)
        except ValidationError as error:
            keys = that_may_go(error.errors(), plain)
            if not keys:
                raise as_error(error.errors(), plain) from None
            plain = without(plain, keys)
