"""The params as one frozen object: `Params`, whose entries are instances of their kinds.

Who reads a key reads an attribute: `params.tabulate.cases.hits`, `params.systems["bm25"].k1`. For
the time of the move from keys to attributes the object is also the mapping that it was.
"""

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from functools import cache
from typing import Annotated, Any, Union

from pydantic import Discriminator, Field, PrivateAttr, Tag, create_model

from isotope.params.phases import (
    CollectionKind,
    Crawl,
    Digests,
    Encode,
    Intake,
    Parse,
    Project,
    Release,
    Score,
    Search,
    Shards,
    Source,
)
from isotope.params.sections import (
    BY_TYPE,
    COLLECTIONS,
    MODELS,
    SYSTEMS,
    Distinct,
    Kind,
    ModelKind,
    Name,
    Opt,
    Section,
    SystemKind,
    kinds,
)
from isotope.params.suggest import Suggest
from isotope.params.tabulate import Tabulate

_Snapshot = Annotated[
    Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), Tag("string")]
    | Annotated[int, Tag("integer")],
    BY_TYPE,
]
# The tag of a collection whose kind is a folder of queries and has no class.
_FOLDER = ""


class Params(Section, Mapping[str, Any]):  # pyright: ignore[reportIncompatibleMethodOverride]
    """One experiment. The top-level keys follow the road, phase by phase."""

    build: Annotated[Distinct[str], Field(min_length=1)]
    """Collections to build; each is a key of `collect`."""
    name: Opt[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]] = None
    """What `{name}` stands for anywhere in the params; set it with `--config name=...`."""
    root: Opt[str] = None
    """What `{root}` stands for anywhere in the params; set it with `--config root=...`."""
    snapshots: Opt[Distinct[_Snapshot]] = None
    """Dates, or other names, that `{snapshot}` stands for: a key or list item that has it is
    repeated for each, oldest first."""
    shards: Shards = Field(default_factory=Shards)
    """Jobs that a phase is cut into, by phase; results do not depend on it. Crawl and encode have
    shards of their own, which stay as files."""
    digests: Digests = Field(default_factory=Digests)
    """How jobs compare what they read with the digests that were written when it was made; results
    do not depend on it."""
    intake: Intake = Field(default_factory=Intake)
    """What may come from outside: bounds of archives and records, beyond which they are refused."""
    acquire: dict[Name, Source]
    """Where the upstream files of each source come from."""
    parse: dict[Name, Parse] = Field(default_factory=dict)
    """Where the associations of each source come from."""
    crawl: dict[Name, Crawl]
    """How the images of each source are downloaded."""
    project: dict[Name, Project]
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
    suggest: Opt[Suggest] = None
    """Pictures suggested for sections without one; no collection gets suggestions unless this key
    is there, if only as `{}`."""
    tabulate: Tabulate
    """What the report shows."""
    release: Release = Field(default_factory=Release)
    """What releases have, and what they say of their collections."""

    # What the mapping face shows: plain data, with defaults written into it.
    _plain: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def of_filled(cls, plain: dict[str, Any]) -> "Params":
        """Return the params of checked plain data."""
        params = params_class().of_plain(plain)
        params._plain = plain
        return params

    # The mapping face.

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401
        """Return the plain data at a key."""
        return self._plain[key]

    def __contains__(self, key: object) -> bool:
        """Tell whether a key is there."""
        return key in self._plain

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401
        """Return the plain data at a key, or else the default."""
        return self._plain.get(key, default)

    def __iter__(self) -> Iterator[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the keys one by one."""
        return iter(self._plain)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._plain)

    def keys(self) -> KeysView[str]:
        """Return the keys."""
        return self._plain.keys()

    def items(self) -> ItemsView[str, Any]:
        """Return keys and plain data."""
        return self._plain.items()


@cache
def params_class() -> type[Params]:
    """Return the class of params with every kind that there is."""
    return _with_kinds(
        collect=_tagged(COLLECTIONS),
        models=_any_of(MODELS),
        systems=_any_of(SYSTEMS),
    )


@cache
def written_class() -> type[Params]:
    """Return the class that files are checked by: a collection may have the keys of all kinds."""
    return _with_kinds(collect=_any_collection(), models=_any_of(MODELS), systems=_any_of(SYSTEMS))


def _with_kinds(**types: Any) -> type[Params]:  # noqa: ANN401
    parts: dict[str, Any] = {
        key: (dict[Name, of], Field(description=Params.model_fields[key].description))
        for key, of in types.items()
    }
    return create_model("Params", __base__=Params, __doc__=Params.__doc__, **parts)


def _any_of(package: str) -> Any:  # noqa: ANN401
    """Return the type of an entry of any kind in a package."""
    return Annotated[Union[tuple(kinds(package).values())], Field(discriminator="kind")]  # noqa: UP007


def _tagged(package: str) -> Any:  # noqa: ANN401
    """Return the type of a collection; its kind may be a folder of queries alone."""
    named: Mapping[str, type[Kind]] = kinds(package)
    branches = [Annotated[of, Tag(name)] for name, of in named.items()]
    return Annotated[
        Union[(*branches, Annotated[CollectionKind, Tag(_FOLDER)])],
        Discriminator(lambda entry: entry["kind"] if entry["kind"] in named else _FOLDER),
    ]


def _any_collection() -> type[CollectionKind]:
    """Return the class with the keys of all kinds of collections: a folder alone is a kind, too."""
    own = (pair for kind in kinds(COLLECTIONS).values() for pair in kind.model_fields.items())
    parts: dict[str, Any] = {
        name: (
            field.rebuild_annotation(),
            Field(default=field.default, description=field.description),
        )
        for name, field in own
        if name not in CollectionKind.model_fields
    }
    return create_model("Collection", __base__=CollectionKind, **parts)


def parse(plain: dict[str, Any]) -> Params:
    """Return the params of plain data that are complete.

    Raises:
        pydantic.ValidationError: what the params do not take.
    """
    return Params.of_filled(plain)
