"""Models over the frozen vectors of another: query = image and question, text = words and picture.

They borrow the forms of Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), section 4.1:
CLIP2CLIP weighs four similarities, CLIP Fusion puts a transformer of two layers on either side. But
there all parameters are fine-tuned, as `models.multimodal` does; here the towers' final vectors are
the only input, one token each, so neither is the paper's system.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn

from isotope.core.errors import CorruptFile, MissingFile, UnknownModel
from isotope.core.exact import VectorShards
from isotope.core.progress import log

# Pairs that choose the start of CLIP2CLIP and that a mix's accuracy is measured on.
_SAMPLED_PAIRS = 2_000
SIDES = ("images", "questions", "texts", "pictures")
FILES = (*SIDES, "images_ids", "texts_ids")
Rows = npt.NDArray[np.int64]


class JudgedRows(NamedTuple):
    """Judged pairs: rows of the queries' vectors and rows of the texts', one each a pair."""

    queries: Rows
    texts: Rows

    def __len__(self) -> int:
        return len(self.queries)

    def some(self, chosen: Rows) -> "JudgedRows":
        """Return the pairs at these places."""
        return JudgedRows(self.queries[chosen], self.texts[chosen])


class Frozen:
    """The shards of FILES, vectors and ids, of one model."""

    def __init__(self, files: Mapping[str, Sequence[Path]]) -> None:
        """Map the vectors and read the ids."""
        self._shards = {side: VectorShards(files[side]) for side in SIDES}
        self._ids = {
            side: pl.concat([pl.read_parquet(p, glob=False) for p in files[f"{side}_ids"]])
            .rename({"id": f"{side[:-1]}_id"})
            .with_row_index(side)
            for side in ("images", "texts")
        }
        self.dim = self._shards["texts"].dim

    def pairs(self, qrels: Path, split: str) -> JudgedRows:
        """Return the relevant pairs of a split, by image, then text."""
        conditions = pl.col("split") == split, pl.col("relevance") > 0
        judged = (
            pl.scan_parquet(qrels, glob=False)
            .filter(*conditions)
            .select("image_id", "text_id")
            .collect()
        )
        for side in ("images", "texts"):
            judged = judged.join(self._ids[side], on=f"{side[:-1]}_id")
        both = judged.sort("image_id", "text_id")
        return JudgedRows(*(both[side].cast(pl.Int64).to_numpy() for side in ("images", "texts")))

    def queries(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of images and of the questions on them, each [rows, dim]."""
        return self._take("images", rows), self._take("questions", rows)

    def texts(self, rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of texts and of their pictures, each [rows, dim]."""
        return self._take("texts", rows), self._take("pictures", rows)

    def _take(self, side: str, rows: Rows) -> torch.Tensor:
        return torch.from_numpy(self._shards[side].take(rows))


def sample(pairs: JudgedRows, most: int = _SAMPLED_PAIRS) -> JudgedRows:
    """Return at most `most` pairs, evenly spaced."""
    places = np.linspace(0, len(pairs) - 1, min(most, len(pairs)))
    return pairs.some(np.unique(places.astype(np.int64)))


FloatArray = npt.NDArray[np.float32]
KINDS = ("clip2clip", "clip_fusion")
# The order of the four weights: query's part, then the text's.
FOUR = ("image picture", "image words", "question picture", "question words")
_HOTTEST = 100.0
# Weights at the start of CLIP2CLIP are multiples of a tenth.
_PARTS = 10
# Transformers of CLIP Fusion have the layers of the paper's, and heads as wide as its (11.1), or a
# little wider where such do not divide a vector.
_LAYERS = 2
_HEAD_WIDTH = 64


class Mix(Protocol):
    """What is learned: both sides as rows whose inner product is the score."""

    logit_scale: nn.Parameter

    def queries(self, images: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        """Return rows for images and the questions on them, both [n, dim]."""
        ...

    def texts(self, words: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        """Return rows for the words of texts and their pictures, both [n, dim]."""
        ...


class FourWays(nn.Module):
    """CLIP2CLIP: the weighted sum of the four similarities, as one inner product of [n, 2 dim]."""

    def __init__(self, weights: list[float]) -> None:
        """Start from four weights in the order of FOUR, and CLIP's temperature, 0.07."""
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(weights, dtype=torch.float32))
        self.logit_scale = nn.Parameter(torch.tensor(1 / 0.07).log())

    def queries(self, images: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        """Return rows [n, 2 dim]."""
        return self.weigh(self.weights, images, questions)

    @staticmethod
    def weigh(w: torch.Tensor, images: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        """Return rows [n, 2 dim] for weights [4] in the order of FOUR."""
        of_pictures, of_words = w[0] * images + w[2] * questions, w[1] * images + w[3] * questions
        return torch.cat([of_pictures, of_words], dim=-1)

    def texts(self, words: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        """Return rows [n, 2 dim], which the weights do not change."""
        return torch.cat([pictures, words], dim=-1)


# ASSUME the grid is of tenths: appendix 11.2 tells that there was one, and neither step nor range.
def best_weights(four: Sequence[torch.Tensor], answer: torch.Tensor) -> list[float]:
    """Return the weights of `four` similarities [n, m] whose sum puts most answers [n] first.

    They are tenths that add up to 1; the first of equals wins.
    """
    grid = [w for w in product(range(_PARTS, -1, -1), repeat=4) if sum(w) == _PARTS]

    def count_right(weights: Sequence[int]) -> int:
        summed = torch.stack([w * s for w, s in zip(weights, four, strict=True)]).sum(dim=0)
        return int((summed.argmax(dim=1) == answer).sum())

    rights = [count_right(weights) for weights in grid]
    best = max(range(len(grid)), key=rights.__getitem__)
    start = [n / _PARTS for n in grid[best]]
    log.info("weights %s: %d of %d pairs", start, rights[best], len(answer))
    return start


class Fuser(nn.Module):
    """A transformer over two tokens, what is seen and what is read, to one unit row."""

    def __init__(self, dim: int, layers: int, heads: int) -> None:
        """Start from random weights; `heads` divide the components `dim`."""
        super().__init__()
        self.kinds = nn.Parameter(0.02 * torch.randn(2, dim))
        layer = nn.TransformerEncoderLayer(
            dim, heads, 4 * dim, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, picture: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Return [n, dim] for two tokens [n, dim] each."""
        tokens = torch.stack([picture, words], dim=1) + self.kinds
        return nn.functional.normalize(self.layers(tokens).mean(dim=1), dim=-1)


class FusionNetwork(nn.Module):
    """CLIP Fusion: a transformer of its own on either side."""

    def __init__(self, dim: int, heads: int) -> None:
        """Start from random weights and CLIP's temperature, 0.07."""
        super().__init__()
        self.asking, self.answering = Fuser(dim, _LAYERS, heads), Fuser(dim, _LAYERS, heads)
        self.logit_scale = nn.Parameter(torch.tensor(1 / 0.07).log())

    def queries(self, images: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        """Return unit rows [n, dim]."""
        return self.asking(images, questions)

    def texts(self, words: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        """Return unit rows [n, dim]."""
        return self.answering(pictures, words)


def scale(mix: Mix) -> torch.Tensor:
    """Return what similarities are multiplied by, at most 100 as in CLIP."""
    return mix.logit_scale.exp().clamp(max=_HOTTEST)


def load_mix(weights: Path) -> Mix:
    """Read what `isotope.train.frozen` wrote.

    Raises:
        MissingFile: no such file.
        CorruptFile, UnknownModel: weights of something else.
    """
    if not weights.is_file():
        raise MissingFile(weights, "no learned mix", "run the phase encode")
    try:
        with safe_open(weights, framework="np") as file:
            notes: dict[str, Any] = json.loads((file.metadata() or {})["isotope"])
        mix = create(notes["kind"], notes)
        mix.load_state_dict(load_file(weights))
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise CorruptFile(weights, f"not a mix ({str(error)[:200]})", "learn it again") from error
    return mix.eval()


def create(kind: str, notes: dict[str, Any]) -> FourWays | FusionNetwork:
    """Create a mix of a kind; `notes` has dim, and heads where they are not `heads_of` it.

    Raises:
        UnknownModel: another kind.
    """
    if kind == "clip2clip":
        return FourWays(notes.get("weights", [0.25] * 4))
    if kind == "clip_fusion":
        return FusionNetwork(notes["dim"], notes.get("heads") or heads_of(notes["dim"]))
    raise UnknownModel("models", f"kind {kind!r}", f"use one of {', '.join(KINDS)}")


def heads_of(dim: int) -> int:
    """Return the heads of a transformer over vectors of some components, which they divide."""
    most = max(dim // _HEAD_WIDTH, 1)
    return next(heads for heads in range(most, 0, -1) if dim % heads == 0)
