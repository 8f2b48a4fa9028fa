"""Models of the transformers library: where they compute, how texts are padded, how weights load.

A matrix product is summed in an order that follows from its shape. Padded to the longest of a batch
a text would have another vector, in the last bits, in another batch; so lengths are powers of two.

Abstractive summaries (`Summarizer`) are those of a sequence-to-sequence model, T5, Pegasus and the
like: Raffel et al., T5, JMLR 2020; Zhang et al., PEGASUS, ICML 2020.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils import logging

from isotope.core.errors import CorruptFile, FetchFailed
from isotope.params.summary import Summaries

# Its progress bars would fill the log.
logging.disable_progress_bar()
FloatArray = npt.NDArray[np.float32]
_SHORTEST = 16


class Device:
    """A device of torch's: `auto` is the GPU when there is one, in bf16."""

    def __init__(self, name: str = "auto") -> None:
        """Choose a device by torch's name, or `auto`."""
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        self.torch = torch.device(automatic if name == "auto" else name)
        self._half = self.torch.type == "cuda" and torch.cuda.is_bf16_supported()

    @contextmanager
    def computing(self) -> Generator[None]:
        """Compute without gradients until the end, in bf16 on a GPU that supports it."""
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self._half):
            yield

    def rows(self, compute: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Return what `compute` gives without gradients, as float32 in main memory."""
        with self.computing():
            return compute().float().cpu()

    def unit_rows(self, compute: Callable[[], torch.Tensor]) -> FloatArray:
        """Return the same with every row L2-normalised, as an array."""
        return torch.nn.functional.normalize(self.rows(compute), dim=-1).numpy()


def padded(tokens: int, context: int) -> int:
    """Return the length to which a text of so many tokens is padded: a power of two, or `context`.

    At least 16.
    """
    return min(max(_SHORTEST, 1 << (tokens - 1).bit_length()), context)


def lengths(tokenizer: Any, texts: Sequence[str], context: int) -> list[int]:  # noqa: ANN401
    """Return the padded length of each text under a tokenizer of transformers."""
    if not texts:
        return []
    ids = tokenizer(list(texts), truncation=True, max_length=context)["input_ids"]
    return [padded(len(row), context) for row in ids]


def tokenized(tokenizer: Any, texts: Sequence[str], context: int) -> Any:  # noqa: ANN401
    """Return the tokens of texts by a tokenizer of transformers, padded as the longest of them."""
    tokens = tokenizer(list(texts), truncation=True, max_length=context)
    most = max(padded(len(row), context) for row in tokens["input_ids"])
    return tokenizer.pad(tokens, padding="max_length", max_length=most, return_tensors="pt")


def all_weights(name: str, model: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Load the weights of a class of transformers, all of them.

    Raises:
        CorruptFile: weights that do not load, or that leave a part of the model at random.
    """
    try:
        loaded, report = model.from_pretrained(
            name, use_safetensors=True, output_loading_info=True, dtype=torch.float32, **options
        )
    except (SafetensorError, RuntimeError) as error:
        problem = f"weights that do not load ({str(error)[:200]})"
        raise CorruptFile(f"models: {name}", problem, "fetch them again") from error
    return complete(name, loaded, report)


def complete(name: str, model: Any, report: Mapping[str, Any], unused: str = "never") -> Any:  # noqa: ANN401
    """Return a model if transformers' report of its loading misses no weight but below `unused`.

    Raises:
        CorruptFile: weights that leave a part of the model at random.
    """
    missing = sorted(k for k in report["missing_keys"] if not k.startswith(f"{unused}."))
    if missing:
        problem = f"{len(missing)} weights missing, {missing[0]} first"
        remedy = f"use a checkpoint of the whole {type(model).__name__}"
        raise CorruptFile(f"models: {name}", problem, remedy)
    return model


@contextmanager
def fetching(name: str) -> Generator[None]:
    """Say what to do when the hub is out of reach, or a folder lacks a file.

    Raises:
        FetchFailed: transformers could not load what it needs.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        remedy = "check the network, or set `name` to a folder with config, tokenizer, preprocessor"
        problem = f"not loaded ({str(error)[:300]})"
        raise FetchFailed(f"models: {name}", problem, f"{remedy} and .safetensors") from error


_PREFIXES = {"t5": "summarize: ", "mt5": "summarize: "}
# ASSUME a summary of at most 64 tokens, and 4 beams: the paper that has summaries says neither. T5
# was trained on texts of 512 tokens, at which a longer one is cut.
TOKENS, BEAMS, _CONTEXT = 64, 4, 512


class Summarizer:
    """A model in evaluation mode, searched by beams: the same texts give the same summaries."""

    def __init__(self, spec: Summaries, device: str = "auto") -> None:
        """Load `spec.name`, a local folder or a hub's id, at `revision`; safetensors only.

        `prefix` stands before each text, T5's own for a T5.

        Raises:
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        name = str(spec.name)
        options = {"revision": spec.revision or "main", "trust_remote_code": False}
        with fetching(name):
            config: Any = AutoConfig.from_pretrained(name, **options)
            model = all_weights(name, AutoModelForSeq2SeqLM, options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
        self._device = Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        usual = _PREFIXES.get(str(config.model_type), "")
        self._prefix = usual if spec.prefix is None else spec.prefix
        self._search = {
            "max_new_tokens": TOKENS,
            "num_beams": BEAMS,
            "do_sample": False,
        }

    def summarise(self, texts: list[str]) -> list[str]:
        """Return a summary of each text; what exceeds 512 tokens is cut."""
        tokens: Any = self._tokenizer(
            [self._prefix + text for text in texts],
            padding=True,
            truncation=True,
            max_length=_CONTEXT,
            return_tensors="pt",
        )
        batch = {k: tokens[k].to(self._device.torch) for k in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            ids = self._model.generate(**batch, **self._search)
        summaries = self._tokenizer.batch_decode(ids.cpu(), skip_special_tokens=True)
        return [" ".join(summary.split()) for summary in summaries]
