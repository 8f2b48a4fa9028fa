"""Late-interaction models: vectors of the tokens of a text and of the patches of a picture.

ColPali (Faysse et al., ICLR 2025, section 4), ColQwen2 and ColModernVBert are those of
transformers, told apart by `model_type`. They read a text as a query; the positions of padding have
no vector. ColBERTs (Khattab and Zaharia, SIGIR 2020) are checkpoints of sentence-transformers'
MultiVectorEncoder or of PyLate: they read texts alone, as a query otherwise than as a document.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
import transformers
from PIL import Image
from safetensors import safe_open
from sentence_transformers import MultiVectorEncoder
from transformers.utils.hub import cached_file

from isotope.core.errors import BadParams, CorruptFile, UnknownModel
from isotope.core.vectors import FloatArray
from isotope.intake.texts import document
from isotope.models.kinds.late import LateModel
from isotope.models.transformers import Device, all_weights, fetching, padded

# Of transformers: the class of the model, and that of its processor.
_FAMILIES = {
    "colpali": ("ColPaliForRetrieval", "ColPaliProcessor"),
    "colqwen2": ("ColQwen2ForRetrieval", "ColQwen2Processor"),
    "colmodernvbert": ("ColModernVBertForRetrieval", "ColModernVBertProcessor"),
}
_MODULES = frozenset({"Transformer", "Dense", "Normalize", "MultiVectorMask"})
_MODULES_FILE, _CONFIG_FILE = "modules.json", "config_sentence_transformers.json"
_LONGEST = 1 << 20
# Most tokens of a text for a vision-language model; a ColBERT has lengths of its own.
_TOKENS = 512


class PreparedItem(NamedTuple):
    """A text or a picture as a model reads it; items of one shape may share a batch."""

    inputs: Any
    shape: tuple[int, ...]


class LateEncoder(Protocol):
    """Makes vectors [n, dim] of a text or a picture, float32, each L2-normalised."""

    dim: int
    # Whether a text is read otherwise as a query than as a document.
    has_queries: bool

    def text(self, text: str, *, query: bool = False) -> PreparedItem:
        """Prepare a text; what exceeds the model's limit is cut."""
        ...

    def picture(self, image: Image.Image) -> PreparedItem:
        """Prepare an RGB picture of any size."""
        ...

    def encode(self, items: Sequence[PreparedItem]) -> list[FloatArray]:
        """Return the vectors of each of some items of one shape, at least one of each."""
        ...


def load(model: LateModel, device: str = "auto") -> LateEncoder:
    """Load the model `name`, a folder or a hub's id, at `revision`; safetensors only.

    `tokens` are the most of a text. No code that a checkpoint brings is run.

    Raises:
        UnknownModel: another architecture, or modules other than a ColBERT's.
        CorruptFile: weights that do not load, or that leave a part of the model at random.
        FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        BadParams: pixels for a model that reads texts alone.
    """
    name, revision = model.name, model.revision or "main"
    options = {"revision": revision, "trust_remote_code": False}
    with fetching(name):
        if cached_file(name, _MODULES_FILE, revision=revision, **_MAY_LACK):
            if model.images == "pixels":
                remedy = "set images: captions, or name a model that sees pictures"
                raise BadParams(f"models: {name}", "it reads texts alone", remedy)
            return ColBert(name, revision, device)
        config: Any = transformers.AutoConfig.from_pretrained(name, **options)
        kind = str(config.model_type)
        if kind not in _FAMILIES:
            remedy = f"use one of {', '.join(_FAMILIES)}, or a ColBERT with {_MODULES_FILE}"
            raise UnknownModel(f"models: {name}", f"architecture {kind!r}", remedy)
        return ColVision(name, kind, options, _TOKENS, device)


_MAY_LACK: dict[str, Any] = {"_raise_exceptions_for_missing_entries": False}


class ColVision:
    """A late-interaction model on a vision-language model, in evaluation mode."""

    has_queries = False

    def __init__(
        self, name: str, kind: str, options: dict[str, Any], tokens: int, device: str
    ) -> None:
        """Load a family's model and processor.

        Raises:
            As `load`.
        """
        model, processor = _FAMILIES[kind]
        self._model: Any = all_weights(name, getattr(transformers, model), options)
        # Pillow's resizing, as other kinds of models have it.
        self._processor: Any = getattr(transformers, processor).from_pretrained(
            name, backend="pil", **options
        )
        self._device = Device(device)
        self._model = self._model.eval().to(self._device.torch)
        self._tokens, self.dim = tokens, int(self._model.embedding_dim)

    def text(self, text: str, *, query: bool = False) -> PreparedItem:
        """Prepare a text, padded to a power of two tokens; `query` changes nothing."""
        prepared = _prepared(self._processor.process_queries(text=[self._cut(text)]))
        tokens = prepared.inputs["input_ids"].shape[1]
        return self._padded(prepared.inputs, padded(tokens, _LONGEST) - tokens)

    def _padded(self, inputs: Any, missing: int) -> PreparedItem:  # noqa: ANN401
        """Add tokens of padding, which no other token attends to, on the tokenizer's side."""
        tokenizer = self._processor.tokenizer
        ends = (missing, 0) if tokenizer.padding_side == "left" else (0, missing)
        fill = {"input_ids": int(tokenizer.pad_token_id)}
        return _prepared(
            {n: torch.nn.functional.pad(t, ends, value=fill.get(n, 0)) for n, t in inputs.items()}
        )

    def _cut(self, text: str) -> str:
        """Cut a text behind its last token within the limit."""
        tokens = self._processor.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True
        )["offset_mapping"]
        return text[: tokens[self._tokens - 1][1]] if len(tokens) > self._tokens else text

    def picture(self, image: Image.Image) -> PreparedItem:
        """Prepare a picture, in as many patches as its size makes."""
        return _prepared(self._processor.process_images(images=[image]))

    def encode(self, items: Sequence[PreparedItem]) -> list[FloatArray]:
        """Return the vectors of each item, but for padding."""
        names = items[0].inputs.keys()
        batch = {n: torch.cat([item.inputs[n] for item in items]) for n in names}
        on_device = {name: tensor.to(self._device.torch) for name, tensor in batch.items()}
        vectors = self._device.rows(lambda: self._model(**on_device).embeddings)
        masks = batch["attention_mask"].bool()
        return [
            vectors_of_item[mask].numpy()
            for vectors_of_item, mask in zip(vectors, masks, strict=True)
        ]


def _prepared(inputs: Any) -> PreparedItem:  # noqa: ANN401
    tensors = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    grid = tensors.get("image_grid_thw", torch.empty(0)).flatten().tolist()
    shape = [n for name in sorted(tensors) for n in tensors[name].shape]
    return PreparedItem(tensors, tuple(map(int, [*shape, *grid])))


class ColBert:
    """A ColBERT of sentence-transformers or PyLate, in evaluation mode."""

    has_queries = True

    def __init__(self, name: str, revision: str, device: str) -> None:
        """Load the library's own modules, if there are no others and all are safetensors.

        Raises:
            As `load`.
        """
        _demand_modules(name, revision)
        self._device = Device(device)
        try:
            self._model = MultiVectorEncoder(
                name,
                revision=revision,
                device="cpu",
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )
        except RuntimeError as error:
            problem = f"weights that do not load ({str(error)[:200]})"
            raise CorruptFile(f"models: {name}", problem, "fetch them again") from error
        _demand_weights(name, revision, self._model[0].state_dict())
        self._model.to(self._device.torch)
        self.dim = int(self._model.get_embedding_dimension() or 0)

    def text(self, text: str, *, query: bool = False) -> PreparedItem:
        """Prepare a text as a query or as a document: its own length is its shape."""
        task = "query" if query else "document"
        prompt = self._model.prompts.get(task)
        tokens = self._model.preprocess([text], prompt=prompt, task=task)["input_ids"]
        return PreparedItem(text, (int(query), int(tokens.shape[1])))

    def picture(self, image: Image.Image) -> PreparedItem:
        """Refuse a picture.

        Raises:
            BadParams: always.
        """
        raise BadParams("models", "a ColBERT reads texts alone", "set images: captions")

    def encode(self, items: Sequence[PreparedItem]) -> list[FloatArray]:
        """Return the vectors of each item; one of zeros where all tokens are passed over."""
        texts = [item.inputs for item in items]
        encode_side = self._model.encode_query if items[0].shape[0] else self._model.encode_document
        with self._device.computing():
            vectors = encode_side(texts, batch_size=len(texts), convert_to_numpy=False)
        on_cpu = [vectors_of_item.float().cpu() for vectors_of_item in vectors]
        return [
            (vectors_of_item if len(vectors_of_item) else torch.zeros(1, self.dim)).numpy()
            for vectors_of_item in on_cpu
        ]


def _demand_modules(name: str, revision: str) -> None:
    """Refuse modules that are not a ColBERT's, and weights that are no safetensors.

    Raises:
        UnknownModel: such a module, or a model that was not trained for late interaction.
        FetchFailed: a dense layer without safetensors.
    """
    listed = _json(name, _MODULES_FILE, revision)
    kinds = {str(module["type"]).rpartition(".")[2] for module in listed}
    trained = _json(name, _CONFIG_FILE, revision).get("model_type")
    if kinds - _MODULES or trained not in ("MultiVectorEncoder", "ColBERT"):
        problem = f"a {trained} of {', '.join(sorted(kinds))}"
        remedy = "use a checkpoint of MultiVectorEncoder or of PyLate"
        raise UnknownModel(f"models: {name}", problem, remedy)
    for module in listed:
        if str(module["type"]).endswith(".Dense"):
            cached_file(name, f"{module['path']}/model.safetensors", revision=revision)


def _demand_weights(name: str, revision: str, state: Mapping[str, Any]) -> None:
    """Refuse a backbone of which a part would stay at random; no vector depends on its pooler.

    Raises:
        CorruptFile: weights that lack a part.
    """
    path = cached_file(name, "model.safetensors", revision=revision)
    with safe_open(str(path), "pt") as file:
        stored = tuple(file.keys())
    inner = (key.removeprefix("model.").removeprefix("auto_model.") for key in state)
    missing = [key for key in inner if ".pooler." not in f".{key}" and not _is_in(stored, key)]
    if missing:
        problem = f"{len(missing)} weights missing, {missing[0]} first"
        raise CorruptFile(f"models: {name}", problem, "use a whole checkpoint")


def _is_in(stored: Sequence[str], key: str) -> bool:
    return any(name == key or name.endswith(f".{key}") for name in stored)


def _json(name: str, file: str, revision: str) -> Any:  # noqa: ANN401
    path = cached_file(name, file, revision=revision)
    return document(Path(str(path)))
