"""A checkpoint in a folder or on a hub: its JSON files, its weights, and what an entry asks of it.

Weights are safetensors, complete, and are loaded by classes of installed packages: code that comes
with a checkpoint is never run.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers.utils.hub import cached_file

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, UnknownModel
from isotope.core.progress import log
from isotope.models.kinds.transformers import Transformers
from isotope.models.transformers import complete, fetching

_WEIGHTS = "model.safetensors"
_POOLING_PREFIX = "pooling_mode_"


class CheckpointSettings(NamedTuple):
    """What an entry of kind `transformers` says beside the name of its checkpoint."""

    dim: int | None = None
    context: int | None = None
    pixels: int | None = None
    resize: str | None = None
    instruction: Mapping[str, str] = {}

    @classmethod
    def from_entry(cls, model: Transformers) -> "CheckpointSettings":
        """Return the settings of an entry."""
        instruction = model.instruction.spec() if model.instruction else {}
        return cls(model.dim, model.context, model.pixels, model.resize, instruction)


class CheckpointFiles:
    """The files of a checkpoint, in a folder or at a revision of a hub."""

    def __init__(self, name: str, revision: str | None = None) -> None:
        """Read config.json of `name`, a local folder or a hub's id, at `revision`.

        Raises:
            FetchFailed: no config.json, or a hub that is out of reach.
            CorruptFile: a config.json that is not JSON.
        """
        self.name = name
        self.options: dict[str, Any] = {
            "revision": revision or "main",
            "trust_remote_code": False,
        }
        self.config: dict[str, Any] = self.json("config.json")

    @property
    def where(self) -> str:
        """The place that errors name."""
        return f"models: {self.name}"

    def json(self, file: str, default: Any = None) -> Any:  # noqa: ANN401
        """Return what a JSON file says, or `default` where there is no such file.

        Raises:
            FetchFailed: no such file and no default, or a hub that is out of reach.
            CorruptFile: not JSON.
        """
        path = self._file(file, needed=default is None)
        if path is None:
            return default
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            problem = f"{file} is not JSON ({str(error)[:100]})"
            raise CorruptFile(self.where, problem, "fetch it again") from error

    def load(self, model: Any, dtype: torch.dtype = torch.float32, **options: Any) -> Any:  # noqa: ANN401
        """Return a class of transformers with all its weights, in evaluation mode.

        Raises:
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: no safetensors, or a hub that is out of reach.
        """
        try:
            with fetching(self.name):
                loaded, report = model.from_pretrained(
                    self.name,
                    use_safetensors=True,
                    output_loading_info=True,
                    dtype=dtype,
                    **self.options,
                    **options,
                )
        except (SafetensorError, RuntimeError) as error:
            raise self._unloadable(error) from error
        return complete(self.name, loaded, report).eval()

    def weights(self) -> dict[str, torch.Tensor]:
        """Return all tensors of model.safetensors as float32, by name.

        Raises:
            CorruptFile: weights that do not load.
            FetchFailed: no such file, or a hub that is out of reach.
        """
        path = self._file(_WEIGHTS, needed=True)
        try:
            return {name: tensor.float() for name, tensor in load_file(str(path)).items()}
        except SafetensorError as error:
            raise self._unloadable(error) from error

    def tokenizer(self, kind: Any) -> Any:  # noqa: ANN401
        """Return the tokenizer, by a class of transformers.

        Raises:
            FetchFailed: a folder without its files, or a hub that is out of reach.
        """
        with fetching(self.name):
            return kind.from_pretrained(self.name, **self.options)

    def image_processor(self, **options: Any) -> Any:  # noqa: ANN401
        """Return the image processor of the checkpoint that works with Pillow.

        Torchvision's resizes otherwise, and published scores are mostly Pillow's.

        Raises:
            FetchFailed: a folder without its files, or a hub that is out of reach.
        """
        from transformers import AutoImageProcessor  # noqa: PLC0415 (slow)

        with fetching(self.name):
            return AutoImageProcessor.from_pretrained(
                self.name, backend="pil", **self.options, **options
            )

    def pooling(self, supported: Sequence[str]) -> str | None:
        """Return the pooling that sentence-transformers' files name; None where there are none.

        Raises:
            UnknownModel: another pooling than the supported ones, or modules beside a transformer,
                a pooling and normalisation.
        """
        listed: list[dict[str, Any]] = self.json("modules.json", default=[])
        kinds = {str(m["type"]).rpartition(".")[2]: str(m["path"]) for m in listed}
        if unknown := {*kinds} - {"Transformer", "Pooling", "Normalize"}:
            remedy = "use a checkpoint of a transformer, a pooling and normalisation"
            raise UnknownModel(self.where, f"a module of kind {min(unknown)!r}", remedy)
        if "Pooling" not in kinds:
            return None
        modes = _modes(self.json(f"{kinds['Pooling']}/config.json"))
        if len(modes) != 1 or modes[0] not in supported:
            problem = f"pooling {', '.join(modes) or 'of no kind'}"
            raise UnknownModel(self.where, problem, f"use one of {', '.join(supported)}")
        return modes[0]

    def prompts(self) -> dict[str, str]:
        """Return the prompts of config_sentence_transformers.json by name; '' is the default."""
        config = self.json("config_sentence_transformers.json", default={})
        named: dict[str, str] = config.get("prompts") or {}
        default = config.get("default_prompt_name")
        return {**named, "": named[default]} if default in named else dict(named)

    def cut(self, dim: int | None, width: int, trained: Sequence[int] = ()) -> int:
        """Return the components of a vector: `dim` of the model's `width`, or all.

        `trained` are the cuts that the checkpoint's config lists (Kusupati et al., Matryoshka
        Representation Learning, NeurIPS 2022); without a list any cut is made, with a warning.

        Raises:
            BadParams: a cut that is longer than the model's vectors, or not in the list.
        """
        if dim is None or dim == width:
            return width
        if dim > width:
            raise self.refused("dim", f"{dim} components of {width}", f"use {width} or fewer")
        if trained and dim not in trained:
            cuts = ", ".join(map(str, trained))
            raise self.refused("dim", f"{dim} components", f"use one of {cuts}")
        if not trained:
            log.warning("%s lists no cuts that it was trained for; cut to %d", self.name, dim)
        return dim

    def only(self, settings: CheckpointSettings, *keys: str) -> CheckpointSettings:
        """Return settings that use no other keys than these; a key may be `instruction.images`.

        Raises:
            BadParams: a key that the family can't use.
        """
        plain = [key for key in CheckpointSettings._fields if key != "instruction"]
        keys_set = [key for key in plain if getattr(settings, key) is not None]
        keys_set += [f"instruction.{side}" for side in settings.instruction]
        for key in keys_set:
            if key not in keys:
                kind = self.config.get("model_type")
                raise self.refused(key, f"a {kind} model has no such setting", "leave it out")
        return settings

    def context(self, wanted: int | None, usual: int, most: int) -> int:
        """Return the tokens of a text that are read: `wanted`, or the usual number.

        Raises:
            BadParams: more than the model has places for.
        """
        if wanted is not None and wanted > most:
            raise self.refused("context", f"{wanted} tokens of {most}", f"use {most} or fewer")
        return wanted or min(usual, most)

    def refused(self, key: str, problem: str, remedy: str) -> BadParams:
        """Return the error of a key of the entry."""
        return BadParams(f"{self.where}, {key}", problem, remedy)

    def demand(self, names: Iterable[str]) -> None:
        """Check that no weight of a model is missing.

        Raises:
            CorruptFile: some are.
        """
        missing = sorted(names)
        if missing:
            problem = f"{len(missing)} weights missing, {missing[0]} first"
            raise CorruptFile(self.where, problem, "use a whole checkpoint")

    def demand_fit(self, names: Iterable[str]) -> None:
        """Check that all weights have a place in a model.

        Raises:
            CorruptFile: some have none, or another shape.
        """
        odd = sorted(names)
        if odd:
            problem = f"{len(odd)} weights without a place of their shape, {odd[0]} first"
            raise CorruptFile(self.where, problem, "use the checkpoint with its own config.json")

    def _unloadable(self, error: Exception) -> CorruptFile:
        problem = f"weights that do not load ({str(error)[:200]})"
        return CorruptFile(self.where, problem, "fetch them again")

    def _file(self, file: str, *, needed: bool) -> Path | None:
        folder, _, name = file.rpartition("/")
        with fetching(self.name):
            path = cached_file(
                self.name,
                name,
                subfolder=folder,
                revision=self.options["revision"],
                _raise_exceptions_for_missing_entries=needed,
            )
        if path is None and needed:
            raise FetchFailed(self.where, f"no {file}", "check the name and the network")
        return Path(path) if path else None


def _modes(pooling: Mapping[str, Any]) -> list[str]:
    """Return the modes of a pooling's config: a name, a list, or flags `pooling_mode_<name>`."""
    named = pooling.get("pooling_mode")
    if named:
        return [named] if isinstance(named, str) else list(named)
    flags = {k.removeprefix(_POOLING_PREFIX): v for k, v in pooling.items()}
    names = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}
    return [
        names.get(k, k) for k, v in flags.items() if v is True and _POOLING_PREFIX + k in pooling
    ]


def largest_power_of_two(number: int) -> int:
    """Return the largest power of two that is not above a number, at least 1."""
    return 1 << int(math.log2(max(1, number)))
