"""Learned sparse models: a weight for each word of a vocabulary, by a masked language model.

SPLADE (Formal et al., SPLADE v2, arXiv 2109.10086, section 3.2): the weight of a word is the
largest log(1 + relu(logit)) over the positions of a text; the first SPLADE (SIGIR 2021) added them
up. A SparseEncoder of sentence-transformers says which. There a query may be read without
inference: by a static weight of each of its tokens (Geng et al., arXiv 2411.04403, section 3.2).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM, AutoTokenizer
from transformers.utils.hub import cached_file

from isotope.core.errors import CorruptFile, IntegrityError, UnknownModel
from isotope.core.vectors import SCALE, FloatArray
from isotope.intake.texts import document
from isotope.models.transformers import Device, all_weights, fetching, lengths, tokenized

# Logits of so many positions are computed at once: 0.5 GB for 30,522 words.
_POSITIONS = 4_096
# Most tokens of a text, as SPLADE was trained.
_TOKENS = 256
_TRANSFORMERS = frozenset({"Transformer", "MLMTransformer"})
_STATIC, _POOLING, _ROUTER = "SparseStaticEmbedding", "SpladePooling", "Router"
_MAY_LACK: dict[str, Any] = {"_raise_exceptions_for_missing_entries": False}

Impacts = list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]


class _Pooling(NamedTuple):
    """How logits become weights: `max` or `sum` over positions, of one logarithm or two."""

    strategy: str = "max"
    activation: str = "relu"


class SparseEncoder:
    """A model in evaluation mode; `terms` are the words of its vocabulary, by their numbers."""

    def __init__(
        self, name: str, revision: str | None, tokens: int = _TOKENS, device: str = "auto"
    ) -> None:
        """Load `name`, a local folder or a hub's id, at `revision`; safetensors only.

        A text is cut after `tokens`, or at the model's limit.

        Raises:
            UnknownModel: modules other than a transformer with SPLADE's pooling and static weights.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        options: dict[str, Any] = {"revision": revision or "main", "trust_remote_code": False}
        with fetching(name):
            form = _Form(name, options["revision"])
            options["subfolder"] = form.transformer
            model = all_weights(name, AutoModelForMaskedLM, options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
            self._static = form.static_weights()
        self._pooling, self._device = form.pooling, Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        limit = int(getattr(model.config, "max_position_embeddings", tokens))
        self._context = min(tokens, limit, int(self._tokenizer.model_max_length))
        self.terms = _terms(self._tokenizer, int(model.config.vocab_size))

    @property
    def has_queries(self) -> bool:
        """Whether a text is read otherwise as a query than as a document."""
        return self._static is not None

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to; texts of one shape may share a batch."""
        return lengths(self._tokenizer, texts, self._context)

    def batch(self, shape: int, most: int) -> int:
        """Return how many texts of a shape are encoded together: at most so many."""
        return max(1, min(most, _POSITIONS // shape))

    def documents(self, texts: list[str]) -> Impacts:
        """Return terms and impacts of each text, as of a document."""
        weights = self.weights(texts)
        bad = np.flatnonzero(~np.isfinite(weights).all(axis=1))
        if len(bad):
            problem = f"{len(bad)} of {len(texts)} texts have weights that are NaN or infinite"
            where = f"the text {texts[bad[0]][:80]!r}"
            raise IntegrityError(where, problem, "look at the text and the model")
        return [impacts(row) for row in weights]

    def queries(self, texts: list[str]) -> Impacts:
        """Return the same of a query: the static weights of its tokens, where the model has them.

        Special tokens are none of a query's.
        """
        if self._static is None:
            return self.documents(texts)
        impacts_of_texts: Impacts = []
        read: Any = self._tokenizer(
            texts, truncation=True, max_length=self._context, add_special_tokens=False
        )
        for ids in read["input_ids"]:
            row = np.zeros_like(self._static)
            row[ids] = self._static[ids]
            impacts_of_texts.append(impacts(row))
        return impacts_of_texts

    def weights(self, texts: list[str]) -> FloatArray:
        """Return the weights of texts, float32 [n, words], not negative."""
        tokens = tokenized(self._tokenizer, texts, self._context)
        batch = {key: value.to(self._device.torch) for key, value in tokens.items()}
        return self._device.rows(lambda: self._pooled(batch)).numpy()

    def _pooled(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        logits = self._model(**batch).logits.float() * batch["attention_mask"].unsqueeze(-1)
        weights = logits.relu_().log1p_()
        if self._pooling.activation == "log1p_relu":
            weights = weights.log1p_()
        return weights.amax(dim=1) if self._pooling.strategy == "max" else weights.sum(dim=1)


def impacts(weights: FloatArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the terms of a row of weights that have an impact, and the impacts.

    An impact is 100 times the weight, rounded; a weight of at most 0.005 has none.
    """
    rounded = np.rint(weights.astype(np.float64) * SCALE).astype(np.int32)
    terms = np.flatnonzero(rounded > 0)
    return terms, rounded[terms]


def _terms(tokenizer: Any, size: int) -> list[str]:  # noqa: ANN401
    """Return the word of each number; one without a word is named by its number."""
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))[:size]
    return [*words, *(f"<{n}>" for n in range(len(words), size))]


class _Form:
    """Where in a folder, or in a hub's, the parts of a model are.

    Of a folder without `modules.json` all is the transformer.
    """

    def __init__(self, name: str, revision: str) -> None:
        self._name, self._revision = name, revision
        self.transformer, self.pooling, self._static = "", _Pooling(), ""
        for kind, path in self._modules():
            self._take(kind, path)

    def _modules(self) -> Iterator[tuple[str, str]]:
        """Yield kind and folder of each module; of a router's as well."""
        if not self._path("modules.json", needed=False):
            return
        for module in self._json("modules.json"):
            kind, path = str(module["type"]).rpartition(".")[2], str(module["path"])
            if kind != _ROUTER:
                yield kind, path
                continue
            routes = self._json(str(Path(path) / "router_config.json"))
            for part, kind_name in routes["types"].items():
                yield str(kind_name).rpartition(".")[2], str(Path(path) / part)

    def _take(self, kind: str, path: str) -> None:
        if kind in _TRANSFORMERS:
            self.transformer = "" if path == "." else path
        elif kind == _POOLING:
            config = self._json(str(Path(path) / "config.json"))
            strategy = str(config.get("pooling_strategy", "max"))
            self.pooling = _Pooling(strategy, str(config.get("activation_function", "relu")))
        elif kind == _STATIC:
            self._static = path
        else:
            remedy = f"use a checkpoint of a masked language model with {_POOLING}"
            raise UnknownModel(f"models: {self._name}", f"a module of kind {kind!r}", remedy)

    def static_weights(self) -> FloatArray | None:
        """Return the weights of a query's tokens, where it is read without inference.

        Raises:
            CorruptFile: a file without them.
        """
        if not self._static:
            return None
        path = self._path(str(Path(self._static) / "model.safetensors"))
        state = load_file(str(path))
        if "weight" not in state:
            raise CorruptFile(f"models: {path}", "no tensor 'weight'", "fetch it again")
        return cast(FloatArray, state["weight"].float().numpy())

    def _json(self, file: str) -> Any:  # noqa: ANN401
        return document(Path(str(self._path(file))))

    def _path(self, file: str, *, needed: bool = True) -> str | None:
        options = {} if needed else _MAY_LACK
        return cached_file(self._name, file, revision=self._revision, **options)


def grouped(shapes: Sequence[int]) -> dict[int, list[int]]:
    """Return the places of each shape, in their order."""
    groups: dict[int, list[int]] = {}
    for n, shape in enumerate(shapes):
        groups.setdefault(shape, []).append(n)
    return groups
