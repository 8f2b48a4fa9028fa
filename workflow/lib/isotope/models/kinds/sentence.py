from typing import ClassVar, Literal

from isotope.models.kinds import Images
from isotope.models.kinds._bases import Averaged, Checkpointed
from isotope.params.references import Checkpoint


class Sentence(Averaged, Checkpointed):
    """A sentence encoder."""

    loader: ClassVar[str] = "models.sentence:load"
    encodes_images: ClassVar[bool] = False

    kind: Literal["sentence"]
    name: Checkpoint
    """A folder, or a hub's id, with a sentence-transformers model in safetensors."""
    images: Images
