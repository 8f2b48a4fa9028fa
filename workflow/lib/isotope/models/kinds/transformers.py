"""A model of the transformers library, from a folder or a hub, by what its config.json says.

The families that are read, from CLIP to embedders on vision-language models, are the modules of
`isotope.models.families`; none runs code that a checkpoint brings.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams, UnknownModel
from isotope.core.schemas import FIVE_FIELDS
from isotope.models import families
from isotope.models.kinds import RESIZED, Context, Images, Revision
from isotope.params.sections import Count, ModelKind, Opt, Params, Section, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Instruction(Section):
    """What stands before a text or a picture; a side keeps it whether it asks or is found."""

    texts: Opt[str] = Field(
        default=None,
        description="Instruction of texts: a sentence, or the name of a prompt of the checkpoint.",
    )
    images: Opt[str] = Field(
        default=None,
        description="The same of images, be it their pixels or their captions.",
    )


class Transformers(ModelKind):
    """An encoder of the transformers library."""

    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["transformers"]
    name: str = Field(
        description="A folder, or a hub's id, with a model in safetensors: CLIP, BLIP, FLAVA, "
        "SigLIP 1 or 2, jina-clip-v2, or an embedder on Qwen's language or vision-language models."
    )
    revision: Revision = None
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))
    dim: Opt[Count] = Field(
        default=None,
        description="Components of a vector that are kept, for models trained for it (Matryoshka).",
    )
    context: Context = None
    resize: Opt[Literal["own", "squash", "crop"]] = Field(
        default=None, description=f"{RESIZED} Of CLIP, BLIP and FLAVA."
    )
    pixels: Opt[Count] = Field(
        default=None,
        description="The largest picture, in pixels, of a model that keeps a picture's shape.",
    )
    instruction: Opt[Instruction] = Field(
        default=None, description="What models with instructions are told of each side."
    )

    def check(self, where: str, params: Params) -> None:
        """Check that a checkpoint in a folder is one that can be read.

        Raises:
            BadParams: an architecture that no family has.
        """
        if config := families.folder_config(self.name):
            try:
                families.module_of(self.name, config)
            except UnknownModel as error:
                raise BadParams(f"{where}.name", error.found, error.remedy) from error

    @classmethod
    def roots(cls, entry: Mapping[str, Any]) -> Sequence[str]:
        """Return the roots of the code of an entry: the kind's, and those of its family.

        Of a checkpoint that is neither in a folder nor in the table of published ones, every family
        counts.
        """
        modules = families.modules(str(entry.get("name")))
        return (cls.code(), *(f"models.families.{module}:load" for module in modules))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        BadParams: no name, or a setting that the family does not have.
        UnknownModel: an architecture that no family reads.
        CorruptFile: weights that do not load, or that leave a part of the model at random.
        FetchFailed: a folder without the files it needs, or a hub that is out of reach.
    """
    from isotope.models.encoders import need  # noqa: PLC0415 (it finds this module)
    from isotope.models.families.checkpoint import Checkpoint, Settings  # noqa: PLC0415 (torch)

    checkpoint = Checkpoint(need(spec, "name"), spec.get("revision"))
    module = families.module_of(checkpoint.name, checkpoint.config)
    family = import_module(f"{families.__name__}.{module}")
    return family.load(checkpoint, Settings.of(spec), device)
