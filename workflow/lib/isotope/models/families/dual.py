"""CLIP, BLIP and FLAVA of transformers.

The contrastive towers only: CLIP's projections, BLIP's ITC projections (Li et al., BLIP, ICML 2022,
section 3.2), FLAVA's projected [CLS] states (Singh et al., FLAVA, CVPR 2022, section 3.2).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import transformers
from PIL import Image
from torch import Tensor

from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings
from isotope.models.families.encoder import FamilyEncoder, FloatArray, picture_side
from isotope.models.transformers import fetching, lengths, tokenized


def load(checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str) -> "DualEncoder":
    """Load the encoder of a checkpoint.

    Raises:
        As `DualEncoder`.
    """
    return DualEncoder(checkpoint, settings, device)


class _Family(NamedTuple):
    """An architecture: its class in transformers, and the vectors [n, dim] of its two sides."""

    model: str
    texts: Callable[..., Tensor]
    images: Callable[..., Tensor]
    dim: str


_FAMILIES = {
    "clip": _Family(
        "CLIPModel",
        lambda model, batch: model.get_text_features(**batch).pooler_output,
        lambda model, pixels: model.get_image_features(pixel_values=pixels).pooler_output,
        "projection_dim",
    ),
    "blip": _Family(
        "BlipForImageTextRetrieval",
        lambda model, batch: model.text_proj(model.text_encoder(**batch).last_hidden_state[:, 0]),
        lambda model, pixels: model.vision_proj(
            model.vision_model(pixel_values=pixels).last_hidden_state[:, 0]
        ),
        "image_text_hidden_size",
    ),
    "flava": _Family(
        "FlavaModel",
        lambda model, batch: model.get_text_features(**batch).pooler_output[:, 0],
        lambda model, pixels: model.get_image_features(pixel_values=pixels).pooler_output[:, 0],
        "projection_dim",
    ),
}


class DualEncoder(FamilyEncoder):
    """A model of transformers in evaluation mode, with its own tokenizer and picture size."""

    def __init__(
        self, checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
    ) -> None:
        """Load both towers.

        Raises:
            BadParams: settings that the model does not have.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        checkpoint.only(settings, "context", "dim", "resize")
        with fetching(checkpoint.name):
            config: Any = transformers.AutoConfig.from_pretrained(
                checkpoint.name, **checkpoint.options
            )
        self._family = _FAMILIES[str(config.model_type)]
        width = int(getattr(config, self._family.dim))
        super().__init__(device, checkpoint.cut(settings.dim, width))
        most = int(config.text_config.max_position_embeddings)
        self._context = checkpoint.context(settings.context, most, most)
        model = checkpoint.load(getattr(transformers, self._family.model))
        self._model: Any = model.to(self.device.torch)
        self._tokenizer: Any = checkpoint.tokenizer(transformers.AutoTokenizer)
        self._processor: Any = checkpoint.image_processor()
        self._sizes = _sizes(self._processor, settings.resize)
        self.side_px = picture_side(self._processor)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        tokens = tokenized(self._tokenizer, texts, self._context)
        names = ("input_ids", "attention_mask")
        batch = {name: tokens[name].to(self.device.torch) for name in names}
        return self.unit(lambda: self._family.texts(self._model, batch))

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return lengths(self._tokenizer, texts, self._context)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        read = self._processor(images, return_tensors="pt", **self._sizes)
        [batch] = self.on_device(read["pixel_values"])
        return self.unit(lambda: self._family.images(self._model, batch))


def _sizes(processor: Any, resize: str | None) -> dict[str, Any]:  # noqa: ANN401
    """Return the options under which an image processor squashes or crops to its own square."""
    if resize not in ("squash", "crop"):
        return {}
    cropped = bool(getattr(processor, "do_center_crop", None))
    square = dict(processor.crop_size if cropped else processor.size)
    square = {key: int(square[key]) for key in ("height", "width")}
    if resize == "squash":
        return {"size": square, "do_center_crop": False}
    shorter = {"shortest_edge": min(square.values())}
    return {"size": shorter, "do_center_crop": True, "crop_size": square}
