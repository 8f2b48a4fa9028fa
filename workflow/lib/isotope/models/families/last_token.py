"""Text embedders on language models, such as Qwen3-Embedding: the state of the last token.

Zhang et al., Qwen3 Embedding, arXiv 2506.05176, 2025, section 2: a text is read from left to right,
and the end of the text, which the tokenizer adds, has its vector. An instruction stands before it.
"""

from typing import Any

import torch
import transformers
from PIL import Image

from isotope.core.errors import BadParams
from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings
from isotope.models.families.encoder import (
    FamilyEncoder,
    FloatArray,
    chunks,
    compute_type,
    fitting,
    last_tokens,
    right_padded,
)
from isotope.models.transformers import padded

_USUAL_CONTEXT = 8_192


def load(
    checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
) -> "LastTokenEncoder":
    """Load the encoder of a checkpoint.

    Raises:
        As `LastTokenEncoder`.
    """
    return LastTokenEncoder(checkpoint, settings, device)


class LastTokenEncoder(FamilyEncoder):
    """A language model without pictures: `images` of the entry are `captions` or another model."""

    def __init__(
        self, checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
    ) -> None:
        """Load the model; `instruction.texts` is a prompt, or the name of one of the checkpoint's.

        Raises:
            BadParams: settings that the model does not have.
            UnknownModel: a checkpoint with another pooling than that of the last token.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        checkpoint.only(settings, "dim", "context", "instruction.texts")
        checkpoint.pooling(["lasttoken"])
        super().__init__(device, checkpoint.cut(settings.dim, checkpoint.config["hidden_size"]))
        most = int(checkpoint.config["max_position_embeddings"])
        self._context = checkpoint.context(settings.context, _USUAL_CONTEXT, most)
        prompts = checkpoint.prompts()
        prompt_name = settings.instruction.get("texts", "")
        self._prompt = prompts.get(prompt_name, prompt_name)
        self._name = checkpoint.name
        model = checkpoint.load(transformers.AutoModel, compute_type(device))
        self._model: Any = model.to(self.device.torch)
        self._tokenizer: Any = checkpoint.tokenizer(transformers.AutoTokenizer)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        rows = self._ids(texts)
        length = max(padded(len(row), self._context) for row in rows)
        ids, mask = self.on_device(*right_padded(rows, length, self._tokenizer.pad_token_id))
        return self.unit(lambda: self._vectors(ids, mask))

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return [padded(len(row), self._context) for row in self._ids(texts)] if texts else []

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Refuse pictures: a language model has no image encoder.

        Raises:
            BadParams: always.
        """
        remedy = "give the model `images: captions`, or `images` of a model with a vision tower"
        raise BadParams(f"models: {self._name}", "pictures for a text encoder", remedy)

    def _ids(self, texts: list[str]) -> list[list[int]]:
        prompted = [self._prompt + text for text in texts]
        return self._tokenizer(prompted, truncation=True, max_length=self._context)["input_ids"]

    def _vectors(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows = torch.empty((len(ids), self._model.config.hidden_size))
        for some in chunks(len(ids), min(len(ids), fitting(ids.shape[1]))):
            out = self._model(input_ids=ids[some], attention_mask=mask[some], use_cache=False)
            rows[some] = last_tokens(out.last_hidden_state, mask[some]).float().cpu()
        return rows
