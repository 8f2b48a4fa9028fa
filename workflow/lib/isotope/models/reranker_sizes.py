"""How many weights rerankers have, as far as it is known before they are fetched."""

from pathlib import Path

from isotope.models.weights import count

# Weights as the model cards state them; of a folder on this disk the files tell.
_PUBLISHED = {
    "cross-encoder/ms-marco-minilm-l6-v2": 22_700_000,
    "baai/bge-reranker-v2-m3": 568_000_000,
    "qwen/qwen3-reranker-0.6b": 596_000_000,
    "qwen/qwen3-reranker-4b": 4_020_000_000,
    "qwen/qwen3-reranker-8b": 8_190_000_000,
    "qwen/qwen3-vl-reranker-2b": 2_130_000_000,
    "qwen/qwen3-vl-reranker-8b": 8_770_000_000,
    "jinaai/jina-reranker-m0": 2_440_000_000,
}
# ASSUME a reranker that is neither on this disk nor in the list has 600 million weights, as
# bge-reranker-v2-m3 has; no measurement says.
_USUAL = 600_000_000


def weights(name: str) -> int:
    """Return how many weights a checkpoint has: by its files, by its model card, or assumed.

    Raises:
        CorruptFile: a file of safetensors without a head.
    """
    files = sorted(Path(name).glob("*.safetensors"))
    if files:
        return sum(map(count, files))
    return _PUBLISHED.get(name.lower(), _USUAL)
