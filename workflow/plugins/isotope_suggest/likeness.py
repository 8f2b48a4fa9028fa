"""How alike pictures are: by a dense system's vectors, by perceptual hashes, by files' names.

And pictures in an order in which each is unlike those before it, by maximal marginal relevance.
Source: Carbonell and Goldstein, The use of MMR, diversity-based reranking for reordering documents
and producing summaries, SIGIR 1998, section 2.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core.vectors import load_vectors
from isotope_suggest.looks import bits_apart

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
HASH_BITS = 64
NOWHERE = -1
# No place is left.
NONE = -1
# Editions of one cover or poster: other prints and scans, so hashes are further apart, and vectors
# too, but one file's name has the other's in it. Found on two collections: of 4,278 pairs of a real
# one, 6 are within 18 bits, and the 3 of these with such names show one cover each; the pairs
# within 26 bits with such names show other things. Of 186,966 pairs of the demo's drawings, 1,604
# are within 18 bits, and none of these has such names. A common part of 60 % of the shorter name
# would be 3 and 9, and all 9 show other things.
NAMED_BITS = 18
NAME_LETTERS = 8
# A word in one letter, as many scripts of East Asia have it.
_WIDE_LETTERS = 3
# Names that cameras and scanners give: their numbers count pictures, not those of a series.
CAMERAS = (
    r"^(?:dsc|dscn|dscf|dscs|img|imgp|image|picture|pict|pic|photo|foto|scan|scanned|pa|p|cimg|mvc"
    r"|sam|gopr|dji|vid|unnamed|untitled|screenshot|bild|file|datei|fichier|item)?$"
)


class PlacePairs(NamedTuple):
    """Places in a list, pair by pair."""

    first: IntArray
    second: IntArray


class Places:
    """Where ids stand in a list of them: 16 bytes an id beside the list, whatever its length."""

    def __init__(self, ids: pl.Series) -> None:
        """Sort the ids' hashes; ids are distinct."""
        self.ids = ids
        hashes = ids.hash().to_numpy()
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def positions(self, ids: pl.Series) -> IntArray:
        """Return the place of each id, NOWHERE for one that is not in the list."""
        positions = np.full(len(ids), NOWHERE, np.int64)
        if not len(self.ids):
            return positions
        hashes = ids.hash().to_numpy()
        at = np.searchsorted(self._hashes, hashes)
        left = np.flatnonzero(at < len(self._hashes))
        # Ids that share a hash stand side by side, so the next ones are looked at too.
        while len(left):
            left = left[self._hashes[at[left]] == hashes[left]]
            places = self._order[at[left]]
            is_it = (self.ids.gather(places) == ids.gather(left)).to_numpy()
            positions[left[is_it]] = places[is_it]
            left = left[~is_it]
            at[left] += 1
            left = left[at[left] < len(self._hashes)]
        return positions


class Likeness:
    """Vectors of pictures where a dense system has them, and perceptual hashes."""

    def __init__(
        self,
        pictures: pl.DataFrame,
        image_vectors: Sequence[Path] = (),
        image_ids: Sequence[Path] = (),
    ) -> None:
        """Map the shards of vectors; without any, hashes alone tell.

        `pictures` has at least `image_id` and `hash` of PICTURE_KINDS; by `file` names are known.

        Raises:
            As `core.vectors.load_vectors`.
        """
        hashes = pictures["hash"]
        self._hashes = hashes.fill_null(0).to_numpy()
        self._has_hash = hashes.is_not_null().to_numpy()
        self._files = pictures["file"] if "file" in pictures.columns else None
        self._places = Places(pictures["image_id"])
        self._vectors = load_vectors(image_vectors, image_ids) if image_vectors else None
        self._rows = Places(self._vectors.ids) if self._vectors else None

    def places_in(self, image_ids: pl.Series) -> Places:
        """Return where ids stand in a list, which is sorted unless it is that of the pictures."""
        return self._places if self._places.ids.equals(image_ids) else Places(image_ids)

    def vectors(self, image_ids: pl.Series) -> FloatArray:
        """Return [n, d] of length 1, for `mmr`; zeros, unlike all others, where unknown.

        Without a dense system these are [n, 64] of the bits of the hashes, +1/8 or -1/8, whose
        cosine is 1 - bits that differ / 32.
        """
        if self._vectors is None:
            hashes, is_there = self.hashes(image_ids)
            bits = np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, HASH_BITS)
            return np.where(is_there[:, None], (bits * 2.0 - 1) / 8, 0).astype(np.float32)
        return self.dense(image_ids)[0]

    def dense(self, image_ids: pl.Series) -> tuple[FloatArray, BoolArray]:
        """Return the dense system's vectors, [n, d] of length 1, and which of them are there."""
        if self._vectors is None or self._rows is None:
            return np.zeros((len(image_ids), 1), np.float32), np.zeros(len(image_ids), np.bool_)
        rows = self._rows.positions(image_ids)
        vectors = np.zeros((len(rows), self._vectors.dim), np.float32)
        start = 0
        for block in self._vectors.blocks:
            in_block = (rows >= start) & (rows < start + len(block))
            vectors[in_block] = block[rows[in_block] - start]
            start += len(block)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, np.float32(1e-12)), rows != NOWHERE

    def hashes(self, image_ids: pl.Series) -> tuple[npt.NDArray[np.uint64], BoolArray]:
        """Return perceptual hashes and which of them are there."""
        places = self._places.positions(image_ids)
        is_there = places != NOWHERE
        is_there[is_there] = self._has_hash[places[is_there]]
        hashes = np.zeros(len(places), np.uint64)
        hashes[is_there] = self._hashes[places[is_there]]
        return hashes, is_there

    def near_duplicates(
        self, image_ids: pl.Series, pairs: PlacePairs, same_bits: int, same_cosine: float
    ) -> pl.DataFrame:
        """Return which pairs show the same: `one`, `other`, `bits`, `cosine`, `named`.

        Pairs are places in `image_ids`; bits and cosine are null if unknown. Hash and vectors must
        agree where both are known: hashes of simple drawings collide, and a model takes different
        pictures of one thing for the same. Where only one is known, it decides. Where both files
        are named alike (`alike_names`), NAMED_BITS are near enough: `named` tells these.
        """
        hashes, is_there = self.hashes(image_ids)
        bits = bits_apart(hashes[pairs.first], hashes[pairs.second]).astype(np.int32)
        has_bits = is_there[pairs.first] & is_there[pairs.second]
        named = np.flatnonzero(has_bits & (bits <= NAMED_BITS))
        named = named[self._named_alike(*(image_ids.gather(p[named]) for p in pairs))]
        close = np.setdiff1d(np.flatnonzero((bits <= same_bits) | ~has_bits), named)
        (left, has_left), (right, has_right) = (
            self.dense(image_ids.gather(p[close])) for p in pairs
        )
        cosine, has_cosine = np.einsum("nd,nd->n", left, right), has_left & has_right
        same = (has_bits[close] | has_cosine) & (~has_cosine | (cosine >= same_cosine))
        rows = np.concatenate([close[same], named])
        cosines = pl.Series(cosine[same]).set(pl.Series(~has_cosine[same]), None)
        return pl.DataFrame(
            {
                **{"one": pairs.first[rows], "other": pairs.second[rows]},
                "bits": pl.Series(bits[rows]).set(pl.Series(~has_bits[rows]), None),
                "cosine": cosines.extend_constant(None, len(named)),
                "named": np.arange(len(rows)) >= same.sum(),
            }
        ).sort("one", "other")

    def _named_alike(self, first: pl.Series, second: pl.Series) -> BoolArray:
        if self._files is None:
            return np.zeros(len(first), np.bool_)
        columns = (
            self._files.gather(self._places.positions(ids)).to_list() for ids in (first, second)
        )
        return np.array(
            [bool(a and b) and alike_names(a, b) for a, b in zip(*columns, strict=True)], np.bool_
        )


def mmr(
    probabilities: npt.ArrayLike, vectors: npt.NDArray[np.floating], weight: float, most: int
) -> IntArray:
    """Return the places of at most `most` candidates, best first, of one section or of many.

    Each next one maximises (1 - weight) * probability - weight * its largest cosine with those
    before it: the paper's formula with lambda = 1 - weight. Ties go to the first candidate.

    `probabilities` are [n], or [sections, n] with NaN behind the last candidate of a section;
    `vectors` are [n, d], or [sections, n, d], of length 1 (`Likeness.vectors`; without a dense
    system they are of perceptual hashes). The places are [min(most, n)], or as many for each
    section, NONE where a section has no more.

    Raises:
        ValueError: a weight outside [0, 1], or vectors that are not one for each probability.
    """
    relevance, like = np.array(probabilities, np.float64), np.asarray(vectors, np.float64)
    if not 0 <= weight <= 1:
        raise ValueError(f"a weight of {weight}, not of 0 to 1")
    if like.shape[:-1] != relevance.shape:
        raise ValueError(f"vectors {like.shape} for probabilities {relevance.shape}")
    if relevance.ndim == 1:
        return mmr(relevance[None], like[None], weight, most)[0]
    return _chosen(relevance, like, weight, min(most, relevance.shape[1]))


def _chosen(
    relevance: npt.NDArray[np.float64], like: npt.NDArray[np.float64], weight: float, most: int
) -> IntArray:
    """Choose `most` places of each section, [sections, most]."""
    sections = np.arange(len(relevance))
    left = ~np.isnan(relevance)
    order = np.full((len(relevance), most), NONE, np.int64)
    largest = np.full(relevance.shape, -np.inf)
    for step in range(most):
        # The first is compared with none before it; the paper's maximum over none counts as 0.
        before = np.where(np.isfinite(largest), largest, 0.0)
        gain = np.where(left, (1 - weight) * relevance - weight * before, -np.inf)
        best = gain.argmax(axis=1)
        is_left = left[sections, best]
        order[is_left, step] = best[is_left]
        left[sections, best] = False
        cosines = np.einsum("snd,sd->sn", like, like[sections, best])
        largest = np.maximum(largest, cosines)
    return order


def alike_names(first: str, second: str) -> bool:
    """Tell whether the letters of one file's name contain all those of the other's.

    Digits, signs, case and the ending do not count: years, editions and words before or behind. The
    shorter one has NAME_LETTERS at least, and is not such as cameras give.
    """
    short, long = sorted((letters(first), letters(second)), key=len)
    size = sum(_WIDE_LETTERS if east_asian_width(c) == "W" else 1 for c in short)
    return size >= NAME_LETTERS and short in long and not re.match(CAMERAS, short)


def letters(file: str) -> str:
    """Return the letters of a file's name without its ending, case folded."""
    stem = re.sub(r"\.[A-Za-z0-9]+$", "", file)
    return "".join(c for c in stem.casefold() if c.isalpha())
