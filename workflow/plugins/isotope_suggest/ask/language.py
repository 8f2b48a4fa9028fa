"""Whether a text is in a language in which captions can match its words."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

import polars as pl

# A text of fewer different words tells nothing; of others so many are mostly known.
_FEWEST, _SHARE = 5, 0.2
_SAMPLE = 2_000
# A script that so many letters of the captions have is one of theirs.
_SCRIPT_SHARE = 0.05


def scripts(letters: Iterable[str]) -> Counter[str]:
    """Count the letters of each script, by the first word of their Unicode names, such as LATIN."""
    return Counter(
        unicodedata.name(letter, "?").partition(" ")[0]
        for word in letters
        for letter in word
        if letter.isalpha()
    )


def caption_scripts(terms: pl.Series) -> frozenset[str]:
    """Return the scripts of an index's terms, by a sample of them."""
    counts = scripts(terms.gather_every(1 + len(terms) // _SAMPLE))
    return frozenset(name for name, n in counts.items() if n >= _SCRIPT_SHARE * counts.total())


def mismatch(
    text: str, matched: int, different: int, caption_scripts: frozenset[str], language: str
) -> str:
    """Return a sentence if captions hardly have the words of a text; nothing otherwise.

    `matched` of `different` words are in the captions, whose scripts and language are named.
    """
    written = scripts([text]).most_common(1)
    if written and caption_scripts and written[0][0] not in caption_scripts:
        names = " or ".join(sorted(name.capitalize() for name in caption_scripts))
        script = written[0][0].capitalize()
        return f"the text is written in {script} letters, the captions ({language}) in {names}"
    if different >= _FEWEST and matched < _SHARE * different:
        return (
            f"captions have {matched} of the {different} different words of this text: "
            f"is it written in {language}, as they are?"
        )
    return ""
