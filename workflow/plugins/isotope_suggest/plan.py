"""Suggestions of a run: which collections get them, and what they are made of."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, cast

from isotope.params.sections import Section
from isotope.plan.extension import Extension, ReportPage
from isotope.plan.paths import Wildcards
from isotope.plan.plan import Plan
from isotope.plan.sources import Spec
from isotope.plan.systems import FilesOf
from isotope.search.kinds.bm25 import Bm25
from isotope_judge.ledger import sheet_paths
from isotope_suggest.params import Suggest

_DUMP = re.compile(r"(?P<wiki>[a-z_]+)[-_](?P<date>\d{8})(?!\d)")
_DAY = "%Y%m%d"
# The embedded encyclopedia's second edition is that much younger (toy.dump).
_MONTH = timedelta(days=31)
_TOY = "toywiki"
FOLDER = "results/suggest/{collection}"
FEED = {
    "scored": f"{FOLDER}/scored.parquet",
    "rejected": f"{FOLDER}/rejected.parquet",
    "calibration": f"{FOLDER}/calibration.json",
    "feed": f"{FOLDER}/feed.parquet",
    "lines": f"{FOLDER}/feed.jsonl",
}
SHEET = "suggestions"
_PAGE = ReportPage(
    "Suggestions",
    "Pictures for sections without one: how many are right, how sure, and what editors made of "
    "them.",
)


class SuggestExtension(Extension):
    """Pictures suggested for sections of collections."""

    def __init__(self, plan: Plan) -> None:
        """Of a plan."""
        super().__init__(plan)
        self.params, self.sources, self.diff = plan.params, plan.sources, plan.diff
        self.built, self.searched = plan.collections, plan.systems

    @property
    def collections(self) -> list[str]:
        """The built collections whose sections get suggestions, where the params ask for any."""
        asked, built = self.params.section("suggest", Suggest), self.built.built
        names = [] if not asked else built if asked.collections is None else asked.collections
        entries = {name: self.built[name].entry for name in names}
        return [name for name, entry in entries.items() if entry.is_snapshot or entry.is_union]

    @property
    def systems(self) -> dict[str, str | None]:
        """The systems of words and of vectors whose hits are candidates."""
        return {kind: self.asked.candidate(self.params, kind) for kind in ("bm25", "dense")}

    @property
    def asked(self) -> Suggest:
        """What the params ask for, or defaults."""
        return self.params.section("suggest", Suggest) or Suggest()

    def part(self, section: type[Section]) -> Spec:
        """Return the keys of `suggest` that a class has, as rules hand them over."""
        return {k: v for k, v in self.asked.spec().items() if k in section.model_fields}

    def origins(self, wildcards: Wildcards) -> Spec:
        """The sources of a rule's collection, as `suggest.origins.Origins`."""
        about = self.built[wildcards.collection]
        languages = {source: self.sources.language(source) for source in about.sources}
        return {"languages": languages, "union": about.entry.is_union}

    def wikis(self, wildcards: Wildcards) -> dict[str, str]:
        """The wikis of a rule's collection by language, of two in one language the first."""
        sources = reversed(self.built[wildcards.collection].sources)
        return {self.sources.language(source): self._dump_of(source)[0] for source in sources}

    def words(self, wildcards: Wildcards) -> Spec | None:
        """How the system of words whose hits are candidates asks, as `suggest.candidates.Words`."""
        if not (system := self.words_on(wildcards.collection)):
            return None
        named = {key: getattr(system, key) for key in ("k1", "b", "fields", "prepare")}
        return {**named, "captions": self.built[wildcards.collection].captions}

    def words_on(self, collection: str) -> Bm25 | None:
        """Return that system; it says how it prepares the words of a collection."""
        name = self.systems["bm25"]
        return cast("Bm25", self.searched.on(name, collection)) if name else None

    def snapshot(self, wildcards: Wildcards) -> str:
        """The date of a rule's collection."""
        return self.snapshot_date(wildcards.collection)

    def snapshot_date(self, collection: str) -> str:
        """Return the date of a collection's first dump, YYYYMMDD, or the name of its source."""
        return self._dump_of(self.built[collection].sources[0])[1]

    def _dump_of(self, source: str) -> tuple[str, str]:
        """The wiki and the date of a source's dump, as its file's name has them.

        Where it has none they are `<language>wiki` and the source's name.
        """
        entry = self.params.acquire.get(source)
        if entry and (generated := entry.generate):
            first = datetime.strptime(generated.date, _DAY).replace(tzinfo=UTC)
            return _TOY, f"{first + (generated.edition - 1) * _MONTH:{_DAY}}"
        files = ((entry and entry.files) or {}).get("dump", [])
        urls = (file if isinstance(file, str) else file.url for file in files)
        names = filter(None, (_DUMP.match(PurePosixPath(url).name) for url in urls))
        for named in names:
            return named["wiki"], named["date"]
        return f"{self.sources.language(source)}wiki", source

    # What the rules read.

    def index(self, collection: str) -> list[str]:
        """Return the index of the words of the largest pool, if a system has one.

        The setting `small` has a pool for each split, and none of all pictures.
        """
        system, setting = self.systems["bm25"], self.searched.largest
        pooled = system is not None and setting != "small"
        return [f"data/index/{collection}/{setting}/{system}"] if pooled else []

    def vectors(self, side: str, suffix: str = "npy") -> FilesOf:
        """Return the function of one side's vectors, if a system of vectors gives candidates."""
        system = self.systems["dense"]
        model = self.searched.model(system) if system else None
        return lambda w: model.vectors(w.collection, side, suffix) if model else []

    def later(self, wildcards: Wildcards) -> dict[str, Any]:
        """Date, and tables of all sources, of each collection that is compared with an earlier."""
        return {
            name: {
                "date": self.snapshot_date(name),
                "outlines": self.built[name].parsed("outline"),
                "placed": self.built[name].parsed("pictures"),
            }
            for name in self.diff.later(wildcards.collection)
        }

    def later_files(self, wildcards: Wildcards) -> list[str]:
        """Those tables."""
        snapshots = self.later(wildcards).values()
        return [path for s in snapshots for key in ("outlines", "placed") for path in s[key]]

    # What the rules write.

    def taken_up(self, collection: str) -> list[str]:
        """Return what editors did with suggestions, where a later snapshot is there."""
        folder = FOLDER.format(collection=collection)
        return [f"{folder}/taken_up.parquet"] if self.diff.later(collection) else []

    def pages(self, collection: str) -> Mapping[str, ReportPage]:
        """Return the page of the suggestions of a collection that gets some."""
        return {"suggest": _PAGE} if collection in self.collections else {}

    def ends(self, collection: str) -> Sequence[str]:
        """Return what is made for a collection that gets suggestions."""
        if collection not in self.collections:
            return ()
        folder = FOLDER.format(collection=collection)
        judged = ["judgements"] if sheet_paths(collection, SHEET) else []
        feeds = [path.format(collection=collection) for path in FEED.values()]
        feeds += [f"{folder}/{name}.parquet" for name in ("sheet", *judged)]
        return [*feeds, *self.taken_up(collection), *self._deltas(collection)]

    def _deltas(self, collection: str) -> list[str]:
        """The changes since the feeds of earlier snapshots that have one."""
        folder, names = FOLDER.format(collection=collection), {*self.collections}
        pairs = [(a, b) for a, b in self.built.pairs if {a, b} <= names]
        return [f"{folder}/since/{a}/delta.parquet" for a, b in pairs if b == collection]
