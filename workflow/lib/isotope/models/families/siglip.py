"""SigLIP and SigLIP 2 of transformers, at one resolution or at that of each picture (NaFlex).

Zhai et al., Sigmoid Loss for Language Image Pre-Training, ICCV 2023; Tschannen et al., SigLIP 2,
arXiv 2502.14786, 2025, section 2: texts are lower-cased, padded to 64 tokens, and the padding is
read as well, so no mask is given; NaFlex keeps a picture's shape within a number of patches, and
what is left of that number is padding that the model does not look at (section 2.4.2).
"""

from typing import Any

import transformers
from PIL import Image

from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings
from isotope.models.families.encoder import FamilyEncoder, FloatArray, picture_side
from isotope.models.transformers import fetching

_NAFLEX = "siglip2"
_INPUTS = ("pixel_values", "pixel_attention_mask", "spatial_shapes")


def load(checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str) -> "SiglipEncoder":
    """Load the encoder of a checkpoint.

    Raises:
        As `SiglipEncoder`.
    """
    return SiglipEncoder(checkpoint, settings, device)


class SiglipEncoder(FamilyEncoder):
    """Both towers; every text has as many tokens as the model has places."""

    def __init__(
        self, checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
    ) -> None:
        """Load both towers; `pixels` is the largest picture of a NaFlex model.

        Raises:
            BadParams: settings that the model does not have.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        is_naflex = checkpoint.config["model_type"] == _NAFLEX
        checkpoint.only(settings, "dim", *(["pixels"] if is_naflex else []))
        with fetching(checkpoint.name):
            config: Any = transformers.AutoConfig.from_pretrained(
                checkpoint.name, **checkpoint.options
            )
        width = int(config.text_config.projection_size or config.text_config.hidden_size)
        super().__init__(device, checkpoint.cut(settings.dim, width))
        self._context = int(config.text_config.max_position_embeddings)
        kind = transformers.Siglip2Model if is_naflex else transformers.SiglipModel
        self._model: Any = checkpoint.load(kind).to(self.device.torch)
        self._tokenizer: Any = checkpoint.tokenizer(transformers.AutoTokenizer)
        self._processor: Any = checkpoint.image_processor(**_patches(checkpoint, settings))
        self.side_px = picture_side(self._processor)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        tokens = self._tokenizer(
            [text.lower() for text in texts],
            truncation=True,
            padding="max_length",
            max_length=self._context,
            return_tensors="pt",
        )
        [ids] = self.on_device(tokens["input_ids"])
        return self.unit(lambda: self._model.get_text_features(input_ids=ids).pooler_output)

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to: the same for all."""
        return [self._context] * len(texts)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        inputs = self._processor(images, return_tensors="pt")
        batch = {k: inputs[k].to(self.device.torch) for k in _INPUTS if k in inputs}
        return self.unit(lambda: self._model.get_image_features(**batch).pooler_output)


def _patches(checkpoint: CheckpointFiles, settings: CheckpointSettings) -> dict[str, int]:
    """Return the option of the image processor that `pixels` stands for.

    Raises:
        BadParams: fewer pixels than a patch has.
    """
    if settings.pixels is None:
        return {}
    side = int(checkpoint.config.get("vision_config", {}).get("patch_size", 16))
    most = settings.pixels // (side * side)
    if most < 1:
        problem = f"{settings.pixels} pixels, and a patch has {side * side}"
        raise checkpoint.refused("pixels", problem, "use more")
    return {"max_num_patches": most}
