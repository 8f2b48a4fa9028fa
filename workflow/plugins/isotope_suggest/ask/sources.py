"""Where the files lie that live answers read: those of one collection, as a run's plan has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from isotope.core.errors import MissingFile
from isotope.models.encoders import LINES
from isotope.params.files import demand_collection
from isotope.params.root import Params
from isotope.params.sections import ModelKind, SystemKind
from isotope.plan.collections import PlannedCollection
from isotope.plan.models import Model
from isotope.plan.paths import of_collection
from isotope.plan.plan import Plan
from isotope.search.kinds.bm25 import Bm25
from isotope_judge.ledger import FOLDER, sheet_paths
from isotope_suggest.origins import Origins
from isotope_suggest.params import Suggest
from isotope_suggest.plan import FOLDER as RESULTS
from isotope_suggest.plan import SHEET, SuggestExtension


@dataclass(frozen=True)
class AskedCollection:
    """A collection, the resolved params, and the folder in which both were made."""

    collection: str
    params: Params
    root: Path

    @classmethod
    def locate(cls, collection: str, params: Params, root: Path = Path()) -> "AskedCollection":
        """Find a collection.

        Raises:
            BadParams: the params have no such collection.
            MissingFile: it is not built.
        """
        demand_collection(collection, params, root)
        sources = cls(collection, params, root)
        for path in (sources.texts, sources.images, sources.qrels):
            if not path.is_file():
                remedy = f"run `snakemake --cores all`, with the overlay that builds {collection}"
                raise MissingFile(path, "the collection is not built", remedy)
        return sources

    @property
    def texts(self) -> Path:
        """The table of its texts."""
        return self._collected / "texts.parquet"

    @property
    def images(self) -> Path:
        """The table of its images."""
        return self._collected / "images.parquet"

    @property
    def qrels(self) -> Path:
        """The table of its judgements."""
        return self._collected / "qrels.parquet"

    @property
    def results(self) -> Path:
        """The folder of the phase suggest."""
        return self.root / RESULTS.format(collection=self.collection)

    @property
    def tables(self) -> list[Path]:
        """What is read whole and has no sums of its own: tables, ids of vectors, the feed."""
        ids = (
            [i for side in ("images", "texts") for i in self.vector_ids(side)] if self.dense else []
        )
        tables = [self.texts, self.images, self.qrels, *self.placed, *ids]
        return [
            *tables,
            *sorted(self.results.glob("*.parquet")),
            *sorted(self.results.glob("*.json")),
        ]

    @property
    def asked(self) -> Suggest:
        """What the params ask of suggestions."""
        return self._suggestions.asked

    @cached_property
    def origins(self) -> Origins:
        """The sources of the collection."""
        return Origins.of_spec(self._suggestions.origins(of_collection(self.collection)))

    @property
    def language(self) -> str:
        """The language of its texts."""
        return self._about.entry.language

    @property
    def captions(self) -> str:
        """The language of its captions."""
        return self._about.captions

    @property
    def placed(self) -> list[Path]:
        """What parse says of the pictures on the pages of each source, where it says so."""
        return self._all(self._about.parsed("pictures"))

    @property
    def pixels(self) -> list[Path]:
        """The crawl's shards of its pictures."""
        shards = self._about.pictures
        return [path for path in map(self.root.joinpath, shards) if path.is_file()]

    @property
    def judgements(self) -> list[Path]:
        """What people said of suggestions."""
        return [*map(Path, sheet_paths(self.collection, SHEET, self.root / FOLDER))]

    @cached_property
    def bm25(self) -> Bm25 | None:
        """The system of words, which says how it prepares those of the collection, if any."""
        return self._suggestions.words_on(self.collection)

    @property
    def dense(self) -> SystemKind | None:
        """The dense system; None without one."""
        name = self._suggestions.systems["dense"]
        return self.params.systems[name] if name else None

    def index(self, side: str) -> Path | None:
        """The index of the words of a side of the largest pool; None where there is none of ours.

        A pool that the experiment does not search has no index.
        """
        if not self.bm25 or self.bm25.engine != "native":
            return None
        for index in self._suggestions.index(self.collection):
            if (folder := self.root / index / "all" / side).is_dir():
                return folder
        return None

    @property
    def model(self) -> ModelKind | None:
        """The entry of the dense system's model; None without a dense system."""
        return self._model.kind if self.dense else None

    @property
    def by_lines(self) -> bool:
        """Whether a text's vector is the mean of those of its lines."""
        return getattr(self.model, "texts", None) == LINES

    @property
    def weights(self) -> Path | None:
        """The weights that the model has learned here, if it learns."""
        learned = self._model.weights(self.collection)
        return self.root / learned[0] if learned else None

    @property
    def can_encode(self) -> bool:
        """Whether the model makes vectors of texts and pictures that no collection has."""
        return self._model.kind.is_encoder and not self._model.kind.is_mix

    def vectors(self, side: str) -> list[Path]:
        """The shards of vectors of a side; none where they were not all encoded."""
        return self._shards(side, "npy")

    def vector_ids(self, side: str) -> list[Path]:
        """The ids of their rows."""
        return self._shards(side, "ids.parquet")

    def _shards(self, side: str, suffix: str) -> list[Path]:
        return self._all(self._suggestions.vectors(side, suffix)(of_collection(self.collection)))

    def _all(self, paths: Iterable[str]) -> list[Path]:
        """Return the files if all of them are there, else none."""
        files = [self.root / path for path in paths]
        return files if all(file.is_file() for file in files) else []

    @cached_property
    def _suggestions(self) -> SuggestExtension:
        return SuggestExtension(self._plan)

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.params, {})

    @property
    def _about(self) -> PlannedCollection:
        return self._plan.collections[self.collection]

    @property
    def _collected(self) -> Path:
        return self.root / "data/collect" / self.collection

    @property
    def _model(self) -> Model:
        return self._plan.models[getattr(self.dense, "model", "")]
