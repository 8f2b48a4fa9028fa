"""What the frozen towers of a `lit` model make of a split: each picture once, each text once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray
from isotope.encode.fill import Batches
from isotope.models.offline import PICTURE_FEATURES, Pictures
from isotope.models.text_towers import TextTower
from isotope.train.data import Split
from isotope.train.heads_loop import Features

_TEXTS = 32


class Towers:
    """Both frozen towers; `seen` has the features [1280] of every picture by its id."""

    def __init__(self, pictures: Pictures, sentences: TextTower, batch: int) -> None:
        """See `batch` pictures at a time, as the phase encode does, so that features agree."""
        self._pictures, self._sentences, self._batch = pictures, sentences, batch
        self.seen: dict[str, FloatArray] = {}

    def features(self, split: Split, shown: Sequence[str]) -> Features:
        """Run them over a split whose images show the pictures `shown`."""
        fields_of = {t: f for ids, views in split.views for t, f in zip(ids, views, strict=True)}
        strings = [" ".join(filter(None, map(str.strip, f))) for f in fields_of.values()]
        row = {text_id: i for i, text_id in enumerate(fields_of)}
        captions = {c: i for i, c in enumerate(sorted({c for cs in split.captions for c in cs}))}
        self._see(split, shown)
        read = [self._sentences.read(some) for some in _counted([*strings, *captions])]
        images = [torch.from_numpy(self.seen[picture]) for picture in shown]
        return Features(
            list(split.image_ids),
            list(fields_of),
            torch.stack(images) if images else torch.zeros(0),
            torch.cat(read) if read else torch.zeros(0),
            [[row[t] for t in ids] for ids, _ in split.views],
            [[len(strings) + captions[c] for c in cs] for cs in split.captions],
        )

    def _see(self, split: Split, shown: Sequence[str]) -> None:
        rows = {picture: row for row, picture in enumerate(shown) if picture not in self.seen}
        block = np.empty((len(rows), PICTURE_FEATURES), np.float32)
        waiting, progress = (
            Batches(block, self._of_squares, self._batch),
            Progress("seen", len(rows)),
        )
        for place, row in enumerate(rows.values()):
            waiting.add([place], split.squares(np.array([row]))[0])
            progress.add()
        waiting.finish()
        progress.finish()
        self.seen |= dict(zip(rows, block, strict=True))

    def _of_squares(self, squares: list[Any]) -> FloatArray:
        return self._pictures.see_squares(np.stack(squares)).features.numpy()


def _counted(texts: list[str]) -> Iterator[list[str]]:
    progress = Progress("texts read", len(texts))
    for start in range(0, len(texts), _TEXTS):
        yield texts[start : start + _TEXTS]
        progress.add(len(texts[start : start + _TEXTS]))
    progress.finish()
