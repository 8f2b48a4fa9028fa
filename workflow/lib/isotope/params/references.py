"""What values mean beyond their types: names of other entries, and files of this machine.

`Ref` and `Local` stand in the annotation of a key; one walk over the params finds every value with
them, be it a key of a mapping or an item of a list.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, cast, get_args, get_origin

from isotope.core.errors import BadParams
from isotope.params.messages import KeyPath, place, suggest
from isotope.params.sections import ModelKind, Name, Opt, Section, Text

Names = Callable[[Any, KeyPath], Iterable[str]]


class Ref:
    """The name of something that another part of the params defines.

    `of` is where names stand, such as `systems` or `search.splits`, or a function of the params
    and of the value's own path; with `fits` those entries alone may be named for which it is true.
    """

    def __init__(self, of: str | Names, fits: Callable[[Any], bool] | None = None) -> None:
        """Name the place of what is defined."""
        self._of, self._fits = of, fits

    def names(self, params: Section, path: KeyPath) -> list[str]:
        """Return what may be named."""
        if not isinstance(self._of, str):
            return [*self._of(params, path)]
        defined: Any = params
        for key in self._of.split("."):
            defined = getattr(defined, key) or ()
        if self._fits is None:
            return [*defined]
        return [name for name, entry in defined.items() if self._fits(entry)]


class Local(NamedTuple):
    """A file or folder of this machine; with `endings`, or else a name on a hub.

    No dot or slash begins such a name, and it has none of the endings. An address is no path.
    """

    endings: Sequence[str] = ()

    def is_path(self, value: object) -> bool:
        """Tell a path from a name on a hub, and from what is no text."""
        if not isinstance(value, str):
            return False
        begins = value.startswith(("/", "./", "../"))
        is_one = not self.endings or begins or value.endswith((*self.endings,))
        return is_one and "://" not in value


Collection = Annotated[str, Ref("collect")]
Built = Annotated[str, Ref("build")]
CollectionName = Annotated[Name, Ref("collect")]
Source = Annotated[str, Ref("acquire")]
SourceName = Annotated[Name, Ref("acquire")]
System = Annotated[str, Ref("systems")]
Searched = Annotated[str, Ref("search.systems")]
Model = Annotated[str, Ref("models")]
LocalPath = Annotated[Text, Local()]
Weights = Local((".safetensors", ".pt", ".pth", ".bin"))
Vocabulary = Local((".json", ".txt"))
OptPath = Opt[LocalPath]
# A folder, a file or a hub's id of weights.
Checkpoint = Annotated[str, Weights]


def sees(model: ModelKind) -> bool:
    """Tell whether a model makes vectors of the pixels of pictures."""
    reads = getattr(model, "images", "pixels") == "pixels"
    return model.is_encoder and model.encodes_images and reads


def _represented(params: Any, path: KeyPath) -> list[str]:  # noqa: ANN401
    """What may represent images for a model: pixels, captions, or the vectors of another one."""
    own = ["pixels"] * params.models[path[1]].encodes_images
    return [name for name, model in params.models.items() if sees(model)] + [*own, "captions"]


Seeing = Annotated[str, Ref("models", sees)]
Owning = Annotated[str, Ref("models", lambda m: m.is_encoder and not m.shares_weights)]
Represented = Annotated[str, Ref(_represented)]
Member = Annotated[str, Ref("collect", lambda collection: not collection.is_union)]


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
            of = (
                Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
            )
            yield from walk(getattr(value, name), of, (*path, field.alias or name))
    elif isinstance(value, Mapping):
        of_key, of_value = inner if len(inner) == 2 else (object, object)  # noqa: PLR2004
        for key, each in cast("Mapping[Any, Any]", value).items():
            yield from walk(key, of_key, path)
            yield from walk(each, of_value, (*path, key))
    elif isinstance(value, list):
        for n, each in enumerate(cast("list[Any]", value)):
            yield from walk(each, inner[0] if inner else object, (*path, n))


def _unwrapped(hint: Any, value: object) -> tuple[Any, list[object]]:  # noqa: ANN401
    """Return the type of a value without what is annotated, and that; of a union its branch."""
    marks = list[object]()
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            marks += more
        elif get_origin(hint) in (Union, UnionType):
            branches = [each for each in get_args(hint) if each is not NoneType]
            fits = (each for each in branches if isinstance(value, _type(each)))
            hint = next(fits, branches[0])
        else:
            return hint, marks


def _type(hint: Any) -> type:  # noqa: ANN401
    """Return the class of what an annotation stands for."""
    while get_origin(hint) is not None and not isinstance(get_origin(hint), type):
        hint = get_args(hint)[0]
    of = get_origin(hint) or hint
    return of if isinstance(of, type) else object


def check_references(params: Section) -> None:
    """Refuse the first name of something that nothing defines.

    Raises:
        BadParams: that name, with its key and the likely one.
    """
    for path, value, marks, _ in walk(params, type(params)):
        for ref in (mark for mark in marks if isinstance(mark, Ref)):
            if value is not None and value not in (names := ref.names(params, path)):
                raise BadParams(
                    f"params {place(path)}", f"unknown name {value!r}", suggest(str(value), names)
                )
