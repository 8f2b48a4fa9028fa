"""What values mean beyond their types: names of other entries, and files of this machine.

`Ref` and `Local` stand in the annotation of a key; `sections.walk` finds every value with them, be
it a key of a mapping or an item of a list.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from isotope.params.messages import KeyPath
from isotope.params.sections import ModelKind, Name, Opt, Section, Text, walk

Names = Callable[[Any, KeyPath], Iterable[str]]


class Ref:
    """The name of something that another part of the params defines.

    `defined_in` is where names stand, such as `systems` or `search.splits`, or a function of
    `reads`, the parts of the params that it asks, and of the value's own path. With `fits` those
    entries alone may be named for which it is true, with `kind` systems of a kind.
    """

    def __init__(
        self,
        defined_in: str | Names,
        *reads: str,
        fits: Callable[[Any], bool] | None = None,
        kind: str | None = None,
    ) -> None:
        """Name the place of what is defined."""
        self.defined_in, self.reads, self.fits, self.kind = defined_in, reads, fits, kind


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


def local_names(section: Section) -> list[str]:
    """Return what keys of a section say of files and folders: paths, ids of a hub, tags."""
    values = walk(section, type(section))
    marked = (v.value for v in values if any(isinstance(mark, Local) for mark in v.marks))
    return [value for value in marked if isinstance(value, str)]


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
    pixels = ["pixels"] * params.models[path[1]].encodes_images
    return [name for name, model in params.models.items() if sees(model)] + [*pixels, "captions"]


Seeing = Annotated[str, Ref("models", fits=sees)]
Continued = Annotated[str, Ref("models", fits=lambda model: model.continues)]
Owning = Annotated[str, Ref("models", fits=lambda m: m.is_encoder and not m.shares_weights)]
Represented = Annotated[str, Ref(_represented, "models")]
Member = Annotated[str, Ref("collect", fits=lambda collection: not collection.is_union)]
