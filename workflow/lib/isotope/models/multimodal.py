"""OVEN's dual encoders of pictures with words: CLIP2CLIP and CLIP Fusion, trained whole.

Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), section 4.1, appendices 11.1 and 11.2.
A query is a picture and the question on it, a target is the picture of an entity and its name; each
side has a CLIP of its own, initialised separately from the same weights.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import open_clip
import torch
from open_clip.transformer import VisionTransformer
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import normalize
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Stack

from isotope.core.errors import CorruptFile
from isotope.models.mix import FourWays
from isotope.models.notes import training_notes
from isotope.models.open_clip import cut_of, empty, standardised, unit
from isotope.models.transformers import Device

FloatArray = npt.NDArray[np.float32]
QUERY, TARGET = "query", "target"
# T5 as CLIP Fusion has it (11.1).
_LAYERS, _HEADS, _HEAD_WIDTH = 2, 12, 64
_THREADS = min(8, os.cpu_count() or 1)
SIDES = (QUERY, TARGET)


class TowerFeatures(NamedTuple):
    """Features of n pictures or texts: states [n, l, dim]; those of `mask` [n, l] count."""

    states: torch.Tensor
    mask: torch.Tensor


class Multimodal(nn.Module):
    """Two CLIPs that share no parameter; subclasses join what is seen with what is read."""

    def __init__(self, clip: Any) -> None:  # noqa: ANN401
        """Copy a CLIP for either side; CLIP's temperature goes on, once for both."""
        super().__init__()
        self.query, self.target = deepcopy(clip), deepcopy(clip)
        self.logit_scale = nn.Parameter(clip.logit_scale.detach().clone())
        for side in (self.query, self.target):
            del side.logit_scale

    def encode(self, side: str, pictures: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return rows whose inner product with those of the other side is the score.

        `pictures`: [n, 3, side, side] in 0..1; `tokens`: [n, context].
        """
        return self.join(side, self.see(side, pictures), self.read(side, tokens))

    def see(self, side: str, pictures: torch.Tensor) -> TowerFeatures:
        """Return the features of pictures [n, 3, side, side] in 0..1."""
        clip = getattr(self, side)
        return _features(clip.encode_image(standardised(pictures, clip), normalize=True))

    def read(self, side: str, tokens: torch.Tensor) -> TowerFeatures:
        """Return the features of texts, int64 [n, context]."""
        return _features(getattr(self, side).encode_text(tokens, normalize=True))

    def join(self, side: str, pictures: TowerFeatures, words: TowerFeatures) -> torch.Tensor:
        """Return the rows of a side, [n, d]."""
        raise NotImplementedError


class Clip2ClipModel(Multimodal):
    """Four cosine similarities, {image, question} x {picture, name}, under four learned weights."""

    def __init__(self, clip: Any) -> None:  # noqa: ANN401
        """Start from a CLIP and from equal weights."""
        super().__init__(clip)
        self.weights = nn.Parameter(torch.full((4,), 0.25))

    def weigh(self, weights: Sequence[float]) -> None:
        """Set the four weights, in the order of `models_mix.FOUR`."""
        with torch.no_grad():
            self.weights.copy_(torch.tensor(weights))

    def join(self, side: str, pictures: TowerFeatures, words: TowerFeatures) -> torch.Tensor:
        """Return [n, 2 dim]: the weighted sum of the similarities is one inner product."""
        of_pictures, of_words = pictures.states[:, 0], words.states[:, 0]
        if side == TARGET:
            return torch.cat([of_pictures, of_words], dim=-1)
        return FourWays.weigh(self.weights, of_pictures, of_words)


class ClipFusionModel(Multimodal):
    """A transformer of T5's over the tokens of both towers, one of its own on either side."""

    def __init__(self, clip: Any) -> None:  # noqa: ANN401
        """Start from a CLIP and from random transformers as wide as its vectors."""
        super().__init__(clip)
        width = int(_projection(self.query).shape[1])
        self.fusers = nn.ModuleDict({side: t5(width) for side in SIDES})

    # ASSUME "image and text features" are the towers' last tokens in the common space, all of them,
    # the picture's first, and a side's vector is the mean of what the transformer makes of them:
    # section 4.1 and 11.1 name neither the tokens nor the pooling.
    def see(self, side: str, pictures: torch.Tensor) -> TowerFeatures:
        """Return the class token and the patches; a tower without patches gives one vector."""
        clip = getattr(self, side)
        inputs = standardised(pictures, clip)
        if not _has_patches(clip.visual):
            return _features(clip.encode_image(inputs))
        layers = clip.visual.forward_intermediates(
            inputs,
            indices=1,
            normalize_intermediates=True,
            output_fmt="NLC",
            output_extra_tokens=True,
        )
        parts = (layers[f"image_intermediates{s}"][-1] for s in ("_prefix", ""))
        states = torch.cat(list(parts), dim=1) @ clip.visual.proj
        return TowerFeatures(
            states, torch.ones(states.shape[:2], dtype=torch.bool, device=inputs.device)
        )

    def read(self, side: str, tokens: torch.Tensor) -> TowerFeatures:
        """Return the tokens up to the end of the text, which has the greatest id."""
        clip = getattr(self, side)
        layers = clip.forward_intermediates(
            text=tokens, text_indices=1, normalize_intermediates=True
        )
        states = layers["text_intermediates"][-1] @ _projection(clip)
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return TowerFeatures(states, places <= tokens.argmax(dim=1, keepdim=True))

    def join(self, side: str, pictures: TowerFeatures, words: TowerFeatures) -> torch.Tensor:
        """Return unit rows [n, dim]."""
        states = torch.cat([pictures.states, words.states], dim=1)
        mask = torch.cat([pictures.mask, words.mask], dim=1)
        output = self.fusers[side](inputs_embeds=states, attention_mask=mask.long())
        counted = mask.unsqueeze(-1).to(states.dtype)
        mean = (output.last_hidden_state * counted).sum(dim=1) / counted.sum(dim=1)
        return normalize(mean, dim=-1)


def t5(width: int) -> Any:  # noqa: ANN401
    """Return a T5 encoder over vectors of `width` components, with random weights.

    Relative position bias, RMS norm without bias, ReLU between and dropout are T5's own; with 2
    layers of 12 heads of 64 over 768 components, and T5's 4 x 768 between, the model has the 0.88B
    parameters of Table 1.
    """
    config = T5Config(
        vocab_size=1,
        eos_token_id=None,
        d_model=width,
        d_kv=_HEAD_WIDTH,
        d_ff=4 * width,
        num_layers=_LAYERS,
        num_heads=_HEADS,
        is_decoder=False,
        use_cache=False,
    )
    stack = T5Stack(config)
    # It reads vectors, so it has no words of its own.
    stack.set_input_embeddings(nn.Identity())
    return stack


def create(kind: str, clip: Any) -> Multimodal:  # noqa: ANN401
    """Create the model of a kind, clip2clip or clip_fusion, over a CLIP."""
    return Clip2ClipModel(clip) if kind == "clip2clip" else ClipFusionModel(clip)


def load_multimodal(weights: Path) -> tuple[Multimodal, str]:
    """Read what `isotope.train.multimodal` wrote: the model, and the name of its architecture.

    Raises:
        MissingFile: no such file.
        CorruptFile: weights of something else.
    """
    notes = training_notes(weights)
    try:
        name = str(notes.get("config") or notes["name"])
        model = create(notes["kind"], empty(notes))
        model.load_state_dict(load_file(weights))
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        problem = f"not a trained dual encoder ({str(error)[:200]})"
        raise CorruptFile(weights, problem, "train it again") from error
    return model.eval(), name


class MultimodalEncoder:
    """A trained model in evaluation mode, on the GPU in bf16 when there is one."""

    def __init__(self, weights: Path, device: str = "auto") -> None:
        """Load what `isotope.train.multimodal` wrote.

        Raises:
            MissingFile, CorruptFile: as `load_multimodal`.
        """
        self._device = Device(device)
        model, name = load_multimodal(weights)
        self._model = model.to(self._device.torch)
        self._tokenize: Any = open_clip.get_tokenizer(name)
        self._cut = cut_of(getattr(model, QUERY))
        black = Image.new("RGB", (self._cut.side, self._cut.side))
        self.dim = self.encode(TARGET, [(black, "")]).shape[1]

    def encode(self, side: str, items: list[tuple[Image.Image, str]]) -> FloatArray:
        """Return float32 [n, dim] of pictures with words; inner products across sides are scores.

        Rows are unit vectors for clip_fusion; those of clip2clip hold its four weights.
        """
        with ThreadPoolExecutor(_THREADS) as pool:
            squares = list(pool.map(lambda item: np.asarray(self._cut.cut(item[0])), items))
        pictures = unit(np.stack(squares)).to(self._device.torch)
        tokens = self._tokenize([words for _, words in items]).to(self._device.torch)
        return self._device.rows(lambda: self._model.encode(side, pictures, tokens)).numpy()


def _has_patches(tower: Any) -> bool:  # noqa: ANN401
    """Whether a tower's last tokens go to the common space one by one."""
    plain = isinstance(tower, VisionTransformer) and tower.attn_pool is None
    return plain and tower.proj is not None


def _features(vectors: torch.Tensor) -> TowerFeatures:
    mask = torch.ones((len(vectors), 1), dtype=torch.bool, device=vectors.device)
    return TowerFeatures(vectors.unsqueeze(1), mask)


def _projection(clip: Any) -> torch.Tensor:  # noqa: ANN401
    """Return what takes a text's states to the common space, [width, dim]."""
    projection = getattr(clip, "text", clip).text_projection
    return projection.weight.T if isinstance(projection, nn.Linear) else projection
