"""How much memory a model's weights take, as far as its name or its folder tells."""

import re
from pathlib import Path

# ASSUME a name tells how many weights a model has, in billions (8B), and one that does not has 8
# billions: no file of the hub is read before the model is loaded.
_BILLIONS = re.compile(r"(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
_USUAL_BILLIONS = 8.0
BYTES = {"bfloat16": 2, "float32": 4}


def weights_mb(name: str, precision: str) -> float:
    """Return the megabytes that a model's weights take in memory, by its name and its precision."""
    folder = Path(name)
    if folder.is_dir():
        return sum(p.stat().st_size for p in folder.rglob("*.safetensors")) / 1e6
    named = _BILLIONS.search(folder.name)
    billions = float(named[1]) if named else _USUAL_BILLIONS
    return 1_000 * billions * BYTES[precision]
