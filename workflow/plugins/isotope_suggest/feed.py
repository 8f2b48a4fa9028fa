"""The feed of a wiki: for sections without a picture the few suggestions that are sure enough.

Candidates pass through twice, some sections at a time: those of the validation sections to learn
weights, probabilities and thresholds, then all, to be ranked and written. Memory follows the
sections of the collection, in narrow columns, and the feed, not the candidates.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.core import store
from isotope.core.exact import by_faiss
from isotope.core.progress import Progress, log
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.stopwords import stop_words
from isotope_suggest import learn, score, verdicts
from isotope_suggest.captions import without_language
from isotope_suggest.credit import credit_line
from isotope_suggest.filters import Filters, shown
from isotope_suggest.likeness import Likeness
from isotope_suggest.origins import Origins
from isotope_suggest.params import Publishing
from isotope_suggest.reasons import CaptionWords, reasons
from isotope_suggest.schemas import FEED, FILTERED, SCORED
from isotope_suggest.score import KEY, KIND, SUGGEST, WIKIMEDIA, Ranker

_SECTIONS = ("text_id", "page_id", "language", "split", "role", "page_class", "place")
_OPEN = (SUGGEST, WIKIMEDIA)
_MEASURED = 3
_INDENT = 1
_TEXTS = ("text_id", "page_title", "section_title", "context_section_description")
_PICTURES = ("image_id", "file", "author", "licence", "file_page")
# ASSUME captions of a million pictures tell how rare words are as well as those of all would; no
# measurement says.
_MOST_CAPTIONED = 1_000_000
# Pictures of judged sections among which those that look alike are found, how many near ones are
# looked at for one of another page, and how many pictures are looked up at once.
_MOST_ALIKE, _NEAR, _AT_ONCE = 100_000, 5, 4_096


class _Tables(NamedTuple):
    """What is in memory while candidates pass."""

    sections: pl.DataFrame
    pictures: pl.DataFrame
    qrels: pl.DataFrame
    ranker: Ranker
    filters: Filters
    likeness: Likeness


def write_feed(  # noqa: PLR0913, PLR0917 (a rule's inputs and outputs)
    texts: Path,
    images: Path,
    qrels: Path,
    sections: Path,
    candidates: Path,
    pictures: Path,
    placed: Sequence[Path],
    image_vectors: Sequence[Path],
    image_ids: Sequence[Path],
    judgements: Sequence[Path],
    scored: Path,
    rejected: Path,
    calibration: Path,
    feed: Path,
    lines: Path,
    collection: str,
    origins: Origins,
    wikis: Mapping[str, str],
    snapshot: str,
    spec: Publishing,
) -> None:
    """Write SCORED, FILTERED, what was learned (JSON), and FEED as Parquet and as JSON lines.

    SCORED has the ten best of each system for the judged sections of validation and test, and for
    open sections the best of suggest and wikimedia, as many as a feed may have. Validation sections
    are scored by weights that never saw their page. FEED has open sections alone, in the order of
    wiki, page, section and rank; it is empty where no threshold is certified. `image_vectors` and
    `image_ids` are shards, none without a dense system. `wikis` are the wikis by language, and
    `snapshot` is the date of the first one's dump.

    Raises:
        IntegrityError: candidates that are not sorted by section.
        CorruptFile: judgements that nobody can read.
        As `core.vectors.load_vectors`.
    """
    tables = _read(
        (sections, pictures, qrels), (placed, image_vectors, image_ids), judgements, origins, spec
    )
    learned = _learn(candidates, tables, collection, spec)
    with ExitStack() as stack:
        parts = [stack.enter_context(store.aside(path)) for path in (calibration, feed, lines)]
        outs = (stack.enter_context(store.grouped(scored, SCORED)),)
        outs += (stack.enter_context(store.grouped(rejected, FILTERED)),)
        chosen = _write_ranked(candidates, tables, learned, outs, spec.most)
        chosen = learned.raise_for(chosen)
        learned.log()
        about = Described(texts, images, tables.sections, tables.pictures, tables.qrels)
        rows = describe(
            chosen,
            about,
            tables.likeness if image_vectors else None,
            wikis,
            snapshot=snapshot,
            caution=learned.calibration["caution"],
        )
        parts[0].write_text(_json(learned.calibration), "utf-8")
        store.write(rows.to_arrow(), parts[1], FEED)
        with parts[2].open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json_lines(rows))
    served = rows["text_id"].n_unique()
    log.info("%s: %d suggestions for %d sections", collection, len(rows), served)


def _json(calibration: dict[str, Any]) -> str:
    return json.dumps(calibration, ensure_ascii=False, allow_nan=False, indent=_INDENT) + "\n"


def json_lines(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the rows of a feed as JSON objects, one a line, with the columns of FEED."""
    for row in rows.select(FEED.names).iter_rows(named=True):
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _read(
    about: tuple[Path, Path, Path],
    shards: tuple[Sequence[Path], Sequence[Path], Sequence[Path]],
    judgements: Sequence[Path],
    origins: Origins,
    spec: Publishing,
) -> _Tables:
    sections = pl.read_parquet(about[0], columns=list(_SECTIONS), glob=False)
    pictures, qrels = pl.read_parquet(about[1], glob=False), pl.read_parquet(about[2], glob=False)
    likeness = Likeness(pictures, *shards[1:])
    filters = Filters(
        pictures,
        sections=sections,
        shown=shown(shards[0], pictures, origins),
        qrels=qrels,
        rejections=verdicts.rejections(judgements),
        likeness=likeness,
        spec=spec,
    )
    return _Tables(sections, pictures, qrels, Ranker(filters, likeness), filters, likeness)


def _learn(candidates: Path, tables: _Tables, collection: str, spec: Publishing) -> learn.Learned:
    examples, judged = learn.Examples(), learn.judged(tables.sections)
    for block in score.blocks(candidates):
        judged_rows = block.join(judged.select("text_id"), on="text_id", how="semi")
        if len(judged_rows):
            examples.add(tables.filters.reject(judged_rows).left, tables.pictures, judged)
    return learn.learn(examples, tables.qrels, len(judged), tables.ranker, collection, spec)


def _write_ranked(
    candidates: Path,
    tables: _Tables,
    learned: learn.Learned,
    outs: tuple[store.GroupedWriter, ...],
    most: int,
) -> pl.DataFrame:
    """Write SCORED and FILTERED; return the candidates of the feed, with their `rank`."""
    folds = learn.judged(tables.sections).select("text_id", "fold")
    sections = tables.sections.join(folds, on="text_id", how="left").select(
        "text_id", "role", "page_class", "fold"
    )
    progress = Progress("sections with candidates ranked")
    feed = list[pl.DataFrame]()
    for block in score.blocks(candidates):
        left, gone = tables.filters.reject(block)
        joined = left.join(sections, on="text_id", how="left", maintain_order="left")
        ranked, duplicates, chosen = _ranked(joined, tables, learned, max(_MEASURED, most))
        outs[0].add(ranked.to_arrow().cast(SCORED))
        rejected = pl.concat([gone.select(FILTERED.names), duplicates])
        outs[1].add(rejected.sort(KEY).to_arrow().cast(FILTERED))
        feed.append(chosen)
        progress.add(block["text_id"].n_unique())
    progress.finish()
    return pl.concat(feed) if feed else pl.DataFrame()


def _ranked(
    candidates: pl.DataFrame, tables: _Tables, learned: learn.Learned, most: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return SCORED and FILTERED of some sections, and the candidates that the feed shows."""
    rankings = tables.ranker.plain_rankings(candidates)
    duplicates, chosen = pl.DataFrame(FILTERED.empty_table()), candidates.clear()
    if learned.calibration["weights"] is not None:
        matrix = score.features(candidates, tables.pictures)
        scored = learned.scored(candidates.with_columns(KIND), matrix)
        best = tables.ranker.suggested(scored)
        rankings, duplicates = pl.concat([rankings, best.scored]), best.rejected
        named = best.scored.select(*KEY, "rank").join(scored, on=KEY, maintain_order="left")
        chosen = learned.shown(named.filter(pl.col("role") == "open"))
    roles = candidates.select("text_id", "role").unique()
    is_measured = pl.col("system").is_in(_OPEN) & (pl.col("rank") <= most)
    recorded = rankings.join(roles, on="text_id").filter((pl.col("role") != "open") | is_measured)
    return recorded.sort("text_id", "system", "rank").select(SCORED.names), duplicates, chosen


class Described(NamedTuple):
    """Tables that describe sections and pictures; the first two are read as far as needed."""

    texts: Path
    images: Path
    sections: pl.DataFrame
    pictures: pl.DataFrame
    qrels: pl.DataFrame


def describe(  # noqa: PLR0913 (what a feed says)
    shown: pl.DataFrame,
    about: Described,
    likeness: Likeness | None,
    wikis: Mapping[str, str],
    *,
    snapshot: str,
    caution: str,
) -> pl.DataFrame:
    """Return FEED of the candidates that are shown, in its order.

    `shown` has CANDIDATES' columns, rank, probability, low, high and kind; ranks of a section are
    counted anew, as its second suggestion may lack where its third is sure enough. `likeness` is
    None without vectors; `wikis` are as of `write_feed`, and `caution` is that of what was learned.
    """
    empty = pl.DataFrame(FEED.empty_table())
    if shown.is_empty():
        return empty
    rows = _joined(shown, about).join(
        _pages(shown, about, likeness), on=KEY, how="left", maintain_order="left"
    )
    words = CaptionWords.from_captions(_captions(about.images), stop_words(tuple(wikis)))
    named = (
        {
            **{**_row_of(row, words), "wiki": wikis[row["language"]]},
            **{"snapshot": snapshot, "caution": caution},
        }
        for row in rows.iter_rows(named=True)
    )
    feed = pl.DataFrame(named, schema=empty.schema)
    ordered = feed.sort("wiki", "page_id", "section_index", "text_id", "rank")
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("text_id")
    return ordered.with_columns(rank.alias("rank"))


def _joined(shown: pl.DataFrame, about: Described) -> pl.DataFrame:
    """Add what sections, texts, images and pictures say of the candidates."""
    sections = about.sections.select("text_id", "page_id", "language", "place")
    texts = _rows(about.texts, _TEXTS, shown["text_id"])
    columns = ("image_id", "image_url", *CAPTION_FIELDS)
    images = _rows(about.images, columns, shown["image_id"]).with_columns(
        pl.col(field).list.eval(without_language(pl.element())) for field in CAPTION_FIELDS
    )
    names = (
        "rank",
        "probability",
        "low",
        "high",
        "kind",
        "dense",
        "alignment",
        "alignment_on",
        "links_on",
        "wikidata_on",
    )
    rows = shown.select(*KEY, *names)
    for key, table in (("text_id", sections), ("text_id", texts)):
        rows = rows.join(table, on=key, how="left", maintain_order="left")
    for table in (images, about.pictures.select(_PICTURES)):
        rows = rows.join(table, on="image_id", how="left", maintain_order="left")
    return rows


def _rows(table: Path, columns: Sequence[str], ids: pl.Series) -> pl.DataFrame:
    wanted_ids = ids.unique().to_frame().lazy()
    wanted = (
        pl.scan_parquet(table, glob=False).select(columns).join(wanted_ids, on=ids.name, how="semi")
    )
    return wanted.collect(engine="streaming")


def _row_of(row: Mapping[str, Any], words: CaptionWords) -> dict[str, Any]:
    """Return the fields of FEED that a candidate alone decides."""
    text = "\n".join(row[name] or "" for name in (*_TEXTS[2:], "page_title"))
    captions = [caption for name in CAPTION_FIELDS for caption in row[name] or ()]
    shown_on = [row["like"]] if row["is_shown_there"] else []
    found_on = [
        *(row["alignment_on"] or ()),
        *(row["links_on"] or ()),
        *(row["wikidata_on"] or ()),
        *shown_on,
    ]
    names = ("page_id", "page_title", "section_title", "image_url", "kind", "rank")
    names += ("probability", "low", "high")
    return {
        **{name: row[name] for name in (*names, *KEY)},
        "section_index": row["place"],
        "image": row["file"],
        "found_on": list(dict.fromkeys(found_on)),
        "reasons": reasons(row, text, captions, words, like=row["like"]),
        "credit": credit_line(row["author"], row["licence"], row["file_page"]),
    }


def _captions(images: Path) -> Iterator[list[str]]:
    """Yield the captions of pictures, of many those of every n-th."""
    rows = pl.scan_parquet(images, glob=False).select(CAPTION_FIELDS)
    count = pl.scan_parquet(images, glob=False).select(pl.len()).collect().item()
    for fields in rows.gather_every(1 + count // _MOST_CAPTIONED).collect().iter_rows():
        yield [caption for field in fields for caption in field or ()]


def _pages(shown: pl.DataFrame, about: Described, likeness: Likeness | None) -> pl.DataFrame:
    """Return, for candidates, `like`: the title of a page that shows the picture, or one like it.

    These are pages of judged sections, and not the candidate's own; `is_shown_there` tells which.
    """
    pages = about.sections.select("text_id", "language", "page_id")
    owners = about.qrels.rename({"text_id": "owner", "image_id": "near"}).join(
        pages.rename({name: f"owner_{name}" for name in pages.columns}).rename(
            {"owner_text_id": "owner"}
        ),
        on="owner",
    )
    near = _near(shown["image_id"].unique().sort(), owners["near"].unique().sort(), likeness)
    page_rows = shown.select(KEY).join(pages, on="text_id").join(near, on="image_id")
    page = pl.struct("language", "page_id")
    elsewhere = page_rows.join(owners, on="near").filter(
        page != pl.struct(language="owner_language", page_id="owner_page_id")
    )
    best = elsewhere.sort(*KEY, "place", "owner").unique(KEY, keep="first", maintain_order=True)
    titles = _rows(about.texts, ("text_id", "page_title"), best["owner"].alias("text_id"))
    named = best.join(titles.rename({"text_id": "owner", "page_title": "like"}), on="owner")
    return named.select(*KEY, "like", is_shown_there=pl.col("place") == 0)


def _near(pictures: pl.Series, judged: pl.Series, likeness: Likeness | None) -> pl.DataFrame:
    """Return image_id, near and place: judged pictures are near themselves, at place 0.

    Others are near the judged pictures whose vectors are nearest, if there are vectors.
    """
    is_judged = pictures.is_in(judged.implode())
    same = pictures.filter(is_judged)
    parts = [pl.DataFrame({"image_id": same, "near": same}).with_columns(place=pl.lit(0))]
    unjudged = pictures.filter(~is_judged)
    if likeness is not None and len(unjudged) and len(judged):
        some = judged.gather_every(1 + len(judged) // _MOST_ALIKE)
        ask, most = by_faiss(likeness.vectors(some)), min(_NEAR, len(some))
        for start in range(0, len(unjudged), _AT_ONCE):
            part = unjudged[start : start + _AT_ONCE]
            _, places = ask(likeness.vectors(part), most)
            near = some.gather(places.ravel())
            nth = pl.Series(np.tile(np.arange(1, most + 1, dtype=np.int32), len(part)))
            ids = part.gather(np.repeat(np.arange(len(part)), most))
            parts.append(pl.DataFrame({"image_id": ids, "near": near, "place": nth}))
    return pl.concat(parts)
