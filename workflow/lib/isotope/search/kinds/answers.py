"""A model's answers in words, which BM25 turns into entities."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import NotNegative, Share, SystemKind, Text


class Answers(SystemKind):
    """Predictions that are looked up by name."""

    indexed: ClassVar[bool] = True

    kind: Literal["answers"]
    files: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Predictions, `data_id` and `prediction` a line: local .jsonl or .jsonl.gz "
        "files or patterns with `*`."
    )
    k1: NotNegative = Field(default=1.5, description="Term saturation.")
    b: Share = Field(default=0.75, description="Length normalisation.")
    tokenizer: Text = Field(
        default="words",
        description="words, or a WordPiece tokenizer: a vocabulary file or a name on the hub such "
        "as google-bert/bert-base-uncased.",
    )
