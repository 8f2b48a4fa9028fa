from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.references import LocalPath, Vocabulary
from isotope.params.sections import NotNegative, Share, SystemKind, Text


class Answers(SystemKind):
    """A model's answers in words, which BM25 turns into entities."""

    reads_answers: ClassVar[bool] = True

    kind: Literal["answers"]
    files: Annotated[list[LocalPath], Field(min_length=1)]
    """Predictions, a line with `data_id` and `prediction` each: local .jsonl or .jsonl.gz files or
    patterns with `*`."""
    # rank_bm25's, with which OVEN's published mapping was made.
    k1: NotNegative = 1.5
    """Term saturation."""
    b: Share = 0.75
    """Length normalisation."""
    tokenizer: Annotated[Text, Vocabulary] = "words"
    """words, or a WordPiece tokenizer: a vocabulary file or a name on the hub such as
    google-bert/bert-base-uncased."""
