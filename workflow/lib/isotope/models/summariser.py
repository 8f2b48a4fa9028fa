"""Abstractive summaries by a sequence-to-sequence model of transformers: T5, Pegasus and the like.

Raffel et al., T5, JMLR 2020; Zhang et al., PEGASUS, ICML 2020.
"""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from isotope.models.device import Device
from isotope.models.transformers import fetching, whole

_PREFIXES = {"t5": "summarize: ", "mt5": "summarize: "}
_TOKENS, _BEAMS, _CONTEXT = 64, 4, 512


class Summarizer:
    """A model in evaluation mode, searched by beams: the same texts give the same summaries."""

    def __init__(self, spec: Mapping[str, Any], device: str = "auto") -> None:
        """Load `spec["name"]`, a local folder or a hub's id, at `revision`; safetensors only.

        `prefix` is what the model was taught to be asked with (T5's if it is one), `tokens` the
        most of a summary, `beams` the width of the search.

        Raises:
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        name = str(spec["name"])
        options = {"revision": spec.get("revision") or "main", "trust_remote_code": False}
        with fetching(name):
            config: Any = AutoConfig.from_pretrained(name, **options)
            model = whole(name, AutoModelForSeq2SeqLM, options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
        self._device = Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        self._prefix = spec.get("prefix", _PREFIXES.get(str(config.model_type), ""))
        self._search = {
            "max_new_tokens": spec.get("tokens", _TOKENS),
            "num_beams": spec.get("beams", _BEAMS),
            "do_sample": False,
        }

    def summarise(self, texts: list[str]) -> list[str]:
        """Return a summary of each text; what exceeds 512 tokens is cut."""
        given: Any = self._tokenizer(
            [self._prefix + text for text in texts],
            padding=True,
            truncation=True,
            max_length=_CONTEXT,
            return_tensors="pt",
        )
        batch = {k: given[k].to(self._device.torch) for k in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            found = self._model.generate(**batch, **self._search)
        said = self._tokenizer.batch_decode(found.cpu(), skip_special_tokens=True)
        return [" ".join(text.split()) for text in said]
