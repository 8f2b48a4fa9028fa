"""Text made for benchmarks has the figures of real text, and is the same wherever it is made."""

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

WITHIN = {
    "words of a text, mean": 0.01,
    "share of stop words": 0.03,
    "different words": 0.04,
    "different words in 1/16 of them": 0.06,
    "exponent of their growth, from a quarter to all": 0.06,
    "share of texts, rank 10": 0.1,
    "share of texts, rank 100": 0.1,
    "share of texts, rank 1,000": 0.1,
    "words by different words in a text": 0.03,
    "the same, texts of 40 to 80 words": 0.06,
    "the same, texts of 160 to 320 words": 0.05,
    "share of a text's words 1 before it too": 0.06,
    "share of a text's words 5 before it too": 0.06,
    "share of texts with a text's word": 0.1,
}


@pytest.fixture
def corpus(monkeypatch):
    """The module that makes text."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("corpus")


@pytest.mark.parametrize("what", ["sections", "captions"])
def test_a_text_depends_on_seed_and_number_alone(corpus, what, monkeypatch):
    whole = list(getattr(corpus.Corpus(7), what)(60))
    assert len(whole) == 60
    monkeypatch.setattr(corpus, "WORDS_AT_A_TIME", 1)
    for start, n in ((0, 1), (13, 2), (31, 29)):
        assert list(getattr(corpus.Corpus(7), what)(n, start)) == whole[start : start + n]
    assert list(getattr(corpus.Corpus(8), what)(60)) != whole
    assert len(set(whole)) == 60


def test_a_text_has_as_many_words_as_were_asked_for(corpus):
    made = corpus.Corpus(1)
    assert [len(made.text(n, 3).split()) for n in (1, 25, 120)] == [1, 25, 120]
    assert made.text(25, 3) == corpus.Corpus(1).text(25, 3) != made.text(25, 4)


def test_a_copy_differs_in_the_share_of_words_that_was_stated(corpus):
    made = corpus.Corpus(1)
    text = made.text(1000, 0)
    for share in (0, 0.2, 1):
        copy = made.copy(text, 5, share)
        pairs = zip(text.split(), copy.split(), strict=True)
        same = sum(one == other for one, other in pairs)
        chance = 0.05 * share * 1000
        assert (1 - share) * 1000 <= same <= (1 - share) * 1000 + chance
        assert copy == corpus.Corpus(1).copy(text, 5, share)
    assert made.copy("", 5) == ""


@pytest.mark.parametrize("language", ["en", "de", "ru", "zh", "sw"])
def test_no_two_ranks_have_one_word(corpus, language):
    lexicon = corpus.lexicon(language)
    last = 10**12
    ranks = np.concatenate([np.arange(-32, 40_000), np.arange(2**17 - 99, 2**17 + 99), [last]])
    words = lexicon.words(ranks)
    assert len(set(words)) == len(words)
    assert all(word.isalnum() for word in words)


@pytest.mark.parametrize("what", ["sections", "captions"])
def test_new_words_come_at_the_rate_of_the_last_rank_and_never_run_out(corpus, what):
    kind = corpus.kinds()[what]
    # Ranks that this share of all words lies beyond.
    ten_thousandth, millionth = kind.rank(1 - np.array([1e-4, 1e-6]))
    assert millionth > ten_thousandth > kind.ranks[-1]
    growth = np.log(millionth / ten_thousandth) / np.log(100)
    assert growth == pytest.approx(1 / (kind.tail - 1), rel=0.01)
    shares = corpus.hashes(corpus.keys(3, 9, np.array([1])), np.arange(400_000), 0) / 2.0**64
    different = [len(np.unique(kind.rank(shares[:n]))) for n in (100_000, 400_000)]
    assert 4 ** (1 / kind.tail) < different[1] / different[0] < 4


def test_lengths_can_be_stretched_to_a_mean(corpus):
    made = [text.split() for text in corpus.Corpus(2).sections(3_000, mean=120)]
    assert sum(map(len, made)) / len(made) == pytest.approx(120, rel=0.1)
    assert all(made)


@pytest.mark.long
def test_made_text_has_the_figures_of_as_much_real_text(corpus, shared):
    assert shared.exists()
    real, report, fit = (importlib.import_module(f"corpus_{n}") for n in ("real", "report", "fit"))
    texts = {"sections": real.numbered(real.sections()), "captions": real.numbered(real.captions())}
    made = {}
    for name, (words, spelling) in texts.items():
        made[name] = report.spelled(fit.made(corpus.kinds()[name], words, 5))
        own, like = (report.figures(*both) for both in ((words, spelling), made[name]))
        assert set(own) == set(like)
        for figure, within in WITHIN.items():
            if own.get(figure):
                assert like[figure] == pytest.approx(own[figure], rel=within), (name, figure)
    for name, measured, like in report.asking(texts, made)[:1]:
        assert like == pytest.approx(measured, rel=0.2), name
