from collections.abc import Sequence
from typing import ClassVar, Literal

from isotope.core.errors import BadParams, UnknownModel
from isotope.models import families
from isotope.models.kinds import Context, Images
from isotope.models.kinds._bases import Checkpointed
from isotope.params.references import Checkpoint
from isotope.params.sections import Count, Opt, Params, Section


class Instruction(Section):
    """What stands before a text or a picture; a side keeps it whether it asks or is found."""

    texts: Opt[str] = None
    """Instruction of texts: a sentence, or the name of a prompt of the checkpoint."""
    images: Opt[str] = None
    """The same of images, be it their pixels or their captions."""


class Transformers(Checkpointed):
    """An encoder of the transformers library."""

    loader: ClassVar[str] = "models.families:load"

    kind: Literal["transformers"]
    name: Checkpoint
    """A folder, or a hub's id, with a model in safetensors: CLIP, BLIP, FLAVA, SigLIP 1 or 2,
    jina-clip-v2, or an embedder on Qwen's language or vision-language models."""
    images: Images = "pixels"
    dim: Opt[Count] = None
    """Components of a vector that are kept, for models trained for it (Matryoshka)."""
    context: Context = None
    resize: Opt[Literal["own", "squash", "crop"]] = None
    """How pictures become the square of CLIP, BLIP and FLAVA: squashed whatever their shape, or
    cropped in the centre by the shorter side; `own`, the default, is the model's way."""
    pixels: Opt[Count] = None
    """The largest picture, in pixels, of a model that keeps a picture's shape."""
    instruction: Opt[Instruction] = None
    """What models with instructions are told of each side."""

    def check(self, where: str, params: Params) -> None:
        """Check that a checkpoint in a folder is one that can be read.

        Raises:
            BadParams: an architecture that no family has.
        """
        if config := families.folder_config(self.name):
            try:
                families.module_of(self.name, config)
            except UnknownModel as error:
                raise BadParams(f"{where}.name", error.problem, error.remedy) from error

    def roots(self) -> Sequence[str]:
        """Return the roots of the code of its jobs: the kind's, and those of its family.

        Of a checkpoint that is neither in a folder nor in the table of published ones, every family
        counts.
        """
        modules = families.modules(self.name)
        return (*super().roots(), *(f"models.families.{module}:load" for module in modules))
