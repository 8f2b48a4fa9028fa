"""Points of what a GPU takes, measured by gpu.py: their file, their page, the estimate's rates."""

import csv
import datetime
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from common import RESULTS, Claim, verdicts

# Weights and tokens of a text and a picture, as `isotope estimate` counts operations.
CLIPS = {"ViT-B-32": (1.51e8, 77, 50), "ViT-L-14": (4.28e8, 77, 257)}
TOWERS = {"texts": "encode_text", "pictures": "encode_image"}
LARGE = "ViT-L-14"
DIM, DECODER, MICRO_BATCH = 512, 1.54e9, 128
POINTS = "gpu_points.csv"
COLUMNS = ("part", "what", "seconds", "items", "of", "card", "torch", "date")


class Point(NamedTuple):
    """Seconds that so many items took, by isotope or by another (`of`)."""

    part: str
    what: str
    seconds: float
    items: int
    of: str = "isotope"


NOTES = """A ratio is the peer's time, for as many items, over isotope's; medians after a first
that is not counted, but for the search, which is run once. Texts and pictures lie in memory as
tokens and as pixels in single precision, whose way to the card counts; *from strings* and *from
Pillow* count tokenising by one thread and resizing by eight. Items of a search are pairs of a query
and a document: isotope reads files of half precision, multiplies in single precision and gives the
bits that FAISS on processors gives; torch has the vectors on the card and gives scores of half
precision. In micro-batches each pair is embedded twice."""
COMMAND = "Command: `python benchmarks/gpu.py`\n"


def saved(part: str, points: Sequence[Point]) -> None:
    """Put the points of a part in the place of its earlier ones."""
    import torch  # noqa: PLC0415

    others = [row for row in read() if row["part"] != part]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    here = {"card": torch.cuda.get_device_name(), "torch": torch.__version__, "date": today}
    rows = [{**p._asdict(), "seconds": f"{p.seconds:.5g}", **here} for p in points]
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / POINTS).open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter[str](file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows([*others, *rows])


def read() -> list[dict[str, str]]:
    """Return the points of all parts."""
    path = RESULTS / POINTS
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def rates(rows: Sequence[Mapping[str, str]]) -> list[dict[str, object]]:
    """Return what an operation and a product take, as `estimate.csv` has it.

    A tower of two reads an item with one operation a weight and token, a decoder with two; learning
    takes three times as many (`isotope estimate`). A search is counted whole, reading included; of
    encoding an item is what processors do with a text or a picture before the card has it.
    """
    took: dict[str, tuple[float, int]] = {}
    for row in rows:
        if row["of"] == "isotope":
            took[row["what"]] = float(row["seconds"]), int(row["items"])
    weights, words, patches = CLIPS[LARGE]
    sides = [took[f"{LARGE}, {side}"] for side in TOWERS]
    raw = [took[f"{LARGE}, {side}"] for side in ("texts from strings", "pictures from Pillow")]
    tokens = zip(sides, (words, patches), strict=True)
    counted = sum(items * weights * n for (_, items), n in tokens)
    before = sum(each(whole, 1) - each(ready, 1) for whole, ready in zip(raw, sides, strict=True))
    step_s, pairs = took[f"{LARGE}, pairs learned from, {MICRO_BATCH:,} at a time"]
    largest = max((t for what, t in took.items() if what.endswith(" vectors")), key=lambda t: t[1])
    values = {
        ("gpu.encode", "operation"): sum(s for s, _ in sides) / counted,
        ("gpu.encode", "item"): before / len(sides),
        ("gpu.train", "operation"): step_s / (3 * pairs * weights * (words + patches)),
        ("gpu.search", "operation"): each(took["tokens of pairs to rerank"], 2 * DECODER),
        ("gpu.score", "operation"): each(took["tokens of messages to judge"], 2 * DECODER),
        ("gpu.search gpu.suggest", "product"): each(largest, DIM),
    }
    return [{"what": what, "unit": unit, "value": v} for (what, unit), v in values.items()]


def each(took: tuple[float, int], operations: float) -> float:
    """Return the seconds of one of so many operations an item."""
    seconds, items = took
    return seconds / items / operations


def report(rows: Sequence[Mapping[str, str]]) -> str:
    """Return all points: what isotope does in a second, and beside whom, for as many items."""
    lines = ["# On a GPU", "", "| part | what | by | items | seconds | items a second |"]
    lines.append("|---|---|---|---:|---:|---:|")
    claims = list[Claim]()
    ours = {(r["part"], r["what"]): r for r in rows if r["of"] == "isotope"}
    for row in rows:
        seconds, items = float(row["seconds"]), int(row["items"])
        told = f"{items:,} | {seconds:.4g} | {items / seconds:,.4g}"
        lines.append(f"| {row['part']} | {row['what']} | {row['of']} | {told} |")
        own = ours.get((row["part"], row["what"]))
        if own and row is not own:
            theirs = seconds / items * int(own["items"])
            peer = f"{row['of']}: {row['what']}"
            claims.append(Claim(row["part"], "", peer, float(own["seconds"]), theirs, None))
    cards = sorted({f"{r['card']}, torch {r['torch']}, {r['date']}" for r in rows})
    end = ["", verdicts(claims), NOTES, "", f"{'; '.join(cards)}.", "", COMMAND]
    return "\n".join([*lines, *end])
