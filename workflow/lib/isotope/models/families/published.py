"""Sizes of published checkpoints, for plans and estimates before anything is fetched.

Numbers of parameters and of components as `mteb` 2.x lists them from the checkpoints' own files
(https://github.com/embeddings-benchmark/mteb, mteb/models/model_implementations). Of a checkpoint
that lies in a folder the files are measured instead.
"""

from typing import NamedTuple


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
