"""Sentence encoders: checkpoints of the sentence-transformers library, from a folder or a hub.

`modules.json` lists the modules in order (https://sbert.net/docs/sentence_transformer/usage/
custom_models.html): a transformer, a pooling of its states, then dense layers and normalisation.
Built here from transformers and safetensors alone, so that no pickle and no module of the
checkpoint's own is ever loaded.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel, AutoTokenizer, MT5EncoderModel, T5EncoderModel
from transformers.utils.hub import cached_file

from isotope.core.errors import BadParams, CorruptFile, UnknownModel
from isotope.models.device import Device, lengths, tokenized
from isotope.models.transformers import fetching, whole

_Pooling = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def _first(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states[torch.arange(len(states)), mask[..., 0].argmax(dim=1)]


def _largest(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states.masked_fill(mask == 0, -torch.inf).amax(dim=1)


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(dim=1) / mask.sum(dim=1)


def _rooted(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(dim=1) / mask.sum(dim=1).sqrt()


_POOLINGS: Mapping[str, _Pooling] = {
    "cls": _first,
    "max": _largest,
    "mean": _mean,
    "mean_sqrt_len_tokens": _rooted,
}


def pooling_modes(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the poolings that a checkpoint's config asks for; their vectors are concatenated.

    Raises:
        UnknownModel: one that is not supported, or none.
    """
    told = config.get("pooling_mode") or [m for key, m in _LEGACY.items() if config.get(key)]
    modes = (told,) if isinstance(told, str) else tuple(told)
    if not modes or set(modes) - set(_POOLINGS):
        found = f"pooling {', '.join(modes) or 'of no kind'}"
        raise UnknownModel(f"models: {name}", found, f"use one of {', '.join(_POOLINGS)}")
    return modes


def pooled(states: torch.Tensor, mask: torch.Tensor, modes: Sequence[str]) -> torch.Tensor:
    """Return one row a text, [n, dim * modes], of states [n, tokens, dim] where the mask is 1."""
    chosen = mask.unsqueeze(-1).to(states.dtype)
    return torch.cat([_POOLINGS[mode](states, chosen) for mode in modes], dim=-1)


FloatArray = npt.NDArray[np.float32]
Stage = Callable[[torch.Tensor], torch.Tensor]
_ENCODERS: Mapping[str, Any] = {"t5": T5EncoderModel, "mt5": MT5EncoderModel}
_ACTIVATIONS: Mapping[str, Stage] = {
    "Identity": torch.nn.Identity(),
    "Tanh": torch.tanh,
    "ReLU": torch.relu,
    "GELU": torch.nn.functional.gelu,
}


class SentenceEncoder:
    """A text tower in evaluation mode; images have vectors by their captions or another model."""

    def __init__(self, name: str, revision: str | None = None, device: str = "auto") -> None:
        """Load `name`, a local folder or a hub's id, at `revision`; safetensors only.

        Raises:
            UnknownModel: a module, pooling or activation that is not supported.
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        self._name, self._hub = name, {"revision": revision or "main"}
        self._device = Device(device)
        with fetching(name):
            first, *others = self._json("", "modules.json")
            if _kind(first) != "Transformer":
                self._refuse(f"a first module of kind {_kind(first)!r}")
            self.dim = self._read_transformer(str(first["path"]))
            self._stages = [self._stage(each) for each in others]

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return self._device.unit_rows(lambda: self._states(texts))

    def encode_sentences(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim] as the checkpoint's modules leave them, of any length."""
        return self._device.rows(lambda: self._states(texts)).numpy()

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return lengths(self._tokenizer, self._asked(texts), self._context)

    def _asked(self, texts: list[str]) -> list[str]:
        asked = [self._prompt + text for text in texts]
        return [text.lower() for text in asked] if self._lower else asked

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Refuse: a sentence encoder has no eyes.

        Raises:
            BadParams: always.
        """
        remedy = "give the model `images: captions`, or `images_of` a model with a vision tower"
        raise BadParams(f"models: {self._name}", "a text tower that was shown pictures", remedy)

    def _states(self, texts: list[str]) -> torch.Tensor:
        given = tokenized(self._tokenizer, self._asked(texts), self._context)
        batch = {k: v.to(self._device.torch) for k, v in given.items() if k in self._inputs}
        states = self._model(**batch).last_hidden_state
        rows = pooled(states, batch["attention_mask"], self._modes)
        for stage in self._stages:
            rows = stage(rows)
        return rows

    def _read_transformer(self, path: str) -> int:
        options = {**self._hub, "subfolder": path, "trust_remote_code": False}
        config: Any = AutoConfig.from_pretrained(self._name, **options)
        model = _ENCODERS.get(str(config.model_type), AutoModel)
        self._model: Any = whole(self._name, model, options, unused="pooler")
        self._model.eval().to(self._device.torch)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(self._name, **options)
        told = self._json(path, "sentence_bert_config.json", default={})
        most = getattr(config, "max_position_embeddings", self._tokenizer.model_max_length)
        limit = min(most, self._tokenizer.model_max_length)
        self._context = int(told.get("max_seq_length") or limit)
        self._lower = bool(told.get("do_lower_case"))
        self._prompt = _prompt(self._json("", "config_sentence_transformers.json", default={}))
        self._inputs = {"input_ids", "attention_mask", "token_type_ids"}
        self._modes = ("mean",)
        return int(config.hidden_size)

    def _stage(self, module: Mapping[str, Any]) -> Stage:
        kind, path = _kind(module), str(module["path"])
        if kind == "Pooling":
            self._modes = pooling_modes(self._name, self._json(path, "config.json"))
            self.dim *= len(self._modes)
        elif kind == "Dense":
            return self._dense(path)
        elif kind == "Normalize":
            return torch.nn.functional.normalize
        elif kind != "Dropout":
            self._refuse(f"a module of kind {kind!r}")
        return _ACTIVATIONS["Identity"]

    def _dense(self, path: str) -> Stage:
        config = self._json(path, "config.json")
        name = str(config["activation_function"]).rpartition(".")[2]
        if name not in _ACTIVATIONS or config.get("use_residual"):
            self._refuse(f"a dense layer with {name} or a residual")
        layer = torch.nn.Linear(config["in_features"], config["out_features"], config["bias"])
        file = cached_file(self._name, "model.safetensors", subfolder=path, **self._hub)
        try:
            state = load_file(str(file))
            layer.load_state_dict({k.removeprefix("linear."): v for k, v in state.items()})
        except (SafetensorError, RuntimeError) as error:
            found = f"weights that do not load ({str(error)[:200]})"
            raise CorruptFile(f"models: {self._name}/{path}", found, "fetch them again") from error
        layer.to(self._device.torch)
        self.dim = layer.out_features
        return lambda rows: _ACTIVATIONS[name](layer(rows))

    def _json(self, path: str, name: str, default: Any = None) -> Any:  # noqa: ANN401
        needed = default is None
        file = cached_file(
            self._name,
            name,
            subfolder=path,
            _raise_exceptions_for_missing_entries=needed,
            **self._hub,
        )
        return json.loads(Path(file).read_text(encoding="utf-8")) if file else default

    def _refuse(self, found: str) -> NoReturn:
        remedy = "use a checkpoint of a transformer, pooling, dense layers and normalisation"
        raise UnknownModel(f"models: {self._name}", found, remedy)


def _kind(module: Mapping[str, Any]) -> str:
    return str(module["type"]).rpartition(".")[2]


def _prompt(told: Mapping[str, Any]) -> str:
    return str((told.get("prompts") or {}).get(told.get("default_prompt_name"), ""))
