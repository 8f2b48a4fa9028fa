"""Every picture of the collection: what kind it is, what it looks like, whose it is.

Kinds are told by a small classifier that learns from the collection itself. Nobody has labelled the
pictures of a wiki, but its editors have said something of many: a picture that they chose for a
section (a judged one of the train split) is hardly an icon, and what stands on very many pages, or
is tiny and of few colours, hardly illustrates anything. So each such picture comes with a set of
kinds that it may be of, and the weights of a multinomial logistic regression are those that make
these sets likely: learning from partial labels (Jin and Ghahramani, Learning with multiple labels,
NIPS 2002), with a share of wrong sets. The weights in this module are a prior (Gaussian,
PRIOR_PICTURES strong) and no more: a collection that says nothing keeps them, and then they are the
rule by which kinds are told; one that says much overrules them.
"""

import json
import re
import shutil
from collections.abc import Sequence
from functools import cache
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.pixels import ordered
from isotope.core.progress import Progress, log
from isotope.core.schemas import schema
from isotope.core.uploads import file_of
from isotope.schemas.release import PUBLISHED_ATTRIBUTIONS
from isotope_suggest import credit, looks
from isotope_suggest.resources import SQL
from isotope_suggest.schemas import PICTURE_KINDS

_DESCRIBED, _RELEASE = SQL / "pictures.sql", sql.SQL / "release"
_NAMES = schema(image_id=pa.string(), picture_id=pa.string(), file=pa.string())
_MOST_OF_A_SIGN = 5_000
_DIGITS = 4
FloatMatrix = npt.NDArray[np.float64]

KINDS = ("photograph", "drawing", "icon", "flag", "map", "logo", "placeholder")
# Pictures of these kinds show nothing of what a section tells.
BLANK = ("icon", "flag", "logo", "placeholder")
# Kinds of which a picture may be that editors chose for a section, that is on very many pages, or
# that is tiny and of few colours. One with several of these signs has the last of them.
SIGNS = {
    "chosen": frozenset({"photograph", "drawing", "map"}),
    "used up": frozenset({*BLANK, "map"}),
    "tiny": frozenset(BLANK),
}
TINY_SIDE_PX, TINY_COLOURS = 64, 16
# Sets that are wrong: editors do put flags into sections.
_WRONG = 0.05
# The prior counts as much as so many pictures that are a unit of each feature away.
PRIOR_PICTURES = 30.0
_MOST_BALANCE = 10.0
_MOST_STEPS = 200
# Below so many pages, how many they are says nothing: a judged picture is on one by definition.
_FEW_PAGES = 4
_GREY = 0.05
_VECTOR = ("image/svg+xml", "image/gif")

_WORDS = Path(__file__).with_name("picture_words.json")
_NAMED = ("flag", "icon", "logo", "map", "placeholder")
_SEPARATORS = re.compile(r"[\s_\-.,()\[\]&+]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")

# What each feature says for or against a kind, before the collection is asked. A unit of `small`
# is a side of half 256 px, of `many` twice the pages; shares count from 0 to 1, words from no to
# yes; the others are about -1 for a drawing of few colours and 1 for a photograph.
_PRIORS: dict[str, tuple[float, ...]] = {
    #              photo drawing icon  flag   map  logo  placeholder
    "bias": (1.0, 0.5, -1.5, -3.5, -1.0, -1.5, -2.5),
    "small": (-0.3, -0.3, 1.2, 0.0, -0.5, 0.1, 0.0),
    "many": (-0.5, -0.5, 1.0, 0.6, 0.2, 0.3, 0.6),
    "colours": (0.5, 0.5, -0.3, -1.2, 0.6, -0.4, -0.6),
    "tones": (2.0, 0.5, -0.6, -1.5, 0.0, -1.0, -1.2),
    "entropy": (0.3, 0.1, -0.2, -0.3, -0.2, -0.4, -0.4),
    "four_largest": (-0.5, 0.0, 0.5, 1.0, 0.0, 0.5, 0.5),
    "flat": (-2.5, 0.5, 0.0, 1.5, 1.0, 0.5, 1.0),
    "edges": (0.5, 1.5, 0.5, -4.0, 2.0, 0.0, -4.0),
    "white": (-0.5, 0.0, 0.3, -0.5, 0.0, 1.5, -0.5),
    "saturation": (0.0, 0.0, 0.3, 2.0, 0.0, 0.0, -1.0),
    "grey": (0.0, 0.0, 0.0, -3.0, 0.0, 0.0, 1.5),
    "oblong": (0.0, 0.0, -1.0, 1.0, 0.0, 0.3, -0.5),
    "long": (0.0, 0.0, -1.0, -1.0, 0.0, 1.0, 0.0),
    "vector": (-3.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.5),
    "jpeg": (2.5, 0.5, -1.5, -2.0, -0.5, -1.5, -1.5),
    "named flag": (-0.5, 0.0, 0.5, 4.0, 0.0, 0.0, 0.0),
    "named icon": (-0.5, 0.0, 3.0, 0.0, 0.0, 0.5, 0.0),
    "named logo": (-0.5, 0.0, 0.5, 0.0, 0.0, 3.5, 0.0),
    "named map": (-1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0),
    "named placeholder": (-1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 5.0),
}
FEATURES = tuple(_PRIORS)
# What a picture without pixels counts as.
_MEDIAN = {"colours": 200, "entropy": 6.0, "four_largest": 0.3, "flat": 0.3, "edges": 0.1}
_TYPICAL = {"tones": 45, "white": 0.05, "saturation": 0.3}


class Kinds(NamedTuple):
    """Weights [features, kinds], and of how many pictures they were learned."""

    weights: FloatMatrix
    chosen: int = 0
    blank: int = 0


def describe_pictures(  # noqa: PLR0913
    *,
    images: Path,
    pixels: Sequence[Path],
    placed: Sequence[Path],
    qrels: Path,
    out: Path,
    threads: int,
    maximum_usage: int,
) -> None:
    """Write PICTURE_KINDS, by image_id, of all `images`, in one pass over the crawl's `pixels`.

    `placed` are parse's PICTURES of the collection's sources; a picture on more than
    `maximum_usage` pages is used up. One without pixels has neither colours nor hash. What is
    resumed after a kill is the measuring.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: a table or shard that is not there or not readable,
            a picture that does not decode.
    """
    looked = out.with_name(f".{out.name}.looks")
    with store.scratch(out) as folder:
        names = folder / "names.parquet"
        _write_names(images, names)
        measured = looks.measure(names, ordered(pixels), looked, threads)
        described = _describe(
            {"images": images, "qrels": qrels, "names": names, "placed": list(placed)},
            measured,
            folder,
        )
        kinds = _learned(described, maximum_usage)
        _write(described, kinds, out)
    shutil.rmtree(looked, ignore_errors=True)


def _write_names(images: Path, out: Path) -> None:
    """Write the file that each image's address names, and the picture of the crawl it shows."""
    columns = pq.read_schema(images).names
    picture = [c for c in ("picture_id",) if c in columns]
    with store.writer(out, _NAMES) as file, pq.ParquetFile(images) as rows:
        for batch in rows.iter_batches(columns=["image_id", "image_url", *picture]):
            some = pl.DataFrame(batch)
            urls = some["image_url"]
            named = some.select(
                "image_id",
                pl.col("picture_id" if picture else "image_id").alias("picture_id"),
                pl.Series("file", [u and file_of(u) for u in urls], pl.String),
            )
            file.write_table(named.to_arrow().cast(_NAMES))


def _describe(relations: dict[str, sql.Files], measured: list[Path], folder: Path) -> Path:
    """Write what is known of every picture before its kind is told; return the table."""
    if not measured:
        measured = [folder / "looks.parquet"]
        store.write(looks.LOOKS.empty_table(), measured[0], looks.LOOKS)
    out, credits = folder / "described.parquet", _credits(Path(str(relations["images"])), folder)
    more: dict[str, sql.Files] = {"looks": measured, "credits": credits}
    sql.query(_DESCRIBED, {**relations, **more}, {}, out=out)
    return out


def _credits(images: Path, folder: Path) -> Path:
    """Write licences and file pages as a release has them; return the table."""
    read, stated = folder / "attributions.parquet", folder / "stated.parquet"
    files: dict[str, sql.Files] = {"images": images}
    sql.query(_RELEASE / "attributions.sql", files, {}, out=read, schema=PUBLISHED_ATTRIBUTIONS)
    if "licence" not in pq.read_schema(images).names:
        return read
    with_read = {**files, "attributions": read}
    sql.query(_RELEASE / "attributions_stated.sql", with_read, {}, out=stated)
    return stated


def _learned(described: Path, maximum_usage: int) -> Kinds:
    """Return the classifier, of the pictures of which the collection says something."""
    signed = _signed(described, maximum_usage)
    if signed.is_empty():
        log.info("no picture says of what kind it is: kinds are told by the classifier's priors")
        return prior()
    kinds = learn(features(signed), may_be(signed["sign"]))
    log.info("kinds of pictures learned of %d chosen and %d blank ones", kinds.chosen, kinds.blank)
    return kinds


def _signed(described: Path, maximum_usage: int) -> pl.DataFrame:
    """Return pictures of which something says what kinds they may be of, by their `sign`.

    Of each sign there are at most 5,000, those whose ids have the smallest MD5.
    """
    is_tiny = pl.min_horizontal("width", "height") <= TINY_SIDE_PX
    sign = (
        pl.when(is_tiny & (pl.col("colours") <= TINY_COLOURS))
        .then(pl.lit("tiny"))
        .when(pl.col("pages") > maximum_usage)
        .then(pl.lit("used up"))
        .when("is_chosen")
        .then(pl.lit("chosen"))
    )
    sampled = pl.DataFrame()
    with pq.ParquetFile(described) as rows:
        for group in range(rows.num_row_groups):
            some = pl.DataFrame(rows.read_row_group(group)).with_columns(sign=sign)
            some = some.filter(pl.col("sign").is_not_null())
            order = [md5(name.encode()).hexdigest() for name in some["image_id"]]
            some = some.with_columns(order=pl.Series(order, dtype=pl.String))
            both = pl.concat([sampled, some], how="diagonal").sort("order")
            sampled = both.group_by("sign", maintain_order=True).head(_MOST_OF_A_SIGN)
    return sampled.sort("image_id") if len(sampled) else sampled


def _write(described: Path, kinds: Kinds, out: Path) -> None:
    counts = dict.fromkeys(KINDS, 0)
    with store.writer(out, PICTURE_KINDS) as file, pq.ParquetFile(described) as rows:
        progress = Progress("pictures described", total=rows.metadata.num_rows)
        for group in range(rows.num_row_groups):
            some = _classified(pl.DataFrame(rows.read_row_group(group)), kinds)
            file.write_table(some.select(PICTURE_KINDS.names).to_arrow().cast(PICTURE_KINDS))
            for kind in some["kind"]:
                counts[kind] += 1
            progress.add(len(some))
        progress.finish()
    log.info("%s", ", ".join(f"{kind} {n:,}" for kind, n in counts.items()))


def _classified(some: pl.DataFrame, kinds: Kinds) -> pl.DataFrame:
    chances = probabilities(kinds, features(some))
    names, illustrates = most_probable(chances)
    licence = some.select(
        pl.when(pl.col("licence") != credit.UNKNOWN).then("licence").alias("licence")
    ).to_series()
    free = map(credit.is_free, licence, some["file_page"])
    return some.with_columns(
        licence,
        pl.Series("kind", names, pl.String),
        pl.Series("illustrates", illustrates.round(_DIGITS), pl.Float64),
        pl.Series("author", [credit.author(a) for a in some["attribution"]], pl.String),
        pl.Series("is_free", list(free), pl.Boolean),
    )


def prior() -> Kinds:
    """Return the weights of this module, by which a collection that says nothing is judged."""
    return Kinds(np.array([*_PRIORS.values()], np.float64))


def named(file: str) -> list[str]:
    """Return the kinds of picture that words of a file's name speak of."""
    stem = file.rpartition(".")[0] or file
    words = _SEPARATORS.sub(" ", _HUMP.sub(" ", stem))
    return [kind for kind, pattern in _patterns().items() if pattern.search(words)]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    listed = json.loads(_WORDS.read_text(encoding="utf-8"))
    either = {
        kind: (rf"\b(?:{'|'.join(listed[kind]['words'])})\b", "|".join(listed[kind]["parts"]))
        for kind in _NAMED
    }
    return {kind: re.compile("|".join(both), re.IGNORECASE) for kind, both in either.items()}


def features(pictures: pl.DataFrame) -> FloatMatrix:
    """Return [n, FEATURES] of pictures: columns of LOOKS, and `file`, `mime_type` and `pages`.

    What has no pixels gets the values of a middling picture.
    """
    looks = {**_MEDIAN, **_TYPICAL}
    rows = pictures.with_columns(pl.col(name).fill_null(value) for name, value in looks.items())
    small = pl.min_horizontal("width", "height").fill_null(256).clip(1)
    aspect = (pl.col("width") / pl.col("height")).fill_null(1.0).log(2)
    mime, file = pl.col("mime_type").fill_null(""), pl.col("file").fill_null("")
    words = file.map_elements(named, return_dtype=pl.List(pl.String))
    table = rows.select(
        pl.lit(1.0).alias("bias"),
        (8 - small.log(2)).clip(-3, 3).alias("small"),
        (pl.max_horizontal("pages", pl.lit(_FEW_PAGES)) / _FEW_PAGES).log(2).alias("many"),
        ((pl.col("colours").clip(1).log(2) - 6) / 2).alias("colours"),
        ((pl.col("tones") - 32) / 20).alias("tones"),
        ((pl.col("entropy") - 5) / 2).alias("entropy"),
        *(pl.col(name) for name in ("four_largest", "flat", "edges", "white", "saturation")),
        (pl.col("saturation") < _GREY).alias("grey"),
        aspect.is_between(0.3, 1.1).alias("oblong"),
        (aspect.abs() - 1).clip(0, 2).alias("long"),
        (mime.is_in(_VECTOR) | file.str.to_lowercase().str.contains(r"\.(?:svg|gif)$")).alias(
            "vector"
        ),
        (mime == "image/jpeg").alias("jpeg"),
        *(words.list.contains(kind).alias(f"named {kind}") for kind in _NAMED),
    )
    return table.select(pl.col(FEATURES).cast(pl.Float64)).to_numpy()


def probabilities(kinds: Kinds, x: FloatMatrix) -> FloatMatrix:
    """Return the probability of each kind, [n, KINDS], of features [n, FEATURES]."""
    logits = x @ kinds.weights
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def most_probable(p: FloatMatrix) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Return each picture's kind, and the probability that it illustrates something.

    A picture that is one of BLANK with more than one half gets the most probable of these, any
    other the most probable of the others: so kind and probability never disagree.
    """
    is_blank = np.isin(KINDS, BLANK)
    illustrates = p[:, ~is_blank].sum(axis=1)
    among = np.where((illustrates < 0.5)[:, None] == is_blank[None, :], p, -1)  # noqa: PLR2004
    return [KINDS[index] for index in among.argmax(axis=1)], illustrates


def learn(x: FloatMatrix, sets: npt.NDArray[np.bool_]) -> Kinds:
    """Return the weights that make the sets of kinds likely, near those of the prior.

    `x` is [n, FEATURES], `sets` [n, KINDS]. The same pictures give the same weights.
    """
    start = prior().weights
    if not len(x):
        return prior()
    is_blank = ~sets[:, KINDS.index("photograph")]
    counts = int((~is_blank).sum()), int(is_blank.sum())
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

    result: Any = minimize(
        _loss,
        start.ravel(),
        args=(x, np.where(sets, 1 - _WRONG, _WRONG), _balance(is_blank), start),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS},
    )
    return Kinds(np.asarray(result.x, np.float64).reshape(start.shape), *counts)


def _balance(is_blank: npt.NDArray[np.bool_]) -> FloatMatrix:
    """Return the weights of pictures: those of the smaller group count more, up to ten times."""
    blank = max(int(is_blank.sum()), 1)
    chosen = max(len(is_blank) - blank, 1)
    ratio = min(max(blank, chosen) / min(blank, chosen), _MOST_BALANCE)
    return np.where(is_blank == (blank < chosen), ratio, 1.0)


def _loss(
    flat: FloatMatrix,
    x: FloatMatrix,
    likelihoods: FloatMatrix,
    counts: FloatMatrix,
    start: FloatMatrix,
) -> tuple[float, FloatMatrix]:
    """Return minus the log posterior of weights and its gradient."""
    weights = flat.reshape(start.shape)
    p = probabilities(Kinds(weights), x)
    joint = p * likelihoods
    likelihood = joint.sum(axis=1, keepdims=True)
    away = weights - start
    loss = -(counts * np.log(likelihood[:, 0])).sum() + PRIOR_PICTURES / 2 * (away**2).sum()
    gradient = x.T @ (counts[:, None] * (p - joint / likelihood)) + PRIOR_PICTURES * away
    return float(loss), gradient.ravel()


def may_be(signs: pl.Series) -> npt.NDArray[np.bool_]:
    """Return the kinds of which pictures with a sign (a key of SIGNS) may be, [n, KINDS].

    Raises:
        KeyError: no such sign.
    """
    sets = [SIGNS[sign] for sign in signs]
    return np.array([[kind in some for kind in KINDS] for some in sets], np.bool_)
