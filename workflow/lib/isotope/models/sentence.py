"""Sentence encoders: checkpoints of the sentence-transformers library, from a folder or a hub.

`modules.json` lists the modules in order (https://sbert.net/docs/sentence_transformer/usage/
custom_models.html). Each is loaded by the library's own class of that kind, so that no class that a
checkpoint names is imported and no pickle is read. Prompt, case and truncation are the library's.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from safetensors import SafetensorError
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Module, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Dropout, Pooling
from transformers.utils.hub import cached_file

from isotope.core.errors import BadParams, CorruptFile, UnknownModel
from isotope.intake.texts import document
from isotope.models.encoders import Encoder
from isotope.models.kinds.sentence import Sentence
from isotope.models.transformers import Device, complete, fetching, lengths

FloatArray = npt.NDArray[np.float32]
_POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens")
# For any other class the library would use Tanh and only log a warning.
_ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU")


def load(model: Sentence, *, weights: Path | None, device: str) -> Encoder:
    """Load the encoder of an entry of kind `sentence`; `weights` are of no use here.

    Raises:
        As `SentenceEncoder`.
    """
    return SentenceEncoder(model.name, model.revision, device)


class SentenceEncoder:
    """A text tower in evaluation mode; images have vectors by their captions or another model."""

    def __init__(self, name: str, revision: str | None = None, device: str = "auto") -> None:
        """Load `name`, a local folder or a hub's id, at `revision`; safetensors only.

        Raises:
            UnknownModel: a module, pooling or activation that is not supported.
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        self._name, self._device = name, Device(device)
        with fetching(name):
            self._model = _Checkpoint(name, revision or "main").load(str(self._device.torch))
        self.dim = int(self._model.get_embedding_dimension() or 0)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return self._device.unit_rows(lambda: self._vectors(texts))

    def encode_sentences(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim] as the checkpoint's modules leave them, of any length."""
        return self._device.rows(lambda: self._vectors(texts)).numpy()

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        model = self._model
        prompt = model.prompts.get(model.default_prompt_name or "") or ""
        prompted = [prompt + text for text in texts]
        return lengths(model.tokenizer, prompted, int(model.max_seq_length or 0))

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Refuse pictures: a sentence encoder has no image encoder.

        Raises:
            BadParams: always.
        """
        remedy = "give the model `images: captions`, or `images_of` a model with a vision tower"
        raise BadParams(f"models: {self._name}", "pictures for a text encoder", remedy)

    def _vectors(self, texts: list[str]) -> torch.Tensor:
        tokens = {"padding": "max_length", "max_length": max(self.shapes(texts))}
        return self._model.encode(
            texts,
            batch_size=len(texts),
            convert_to_tensor=True,
            show_progress_bar=False,
            processing_kwargs={"text": tokens},
        )


class _Backbone(Transformer):
    """The library's transformer, refused if its weights are not all there."""

    def _load_model(self, model_name_or_path: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        options = {**kwargs, "output_loading_info": True}
        loaded: Any = super()._load_model(model_name_or_path, *args, **options)
        model, report = loaded
        return complete(model_name_or_path, model, report, unused="pooler")


class _Checkpoint:
    """The files of a sentence encoder, in a folder or at a revision of a hub."""

    def __init__(self, name: str, revision: str) -> None:
        self._name, self._revision = name, revision

    def load(self, device: str) -> SentenceTransformer:
        """Load all modules; without a pooling among them, tokens are averaged."""
        modules = list(self._modules())
        if not any(isinstance(module, Pooling) for module in modules):
            modules.insert(1, Pooling(modules[0].get_embedding_dimension()))
        config = self._json("", "config_sentence_transformers.json", default={})
        return SentenceTransformer(
            modules=modules,
            device=device,
            prompts=config.get("prompts"),
            default_prompt_name=config.get("default_prompt_name"),
            truncate_dim=config.get("truncate_dim"),
        )

    def _modules(self) -> Iterator[Any]:
        first, *following = self._json("", "modules.json")
        if _kind(first) != "Transformer":
            self._refuse(f"a first module of kind {_kind(first)!r}")
        weights = {"use_safetensors": True, "dtype": torch.float32}
        yield self._module(_Backbone, str(first["path"]), model_kwargs=weights)
        for module in following:
            yield self._stage(_kind(module), str(module["path"]))

    def _stage(self, kind: str, path: str) -> Module:
        if kind == "Pooling":
            return self._pooling(path)
        if kind == "Dense":
            return self._dense(path)
        if kind == "Normalize":
            return Normalize()
        if kind != "Dropout":
            self._refuse(f"a module of kind {kind!r}")
        return Dropout()

    def _pooling(self, path: str) -> Module:
        self._json(path, "config.json")
        pooling = Pooling.load_config(self._name, subfolder=path, revision=self._revision)
        modes = pooling.get("pooling_mode", "mean")
        modes = (modes,) if isinstance(modes, str) else tuple(modes)
        if set(modes) - set(_POOLINGS):
            remedy = f"use one of {', '.join(_POOLINGS)}"
            raise UnknownModel(f"models: {self._name}", f"pooling {', '.join(modes)}", remedy)
        return self._module(Pooling, path)

    def _dense(self, path: str) -> Module:
        package, _, name = str(self._json(path, "config.json")["activation_function"]).rpartition(
            "."
        )
        if not package.startswith("torch.nn") or name not in _ACTIVATIONS:
            self._refuse(f"a dense layer with {name}")
        self._file(path, "model.safetensors")
        return self._module(Dense, path)

    def _module(self, kind: type[Module], path: str, **options: Any) -> Module:  # noqa: ANN401
        where = f"models: {self._name}/{path}".rstrip("/")
        try:
            return kind.load(
                self._name,
                subfolder=path,
                revision=self._revision,
                trust_remote_code=False,
                **options,
            )
        except (SafetensorError, RuntimeError) as error:
            problem = f"weights that do not load ({str(error)[:200]})"
            raise CorruptFile(where, problem, "fetch them again") from error

    def _json(self, path: str, name: str, default: Any = None) -> Any:  # noqa: ANN401
        file = self._file(path, name, needed=default is None)
        return document(Path(file)) if file else default

    def _file(self, path: str, name: str, *, needed: bool = True) -> str | None:
        return cached_file(
            self._name,
            name,
            subfolder=path,
            revision=self._revision,
            _raise_exceptions_for_missing_entries=needed,
        )

    def _refuse(self, problem: str) -> NoReturn:
        remedy = "use a checkpoint of a transformer, pooling, dense layers and normalisation"
        raise UnknownModel(f"models: {self._name}", problem, remedy)


def _kind(module: Mapping[str, Any]) -> str:
    return str(module["type"]).rpartition(".")[2]
