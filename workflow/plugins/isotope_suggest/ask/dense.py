"""Live search by vectors: texts that wait at the same moment are encoded and searched together.

One thread encodes, another searches, so that the next texts are encoded while these are searched.
"""

import io
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from isotope.core.exact import Vectors
from isotope.core.vectors import load_vectors
from isotope.models import encoders
from isotope.models.encoders import Encoder, ShortTextEncoder
from isotope.params.sections import ModelKind
from isotope_suggest.ask.codes import Codes
from isotope_suggest.ask.ids import ABSENT, Ids
from isotope_suggest.ask.sources import AskedCollection

# Texts that are encoded and searched together, and vectors of texts that are remembered.
_TOGETHER, _REMEMBERED = 8, 512
_LINES_AT_A_TIME = 16


@dataclass(frozen=True)
class Near:
    """Items, best first, with their scores (inner products)."""

    ids: pl.Series
    scores: NDArray[np.float32]


class Side:
    """The vectors of texts or of images, with their ids."""

    def __init__(self, shards: Sequence[Path], ids: Sequence[Path], cache: Path) -> None:
        """Map the vectors and their codes.

        Raises:
            As `codes.Codes.load`.
        """
        self.ids = Ids(load_vectors(shards, ids).ids)
        self.codes = Codes.load(shards, ids, cache)

    def vector(self, ident: str) -> Vectors | None:
        """Return the vector of an item, float32 [1, dim]; None where it has none."""
        row = self.ids.row(ident)
        return None if row == ABSENT else self.codes.shards.take(np.array([row]))

    def nearest(self, queries: Vectors, k: int, threads: int) -> list[Near]:
        """Return the k items whose vectors are nearest to each query [queries, dim]."""
        scores, rows = self.codes.top_k(queries, k, threads)
        return [
            Near(self.ids.all.gather(indices), row)
            for indices, row in zip(rows, scores, strict=True)
        ]


@dataclass
class _Waiting:
    text: str
    k: int
    near: "Future[Near]" = field(default_factory=Future)
    vector: Vectors | None = None


class _Queue(queue.SimpleQueue["_Waiting | None"]):
    """Texts that wait for a thread; None ends it."""

    def batch(self) -> list[_Waiting]:
        """Return all that wait by now, at least one; nothing at the end."""
        batch = [self.get()]
        while len(batch) < _TOGETHER and batch[-1] is not None:
            try:
                batch.append(self.get_nowait())
            except queue.Empty:
                break
        if batch[-1] is None:
            self.put(None)
        return [waiting for waiting in batch if waiting is not None]


class DenseVectors:
    """The vectors of a collection, and the model that makes more of them, in threads."""

    def __init__(self, sources: AskedCollection, cache: Path, threads: int) -> None:
        """Map what is there; `start` loads the model.

        Raises:
            As `codes.Codes.load`.
        """
        self._sources, self._cache, self._threads = sources, cache, threads
        self.images = Side(sources.vectors("images"), sources.vector_ids("images"), cache)
        self._encoder: Future[Encoder] = Future()
        self._asked, self._encoded = _Queue(), _Queue()
        self._vectors = dict[str, Vectors]()
        self._workers = [
            threading.Thread(target=work, name=work.__name__, daemon=True)
            for work in (self._encode, self._search)
        ]
        self._lock = threading.Lock()
        self._is_started = False

    @cached_property
    def texts(self) -> Side:
        """The vectors of the collection's texts, mapped when they are needed."""
        sources = self._sources
        return Side(sources.vectors("texts"), sources.vector_ids("texts"), self._cache)

    def start(self) -> None:
        """Begin to load the model; a second call does nothing."""
        with self._lock:
            if not self._is_started:
                self._is_started = True
                for worker in self._workers:
                    worker.start()

    @property
    def is_ready(self) -> bool:
        """Whether the model is loaded, or can't be, which `nearest` raises."""
        return self._encoder.done()

    def nearest(self, text: str, k: int) -> "Future[Near]":
        """Begin to look for the k images nearest to a text; waits for the model.

        Raises:
            As `models.encoders.load`.
        """
        self.start()
        self._encoder.result()
        waiting = _Waiting(text, k)
        self._asked.put(waiting)
        return waiting.near

    def vector_of(self, picture: bytes) -> Vectors:
        """Return the vector of a picture in WebP that our own decoder wrote, float32 [1, dim].

        Raises:
            As `models.encoders.load`.
        """
        self.start()
        with Image.open(io.BytesIO(picture), formats=["WEBP"]) as image:
            return self._encoder.result().encode_images([image.convert("RGB")])

    def close(self) -> None:
        """End the threads once they have answered what waits."""
        if self._is_started:
            self._asked.put(None)
            for worker in self._workers:
                worker.join()

    def _encode(self) -> None:
        try:
            encoder = self._loaded()
        except BaseException as error:
            self._encoder.set_exception(error)
            self._encoded.put(None)
            return
        self._encoder.set_result(encoder)
        self._answer(self._asked, partial(self._give_vectors, encoder))
        self._encoded.put(None)

    def _loaded(self) -> Encoder:
        # Threads of torch that wait for others would spin: several people share the processor.
        # OpenMP reads this when torch is imported (OpenMP 5.2, section 21.2.9).
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        sources = self._sources
        encoder = encoders.load(cast("ModelKind", sources.model), weights=sources.weights)
        # The first of a shape takes longer than those after it.
        encoder.encode_texts(["isotope"])
        return encoder

    def _search(self) -> None:
        self._answer(self._encoded, self._give_images)

    @staticmethod
    def _answer(waiting: _Queue, give: Callable[[Sequence[_Waiting]], None]) -> None:
        """Serve batches of what waits to the end; an error is that of the batch."""
        while batch := waiting.batch():
            try:
                give(batch)
            except BaseException as error:
                for question in batch:
                    if not question.near.done():
                        question.near.set_exception(error)

    def _give_vectors(self, encoder: Encoder, batch: Sequence[_Waiting]) -> None:
        texts = dict.fromkeys(waiting.text for waiting in batch)
        new = [text for text in texts if text not in self._vectors]
        while len(self._vectors) + len(new) > _REMEMBERED and self._vectors:
            self._vectors.pop(next(iter(self._vectors)))
        by_text = {text: self._vectors[text] for text in texts if text in self._vectors}
        # One short text gains little by a second thread, which the search needs meanwhile.
        _use_threads(1 if len(new) == 1 else self._threads)
        by_text |= dict(zip(new, self._vectors_of(encoder, new), strict=True))
        self._vectors |= by_text
        for waiting in batch:
            waiting.vector = by_text[waiting.text]
            self._encoded.put(waiting)

    def _give_images(self, batch: Sequence[_Waiting]) -> None:
        queries = np.stack([cast(Vectors, waiting.vector) for waiting in batch])
        most = max(waiting.k for waiting in batch)
        nearest = self.images.nearest(queries, most, self._threads)
        for waiting, near in zip(batch, nearest, strict=True):
            waiting.near.set_result(Near(near.ids[: waiting.k], near.scores[: waiting.k]))

    def _vectors_of(self, encoder: Encoder, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of texts; those of one shape are encoded together."""
        if self._sources.by_lines:
            groups = [encoders.lines(text) for text in texts]
            return list(encoders.means(groups, encoder, _LINES_AT_A_TIME)) if groups else []
        if isinstance(encoder, ShortTextEncoder):
            return list(encoder.encode_short(list(texts))) if texts else []
        computed = dict[int, Vectors]()
        shapes = encoder.shapes(list(texts))
        for shape in dict.fromkeys(shapes):
            places = [n for n, text_shape in enumerate(shapes) if text_shape == shape]
            vectors = encoder.encode_texts([texts[n] for n in places])
            computed |= dict(zip(places, vectors, strict=True))
        return [computed[n] for n in range(len(texts))]


def _use_threads(count: int) -> None:
    import torch  # noqa: PLC0415 (slow to import)

    torch.set_num_threads(count)
