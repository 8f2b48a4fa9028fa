"""Checkpoints of Hugging Face's hub: which of them are on this disk."""


def is_fetched(name: str, revision: str | None) -> bool:
    """Tell whether a checkpoint of the hub was fetched before; nothing is asked of the network."""
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 (slow to import)

    return isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str)
