"""Fine-tuning that stops early: of the weights that are measured, the best on validation stay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from isotope.train.loop import Loop


class Point(NamedTuple):
    """One row of the learning curve: accuracies on validation, and their harmonic mean."""

    epoch: int
    step: int
    loss: float
    entity_seen: float
    entity_unseen: float
    query_seen: float
    query_unseen: float
    harmonic_mean: float


class EarlyStopping(Loop):
    """Measures after every few steps and the last, and keeps the best weights aside.

    Section 6 of the paper: "we employ the early stopping strategy for model selection, and pick the
    model with the best harmonic mean combined score on the validation set". The first of equals
    stays, since it has learned for the shortest time.
    """

    point = Point

    def __init__(self, *given: Any, keep: Callable[[Point, Path], None], best: Path) -> None:  # noqa: ANN401
        """As `Loop`; `keep` writes the model as it is to the file `best`."""
        super().__init__(*given)
        self._keep, self._best = keep, best

    def stepped(self) -> None:
        """Measure where it is time to."""
        done = self.progress.done
        if done % self.plan.recipe.every and done < self.total:
            return
        self.measure()
        self.losses = []
        if self.plan.ranks.first and best(self.points) == self.points[-1]:
            self._keep(self.points[-1], self._best)


def best(points: list[Point]) -> Point:
    """Return the first point with the greatest harmonic mean."""
    return max(points, key=lambda point: point.harmonic_mean)
