"""The building blocks of params.yaml: closed mappings, types of values, and kinds found by name.

A section is a pydantic class; nothing is converted, so a value is what YAML read. A kind of model,
system or collection is a class in one of the packages below, or in one of a plug-in, in a module
that bears its name: who adds a kind adds a module, and no list names it.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from isotope.core import plugins
from isotope.core.errors import BadParams, BadPlugin
from isotope.core.syntax import module_of
from isotope.params.messages import KeyPath, as_error, excerpt, refuse, refuse_key, suggest
from isotope.params.removed import Removed, may_go, refuse_removed

# Where the classes of kinds stand: one module, or a package with a module a kind.
MODELS = "isotope.models.kinds"
SYSTEMS = "isotope.search.kinds"
COLLECTIONS = "isotope.collect.kinds"
# What these are called in `Plugin.kinds`.
_OF_PLUGINS = {MODELS: "models", SYSTEMS: "systems", COLLECTIONS: "collect"}
# `root.Params`, which is made of what stands here.
Params = Any
# Params while they are being completed.
Plain = dict[str, Any]
T = TypeVar("T")
# Of what a rule hands over: which keys stand beside each other was checked with the whole entry.
PART = object()


class Section(BaseModel):
    """A mapping of params.yaml with these keys and no others; a text below a key describes it."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    # Keys of which exactly one is there.
    either: ClassVar[Sequence[str]] = ()
    # Keys that other keys need beside them.
    needs: ClassVar[Mapping[str, Sequence[str]]] = {}
    # Keys of earlier versions, whose values no longer change.
    removed: ClassVar[Removed] = {}
    # The least and the largest number of keys.
    key_counts: ClassVar[tuple[int, int] | None] = None

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, values: object, info: ValidationInfo) -> object:
        entries = cast("Mapping[str, object]", values) if isinstance(values, Mapping) else {}
        if info.context is PART:
            # A job may have what jobs that are done were recorded with.
            idle = [k for k, v in entries.items() if k in cls.removed and may_go(v, cls.removed[k])]
            entries = {k: v for k, v in entries.items() if k not in idle} if idle else entries
            values = entries if idle else values
        keys = {*map(cls._key, cls.model_fields), *cls.model_fields}
        for key, value in entries.items():
            if key in cls.removed:
                raise refuse_removed(key, value, cls.removed[key])
            if key not in keys:
                raise refuse_key(key, value, cls.instead_of(str(key)))
        return values

    @model_validator(mode="after")
    def _has_the_right_keys(self, info: ValidationInfo) -> Self:
        if info.context is PART:
            return self
        own_class, names_set = type(self), self.model_fields_set
        keys = [self._key(name) for name in own_class.model_fields if name in names_set]
        if own_class.either and sum(key in keys for key in own_class.either) != 1:
            both = [key for key in own_class.either if key in keys]
            problem = f"{' and '.join(both) or 'none'} of {', '.join(own_class.either)}"
            raise refuse(problem, "give exactly one of them")
        lacking = [(key, k) for key in keys for k in own_class.needs.get(key, ()) if k not in keys]
        if lacking:
            key, other = lacking[0]
            raise refuse(f"no key {other!r} beside {key!r}", f"add {other!r}")
        if (
            own_class.key_counts
            and not own_class.key_counts[0] <= len(keys) <= own_class.key_counts[1]
        ):
            few, many = own_class.key_counts
            raise refuse(f"{len(keys)} keys", f"give {few}" if few == many else f"{few} to {many}")
        return self

    @classmethod
    def instead_of(cls, key: str) -> str:
        """Return what to write in place of a key that the section lacks."""
        return suggest(key, map(cls._key, cls.model_fields))

    @classmethod
    def _key(cls, name: str) -> str:
        return cls.model_fields[name].alias or name

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        rule: dict[str, Any] = handler.resolve_ref_schema(handler(schema))
        keys: dict[str, Any] = rule["properties"]
        rare = [cls._key(name) for name, field in cls.model_fields.items() if _is_rare(field)]
        rule["properties"] = {key: keys[key] for key in sorted(keys, key=rare.__contains__)}
        for key in rare:
            keys[key][RARELY] = True
        for name, field in cls.model_fields.items():
            property_schema = keys[cls._key(name)]
            if is_absent(field):
                property_schema.pop("default", None)
            if isinstance(field.default, Section):
                property_schema["default"] = field.default.spec()
            if "description" in property_schema:
                property_schema["description"] = " ".join(property_schema["description"].split())
        if cls.either:
            rule["oneOf"] = [{"required": [key]} for key in cls.either]
        if cls.needs:
            rule["dependentRequired"] = {key: [*needed] for key, needed in cls.needs.items()}
        if cls.key_counts:
            rule["minProperties"], rule["maxProperties"] = cls.key_counts
        return rule

    @classmethod
    def of_plain(cls, values: object, context: object = None) -> Self:
        """Return the section of plain data; a number such as 16.0 is a whole one, too.

        Raises:
            pydantic.ValidationError: what the section does not take.
        """
        return cls.model_validate(_with_integers(values), context=context)

    @classmethod
    def read(cls, where: str, values: Mapping[str, Any], context: object = None) -> Self:
        """Return the section of plain data, as a job reads a part of its params.

        Raises:
            BadParams: an unknown key, or a value that the section does not take.
        """
        try:
            return cls.of_plain(values, context)
        except ValidationError as error:
            refused = as_error(error.errors(), values)
            key = refused.where.removeprefix("params").strip()
            raise BadParams(f"{where} {key}".strip(), refused.problem, refused.remedy) from error

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the keys that have a default, with a copy of it, in order."""
        return {
            cls._key(name): default.spec() if isinstance(default, Section) else default
            for name, field in cls.model_fields.items()
            for default in [field.get_default(call_default_factory=True)]
            if not field.is_required() and not is_absent(field)
        }

    def values(self) -> dict[str, Any]:
        """Return every key with its value, as plain data."""
        return self.model_dump(by_alias=True)

    def filled(self) -> dict[str, Any]:
        """Return plain data: what has a value, be it said or a default."""
        return {**self.defaults(), **self.spec()}

    def spec(self, *keys: str) -> dict[str, Any]:
        """Return what a rule hands to a job: JSON's types alone, no key that has its default.

        So a default that changes nothing else changes no spec, and `of_spec` has it again. A whole
        number is an integer, whatever YAML has read. With `keys` no other is handed over.
        """
        dumped = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return _with_integers(
            {key: value for key, value in dumped.items() if not keys or key in keys}
        )

    @classmethod
    def of_spec(cls, spec: Mapping[str, Any]) -> Self:
        """Return the section of what `spec` has returned, or of some of its keys.

        A key that others need may be left out, for it has its default or is handed over apart.

        Raises:
            BadParams: as `read`.
        """
        return cls.read(cls.__name__, dict(spec), PART)


def _with_integers(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Value(NamedTuple):
    """A value of the params, its path, and its annotation: marks, and the type without them."""

    path: KeyPath
    value: Any
    marks: Sequence[object]
    hint: Any


def walk(value: Any, hint: Any = object, path: KeyPath = ()) -> Iterator[Value]:  # noqa: ANN401
    """Yield every value below one, and itself; a key of a mapping has the mapping's path."""
    hint, marks = _unwrapped(hint, value)
    yield Value(path, value, marks, hint)
    inner = get_args(hint)
    if isinstance(value, Section):
        for name, field in type(value).model_fields.items():
            field_type = (
                Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
            )
            yield from walk(getattr(value, name), field_type, (*path, field.alias or name))
    elif isinstance(value, Mapping):
        of_key, of_value = inner if len(inner) == 2 else (object, object)  # noqa: PLR2004
        for key, item in cast("Mapping[Any, Any]", value).items():
            yield from walk(key, of_key, path)
            yield from walk(item, of_value, (*path, key))
    elif isinstance(value, list):
        for n, item in enumerate(cast("list[Any]", value)):
            yield from walk(item, inner[0] if inner else object, (*path, n))


def _unwrapped(hint: Any, value: object) -> tuple[Any, list[object]]:  # noqa: ANN401
    """Return the type of a value without what is annotated, and that; of a union its branch."""
    marks = list[object]()
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            marks += more
        elif get_origin(hint) in (Union, UnionType):
            branches = [branch for branch in get_args(hint) if branch is not NoneType]
            fits = (branch for branch in branches if isinstance(value, _type(branch)))
            hint = next(fits, branches[0])
        else:
            return hint, marks


def _type(hint: Any) -> type:  # noqa: ANN401
    """Return the class of what an annotation stands for."""
    while get_origin(hint) is not None and not isinstance(get_origin(hint), type):
        hint = get_args(hint)[0]
    origin = get_origin(hint) or hint
    return origin if isinstance(origin, type) else object


def is_absent(field: FieldInfo) -> bool:
    """Tell whether a key that is left out has no default."""
    return any(isinstance(mark, _Present | _Unset) for mark in field.metadata)


def _is_rare(field: FieldInfo) -> bool:
    return any(isinstance(mark, _RarelySet) for mark in field.metadata)


class _Present:
    """A key that may be left out, but not be null."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        inner = handler(source)
        return cast("CoreSchema", inner["schema"]) if inner["type"] == "nullable" else inner


class _Unset:
    """A key that may be left out or be null, which mean different things."""


class _RarelySet:
    """A key that few experiments set: the schema and the tables of docs have it last."""


class _Unique:
    """A list without an item twice."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "uniqueItems": True}


UNSET = _Unset()
NOT_NULL = _Present()
Opt = Annotated[T | None, NOT_NULL]
Rare = Annotated[T, _RarelySet()]
# What the schema says of such keys.
RARELY = "x-rarely-set"


def _distinct(items: list[Any]) -> list[Any]:
    if any(item in items[:i] for i, item in enumerate(items)):
        raise refuse(f"{excerpt(items)} has an item twice", "name each once")
    return items


Distinct = Annotated[list[T], AfterValidator(_distinct), _Unique()]


def _text(key: object) -> object:
    """Return a number that YAML read as a key, such as 2023, as text."""
    return key if isinstance(key, str) else str(key)


def type_name(value: object) -> str:
    """Return the name of a value's type, as JSON Schema has it."""
    names = {"str": "string", "int": "integer", "list": "array", "dict": "object"}
    name = type(value).__name__
    return "object" if isinstance(value, Section) else names.get(name, name)


Integer = int
Count = Annotated[Integer, Field(ge=1)]
Natural = Annotated[Integer, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[Number, Field(ge=0, le=1)]
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), BeforeValidator(_text)]
Folder = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$"), BeforeValidator(_text)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{1,12})*$")]
# By type: the tags are the names of `type_name`.
BY_TYPE = Discriminator(type_name)
Setting = Literal["small", "base", "large"]
Split = Literal["train", "validation", "test"]
Task = Literal["t2m", "m2t"]
TextField = Literal[
    "page_title",
    "section_title",
    "hierarchy",
    "context_section_description",
    "context_page_description",
]
TextFields = Annotated[
    Distinct[TextField], Field(min_length=1, description="Fields of a text, in order.")
]


class Handout(NamedTuple):
    """A sheet of answers for people to sort; `sample` is the file of its rows.

    An answer gets some of `classes`, or the class `alternative` alone, and, if `is_rated`, a
    rating.
    """

    sample: str
    classes: Sequence[str]
    alternative: str = ""
    is_rated: bool = False


class PluginSection(Section):
    """The section of the params that a plug-in has, under its name."""

    # Where params do not name it, it is there with its defaults.
    is_always: ClassVar[bool] = False
    # Keys that are mappings by collection: local files are demanded of those that are built.
    by_collection: ClassVar[Sequence[str]] = ()

    def completed(self, params: Params) -> Self:
        """Return the section with what depends on other parts, where it does not say it itself."""
        del params
        return self

    def check(self, params: Params) -> None:
        """Check what types can't say.

        Raises:
            BadParams: values that no job could use.
        """

    def handouts(self, collection: str) -> Mapping[str, Handout]:
        """Return the sheets of a collection that rules hand out for people to sort, by name."""
        del collection
        return {}


class Kind(Section):
    """One kind of entry of `models`, `systems` or `collect`: its keys, its checks, what it can do.

    Its key `kind` has the kind's name for its type. Class variables say what it can do; a class
    that does not name them has the usual values.
    """

    # Where the classes of the kinds stand.
    package: ClassVar[str] = ""
    # The parts of the params that its check reads.
    beside: ClassVar[Sequence[str]] = ()

    @classmethod
    def of_spec(cls, spec: Mapping[str, Any]) -> Self:
        """Return the entry of what `spec` has returned, as an instance of its kind.

        No module is imported but that of the kind.

        Raises:
            BadParams: as `read`.
        """
        kind_class = cls if cls.kind_name() else kind_of(cls.package, str(spec["kind"]), cls)
        return cast("Self", kind_class.read(f"kind {spec['kind']}", dict(spec), PART))

    @classmethod
    def kind_name(cls) -> str:
        """Return the name of the kind, or an empty one for a class that is no kind by itself."""
        field = cls.model_fields.get("kind")
        return str(next(iter(get_args(field.annotation)), "")) if field else ""

    def roots(self) -> Sequence[str]:
        """Return the roots, for `provenance.closure`, of the code of the jobs of an entry."""
        kind_class = type(self)
        return (f"{module_of(kind_class.__module__)}:{kind_class.__name__}",)

    @classmethod
    def instead_of(cls, key: str) -> str:
        """Return what to write in place of a key: it may be one of other kinds."""
        owners = [
            name
            for name, kind_class in kinds(cls.package).items()
            if key in kind_class.model_fields
        ]
        has_it = f"leave it out: kind {' or '.join(owners)} has it"
        return has_it if owners else super().instead_of(key)

    def check(self, where: str, params: Params) -> None:
        """Check what types can't say; `where` is the entry's key, `params` has the parts `beside`.

        Raises:
            BadParams: values that no job could use.
        """


class ModelKind(Kind):
    """A kind of model."""

    # What loads it, `module:function`; an encoder is loaded by `load(model, *, weights, device)`.
    loader: ClassVar[str] = ""
    # What it makes of items, for systems that read it: vectors, vectors of tokens, terms, scores of
    # pairs.
    makes: ClassVar[Sequence[str]] = ("vectors",)
    package: ClassVar[str] = MODELS
    beside: ClassVar[Sequence[str]] = ("models",)
    # A dual encoder: prompts, texts and, mostly, pictures become vectors by themselves.
    is_encoder: ClassVar[bool] = True
    # Pictures may be read as pixels.
    encodes_images: ClassVar[bool] = True
    # The train phase learns its weights, with a learning curve or without one.
    learned: ClassVar[bool] = False
    fitted: ClassVar[bool] = False
    # A model over the vectors, or over copies, of another one.
    is_mix: ClassVar[bool] = False
    # Copies of it can be trained whole.
    can_train_whole: ClassVar[bool] = False
    # A frozen tower's features of the training pictures are kept for encoding.
    has_features: ClassVar[bool] = False
    # Its training may go on from that of another model, which `from` names.
    continues: ClassVar[bool] = False
    # It shares the weights of another model.
    shares_weights: ClassVar[bool] = False
    # It scores a query and a document together, and has no vectors.
    reranks: ClassVar[bool] = False

    def roots(self) -> Sequence[str]:
        """Return the roots of the code of the jobs of an entry: its class and its loader."""
        return (*super().roots(), *([self.loader] if self.loader else []))


class SystemKind(Kind):
    """A kind of retrieval system."""

    package: ClassVar[str] = SYSTEMS
    beside: ClassVar[Sequence[str]] = ("models", "search")
    # What answers from the collection's tables alone, `module:function`; other kinds have a rule of
    # their own.
    call: ClassVar[str] = ""
    # What its `model` makes (`ModelKind.makes`), where it has one.
    reads: ClassVar[str] = "vectors"
    # Its search runs the model, whose code it then depends on.
    loads_model: ClassVar[bool] = False
    # The queries of a cell may be shared among jobs.
    is_sliced: ClassVar[bool] = False
    # Its runs are fused from those of other systems.
    fuses: ClassVar[bool] = False
    # A model scores the first hits of another system's runs.
    reranks: ClassVar[bool] = False
    # Its runs come from elsewhere.
    external: ClassVar[bool] = False
    # It answers queries that its collection lacks: those of a later one, or changed ones.
    answers_any_query: ClassVar[bool] = False
    # It compares words, not vectors.
    is_lexical: ClassVar[bool] = False
    # A document's score does not depend on the other documents.
    is_pointwise: ClassVar[bool] = True
    # Its search says how much of the exact answer it has found, in `recall/<system>.csv`.
    measures_recall: ClassVar[bool] = False
    # Its answers come as files, which may lack some queries.
    reads_answers: ClassVar[bool] = False

    def on(self, prepare: str) -> Self:
        """Return the system on a collection whose words are usually prepared so."""
        del prepare
        return self

    def check(self, where: str, params: Params) -> None:
        """Check that its model, if it has one, makes what it reads.

        Raises:
            BadParams: another model, with those that fit.
        """
        makes = {name: entry.makes for name, entry in params.models.items()}
        model = getattr(self, "model", None)
        if model is not None and self.reads not in makes[model]:
            fitting = ", ".join(
                name for name, made_by_model in makes.items() if self.reads in made_by_model
            )
            problem = f"model {model!r} makes {' and '.join(makes[model])}, and no {self.reads}"
            raise BadParams(f"{where}.model", problem, f"name one that does: {fitting or 'none'}")


@cache
def kind_of(package_of_kinds: str, name: str, usual: type[Kind] | None = None) -> type[Kind]:
    """Return the class of a kind; no module is imported but the one that bears its name.

    Raises:
        LookupError: no such kind, and no usual class.
    """
    module = name.replace("-", "_")
    for package in _packages_of(package_of_kinds):
        path = importlib.import_module(package).__path__
        is_there = module in {module_info.name for module_info in pkgutil.iter_modules(path)}
        if is_there and (kind_class := _classes(f"{package}.{module}").get(name)):
            return kind_class
    if usual is None:
        raise LookupError(f"{package_of_kinds} has no kind {name!r}")
    return usual


@cache
def kinds(package_of_kinds: str) -> Mapping[str, type[Kind]]:
    """Return the class of every kind in a package, and in those of plug-ins, by name.

    Raises:
        BadPlugin: a kind that bears the name of another one.
    """
    by_name = dict[str, type[Kind]]()
    for package in _packages_of(package_of_kinds):
        path = importlib.import_module(package).__path__
        for module in (
            module_info.name
            for module_info in pkgutil.iter_modules(path)
            if module_info.name[0] != "_"
        ):
            for name, kind_class in _classes(f"{package}.{module}").items():
                if name in by_name:
                    both = f"kind {name!r} is in {by_name[name].__module__}, too"
                    raise BadPlugin(kind_class.__module__, both, "uninstall one of the two")
                by_name[name] = kind_class
    return dict(sorted(by_name.items()))


def _packages_of(package_of_kinds: str) -> Iterator[str]:
    """Yield the packages with the kinds of one thing: ours, and those of plug-ins."""
    yield package_of_kinds
    yield from plugins.kinds(_OF_PLUGINS[package_of_kinds])


def _classes(module: str) -> dict[str, type[Kind]]:
    """Return the classes of kinds that a module defines, by name."""
    classes = (c for c in vars(importlib.import_module(module)).values() if isinstance(c, type))
    kind_classes = [c for c in classes if issubclass(c, Kind) and c.__module__ == module]
    return {c.kind_name(): c for c in kind_classes if c.kind_name()}


def parts_of(entry: SystemKind) -> list[str]:
    """Return the systems whose runs an entry of `systems` reads: those of its key `of`."""
    fused = getattr(entry, "of", [])
    return [fused] if isinstance(fused, str) else [*fused]


def with_parts(systems: Mapping[str, SystemKind], names: Iterable[str]) -> list[str]:
    """Return these systems and those whose runs they read, directly or through others, sorted."""
    reached, waiting = set[str](), [*names]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += parts_of(systems[name])
    return sorted(reached)


def answers_any_query(entry: SystemKind, models: Mapping[str, ModelKind]) -> bool:
    """Tell whether a system can be given queries that its collection lacks.

    It can if its kind says so, and its model, where it has one, is an encoder.
    """
    model = models.get(getattr(entry, "model", ""))
    return entry.answers_any_query and (model is None or model.is_encoder)
