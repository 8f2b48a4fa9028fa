"""Checkpoints of a training: everything that the next step depends on, replaced atomically."""

import hashlib
import json
import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from isotope.core import provenance
from isotope.core.progress import log
from isotope.core.store import aside
from isotope.train.batches import Epochs
from isotope.train.step import Stepper

_UNREADABLE = (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, OSError)


class Rows(Protocol):
    """A split of what is trained on."""

    def rows(self) -> Iterable[Any]:
        """Return what is known of each pair, as JSON can write it."""
        ...


class Checkpoint:
    """One file, valid for one training only, which its fingerprint names."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """Keep checkpoints at `path`; keep none where it is None."""
        self._path, self._fingerprint = path, fingerprint

    def save(self, stepper: Stepper, batches: Epochs, progress: Mapping[str, Any]) -> None:
        """Replace the checkpoint by the present state; `progress` is the loop's own."""
        if self._path is None:
            return
        state = {
            "fingerprint": self._fingerprint,
            "stepper": stepper.state(),
            "batches": batches.state(),
            "progress": dict(progress),
        }
        with aside(self._path) as part:
            torch.save(state, part)

    def restore(self, stepper: Stepper, batches: Epochs) -> Mapping[str, Any] | None:
        """Put both where the checkpoint left them; return the loop's progress, None without one.

        A checkpoint of another recipe, input or version of this code is left aside, with a warning.
        """
        if self._path is None or not self._path.is_file():
            return None
        try:
            state = torch.load(self._path, map_location="cpu", weights_only=True)
        except _UNREADABLE as error:
            log.warning("%s: not a checkpoint (%s); starting over", self._path, error)
            return None
        if state["fingerprint"] != self._fingerprint:
            log.warning("%s: of another training; starting over", self._path)
            return None
        stepper.restore(state["stepper"])
        batches.restore(state["batches"])
        return state["progress"]

    def clear(self) -> None:
        """Remove the checkpoint; the training is complete."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def fingerprint(
    spec: Mapping[str, object],
    seed: int,
    splits: Iterable[Rows],
    files: Iterable[Path],
    *,
    code: str,
) -> str:
    """Digest what the weights depend on: params, seed, judged pairs, files' sizes, code, torch.

    `code` is the module that trains, whose imports count too. Pixels and weights to start from are
    known by the sizes of their files, not read again.
    """
    digest = hashlib.sha256(json.dumps([spec, seed, torch.__version__], sort_keys=True).encode())
    for split in splits:
        for row in split.rows():
            digest.update(json.dumps(row).encode())
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    for file in provenance.files(code):
        digest.update((provenance.LIBRARY / file).read_bytes())
    return digest.hexdigest()
