"""Where the files lie that live suggestions read: those of one collection, as the params say."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from isotope.core.errors import BadParams, MissingFile
from isotope.core.grid import SIDES, pools
from isotope.models.encoders import LINES
from isotope.params.links import language_of
from isotope.params.links import sources as sources_of
from isotope.params.schema import suggest as near
from isotope.params.sections import ModelKind, model_kind, model_values, system_kind
from isotope.params.suggest import Suggest, candidate_system

Params = Mapping[str, Any]
_SETTINGS = ("large", "base", "small")


@dataclass(frozen=True)
class Sources:
    """A collection, the resolved params, and the folder in which both were made."""

    collection: str
    params: Params
    root: Path

    @classmethod
    def of(cls, collection: str, params: Params, root: Path = Path()) -> "Sources":
        """Find a collection.

        Raises:
            BadParams: the params have no such collection.
            MissingFile: it is not built.
        """
        collected = params["collect"]
        if collection not in collected:
            found = f"no collection {collection!r}"
            raise BadParams("params collect", found, near(collection, [*collected]))
        own = cls(collection, params, root)
        for path in (own.texts, own.images, own.qrels):
            if not path.is_file():
                remedy = f"run `snakemake --cores all`, with the overlay that builds {collection}"
                raise MissingFile(path, "the collection is not built", remedy)
        return own

    @property
    def texts(self) -> Path:
        """The table of its texts."""
        return self.root / f"data/collect/{self.collection}/texts.parquet"

    @property
    def images(self) -> Path:
        """The table of its images."""
        return self.root / f"data/collect/{self.collection}/images.parquet"

    @property
    def qrels(self) -> Path:
        """The table of its judgements."""
        return self.root / f"data/collect/{self.collection}/qrels.parquet"

    @property
    def results(self) -> Path:
        """The folder of the phase suggest."""
        return self.root / f"results/suggest/{self.collection}"

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The params section `suggest`, with defaults, and what it says of the collection."""
        entry = self.params["collect"][self.collection]
        names = sources_of(self.params, self.collection)
        return {
            **Suggest.filled(self.params.get("suggest", {})),
            "collection": self.collection,
            "sources": names,
            "languages": [language_of(self.params, name) for name in names],
            "union": bool(entry.get("of")),
        }

    @property
    def language(self) -> str:
        """The language of its texts."""
        return self.params["collect"][self.collection]["language"]

    @property
    def captions(self) -> str:
        """The language of its captions."""
        return self.params["collect"][self.collection].get("captions", self.language)

    @property
    def placed(self) -> list[Path]:
        """What parse says of the pictures on the pages of each source, where it says so."""
        files = [self.root / f"data/parse/{name}/pictures.parquet" for name in self.spec["sources"]]
        return files if all(file.is_file() for file in files) else []

    @property
    def pixels(self) -> list[Path]:
        """The crawl's shards of its pictures."""
        crawls = [self.root / f"data/crawl/{name}" for name in self.spec["sources"]]
        return [shard for crawl in crawls for shard in sorted(crawl.glob("shard-*.parquet"))]

    @property
    def judgements(self) -> list[Path]:
        """What people said of suggestions."""
        folder = self.root / f"judgements/{self.collection}/suggestions"
        return sorted(folder.glob("*.jsonl"))

    @cached_property
    def bm25(self) -> dict[str, Any] | None:
        """The system of words, with its name and the defaults of its kind; None without one."""
        return self._system("bm25")

    @cached_property
    def dense(self) -> dict[str, Any] | None:
        """The dense system, with its name; None without one."""
        return self._system("dense")

    def _system(self, kind: str) -> dict[str, Any] | None:
        name, systems = candidate_system(self.params, kind), self.params["systems"]
        return {"name": name, **system_kind(systems[name]).filled(systems[name])} if name else None

    def index(self, side: str) -> Path | None:
        """The index of the words of a side of the largest pool; None where there is none of ours.

        A pool that the experiment does not search has no index.
        """
        if not self.bm25 or self.bm25["engine"] != "impacts":
            return None
        for setting in _SETTINGS:
            for pool in pools(setting, self.params["search"]["splits"]):
                folder = f"data/index/{self.collection}/{setting}/{self.bm25['name']}/{pool}/{side}"
                if (self.root / folder).is_dir():
                    return self.root / folder
        return None

    @property
    def model(self) -> dict[str, Any] | None:
        """The entry of the dense system's model, with defaults; None without a dense system."""
        return None if not self.dense else model_values(self._models[self._base(self._model)])

    @property
    def fields(self) -> list[str]:
        """The fields of a text that the model reads."""
        return list(model_values(self._models[self._model])["fields"])

    @property
    def by_lines(self) -> bool:
        """Whether a text's vector is the mean of those of its lines."""
        return (self.model or {}).get("texts") == LINES

    @property
    def weights(self) -> Path | None:
        """The weights that the model has learned here, if it learns."""
        kind = self._kind
        if not (kind.learned or kind.fitted):
            return None
        folder = f"data/train/{self.collection}/{self._base(self._model)}"
        return self.root / folder / "model.safetensors"

    @property
    def can_encode(self) -> bool:
        """Whether the model makes vectors of texts and pictures that no collection has."""
        return self._kind.is_encoder and not self._kind.is_mix

    def vectors(self, side: str) -> list[Path]:
        """The shards of vectors of a side; none where they were not all encoded."""
        return self._shards(side, "npy")

    def vector_ids(self, side: str) -> list[Path]:
        """The ids of their rows."""
        return self._shards(side, "ids.parquet")

    def _shards(self, side: str, suffix: str) -> list[Path]:
        if not self.dense:
            return []
        model = self._image_encoder if side == SIDES[1] else self._model
        folder = self.root / f"data/encode/{self.collection}/{model}/{side}"
        count = self.params["encode"]["shards"]
        files = [folder / f"shard-{n:05d}.{suffix}" for n in range(count)]
        return files if all(file.is_file() for file in files) else []

    @property
    def _models(self) -> Params:
        return self.params["models"]

    @property
    def _model(self) -> str:
        return self.dense["model"] if self.dense else ""

    @property
    def _kind(self) -> type[ModelKind]:
        return model_kind(self._models[self._base(self._model)])

    def _base(self, model: str) -> str:
        return self._models[model].get("weights_of", model)

    @property
    def _image_encoder(self) -> str:
        base = self._base(self._model)
        images = self._models[base].get("images", "pixels")
        return base if images in ("pixels", "captions") else self._base(images)
