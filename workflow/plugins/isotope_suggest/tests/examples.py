"""Tables of suggestions in some rows, and what queries of this plug-in's pages answer on them."""

import random
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean

from tests.doc_answers import TOP, Answer, Tables, by, counted, grouped, rounded, where
from tests.doc_project import COLLECTIONS, ITEMS, write

from isotope_suggest import schemas as suggest


def lay(root: Path, collection: str, chance: random.Random) -> None:  # noqa: PLR0915
    """Write every table of suggestions of a collection."""
    folder = root / "results/suggest" / collection
    sections = [
        {"text_id": f"t{n:02}", "page_id": n // 2, "role": chance.choice(["open", "judged"])}
        | {"page_class": chance.choice(["list", "article"]), "probability": chance.random()}
        for n in range(ITEMS)
    ]
    write(sections, folder / "sections.parquet", suggest.SECTION_ROLES)
    pictures = [
        {"image_id": f"i{n:02}", "kind": chance.choice(["icon", "photograph"])}
        for n in range(ITEMS)
    ]
    write(pictures, folder / "pictures.parquet", suggest.PICTURE_KINDS)
    pairs = [
        {"text_id": f"t{n:02}", "image_id": f"i{m:02}"} for n, m in product(range(9), repeat=2)
    ]
    ranks = ("bm25_rank", "dense_rank")
    candidates = [
        pair
        | {rank: chance.choice([None, *range(1, 6)]) for rank in ranks}
        | {"alignment": chance.choice([None, 0.5, 0.8])}
        for pair in pairs
    ]
    write(candidates, folder / "candidates.parquet", suggest.CANDIDATES)
    reasons = ("too small", "not free", "on the page")
    rejected = [pair | {"reason": chance.choice(reasons)} for pair in pairs[::2]]
    write(rejected, folder / "rejected.parquet", suggest.FILTERED)
    scored = [
        {"text_id": f"t{n:02}", "image_id": f"i{m:02}", "system": system, "rank": rank}
        | {"kind": chance.choice(["text", "several"])}
        for n, system in product(range(9), ("suggest", "wikimedia"))
        for rank, m in enumerate(chance.sample(range(3), 2), 1)
    ]
    write(scored, folder / "scored.parquet", suggest.SCORED)
    verdicts = [pair | {"relevance": chance.randrange(3), "assessors": 1} for pair in pairs[::3]]
    write(verdicts, folder / "judgements.parquet", suggest.JUDGEMENTS)
    feed = [
        row
        | {"wiki": f"{collection}wiki", "kind": chance.choice(["text", "several"])}
        | {"probability": chance.random()}
        for row in ({k: r[k] for k in ("text_id", "image_id", "rank")} for r in scored[:9])
    ]
    write(feed, folder / "feed.parquet", suggest.FEED)
    changes = ("new", "withdrawn", "taken up")
    delta = [{"change": chance.choice(changes), **row} for row in feed]
    other = next(c for c in COLLECTIONS if c != collection)
    write(delta, folder / f"since/{other}/delta.parquet", suggest.DELTA)
    outcomes = ("taken up", "other picture", "without picture", "section gone")
    taken_up = [
        row | {"later": "next", "outcome": chance.choice(outcomes), "days": 31} for row in scored
    ]
    write(taken_up, folder / "taken_up.parquet", suggest.TAKEN_UP)


def ought(t: Tables) -> Answer:
    rows = [r for r in t.suggested("sections") if r["role"] == "open" and r["probability"] >= 0.5]
    return by(
        [
            (*key, len(group), rounded(fmean(r["probability"] for r in group), 3))
            for key, group in grouped(rows, "collection", "page_class").items()
        ],
        *(-3, 1, 2),
    )


def found_by(t: Tables) -> Answer:
    return by(
        [
            (*key, len(group), rounded(fmean(r["probability"] for r in group), 3))
            for key, group in grouped(t.suggested("feed"), "collection", "wiki", "kind").items()
        ],
        *(1, 2, -4, 3),
    )


def left_out(t: Tables) -> Answer:
    kinds = {(r["collection"], r["image_id"]): r["kind"] for r in t.suggested("pictures")}
    rows = [
        r | {"of": kinds[r["collection"], r["image_id"]]}
        for r in t.suggested("rejected")
        if (r["collection"], r["image_id"]) in kinds
    ]
    return by(counted(rows, "collection", "reason", "of"), -4, 1, 2, 3)[:TOP]


def agreed(t: Tables) -> Answer:
    rows = [
        r
        for r in t.suggested("candidates")
        if r["alignment"] is not None
        and all(r[key] is not None and r[key] <= 3 for key in ("bm25_rank", "dense_rank"))
    ]
    keys = ("collection", "text_id", "image_id")
    rows.sort(key=lambda r: (r["bm25_rank"] + r["dense_rank"], *(r[k] for k in keys)))
    ranks = ("bm25_rank", "dense_rank")
    return [(*(r[k] for k in (*keys, *ranks)), rounded(r["alignment"], 2)) for r in rows[:TOP]]


def alike(t: Tables) -> Answer:
    first = {
        (r["collection"], r["system"], r["text_id"]): r["image_id"]
        for r in where(t.suggested("scored"), rank=1)
    }
    pairs = [
        {"collection": c, "system": s, "other": other, "same": image == first[c, other, text]}
        for (c, s, text), image in first.items()
        for other in {key[1] for key in first}
        if s < other and (c, other, text) in first
    ]
    groups = grouped(pairs, "collection", "system", "other")
    return by(
        [(*key, len(group), sum(r["same"] for r in group)) for key, group in groups.items()],
        1,
        2,
        3,
    )


def editors(t: Tables) -> Answer:
    rows = where(t.suggested("taken_up"), rank=1)
    return counted(rows, "collection", "later", "system", "outcome")


def feed_changes(t: Tables) -> Answer:
    rows = t("results/suggest/*/since/*/delta.parquet", collection=-4, since=-2)
    return counted(rows, "collection", "since", "change")


def liked(t: Tables) -> Answer:
    keys = ("collection", "text_id", "image_id")
    people = {tuple(r[k] for k in keys): r["relevance"] > 0 for r in t.suggested("judgements")}
    rows = [
        {"right": people[pair], **r}
        for r in t.suggested("scored")
        if (pair := tuple(r[k] for k in keys)) in people
    ]
    groups = grouped(rows, "collection", "system", "kind")
    return by(
        [
            (*key, len(group), rounded(fmean(r["right"] for r in group), 3))
            for key, group in groups.items()
        ],
        *(1, 2, 3),
    )


ANSWERS: Mapping[str, Callable[[Tables], Answer]] = {
    "Which kinds of pages have most sections that ought to have a picture and have none?": ought,
    "Who finds the suggestions of the feed?": found_by,
    "Why was a picture not suggested?": left_out,
    "Which candidates do words, vectors and other languages agree on?": agreed,
    "How often do two systems suggest the same picture first?": alike,
    "What did editors do with the suggestions?": editors,
    "What has changed in the feed since the earlier snapshot?": feed_changes,
    "What do people think of suggestions from each source?": liked,
}
