"""Live answers: pictures for a text, sections for a picture, of one built collection."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import digests
from isotope.core.errors import BadArgument, BadQuery, MissingFile, UnknownId
from isotope.core.fields import parts_of
from isotope.core.prepare import NONE, in_order
from isotope.core.schemas import FIVE_FIELDS
from isotope.params.root import Params
from isotope_judge.display import PooledPictures
from isotope_suggest.ask.answers import NO_CHANCE, Answer, AnswerList, SectionAnswer
from isotope_suggest.ask.lookup import PictureTable, TextTable
from isotope_suggest.ask.open_sections import OpenSections
from isotope_suggest.ask.ranking import SYSTEMS, LiveRanker
from isotope_suggest.ask.retrieve import Candidates, Retriever, fused
from isotope_suggest.ask.sources import AskedCollection
from isotope_suggest.ask.uploads import Uploads
from isotope_suggest.credit import credit_line, states_free
from isotope_suggest.reasons import reasons, shared_words
from isotope_suggest.score import DEPTH, SUGGEST, WIKIMEDIA

# Below the project's folder: what is put together once for a collection.
CACHE = Path(".isotope/suggest")
MOST_CHARACTERS = 20_000
# Characters of a text in which reasons are looked for.
_REASONED = 4_000
_THREADS = 2
_THUMBNAILS = 512


class Engine:
    """What answers for a collection; methods may be called by several threads at once."""

    def __init__(self, sources: AskedCollection, system: str, *, patient: bool) -> None:
        """Map what the collection has, and begin to load what takes longer.

        Raises:
            As `load`.
        """
        if system not in SYSTEMS:
            remedy = f"choose one of {', '.join(SYSTEMS)}"
            raise BadArgument("isotope suggest --system", f"{system!r} is none", remedy)
        self.collection, self._systems = sources.collection, SYSTEMS[system]
        self._sources, self._patient = sources, patient
        cache = sources.root / CACHE
        self._texts, self._uploads = TextTable(sources.texts), Uploads()
        self._open = OpenSections(sources, self._texts)
        with ThreadPoolExecutor(1) as pool:
            table = pool.submit(PictureTable.load, sources, cache)
            self._retriever = Retriever(sources, cache, _THREADS)
            self._retriever.start(self._systems)
            try:
                self._pictures = table.result()
                self._live = LiveRanker(sources, self._pictures, system)
            except BaseException:
                self.close()
                raise
        self._lock = threading.Lock()
        self._small = lru_cache(maxsize=_THUMBNAILS)(self._thumbnail)

    @classmethod
    def load(
        cls,
        collection: str,
        params: Params,
        root: Path = Path(),
        *,
        system: str | None = None,
        patient: bool = True,
    ) -> "Engine":
        """Open a collection that is built; `system` is suggest (default), bm25, dense or wikimedia.

        Who is not `patient` is answered by BM25 alone, with a note, until the model is loaded.

        Raises:
            BadParams: a collection that the params lack.
            BadArgument: another system.
            MissingFile: a collection that is not built, or that nothing searches.
            ChecksumMismatch: a table that is not as it was written.
            CorruptFile, TruncatedFile: an index, vectors or a calibration that can't be read.
            DiskFull: no room for what is put together once.
        """
        sources = AskedCollection.locate(collection, params, root)
        # Indexes, vectors and codes have sums of their own.
        digests.Job().demand(path for path in sources.tables if path.exists())
        return cls(sources, system or SUGGEST, patient=patient)

    def close(self) -> None:
        """End the processes and threads that answer."""
        self._retriever.close()
        self._uploads.close()

    # Pictures for a text.

    def pictures(
        self, text: str, *, top: int = DEPTH, section: str | None = None
    ) -> AnswerList[Answer]:
        """Return at most `top` (10 at most) pictures for a text, best first.

        With `section`, a text_id, the text stands for that section's: what its page shows is left
        out. `.notes` has sentences for its reader.

        Raises:
            BadQuery: an empty text.
            BadArgument: the system wikimedia, which looks at pages, not at texts.
            ToolFailed: Java can't be started.
            As `models.encoders.load`.
        """
        words, notes = capped(text)
        if self._live.system == WIKIMEDIA and section is None:
            remedy = "ask for a section of the collection, or choose another system"
            raise BadArgument("isotope suggest --system", "wikimedia reads no text", remedy)
        candidates = self._retriever.of_text(words, self._systems, patient=self._patient)
        rows = candidates.rows.with_columns(pl.lit(section or "").alias("text_id"))
        return self._answers(Candidates(rows, notes + candidates.notes), words, section, top)

    def pictures_of_section(self, text_id: str, *, top: int = DEPTH) -> AnswerList[Answer]:
        """Return at most `top` (10 at most) pictures for a section of the collection.

        Raises:
            UnknownId: no such section.
            As `pictures`.
        """
        row = self._row(text_id, *FIVE_FIELDS)
        system = self._sources.bm25
        fields, prepare = (system.fields, system.prepare) if system else (FIVE_FIELDS, None)
        parts = parts_of(row, in_order(fields, prepare or NONE))
        candidates = self._retriever.of_section(text_id, parts, self._systems)
        section_words = f"{row['context_section_description'] or ''}\n{row['page_title'] or ''}"
        return self._answers(candidates, section_words, text_id, top, page=row["page_title"])

    def _answers(
        self,
        union: Candidates,
        text: str,
        section: str | None,
        top: int,
        page: str | None = None,
    ) -> AnswerList[Answer]:
        ranking = self._live.ranked(union.rows, section)
        best = ranking.rows.head(top)
        shown = self._pictures.rows(best["image_id"])
        candidates = {row["image_id"]: row for row in union.rows.iter_rows(named=True)}
        answers = [
            self._answer(picture, rank, candidates[picture["image_id"]], text[:_REASONED], page)
            for picture, rank in zip(
                shown.iter_rows(named=True), best.iter_rows(named=True), strict=True
            )
        ]
        notes = [*union.notes, *ranking.notes]
        return AnswerList(answers, notes if answers else [*notes, "no picture fits"])

    def _answer(
        self,
        picture: Mapping[str, Any],
        rank: Mapping[str, Any],
        candidate: Mapping[str, Any],
        text: str,
        page: str | None,
    ) -> Answer:
        other_titles = [title for title in picture["titles"] if title != page]
        like = other_titles[0] if other_titles else None
        caption_words = self._pictures.words
        why = reasons(candidate, text, picture["captions"], caption_words, like=like)
        chance = (rank["probability"], rank.get("low"), rank.get("high"))
        return _answer(picture, chance, rank["kind"], why)

    def picture(self, image_id: str) -> Answer:
        """Return a picture of the collection by its id.

        Raises:
            UnknownId: no such picture.
        """
        rows = self._pictures.rows([image_id])
        if rows.is_empty():
            problem = f"collection {self.collection} has no such picture"
            raise UnknownId(f"image {image_id}", problem, "give an id of its images.parquet")
        return _answer(rows.row(0, named=True), NO_CHANCE, "", [])

    def thumbnail(self, image_id: str) -> bytes:
        """Return a small WebP picture.

        Raises:
            UnknownId: no such picture, or none that was crawled.
            CorruptFile, TruncatedFile: a shard that can't be read.
        """
        return self._small(image_id)

    def _thumbnail(self, image_id: str) -> bytes:
        self.picture(image_id)
        shards = PooledPictures(self._sources.pixels, {image_id})
        if image_id not in shards:
            raise UnknownId(f"image {image_id}", "it was not crawled", "look at the crawl's ledger")
        return shards.webp(image_id)

    # Sections for a picture.

    def sections(self, picture: bytes | str, *, top: int = DEPTH) -> AnswerList[SectionAnswer]:
        """Return sections for a picture: bytes of any file, or an id or URL of the collection.

        `probability` is that of the feed, where it has the pair.

        Raises:
            BadQuery: bytes that are no picture, or that can't be decoded within limits.
            UnknownId: no such picture.
            MissingFile: a picture from outside, of a collection without vectors.
            As `models.encoders.load`.
        """
        if isinstance(picture, bytes):
            self._demand_vectors()
            webp = self._uploads.webp(picture)
            dense = self._retriever.dense
            vector = dense.vector_of(webp) if dense else None
            return self._places(self._retriever.sections_of_picture(vector, []), "", [], top)
        image_id = self._pictures.named(picture)
        if image_id is None:
            problem = f"collection {self.collection} has no such picture"
            raise UnknownId(picture, problem, "give a file, or an id or URL of its images.parquet")
        return self._places_of(image_id, top)

    def _places_of(self, image_id: str, top: int) -> AnswerList[SectionAnswer]:
        dense, notes = self._retriever.dense, list[str]()
        vector = dense.images.vector(image_id) if dense else None
        if vector is None or not self._sources.vectors("texts"):
            vector = None
            notes.append("no vectors: sections are found by the words of the captions alone")
        captions = self._pictures.rows([image_id]).row(0, named=True)["captions"]
        rows = self._retriever.sections_of_picture(vector, captions)
        return self._places(rows, image_id, notes, top)

    def _demand_vectors(self) -> None:
        self._retriever.texts()
        if not self._sources.can_encode:
            problem = "its model encodes no picture by itself"
            remedy = "name another system of kind dense as suggest.dense"
            raise MissingFile(f"collection {self.collection}", problem, remedy)

    def _places(
        self, rows: pl.DataFrame, image_id: str, notes: Sequence[str], top: int
    ) -> AnswerList[SectionAnswer]:
        best = fused(rows, "text_id").head(top)
        shown = self._texts.shown(best["text_id"].to_list())
        captions = self._captions(image_id)
        chances, open_ones = self._open.chances(image_id), self._open.among(best["text_id"])
        places = [
            SectionAnswer.from_row(
                shown[text_id],
                chances.get(text_id, NO_CHANCE),
                self._why(shown[text_id], captions),
                is_open=text_id in open_ones,
            )
            for text_id in best["text_id"]
        ]
        return AnswerList(places, [*notes] if places else [*notes, "no section fits"])

    def _captions(self, image_id: str) -> list[str]:
        rows = self._pictures.rows([image_id])
        return [] if rows.is_empty() else rows["captions"][0].to_list()

    def _why(self, row: Mapping[str, Any], captions: Sequence[str]) -> list[str]:
        text = f"{row['context_section_description'] or ''}\n{row['page_title'] or ''}"
        shared = shared_words(text[:_REASONED], captions, self._pictures.words)
        return [f"matches: {', '.join(shared)}"] if shared else []

    def unillustrated(
        self, *, search: str = "", after: str = "", most: int = 50
    ) -> AnswerList[SectionAnswer]:
        """Return open sections as `OpenSections.listed` does.

        Raises:
            As `OpenSections.listed`.
        """
        return self._open.listed(search=search, after=after, most=most)

    def section(self, text_id: str) -> SectionAnswer:
        """Return a section of the collection by its id; `probability` is None.

        Raises:
            UnknownId: no such section.
        """
        shown = self._texts.shown([text_id])
        if text_id not in shown:
            self._row(text_id)
        is_open = text_id in self._open.among(pl.Series("text_id", [text_id]))
        return SectionAnswer.from_row(shown[text_id], NO_CHANCE, [], is_open=is_open)

    def _row(self, text_id: str, *columns: str) -> Mapping[str, Any]:
        rows = self._texts.rows([text_id], *columns)
        if text_id not in rows:
            problem = f"collection {self.collection} has no such section"
            raise UnknownId(f"section {text_id}", problem, "give an id of its texts.parquet")
        return rows[text_id]


def capped(text: str) -> tuple[str, list[str]]:
    """Return a text of at most 20,000 characters, and a note if it had more.

    Raises:
        BadQuery: a text without a letter or digit.
    """
    words = " ".join(text.split())
    if not any(character.isalnum() for character in words):
        raise BadQuery("the text", "it has no words", "give the text of a section")
    if len(words) <= MOST_CHARACTERS:
        return words, []
    note = f"the first {MOST_CHARACTERS:,} of {len(words):,} characters are read"
    return words[:MOST_CHARACTERS], [note]


def _answer(
    picture: Mapping[str, Any], chance: Sequence[float | None], kind: str, why: list[str]
) -> Answer:
    page = picture["file_page"]
    probability, low, high = chance
    return Answer(
        image_id=picture["image_id"],
        image_url=picture["image_url"],
        file_page=page or "",
        caption=picture["caption"],
        pages=picture["titles"],
        probability=probability,
        kind=kind,
        reasons=why,
        credit=credit_line(picture["author"], picture["licence"], page),
        width=picture["width"] or 0,
        height=picture["height"] or 0,
        low=low,
        high=high,
        is_free=states_free(picture["licence"]),
    )
