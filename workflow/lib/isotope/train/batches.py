"""Batches for contrastive training: augmented so that a text stays true of its picture."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from isotope.models.open_clip import unit
from isotope.params.recipes import Recipe
from isotope.train.data import Split
from isotope.train.processes import Ranks

Batch = tuple[torch.Tensor, ...]
_ALONE = Ranks()
Ids = npt.NDArray[np.int64]
_NONE = np.empty(0, np.int64)


class Tokens:
    """Token ids of a text's fields; remembers each field, since epochs repeat them."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401
        """Use an open_clip SimpleTokenizer: its context length, its ids of start and end."""
        self._context = int(tokenizer.context_length)
        self._ends: list[int] = tokenizer.all_special_ids
        self._ids = lru_cache(maxsize=65_536)(
            lambda text: np.array(tokenizer.encode(text)[: self._context], np.int32)
        )

    def ids(self, fields: Sequence[str]) -> Ids:
        """Return the tokens of the fields joined by a space, without start and end."""
        return np.concatenate([_NONE, *map(self._ids, fields)], dtype=np.int64)

    def padded(self, ids: Ids) -> Ids:
        """Return int64 [context]: start, as many tokens as fit, end, zeros."""
        kept = ids[: self._context - 2]
        row = np.zeros(self._context, np.int64)
        row[: len(kept) + 2] = self._ends[0], *kept, self._ends[1]
        return row

    def row(self, fields: Sequence[str]) -> Ids:
        """Return int64 [context] for whole fields, what the tokenizer gives for them joined."""
        return self.padded(self.ids(fields))


class Epochs:
    """Shuffled epochs of n rows; every draw comes from one seeded generator."""

    def __init__(self, n: int, batch: int, seed: int, ranks: Ranks = _ALONE) -> None:
        """Draw batches of at most n rows; the rest of an epoch is left for the next."""
        self.size, self._n, self._ranks = min(batch, n), n, ranks
        self._rng = np.random.default_rng(seed)
        self._order, self._next, self._restored = np.empty(0, np.int64), 0, False
        self.per_epoch = n // self.size

    def epoch(self) -> Iterator[Batch]:
        """Yield what `batch` makes of the rows of each batch.

        No row comes twice in an epoch. After `restore` the rest of the interrupted epoch comes
        first.
        """
        if not self._restored:
            self._order, self._next = self._rng.permutation(self._n), 0
        self._restored = False
        while self._next < self.per_epoch:
            batch = self.batch(self._rows(self._next))
            self._next += 1
            yield batch

    def batch(self, rows: Ids) -> Batch:
        """Return this rank's part of the batch of these rows."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on after the batch that was yielded last."""
        drawn = json.dumps(self._rng.bit_generator.state)
        return {"rng": drawn, "order": torch.from_numpy(self._order), "next": self._next}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where the batches of the same rows, recipe and seed stood at `state`."""
        self._rng.bit_generator.state = json.loads(state["rng"])
        self._order, self._next = state["order"].numpy(), state["next"]
        self._restored = True

    def _rows(self, number: int) -> Ids:
        return np.sort(self._order[number * self.size :][: self.size])

    def _coming(self) -> Ids | None:
        """Return this rank's rows of the epoch's next batch, None where there is none."""
        if self._next + 1 >= self.per_epoch:
            return None
        rows = self._rows(self._next + 1)
        return rows[self._ranks.rows(len(rows))]


class Batches(Epochs):
    """Pictures of a split, each with one of its texts or captions."""

    def __init__(
        self, split: Split, tokens: Tokens, recipe: Recipe, seed: int, ranks: Ranks = _ALONE
    ) -> None:
        """Draw from a split.

        Each of several ranks draws for the whole batch and makes only the pictures of its rows.
        """
        super().__init__(len(split), recipe.batch, seed, ranks)
        self.tokens, self._split, self._recipe = tokens, split, recipe

    def batch(self, rows: Ids) -> Batch:
        """Return (pictures float [b, 3, side, side] in 0..1, tokens int64 [b, context]).

        No picture comes twice in an epoch, so a batch holds no picture as its own negative.
        """
        mine = self._ranks.rows(len(rows))
        texts = torch.from_numpy(np.stack([self._text(int(i)) for i in rows]))
        return self._augmented(rows, mine), texts[mine]

    def _text(self, i: int) -> Ids:
        captions, (_, views) = self._split.captions[i], self._split.views[i]
        if captions and self._rng.random() < self._recipe.caption_rate:
            fields: Sequence[str] = [captions[self._rng.integers(len(captions))]]
        else:
            whole = views[self._rng.integers(len(views))]
            kept = self._rng.random(len(whole)) >= self._recipe.field_dropout
            fields = [f for f, keep in zip(whole, kept, strict=True) if keep] or whole
        ids = self.tokens.ids(fields)
        return self.tokens.padded(ids[self._rng.random(len(ids)) >= self._recipe.token_dropout])

    def _augmented(self, rows: Ids, mine: slice) -> torch.Tensor:
        """Shift, zoom and tint; never mirror, since a text may say left and right."""
        n, recipe = len(rows), self._recipe
        theta = np.zeros((n, 2, 3), np.float32)
        theta[:, 0, 0] = theta[:, 1, 1] = 1 + self._spread((n,), recipe.zoom)
        theta[:, :, 2] = 2 * self._spread((n, 2), recipe.translate)
        tint = torch.from_numpy(1 + self._spread((n, 3, 1, 1), recipe.jitter))[mine]
        pictures = unit(self._split.squares(rows[mine], self._coming()))
        shape = list(pictures.shape)
        grid = functional.affine_grid(torch.from_numpy(theta)[mine], shape, align_corners=False)
        moved = functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
        return (moved * tint).clamp(0, 1)

    def _spread(self, shape: tuple[int, ...], reach: float) -> npt.NDArray[np.float32]:
        return self._rng.uniform(-reach, reach, shape).astype(np.float32)
