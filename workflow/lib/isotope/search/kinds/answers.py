from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.references import LocalPath, Vocabulary
from isotope.params.removed import Constant, Removed
from isotope.params.sections import SystemKind, Text


class Answers(SystemKind):
    """A model's answers in words, which BM25 turns into entities."""

    reads_answers: ClassVar[bool] = True
    removed: ClassVar[Removed] = {
        "k1": Constant(1.5, "as in rank_bm25, which OVEN's mapping has"),
        "b": Constant(0.75, "as in rank_bm25, which OVEN's mapping has"),
    }

    kind: Literal["answers"]
    files: Annotated[list[LocalPath], Field(min_length=1)]
    """Predictions, a line with `data_id` and `prediction` each: local .jsonl or .jsonl.gz files or
    patterns with `*`."""
    tokenizer: Annotated[Text, Vocabulary] = "words"
    """words, or a WordPiece tokenizer: a vocabulary file or a name on the hub such as
    google-bert/bert-base-uncased."""
