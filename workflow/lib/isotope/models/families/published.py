"""Sizes of checkpoints, for plans and estimates before anything is loaded.

Of a checkpoint in a folder the heads of its safetensors are read. Of the published ones in the
table, numbers of parameters and of components are as `mteb` 2.x lists them from the checkpoints'
own files (https://github.com/embeddings-benchmark/mteb, mteb/models/model_implementations).
"""

import json
from pathlib import Path
from typing import NamedTuple

from isotope.core.errors import CorruptFile
from isotope.models import weights
from isotope.params.sections import ModelKind


class Published(NamedTuple):
    """A checkpoint of a hub: the model_type of its config.json, its parameters, its vectors."""

    model_type: str
    parameters: int
    dim: int


PUBLISHED = {
    "google/siglip2-base-patch16-224": Published("siglip", 375_187_970, 768),
    "google/siglip2-large-patch16-384": Published("siglip", 881_854_466, 1_024),
    "google/siglip2-so400m-patch14-384": Published("siglip", 1_136_008_498, 1_152),
    "google/siglip2-so400m-patch16-384": Published("siglip", 1_136_039_602, 1_152),
    "google/siglip2-so400m-patch16-512": Published("siglip", 1_136_555_698, 1_152),
    "google/siglip2-giant-opt-patch16-384": Published("siglip", 1_871_885_426, 1_536),
    "jinaai/jina-clip-v2": Published("jina_clip", 865_278_477, 1_024),
    "Qwen/Qwen3-VL-Embedding-2B": Published("qwen3_vl", 2_127_532_032, 2_048),
    "Qwen/Qwen3-VL-Embedding-8B": Published("qwen3_vl", 8_144_793_840, 4_096),
    "Alibaba-NLP/gme-Qwen2-VL-2B-Instruct": Published("qwen2_vl", 2_208_985_600, 1_536),
    "Alibaba-NLP/gme-Qwen2-VL-7B-Instruct": Published("qwen2_vl", 7_746_378_240, 3_584),
    "Qwen/Qwen3-Embedding-0.6B": Published("qwen3", 595_776_512, 1_024),
    "Qwen/Qwen3-Embedding-4B": Published("qwen3", 4_021_774_336, 2_560),
    "Qwen/Qwen3-Embedding-8B": Published("qwen3", 7_567_295_488, 4_096),
    # Vectors of the contrastive projections: `image_text_hidden_size` of their config.json.
    "Salesforce/blip-itm-base-coco": Published("blip", 223_744_258, 256),
    "Salesforce/blip-itm-large-coco": Published("blip", 446_128_642, 256),
}


# Bytes of a parameter in main memory: weights are float32, or bf16 on a GPU, which is half.
_BYTES = 4
# Families of which weights and model are in memory at once while it is loaded.
_TWICE = frozenset({"jina_clip"})
# Keys of config.json with the components of a vector, in the order in which they count.
_WIDTHS = ("image_text_hidden_size", "projection_dim", "projection_size", "hidden_size")


def published(model: ModelKind) -> Published | None:
    """Return the sizes of the checkpoint of an entry of kind `transformers`; None if unknown."""
    if model.kind_name() != "transformers":
        return None
    name = str(getattr(model, "name", ""))
    return in_folder(Path(name)) if Path(name).is_dir() else PUBLISHED.get(name)


def in_folder(folder: Path) -> Published | None:
    """Return the sizes of a checkpoint in a folder, by config.json and the heads of its weights.

    None where they are not there or can't be read: loading says why.
    """
    files = sorted(folder.glob("*.safetensors"))
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        parameters = sum(map(weights.count, files))
        parts = [config, config.get("text_config") or {}]
        width = next(int(part[key]) for key in _WIDTHS for part in parts if part.get(key))
    except (OSError, ValueError, StopIteration, AttributeError, CorruptFile):
        return None
    return Published(str(config.get("model_type")), parameters, width) if files else None


def memory_mb(model: ModelKind) -> float:
    """Return the megabytes of main memory that the weights of an entry take; 0 if unknown."""
    entry = published(model)
    if entry is None:
        return 0.0
    copies = 2 if entry.model_type in _TWICE else 1
    return copies * _BYTES * entry.parameters / 1e6
