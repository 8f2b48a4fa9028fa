"""WordPiece tokenizers: the toy's own, a vocabulary file's, or one of the hub."""

import json
from pathlib import Path
from typing import Any

from isotope.core.errors import UnknownModel

TOY = "toy"


def toy_vocabulary() -> dict[str, int]:
    """Return the vocabulary of the toy's texts; `toy.words.wordpieces` makes the file."""
    path = Path(__file__).with_name("wordpieces.json")
    return {piece: n for n, piece in enumerate(json.loads(path.read_text(encoding="utf-8")))}


def wordpiece(spec: str) -> Any:  # noqa: ANN401
    """Return a WordPiece tokenizer.

    `spec` is TOY, a vocabulary (lines, or `tokenizer.json`), or a name on the hub.

    Raises:
        UnknownModel: none of these.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer  # noqa: PLC0415

    if spec == TOY:
        return BertWordPieceTokenizer(toy_vocabulary())
    try:
        if spec.endswith(".json"):
            return Tokenizer.from_file(spec)
        if Path(spec).is_file():
            return BertWordPieceTokenizer(spec)
        return Tokenizer.from_pretrained(spec)
    except Exception as error:
        remedy = "give open_clip, toy, a vocabulary file, or the name of a tokenizer on the hub"
        raise UnknownModel(f"tokenizer {spec}", str(error).partition("\n")[0], remedy) from error
