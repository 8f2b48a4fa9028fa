"""What every documented query must answer, counted in Python from the files, without SQL."""

import math
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, linear_regression, median
from typing import Any

import polars as pl
from tests.plugged import modules

from isotope.cli.reference import documents

Row = dict[str, Any]
Answer = list[tuple[Any, ...]]
ROOT = Path(__file__).parents[1]
CELL = ("collection", "setting", "split", "task", "system")
TOP = 20


def examples(root: Path = ROOT) -> dict[str, str]:
    """Every query that README and docs show, by its question, or by its page and a number."""
    found = dict[str, str]()
    for page in documents(root):
        text, name = page.read_text("utf-8"), page.relative_to(root).as_posix()
        if page.name == "queries.md":
            found |= dict(
                re.findall(r"^## (.+?)\n+```sql\n(.+?)```", text, re.DOTALL | re.MULTILINE)
            )
        of_python = re.findall(r'\.sql\("""(.+?)"""\)', text, re.DOTALL)
        lines = [x for x in text.splitlines() if x.startswith("isotope sql ")]
        of_shell = [shlex.split(line)[-1] for line in lines]
        for n, sql in enumerate([*of_python, *of_shell], start=1):
            found[f"{name}, {n}"] = sql
    return found


class Tables:
    """The files of a project as rows; the parts of a path that a view tells are columns."""

    def __init__(self, root: Path) -> None:
        """Read below `root`."""
        self.root = root

    def __call__(self, glob: str, **places: int) -> list[Row]:
        """Rows of all files of a pattern, with the part of the path at each place (negative)."""
        rows: list[Row] = []
        for path in sorted(self.root.glob(glob)):
            read = pl.read_csv if path.suffix == ".csv" else pl.read_parquet
            parts = [*path.parts[:-1], path.name.removesuffix(path.suffix)]
            told = {name: parts[at] for name, at in places.items()}
            rows += [told | row for row in read(path).rows(named=True)]
        return rows

    def collected(self, table: str) -> list[Row]:
        """A table of every collection."""
        return self(f"data/collect/*/{table}.parquet", collection=-2)

    def scores(self) -> list[Row]:
        """Scores, without the tests of significance beside them."""
        return [row for row in self("results/score/*.parquet") if "query_id" in row]

    def runs(self) -> list[Row]:
        """The hits of every run."""
        places = {name: at for at, name in enumerate(reversed(CELL), start=1)}
        return self("results/search/*/*/*/*/*.parquet", **{n: -at for n, at in places.items()})

    def judged(self, table: str) -> list[Row]:
        """A table of graded judgements."""
        return self(f"results/score/*/{table}.parquet", collection=-2)

    def counted(self, table: str) -> list[Row]:
        """A table of the statistics."""
        return self(f"results/tables/*/{table}.parquet", collection=-2)

    def suggested(self, table: str) -> list[Row]:
        """A table of the suggestions."""
        return self(f"results/suggest/*/{table}.parquet", collection=-2)

    def parsed(self, table: str) -> list[Row]:
        """A table of a source."""
        return self(f"data/parse/*/{table}.parquet", source=-2)


def rounded(value: float | None, digits: int) -> float | None:
    """Round halves away from zero, as SQL does."""
    if value is None:
        return None
    return math.copysign(math.floor(abs(value) * 10**digits + 0.5) / 10**digits, value)


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by some of their columns."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[k] for k in keys)].append(row)
    return groups


def where(rows: Iterable[Row], **values: object) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[k] == v for k, v in values.items())]


def by(rows: Answer, *order: int) -> Answer:
    """Sort by columns, numbered from 1; a negative one falls; what is null comes last."""

    def key(row: tuple[Any, ...], column: int) -> tuple[bool, Any]:
        value = row[abs(column) - 1]
        return (value is None, 0 if value is None else -value if column < 0 else value)

    return sorted(rows, key=lambda row: [key(row, column) for column in order])


def mean(rows: Sequence[Row], digits: int = 4) -> float | None:
    """The mean value."""
    return rounded(fmean(row["value"] for row in rows), digits)


def best(t: Tables) -> Answer:
    groups = grouped(where(t.scores(), measure="MRR@10"), *CELL)
    return by([(*key, mean(rows)) for key, rows in groups.items()], 1, 2, 3, 4, -6, 5)


def growth(t: Tables) -> Answer:
    own = grouped(where(t.scores(), measure="R@10", split="test"), "collection", "task", "system")
    settings = ("small", "base", "large")
    each = {key: [where(rows, setting=s) for s in settings] for key, rows in own.items()}
    return by([(*k, *(mean(r) if r else None for r in rows)) for k, rows in each.items()], 1, 2, 3)


def ranks(t: Tables) -> Answer:
    pairs = grouped([q for q in t.collected("qrels") if q["relevance"] > 0], "collection", "split")
    cells = {tuple(r[k] for k in CELL) for r in t.scores() if r["task"] == "t2m"}
    places = {tuple(r[k] for k in (*CELL, "query_id", "doc_id")): r["rank"] for r in t.runs()}
    found: Answer = []
    for cell in cells:
        own = pairs[cell[0], cell[2]]
        hits = [places.get((*cell, q["text_id"], q["image_id"])) for q in own]
        there = [rank for rank in hits if rank is not None]
        middle = median(there) if there else None
        found.append((*cell[:3], cell[4], len(own), len(there), middle))
    return by(found, 1, 2, 3, 7, 4)


def one_and_other(t: Tables) -> Answer:
    texts = {(r["collection"], r["text_id"]): r for r in t.collected("texts")}
    own = where(t.scores(), measure="MRR@10", task="t2m", setting="small")
    rows = [
        (
            c,
            s,
            q,
            texts[c, q]["page_title"],
            texts[c, q]["section_title"],
            a["system"],
            a["value"],
            b["system"],
            b["value"],
        )
        for (c, s, q), both in grouped(own, "collection", "split", "query_id").items()
        for a in both
        for b in both
        if a["system"] < b["system"]
    ]
    return sorted(rows, key=lambda r: (-abs(r[6] - r[8]), *r[:3], r[5], r[7]))[:TOP]


def surviving(t: Tables) -> Answer:
    keys = ("collection", "setting", "split", "task", "measure", "system", "other")
    told = [r for r in t("results/score/*.significance.parquet") if (r["p_bonferroni"] or 0) < 0.05]
    told = [r for r in told if r["p_bonferroni"] is not None]
    told.sort(key=lambda r: (-abs(r["difference"]), *(r[k] for k in keys)))
    ends = [(rounded(r["difference"], 4), r["p_bonferroni"]) for r in told]
    return [(*(r[k] for k in keys), *end) for r, end in zip(told, ends, strict=True)]


def hubs(t: Tables) -> Answer:
    keys = ("collection", "setting", "split", "system", "doc_id")
    hits = [r for r in t.runs() if r["task"] == "m2t" and r["rank"] <= 10]
    counts = Counter(tuple(r[k] for k in keys) for r in hits)
    return by([(*key, n) for key, n in counts.items()], -6, 1, 2, 3, 4, 5)[:TOP]


def lengths(t: Tables) -> Answer:
    texts = {(r["collection"], r["text_id"]): r for r in t.collected("texts")}
    own = where(t.scores(), measure="MRR@10", task="t2m", setting="large", split="test")
    for row in own:
        words = texts[row["collection"], row["query_id"]]["context_section_description"]
        row["from"] = None if words is None else min(len(words) // 200 * 200, 2000)
    groups = grouped(own, "collection", "system", "from")
    return by([(*key, len(rows), mean(rows)) for key, rows in groups.items()], 1, 2, 3)


def illustrating(t: Tables) -> Answer:
    texts = {(r["collection"], r["text_id"]): r for r in t.collected("texts")}
    urls = {(r["collection"], r["image_id"]): r["image_url"] for r in t.collected("images")}
    pairs = [q for q in t.collected("qrels") if q["relevance"] > 0]
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for q in pairs:
        groups[q["collection"], urls[q["collection"], q["image_id"]]].append(q["text_id"])
    rows = [
        (c, url, len(ids), [texts[c, i]["page_title"] for i in sorted(ids)][:5])
        for (c, url), ids in groups.items()
    ]
    return by(rows, -3, 1, 2)[:TOP]


def captions(t: Tables) -> Answer:
    fields = [f"caption_{kind}_description" for kind in ("reference", "alt_text", "attribution")]
    rows: Answer = []
    for (collection,), own in sorted(grouped(t.collected("images"), "collection").items()):
        filled = [sum(bool(r[f]) for r in own) for f in fields]
        languages = fmean(len(r["language"]) for r in own)
        rows.append((collection, len(own), *filled, rounded(languages, 2)))
    return rows


def missing(t: Tables) -> Answer:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in t("data/crawl/*/ledger.parquet", source=-2):
        host = re.match(r"^https?://([^/]+)", row["image_url"])
        key = (row["source"], row["status"], row["http_status"], host[1] if host else "")
        found[key] += row["status"] != "success"
    return by([(*key, n) for key, n in found.items() if n], -5, 1, 2, 3, 4)


def guesses(t: Tables) -> Answer:
    sections = {(r["source"], r["text_id"]): r for r in t.parsed("sections")}
    told = where(t("data/project/*/projection.parquet", source=-2), method="bm25")
    told = [r for r in told if (r["source"], r["text_id"]) in sections]
    told.sort(key=lambda r: (r["score"], r["source"], r["source_text_id"]))
    return [
        (
            r["source"],
            "bm25",
            rounded(r["score"], 2),
            r["source_text_id"],
            *tuple(sections[r["source"], r["text_id"]][k] for k in ("page_title", "section_title")),
        )
        for r in told[:TOP]
    ]


def languages(t: Tables) -> Answer:
    groups = grouped(t.parsed("associations"), "source", "language")
    rows = [(*key, len(own), len({r["image_url"] for r in own})) for key, own in groups.items()]
    return by(rows, -3, 1, 2)


def largest(t: Tables) -> Answer:
    rows = [
        (
            path.parent.name,
            path.relative_to(t.root).as_posix(),
            row["image_url"],
            row["width"],
            row["height"],
        )
        for path in t.root.glob("data/crawl/*/shard-*.parquet")
        for row in pl.read_parquet(path).rows(named=True)
    ]
    return sorted(rows, key=lambda r: (-r[3] * r[4], r[0], r[2]))[:10]


def curves(t: Tables) -> Answer:
    columns = ("collection", "model", "step", "loss", "mrr10_t2m", "mrr10_m2t")
    told = t("data/train/*/*/curve.csv", collection=-3, model=-2)
    return by([tuple(r[c] for c in columns) for r in told], 1, 2, -3)


def rejected(t: Tables) -> Answer:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in t("data/parse/*/*.rejected.parquet", source=-2, file_stem=-1):
        key = (row["source"], row["file_stem"].removesuffix(".rejected"), row["reason"])
        found[key].append(row["detail"])
    return by([(*key, len(own), set(own)) for key, own in found.items()], -4, 1, 2, 3)


def won(t: Tables) -> Answer:
    keys = ("collection", "system", "setting", "split", "task", "measure")
    rows: Answer = []
    for key, own in grouped(t("results/search/*/tuning/*.csv"), *keys).items():
        [chosen] = [r["parameters"] for r in own if r["chosen"]]
        values = [r["value"] for r in own]
        lead = max(values) - median(values)
        rows.append((*key, chosen, rounded(max(values), 4), rounded(lead, 4)))
    return by(rows, 1, 2, 3, 4, 5, 6)


def cut(t: Tables) -> Answer:
    # An empty field has no count.
    told = [r for r in t.counted("tokens") if r["tokens"]]
    groups = grouped(told, "collection", "side", "field", "tokenizer")
    rows = [
        (*key, rounded(fmean(r["tokens"] > 75 for r in own), 4), len(own))
        for key, own in groups.items()
    ]
    return by(rows, -5, 1, 2, 3, 4)


def harder(t: Tables) -> Answer:
    keys = (*CELL, "measure")
    told = t.counted("intervals")
    whole = {tuple(r[k] for k in keys): r for r in told if r["kind"] == "all"}
    rows: list[tuple[float, tuple[Any, ...]]] = []
    for r in (r for r in told if r["kind"] != "all"):
        everyone = whole.get(tuple(r[k] for k in keys))
        if not everyone or None in (r["high"], everyone["low"]):
            continue
        if r["high"] < everyone["low"]:
            shown = (*(r[k] for k in keys), r["kind"], r["stratum"], r["queries"])
            rows.append((r["value"] - everyone["value"], (*shown, rounded(r["value"], 4))))
    return [row for _, row in sorted(rows)[:TOP]]


def falls(t: Tables) -> Answer:
    rows: Answer = []
    for key, own in grouped(where(t.counted("subsets"), exact=1.0), *CELL, "measure").items():
        sizes, values = [math.log2(r["documents"]) for r in own], [r["value"] for r in own]
        if len(own) > 1:
            rows.append((*key, rounded(linear_regression(sizes, values).slope, 4)))
    return by(rows, 7, 1, 2, 3, 4, 5, 6)


def aged(t: Tables) -> Answer:
    keys = ("built_on", *CELL, "measure")
    told = t("results/tables/*/since/*/temporal.parquet", collection=-4, built_on=-2)
    told = [r for r in told if r["stratum"] == "new" and r["low"] > 0]
    order = ("collection", "built_on", *CELL[1:], "measure")
    told.sort(key=lambda r: (-r["relative_drop"], *(r[k] for k in order)))
    ends = ("queries", "relative_drop")
    rows = [(*(r[k] for k in keys), *(r[k] for k in ends)) for r in told[:TOP]]
    return [(*row[:-1], rounded(row[-1], 3)) for row in rows]


def shared(t: Tables) -> Answer:
    keys = ("collection", "task", "query_id", "doc_id")
    counts = Counter(tuple(r[k] for k in keys) for r in t.counted("tops"))
    return by([(*key, n) for key, n in counts.items()], -5, 1, 2, 3, 4)[:TOP]


def unknown_templates(t: Tables) -> Answer:
    called = [r for r in t.parsed("templates") if r["prints"] == "unknown" and r["uses"]]
    names = ("source", "wiki", "template", "known_by", "uses")
    return by([tuple(r[name] for name in names) for r in called], -5, 1, 2, 3)[:TOP]


def unseen_pictures(t: Tables) -> Answer:
    shown = defaultdict[tuple[str, str], set[str]](set)
    for r in t.parsed("sections"):
        shown[r["source"], r["page_title"]] |= {*(r["media"] or ())}
    known = [r for r in t.parsed("wikidata") if r["pictures"]]
    unseen = (r for r in known if not shown[r["source"], r["page_title"]] & {*r["pictures"]})
    return by([*Counter(r["source"] for r in unseen).items()], -2, 1)


def linked(t: Tables) -> Answer:
    told = where(t.parsed("sections"), section=0)
    titles = {(r["source"], r["page_id"]): r["page_title"] for r in told}
    known = [(r["source"], r["page_id"], r["inlinks"]) for r in t.parsed("inlinks")]
    rows = [(s, titles[s, p], n) for s, p, n in known if (s, p) in titles]
    return by(rows, -3, 1, 2)[:TOP]


def of_quickstart(t: Tables) -> Answer:
    cell = {"collection": "toy", "setting": "large", "split": "test", "measure": "MRR@10"}
    groups = grouped(where(t.scores(), **cell), "system", "task")
    rows = [(*key, mean(own, 3)) for key, own in groups.items()]
    return sorted(rows, key=lambda r: (r[1] == "m2t", -(r[2] or 0), r[0]))


def texts(t: Tables) -> Answer:
    counts = Counter((r["collection"], r["split"]) for r in t.collected("texts"))
    return sorted((*key, n) for key, n in counts.items())


def filters(t: Tables) -> Answer:
    columns = ("collection", "step", "split", "before", "dropped", "after")
    return [tuple(r[c] for c in columns) for r in t.collected("filters")]


def counted(rows: Iterable[Row], *keys: str) -> list[tuple[Any, ...]]:
    """The values of `keys` with the number of rows that have them, sorted."""
    return by(
        [(*key, len(of)) for key, of in grouped(rows, *keys).items()], *range(1, len(keys) + 1)
    )


def listed(t: Tables) -> Answer:
    pages = grouped(t.parsed("outline"), "source", "page_id")
    sums = [
        (*key, *(sum(r[k] for r in of) for k in ("list_items", "table_rows")))
        for key, of in pages.items()
    ]
    return sorted(sums, key=lambda row: (-row[2] - row[3], *row[:2]))[:TOP]


ANSWERS: Mapping[str, Callable[[Tables], Answer]] = {
    "Which systems are best, and on what?": best,
    "How hard does each task get as the collection grows?": growth,
    "At what rank do the systems find the relevant document?": ranks,
    "Which queries does one system answer and another miss?": one_and_other,
    "Which differences survive the correction for many tests?": surviving,
    "Which documents does a system return again and again (hubs)?": hubs,
    "Are sections with much to say easier to illustrate?": lengths,
    "Which pictures illustrate the most sections?": illustrating,
    "How many pictures have captions, and in how many languages?": captions,
    "Why are pictures missing, and from which hosts?": missing,
    "Which sections has the projection matched with the lowest scores?": guesses,
    "Which languages does WIT caption these pages' pictures in?": languages,
    "Where are the largest pictures?": largest,
    "Did the model still improve when training ended?": curves,
    "What did parsing leave out, and why?": rejected,
    "Which parameters won the tuning, and by how much?": won,
    "Which fields are too long for CLIP's 77 tokens?": cut,
    "Which strata are significantly harder than the mean over all queries?": harder,
    "How fast does each system fall as the pool grows?": falls,
    "Which systems lose most, significantly, on queries that are new since they were built?": aged,
    "Which hits do all systems share?": shared,
    "What are the best linked articles?": linked,
    "Which templates that articles call most are not known?": unknown_templates,
    "How many pages have a picture in Wikidata that they do not show?": unseen_pictures,
    "Which pages have most list items and table rows?": listed,
    "docs/quickstart.md, 1": of_quickstart,
    "docs/cli.md, 1": texts,
    "docs/cli.md, 2": filters,
}


def answers() -> dict[str, Callable[[Tables], Answer]]:
    """Return what queries must answer: ANSWERS, and those of plug-ins."""
    added = (module.ANSWERS for module in modules("examples"))
    return {**ANSWERS, **{query: answer for own in added for query, answer in own.items()}}


def differences(shown: Answer, counted: Answer) -> list[tuple[Any, Any]]:
    """The rows of an answer that are not as counted; any of a set will do where one is named."""
    if len(shown) != len(counted):
        return [(len(shown), len(counted))]
    pairs = zip(shown, counted, strict=True)
    return [(one, two) for one, two in pairs if not all(map(_same, one, two))]


def _same(shown: object, counted: object) -> bool:
    if isinstance(counted, set):
        return shown in counted
    if isinstance(counted, float) and isinstance(shown, float | int):
        return math.isclose(shown, counted, abs_tol=1e-9)
    if isinstance(counted, list) and isinstance(shown, list):
        return sorted(shown) == sorted(counted)
    return shown == counted
