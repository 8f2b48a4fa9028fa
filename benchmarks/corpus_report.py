"""Measured and made text side by side, and what Lucene's analyzer makes of both."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import machine, write
from corpus import CONSTANTS, kinds
from corpus_fit import STAY, fit, keep, made, near, pairs
from corpus_real import SHARED, Words, captions, numbered, sections
from lexicon import STOP_WORDS, lexicon
from numpy.typing import NDArray

from isotope.bm25.words import analyzer, counted

Texts = tuple[Words, list[str]]
Row = tuple[str, float, float]
SHUFFLES, SEED = 8, 99
RANKS = (1, 10, 100, 1_000, 10_000)
QUANTILES = (0.1, 0.5, 0.9, 0.99)


def report() -> None:
    """Fit, keep the constants, and write the figures; say so where there is no real text."""
    if not SHARED.exists():
        print(f"{SHARED} is not there: {CONSTANTS.name} stays as it is")
        return
    real = {"sections": numbered(sections()), "captions": numbered(captions())}
    keep({name: fit(words, STAY[name]) for name, (words, _) in real.items()})
    like = {name: spelled(made(kinds()[name], real[name][0], SEED)) for name in real}
    parts = [table(name.capitalize(), rows(real[name], like[name])) for name in real]
    parts.append(table("A section asks captions", asking(real, like)))
    write(
        "corpus", "\n".join([HEAD.format(constants=constants()), *parts, NOTE, machine(["numpy"])])
    )


HEAD = """# Text for benchmarks, beside real text

benchmarks/corpus.py makes text whose constants (benchmarks/corpus.json) are fitted to real text.
Each table compares the real text with as many words made anew, in texts and pages of the same
lengths; words are cut about as Lucene's tokenizer cuts them. "Words" are those that are no stop
words of Lucene's, unless said. Sections are those of 203 pages of English Wikipedia (raycharles and
the minidumps; 2,837 sections with text), captions the 16,131 of AToMiC's validation topics.

{constants}
"""
NOTE = """What is not as in real text: a caption's second half often repeats its first (WIT's
reference and attribution texts are put together), which made captions do not, though they repeat as
many words in all, the longest captions left out; made sections have more words that occur once;
words come by chance, so there is no grammar and no phrase. Sections are of pages that are longer
than most of Wikipedia's: `mean=` in `Corpus.sections` scales their lengths. Languages other than
English have letters of their own, and these figures.
"""


def constants() -> str:
    """Say how new words come without end."""
    ends = ", ".join(f"{name} {1 / kind.tail:.2f}" for name, kind in kinds().items())
    return f"New words never run out: at last they grow as this power of all words: {ends}."


def spelled(words: Words) -> Texts:
    """Return made words, and how the ranks from 1 on are spelled, the most frequent first."""
    ranks, counts = np.unique(words.ranks[words.ranks > 0], return_counts=True)
    order = ranks[np.argsort(-counts, kind="stable")]
    number = np.empty(len(order), np.int64)
    number[np.searchsorted(ranks, order)] = np.arange(1, len(order) + 1)
    plain = words.ranks > 0
    again = words.ranks.copy()
    again[plain] = number[np.searchsorted(ranks, words.ranks[plain])]
    return words._replace(ranks=again), lexicon("en").words(order)


def table(title: str, found: list[Row]) -> str:
    """Return figures as a table of Markdown."""
    lines = [
        f"| {name} | {real:.4g} | {like:.4g} | {like / real:.2f} |" for name, real, like in found
    ]
    return (
        f"## {title}\n\n| figure | real | made | made / real |\n|---|---:|---:|---:|\n"
        + "\n".join([*lines, ""])
    )


def rows(real: Texts, like: Texts) -> list[Row]:
    """Return the figures of texts and of those made like them."""
    both = [figures(*texts) | analysed(*texts) for texts in (real, like)]
    return [(name, value, both[1][name]) for name, value in both[0].items() if value]


def figures(words: Words, spelling: list[str]) -> dict[str, float]:
    """Measure texts."""
    plain = words.ranks > 0
    ranks, texts = words.ranks[plain], words.texts[plain]
    counts = np.sort(np.bincount(ranks)[1:])[::-1]
    in_texts = np.sort(np.bincount(pairs(texts, ranks) & 0xFFFFFFFF)[1:])[::-1]
    different = in_texts.sum()
    letters = np.array([0, *map(len, spelling)])
    exponent, shift = zipf(words)
    found = {"texts": len(words.ends), "words, stop words too": len(words.ranks)}
    found |= {"words of a text, mean": words.lengths.mean()}
    found |= {f"the same, quantile {q}": np.quantile(words.lengths, q) for q in QUANTILES}
    found |= {"share of stop words": 1 - plain.mean(), "different words": len(counts)}
    found |= {"share of those seen once": (counts == 1).mean()}
    found |= growth(words)
    found |= {f"share of the words, rank {r:,}": counts[r - 1] / len(ranks) for r in RANKS}
    found |= {"Zipf-Mandelbrot exponent, stop words too": exponent, "its shift of ranks": shift}
    found |= {f"share of texts, rank {r:,}": in_texts[r - 1] / len(words.ends) for r in RANKS}
    found |= {"words by different words in a text": len(ranks) / different}
    found |= {f"the same, texts of {a} to {b} words": again(words, a, b) for a, b in LENGTHS}
    found |= {f"share of a text's words {n} before it too": near(words, n) for n in (1, 2, 5)}
    found |= {
        "share of texts with a text's word": (in_texts.astype(float) ** 2).sum()
        / different
        / len(words.ends)
    }
    found |= {
        "letters of a word": letters[ranks].mean(),
        "letters of a different word": letters[1:].mean(),
    }
    return {name: float(value) for name, value in found.items()}


LENGTHS = ((10, 20), (40, 80), (160, 320), (640, 1280))


def again(words: Words, low: int, high: int) -> float:
    """Return the words by the different words of texts of some lengths."""
    plain = words.ranks > 0
    own = ((low <= words.lengths) & (words.lengths < high))[words.texts] & plain
    return own.sum() / len(pairs(words.texts[own], words.ranks[own]))


def growth(words: Words) -> dict[str, float]:
    """Return the different words after shares of the pages, and the exponents of their growth."""
    of_word = np.repeat(words.pages, words.lengths)
    halves = 0.5 ** np.arange(5, -1, -1)
    curves: list[NDArray[np.int64]] = []
    for seed in range(SHUFFLES):
        place = np.random.default_rng(seed).permutation(int(words.pages.max()) + 1)
        ranks = words.ranks[np.argsort(place[of_word], kind="stable")]
        ranks = ranks[ranks > 0]
        first = np.sort(np.unique(ranks, return_index=True)[1])
        curves.append(np.searchsorted(first, len(ranks) * halves))
    curve = np.mean(curves, axis=0)
    slopes = np.diff(np.log2(curve))
    found = {
        f"different words in 1/{1 / h:.0f} of them": v for h, v in zip(halves, curve, strict=True)
    }
    del found["different words in 1/1 of them"]
    return found | {"exponent of their growth, from a quarter to all": slopes[-2:].mean()}


def zipf(words: Words) -> tuple[float, float]:
    """Return exponent and shift of Zipf's and Mandelbrot's law, by least squares in logarithms."""
    counts = np.sort(np.unique(words.ranks, return_counts=True)[1])[::-1]
    ranks = np.unique(np.geomspace(1, 10_000, 80).astype(int))
    seen = np.log(counts[ranks - 1])
    lines = {b: np.polyfit(np.log(ranks + b), seen, 1, full=True) for b in np.arange(0, 20, 0.1)}
    shift = min(lines, key=lambda b: float(lines[b][1][0]))
    return -float(lines[shift][0][0]), float(shift)


def analysed(words: Words, spelling: list[str]) -> dict[str, float]:
    """Measure what Lucene's English analyzer leaves of texts."""
    spelled_out = texts_of(words, spelling)
    with tempfile.TemporaryDirectory() as name:
        beside = Path(name) / "index"
        english = analyzer("en")
        with counted(spelled_out, beside, words=english, threads=os.cpu_count() or 1) as found:
            lengths = found.numbers[found.starts - 2]
            heads = np.zeros(len(found.numbers), bool)
            heads[found.starts - 2] = heads[found.starts - 1] = True
            in_texts = np.bincount(found.numbers[~heads][::2]).astype(float)
            mean = float(lengths.mean())
    touched = (in_texts**2).sum() / in_texts.sum()
    return {
        "terms by Lucene's analyzer of a text": mean,
        "its different terms in all": float(len(in_texts)),
        "its different terms by different words": len(in_texts) / len(spelling),
        "its postings of a text": in_texts.sum() / len(words.ends),
        "postings that one term of a text touches, by texts": touched / len(words.ends),
    }


def texts_of(words: Words, spelling: list[str]) -> Iterator[str]:
    """Yield texts as their words."""
    table, start = [STOP_WORDS[0], *spelling, *STOP_WORDS[:0:-1]], 0
    for end in words.ends.tolist():
        yield " ".join(table[rank] for rank in words.ranks[start:end].tolist())
        start = end


def asking(real: dict[str, Texts], like: dict[str, Texts]) -> list[Row]:
    """Return what the different words of a section meet among captions."""
    names = ("share of captions with a word of the section", "share of its words in no caption")
    return list(zip(names, _met(real), _met(like), strict=True))


def _met(texts: dict[str, Texts]) -> tuple[float, float]:
    (asked, words), (captioned, known) = texts["sections"], texts["captions"]
    plain = captioned.ranks > 0
    in_captions = pairs(captioned.texts[plain], captioned.ranks[plain]) & 0xFFFFFFFF
    having = dict(zip(known, np.bincount(in_captions)[1:].tolist(), strict=True))
    plain = asked.ranks > 0
    each = np.array([0, *(having.get(word, 0) for word in words)])
    met = each[pairs(asked.texts[plain], asked.ranks[plain]) & 0xFFFFFFFF]
    return float(met.mean()) / len(captioned.ends), float((met == 0).mean())
