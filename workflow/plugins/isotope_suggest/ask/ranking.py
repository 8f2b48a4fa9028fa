"""Candidates of one text, filtered and ranked as those of the feed are."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import polars as pl

from isotope.core.errors import CorruptFile
from isotope_suggest import score
from isotope_suggest.ask.lookup import PictureTable
from isotope_suggest.ask.retrieve import BM25, DENSE, fused
from isotope_suggest.ask.sources import AskedCollection
from isotope_suggest.baseline import wikimedia
from isotope_suggest.filters import Filters, shown
from isotope_suggest.likeness import Likeness
from isotope_suggest.schemas import PICTURE_KINDS, SECTION_ROLES
from isotope_suggest.score import DEPTH, KIND, SUGGEST, WIKIMEDIA, Ranker
from isotope_suggest.verdicts import rejections

# Which of BM25 and dense find candidates for each system.
SYSTEMS = {SUGGEST: (BM25, DENSE), WIKIMEDIA: (BM25, DENSE), BM25: (BM25,), DENSE: (DENSE,)}
# A text that is no section of the collection is of no class of pages.
_NO_CLASS = ""
_Ranks = tuple[Filters, Ranker]
_KEY = ["text_id", "image_id"]
_SECTIONS = ("text_id", "language", "page_id", "page_class")
_NOWHERE = pl.DataFrame(
    schema={"language": pl.String, "page_id": pl.Int64, "image_id": pl.String, "origin": pl.String}
)
_UNCALIBRATED = "nothing is calibrated: run the phase suggest for probabilities"
_UNFILTERED = "nothing is filtered: run the phase suggest, which describes the pictures"


@dataclass(frozen=True)
class Ranking:
    """Pictures, best first: image_id, score, probability with low and high (or null), kind.

    `notes` are sentences on them.
    """

    rows: pl.DataFrame
    notes: list[str]


class LiveRanker:
    """The filters, the weights and the curves of a collection, as the phase suggest left them."""

    def __init__(self, sources: AskedCollection, pictures: PictureTable, system: str) -> None:
        """Read what is there; `system` is one of SYSTEMS.

        Raises:
            CorruptFile: a calibration that is none.
        """
        self.system = system
        self._pictures = pictures
        self._calibration = _calibration(sources)
        self._classes = dict[str, str]()
        self._free: _Ranks | None = None
        if (sources.results / "pictures.parquet").is_file():
            self._read(sources)

    def _read(self, sources: AskedCollection) -> None:
        """Make the filters of free texts; those of sections, which take longer, in a thread."""
        described = self._pictures.frame.select(PICTURE_KINDS.names)
        folder = sources.results / "sections.parquet"
        nothing = pl.DataFrame(SECTION_ROLES.empty_table()).select(_SECTIONS)
        self._sections = pl.scan_parquet(folder, glob=False) if folder.is_file() else nothing.lazy()
        likeness = Likeness(described, sources.vectors("images"), sources.vector_ids("images"))
        tables: dict[str, Any] = {
            "qrels": pl.read_parquet(sources.qrels, glob=False),
            "rejections": rejections(sources.judgements),
            "likeness": likeness,
            "spec": sources.asked,
        }

        def of_sections() -> _Ranks:
            sections = self._sections.select(_SECTIONS).collect()
            on = shown(sources.placed, described, sources.origins) if sources.placed else _NOWHERE
            filters = Filters(described, sections=sections, shown=on, **tables)
            return filters, Ranker(filters, likeness)

        free = Filters(described, sections=nothing, shown=_NOWHERE, **tables).of_free_texts()
        self._free = free, Ranker(free, likeness)
        pool = ThreadPoolExecutor(1, "filters")
        self._of_sections = pool.submit(of_sections)
        pool.shutdown(wait=False)

    def ranked(self, candidates: pl.DataFrame, text_id: str | None) -> Ranking:
        """Filter and rank the candidates of one text, that of a section or of none."""
        if self._free is None:
            best = self._plain(candidates)
            return Ranking(best.head(DEPTH), [_UNFILTERED, _UNCALIBRATED])
        filters, ranker = self._free if text_id is None else self._of_sections.result()
        left = filters.reject(candidates).left
        if self.system != SUGGEST:
            ranked = ranker.plain_rankings(left)
            return Ranking(ranked.filter(pl.col("system") == self.system), [])
        if self._calibration is None or self._calibration.get("weights") is None:
            notes = [_UNCALIBRATED if self._calibration is None else str(_why(self._calibration))]
            null = pl.lit(None, pl.Float64).alias("probability")
            scored = fused(left).with_columns(KIND, null)
            return Ranking(ranker.suggested(scored).scored, notes)
        scored = ranker.suggested(self._scored(left, text_id)).scored
        return Ranking(scored, cautions(self._calibration))

    def _scored(self, left: pl.DataFrame, text_id: str | None) -> pl.DataFrame:
        pictures = self._pictures.rows(left["image_id"], "image_id", "illustrates")
        matrix = score.features(left, pictures)
        rows = left.with_columns(KIND)
        page_class = self._class_of(text_id) if text_id is not None else _NO_CLASS
        logits, chances = score.probabilities(
            self._calibration or {}, matrix, rows["kind"].to_list(), [page_class] * len(rows)
        )
        columns = {"score": logits, **chances._asdict()}
        return rows.with_columns(pl.Series(*named) for named in columns.items())

    def _class_of(self, text_id: str) -> str:
        if text_id not in self._classes:
            section = self._sections.filter(pl.col("text_id") == text_id).collect()
            self._classes[text_id] = section["page_class"][0] if len(section) else _NO_CLASS
        return self._classes[text_id]

    def _plain(self, candidates: pl.DataFrame) -> pl.DataFrame:
        """Rank by the candidates' own scores, as nothing is known of the pictures."""
        if self.system == WIKIMEDIA:
            kinds = candidates.select(*_KEY, KIND)
            return wikimedia(candidates).join(kinds, on=_KEY, how="left", maintain_order="left")
        null = pl.lit(None, pl.Float64).alias("probability")
        if self.system == SUGGEST:
            return fused(candidates).with_columns(KIND, null)
        ranked = candidates.filter(pl.col(self.system).is_not_null()).sort(f"{self.system}_rank")
        return ranked.with_columns(pl.col(self.system).alias("score"), KIND, null)


def _calibration(sources: AskedCollection) -> Mapping[str, Any] | None:
    """Return what the phase suggest has learned, None where it was not run."""
    path = sources.results / "calibration.json"
    if not path.is_file():
        return None
    try:
        record: Any = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CorruptFile(path, f"no JSON: {error}", "remove it and run phase suggest") from error
    if not isinstance(record, dict) or not {"weights", "caution"} <= record.keys():
        problem = "no calibration of this version"
        raise CorruptFile(path, problem, "remove it and run the phase suggest again")
    return record


def cautions(calibration: Mapping[str, Any]) -> list[str]:
    """Return what to know before suggestions are read: none are certified, too little was judged.

    `calibration` is `calibration.json`.
    """
    notes = [calibration["caution"]] if calibration["caution"] else []
    if calibration["threshold"] is None:
        notes.insert(0, f"no suggestion is certified: {_reason(calibration)}")
    return notes


def _reason(calibration: Mapping[str, Any]) -> str:
    return (calibration["why"] or "too little was judged").removeprefix("not certified: ")


def _why(calibration: Mapping[str, Any]) -> str:
    return f"nothing is calibrated: {calibration.get('why') or 'too little was judged'}"
