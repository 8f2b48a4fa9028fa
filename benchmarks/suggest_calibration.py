"""What probabilities of suggestions are worth on a real snapshot, by pages that are held out.

    python benchmarks/suggest_calibration.py [DRAWS] [PROJECT] [SNAPSHOT]
        (default 12 . ../shared/snapshots/raycharles)

PROJECT is a folder where the snapshot was built as `raycharles` (docs/rehearsal.md,
params/local.yaml) with the phase suggest; where it was not, it is built there first from SNAPSHOT,
and where that is not there either, the benchmark says so and ends. All judged sections of the
collection get candidates while their own picture is hidden. A draw takes whole pages until a dozen
sections are there, learns weights and curves on them as the phase does, and suggests three pictures
for each of the other judged sections. Beside isotope's curves stands an isotonic regression alone,
half a candidate of all away from 0 and 1, on the same scores: what the phase did before.

The expected calibration error (ten bins of equal numbers) is that of the suggestions of all draws
together. Its interval, and that of the difference, is of 1,000 bootstrap samples of pages: a page
comes with its sections' suggestions of every draw.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from common import Claim, machine, verdicts, write
from numpy.typing import NDArray

from isotope.core import store
from isotope.core.prepare import ATOMIC
from isotope.core.schemas import FIVE_FIELDS
from isotope_suggest import calibrate, candidates, learn, score
from isotope_suggest.filters import Filters, shown
from isotope_suggest.likeness import Likeness
from isotope_suggest.measure.evaluate import calibration_error, equal_mass
from isotope_suggest.origins import Origins
from isotope_suggest.params import Suggest
from isotope_suggest.schemas import SECTION_ROLES
from isotope_suggest.score import KEY, KIND, Ranker

NAME = "raycharles"
MODEL = "tiny-clip"
SECTIONS = 12
SAMPLES = 1_000
_SURE = 0.9
_DIGITS = 9
Floats = NDArray[np.float64]
# As the params of the snapshot have them.
ORIGINS, SUGGEST = Origins(languages={NAME: "en"}), Suggest()


class World(NamedTuple):
    """The candidates of all judged sections that the filters leave, and what ranks them."""

    left: pl.DataFrame
    pictures: pl.DataFrame
    qrels: pl.DataFrame
    ranker: Ranker


def build(project: Path, snapshot: Path) -> bool:
    """Build the snapshot's suggestions where they are not; tell whether they are there."""
    if (project / f"results/suggest/{NAME}/pictures.parquet").is_file():
        return True
    if not snapshot.is_dir():
        print(f"skipped: {NAME} is not built in {project}, and there is no {snapshot}")
        return False
    command = ["snakemake", "--cores", "all", "--configfile", "params/local.yaml"]
    own = ["--config", f"root={snapshot.resolve()}", f"name={NAME}", "--", "suggest"]
    subprocess.run([*command, *own], cwd=project, check=True)
    return True


def read(folder: Path) -> World:
    """Find candidates of all judged sections of the project, which is the working directory."""
    tables, suggested = Path("data/collect") / NAME, Path("results/suggest") / NAME
    parsed, vectors = Path("data/parse") / NAME, Path("data/encode") / NAME / MODEL
    judged = pl.read_parquet(suggested / "sections.parquet").filter(role="judged")
    judged = judged.with_columns(split=pl.lit("validation"))
    store.write(judged.to_arrow().cast(SECTION_ROLES), folder / "sections.parquet", SECTION_ROLES)
    qrels = pl.read_parquet(tables / "qrels.parquet").with_columns(split=pl.lit("validation"))
    qrels.write_parquet(folder / "qrels.parquet")
    shards: dict[str, Any] = {
        f"{side[:-1]}_{what}": sorted((vectors / side).glob(pattern))
        for side in ("texts", "images")
        for what, pattern in (("vectors", "*.npy"), ("ids", "*.ids.parquet"))
    }
    candidates.find_candidates(
        texts=tables / "texts.parquet",
        images=tables / "images.parquet",
        qrels=folder / "qrels.parquet",
        sections=folder / "sections.parquet",
        outlines=[parsed / "outline.parquet"],
        placed=[parsed / "pictures.parquet"],
        associations=[parsed / "associations.parquet"],
        manifests=[Path(f"data/acquire/{NAME}/manifest.json")],
        index=[Path(f"data/index/{NAME}/large/bm25/all/images")],
        **shards,
        out=folder / "candidates.parquet",
        threads=1,
        origins=ORIGINS,
        minimum_need=SUGGEST.minimum_need,
        words=candidates.Words(k1=0.9, b=0.4, fields=[*FIVE_FIELDS], prepare=ATOMIC, captions="en"),
    )
    pictures = pl.read_parquet(suggested / "pictures.parquet")
    likeness = Likeness(pictures, shards["image_vectors"], shards["image_ids"])
    filters = Filters(
        pictures,
        sections=judged,
        shown=shown([parsed / "pictures.parquet"], pictures, ORIGINS),
        qrels=qrels,
        rejections=pl.DataFrame(schema=dict.fromkeys(KEY, pl.String)),
        likeness=likeness,
        spec=SUGGEST,
    )
    blocks = score.blocks(folder / "candidates.parquet")
    left = pl.concat([filters.reject(block).left for block in blocks])
    named = left.join(judged.select("text_id", "page_id", "page_class"), on="text_id")
    right = qrels.filter(pl.col("relevance") > 0).select(KEY).unique().with_columns(right=True)
    rows = named.join(right, on=KEY, how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("right").fill_null(value=False)).sort("text_id", "image_id")
    return World(rows.with_columns(KIND), pictures, qrels, Ranker(filters, likeness))


def draws(world: World, count: int) -> Iterator[pl.DataFrame]:
    """Yield, of each draw that can learn, the first three suggestions for held-out sections.

    Columns: page_id, right, and the probability of isotope's curves and of `isotonic` alone.
    """
    rng = np.random.default_rng(0)
    sections = world.left.select("text_id", "page_id").unique().sort("text_id")
    pages = sections["page_id"].unique().sort()
    for _ in range(count):
        order = pages.gather(rng.permutation(len(pages)))
        sizes = order.to_frame().join(
            sections.group_by("page_id").len(), on="page_id", maintain_order="left"
        )
        before = sizes["len"].cum_sum() - sizes["len"]
        yield from draw(world, order.filter(before < SECTIONS))


def draw(world: World, chosen: pl.Series) -> Iterator[pl.DataFrame]:
    """Learn on the sections of some pages, and yield what is suggested for all others."""
    own = pl.col("page_id").is_in(chosen.implode())
    examples, learning = learn.Examples(), world.left.filter(own)
    names = learning.select("text_id", "page_id", pl.col("page_class").fill_null("")).unique(
        "text_id"
    )
    folds = [score.fold_of("en", page) for page in names["page_id"]]
    judged = names.drop("page_id").with_columns(pl.Series("fold", folds, pl.Int64))
    examples.add(learning.drop("page_class", "page_id", "right"), world.pictures, judged)
    learned = learn.learn(examples, world.qrels, len(judged), world.ranker, NAME, SUGGEST)
    if learned.calibration["weights"] is None:
        return
    curve = isotonic(learned, learning, world)
    held = world.left.filter(~own).with_columns(fold=pl.lit(None, pl.Int64))
    scored = learned.scored(held, score.features(held, world.pictures))
    best = world.ranker.suggested(scored).scored.filter(pl.col("rank") <= SUGGEST.most)
    found = best.select(KEY).join(scored, on=KEY, maintain_order="left")
    alone = np.interp(found["score"].to_numpy(), *curve)
    yield found.select("page_id", "right", "probability").with_columns(
        pl.Series("isotonic", np.round(alone, _DIGITS))
    )


def isotonic(learned: learn.Learned, rows: pl.DataFrame, world: World) -> tuple[Floats, Floats]:
    """Return the knots of an isotonic regression alone over the cross-fitted scores."""
    folds = [score.fold_of("en", page) for page in rows["page_id"]]
    named = rows.with_columns(pl.Series("fold", folds, pl.Int64))
    scores = learned.scored(named, score.features(named, world.pictures))["score"].to_numpy()
    x, y = calibrate.isotonic(scores, named["right"].to_numpy())
    least = 0.5 / (len(rows) + 1)
    return x, y.clip(least, 1 - least)


def error(found: pl.DataFrame, column: str) -> float:
    """Return the expected calibration error of a column."""
    value = calibration_error(equal_mass(found[column].to_numpy(), found["right"].to_numpy()))
    assert value is not None
    return value


def resampled(found: pl.DataFrame) -> Floats:
    """Return the errors of both columns for bootstrap samples of pages, [SAMPLES, 2]."""
    rng = np.random.default_rng(0)
    by_page = [own.drop("page_id") for own in found.partition_by("page_id", maintain_order=True)]
    samples = (
        pl.concat([by_page[n] for n in rng.integers(0, len(by_page), len(by_page))])
        for _ in range(SAMPLES)
    )
    return np.array([[error(own, name) for name in COLUMNS] for own in samples])


COLUMNS = {"isotonic": "isotonic alone", "probability": "isotope"}


def interval(values: Floats) -> str:
    """Return the middle 95 % of some values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return f"{low:.3f} to {high:.3f}"


def report(each: Sequence[pl.DataFrame], world: World) -> tuple[str, list[Claim]]:
    """Return the report and its claim."""
    found, samples = pl.concat(each), resampled(pl.concat(each))
    lines = [f"# Probabilities of suggestions, {len(each)} draws of {NAME}", ""]
    lines += [
        f"{world.left['text_id'].n_unique()} judged sections on {world.left['page_id'].n_unique()} "
        f"pages, {SECTIONS} of them to learn from; {len(found):,} suggestions for the others, "
        f"{100 * found['right'].mean():.1f} % right.",  # pyright: ignore[reportOperatorIssue]
        "",
        "| curve | calibration error | 95 % by pages | mean of one draw | sd over draws "
        "| above 0.9 | of these right |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for n, (column, name) in enumerate(COLUMNS.items()):
        own = np.array([error(one, column) for one in each])
        sure = found.filter(pl.col(column) > _SURE)
        share = f"{100 * sure['right'].sum() / len(sure):.0f} %" if len(sure) else ""
        told = f"{error(found, column):.3f} | {interval(samples[:, n])} | {own.mean():.3f}"
        many = f"{len(sure)} ({100 * len(sure) / len(found):.1f} %)"
        lines.append(f"| {name} | {told} | {own.std():.3f} | {many} | {share} |")
    gap = error(found, "isotonic") - error(found, "probability")
    better = samples[:, 0] - samples[:, 1]
    lines += ["", f"Difference: {gap:.3f} (95 %: {interval(better)}).", ""]
    numbers = error(found, "probability"), error(found, "isotonic")
    peer = "isotonic regression alone"
    claim = Claim("suggest", f"{len(each)} draws of {NAME}", peer, *numbers, None, unit="error")
    return "\n".join(lines), [claim]


def main() -> None:
    """Build where needed, draw, and write the results."""
    given = dict(enumerate(sys.argv[1:]))
    count, project = int(given.get(0, "12")), Path(given.get(1, "."))
    if not build(project, Path(given.get(2, "../shared/snapshots/raycharles"))):
        return
    with tempfile.TemporaryDirectory() as folder, chdir(project):
        world = read(Path(folder))
        each = [*draws(world, count)]
    text, claims = report(each, world)
    end = machine(["numpy", "polars", "scikit-learn"])
    write("suggest_calibration", f"{text}\n{verdicts(claims)}\n{end}", claims)


if __name__ == "__main__":
    main()
