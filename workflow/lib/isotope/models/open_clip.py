"""Encoders of the open_clip library, by name and pretrained tag or from weights on disk.

Names and tags: https://github.com/mlfoundations/open_clip/blob/main/docs/openclip_results.csv
"""

import difflib
import os
import pickle
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from safetensors import SafetensorError
from torchvision.transforms import Compose, ToTensor

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, MissingFile, UnknownModel
from isotope.core.pixels import Cut
from isotope.core.progress import log
from isotope.models import open_clip_files
from isotope.models.encoders import Encoder, demand_weights
from isotope.models.kinds.open_clip import OpenClip
from isotope.models.kinds.trained import Trained
from isotope.models.notes import BESIDE, notes_of, training_notes

CONFIGS = open_clip_files.CONFIGS
_WEIGHTS = open_clip_files.WEIGHTS
_UNLOADABLE = (
    SafetensorError,
    pickle.UnpicklingError,
    RuntimeError,
    AssertionError,
    EOFError,
    KeyError,
)
# Ways of resizing, and open_clip's words for them; `own` is none of them.
_RESIZE = {"crop": "shortest", "squash": "squash", "pad": "longest"}
_THREADS = min(8, os.cpu_count() or 1)


def load(model: OpenClip, *, weights: Path | None, device: str) -> Encoder:
    """Load the encoder of an entry of kind `open_clip`; `weights` are of no use here.

    Raises:
        BadParams: more tokens than the model has places for.
    """
    clip = create(model.name, model.pretrained, model.resize, model.activation)
    cut = model.excerpt
    read = (lambda text: excerpt(text, cut.characters, cut.line_ends)) if cut else str
    return ClipEncoder(model.name, clip, device, read, model.context)


def excerpt(text: str, characters: int, line_ends: str = "space") -> str:
    """Return the first characters of a text with single spaces, as params `excerpt` have it."""
    written = text.replace("\n", "\\n") if line_ends == "written" else text
    return " ".join(written.split())[:characters]


def load_trained(model: Trained, *, weights: Path | None, device: str) -> Encoder:
    """Load the encoder of an entry of kind `trained` with what the train phase has learned.

    Raises:
        MissingFile: no weights.
        UnknownModel: no architecture.
    """
    file, name = demand_weights(model, weights), model.architecture
    clip = create_trained(name, file) if model.name else create_custom(name, file)
    return ClipEncoder(name, clip, device)


class ClipEncoder:
    """A CLIP model in evaluation mode, on the GPU in bf16 when there is one."""

    def __init__(
        self,
        name: str,
        model: torch.nn.Module,
        device: str = "auto",
        excerpt: Callable[[str], str] = str,
        context: int | None = None,
    ) -> None:
        """Wrap `model`, whose tokenizer and picture size are those of the config `name`.

        Of a text it reads what `excerpt` returns, and of that the first `context` tokens.

        Raises:
            BadParams: more tokens than the model has places for.
        """
        self._device = torch.device(pick_device(device))
        self._model: Any = model.eval().to(self._device)
        self._excerpt, self._tokens = excerpt, _Tokens(name, context)
        settings = PreprocessCfg(**self._model.visual.preprocess_cfg)
        self._preprocess: Any = image_transform_v2(settings, is_train=False)
        self.side_px = int(settings.input_size[-1])
        self.dim = int((open_clip.get_model_config(name) or {})["embed_dim"])

    def encode_texts(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return float32 [n, dim], L2-normalised."""
        return self._run(self._model.encode_text, self._tokenize(texts))

    def encode_short(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return what `encode_texts` does but for the rounding, sooner where texts are short.

        A text's vector is that of its end, and no position of a causal tower looks at those behind
        it (Radford et al., 2021, section 2.4): positions behind the last end are left out. A tower
        of another form encodes the whole context.
        """
        tokens = self._tokenize(texts)
        model = self._model
        is_causal = model.__class__ is open_clip.CLIP and model.text_pool_type == "argmax"
        if not is_causal:
            return self._run(model.encode_text, tokens)
        ends = tokens.argmax(dim=-1)
        tokens = tokens[:, : int(ends.max()) + 1]

        def encode(batch: torch.Tensor, *, normalize: bool) -> torch.Tensor:
            positions = batch.shape[1]
            inner = model.token_embedding(batch) + model.positional_embedding[:positions]
            inner = model.transformer(inner, attn_mask=model.attn_mask[:positions, :positions])
            last = model.ln_final(inner[torch.arange(len(batch)), batch.argmax(dim=-1)])
            projection = model.text_projection
            linear = isinstance(projection, torch.nn.Linear)
            vectors = projection(last) if linear else last @ projection
            return torch.nn.functional.normalize(vectors, dim=-1) if normalize else vectors

        return self._run(encode, tokens)

    def encode_images(self, images: list[Image.Image]) -> npt.NDArray[np.float32]:
        """Return float32 [n, dim], L2-normalised."""
        with ThreadPoolExecutor(_THREADS) as pool:
            batch = torch.stack(list(pool.map(self._preprocess, images)))
        return self._run(self._model.encode_image, batch)

    def shapes(self, texts: list[str]) -> list[int]:
        """Return one shape: every text fills the context."""
        return [0] * len(texts)

    def _tokenize(self, texts: list[str]) -> torch.Tensor:
        return self._tokens([self._excerpt(text) for text in texts])

    def _run(self, encode: Any, batch: torch.Tensor) -> npt.NDArray[np.float32]:  # noqa: ANN401
        half = self._device.type == "cuda" and torch.cuda.is_bf16_supported()
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=half):
            vectors = encode(batch.to(self._device), normalize=True)
        return torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()


class _Tokens:
    """A model's tokens of texts, int64 [n, places], of which `context` may have words."""

    def __init__(self, name: str, context: int | None) -> None:
        with _fetching(name):
            self._tokenize: Any = open_clip.get_tokenizer(name)
        places = int(self._tokenize.context_length)
        if context is not None and context > places:
            problem, remedy = f"{context} tokens of {places}", f"use {places} or fewer"
            raise BadParams(f"models: {name}, context", problem, remedy)
        self._context, self._padding = context or places, places - (context or places)

    def __call__(self, texts: list[str]) -> torch.Tensor:
        tokens = self._tokenize(texts, self._context)
        # CLIP's own tokenizer fills with zeros, those of transformers with a token of their own.
        inner = getattr(self._tokenize, "tokenizer", None)
        fill = getattr(inner, "pad_token_id", None) or 0
        return torch.nn.functional.pad(tokens, (0, self._padding), value=fill)


def unit(pixels: npt.NDArray[np.uint8]) -> torch.Tensor:
    """Return uint8 [n, side, side, 3] as float [n, 3, side, side] in 0..1."""
    return torch.from_numpy(np.array(pixels)).permute(0, 3, 1, 2).float() / 255


def standardised(pictures: torch.Tensor, model: Any) -> torch.Tensor:  # noqa: ANN401
    """Return pictures in 0..1 with the mean and deviation per channel that `model` expects."""
    settings = model.visual.preprocess_cfg
    mean, deviation = (
        torch.tensor(settings[key], device=pictures.device).view(3, 1, 1) for key in ("mean", "std")
    )
    return (pictures - mean) / deviation


def cut_of(model: Any) -> Cut:  # noqa: ANN401
    """Return how `model` wants pictures cut, as its encoder will cut them."""
    settings = PreprocessCfg(**model.visual.preprocess_cfg)
    transform: Any = image_transform_v2(settings, is_train=False)
    # The steps before ToTensor turn pictures into pictures.
    end = next(i for i, step in enumerate(transform.transforms) if isinstance(step, ToTensor))
    return Cut(int(settings.input_size[-1]), Compose(transform.transforms[:end]))


def pick_device(device: str) -> str:
    """Return `device`, or for `auto` the GPU when there is one."""
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def create(
    name: str, pretrained: str | None, resize: str | None = None, activation: str | None = None
) -> torch.nn.Module:
    """Create a model of open_clip's own list; random weights where `pretrained` is None.

    `resize`: how pictures get the model's size, `crop` (by the shorter side), `squash` or `pad` (by
    the longer side), in place of its own way; `activation`: `gelu` or `quickgelu`, in place of what
    its weights were trained with. A file's own are those of its notes (`isotope.models.notes`).

    Raises:
        UnknownModel, MissingFile, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    names = open_clip.list_models()
    # Names with a hub's prefix are refused: their configs may ask for remote code.
    if name not in names:
        raise UnknownModel("models", f"open_clip has no model {name!r}", _near(name, names))
    asked = {"resize_mode": _RESIZE[resize]} if resize in _RESIZE else {}
    with _fetching(name):
        quick = quick_gelu(name, pretrained, activation)
        if pretrained is None:
            return open_clip.create_model(
                name,
                pretrained_text=False,
                force_preprocess_cfg=asked,
                force_quick_gelu=quick,
            )
        if Path(pretrained).suffix in _WEIGHTS:
            noted = _noted(name, Path(pretrained), quick=quick)
            return _from_file(name, Path(pretrained), {**noted, **asked}, quick=quick)
        return _from_tag(name, pretrained, asked, quick=quick)


def quick_gelu(name: str, pretrained: str | None, activation: str | None = None) -> bool:
    """Tell whether a model computes QuickGELU: as `activation` says, else as its weights want it.

    Raises:
        CorruptFile: notes of a weights file that can't be read.
    """
    if activation in ("gelu", "quickgelu"):
        return activation == "quickgelu"
    if pretrained is None:
        return False
    if Path(pretrained).suffix in _WEIGHTS:
        path = Path(pretrained)
        notes = notes_of(path) if path.is_file() else None
        return notes is not None and notes.quick_gelu
    return bool(open_clip.get_pretrained_cfg(name, pretrained).get("quick_gelu", False))


def _noted(name: str, weights: Path, *, quick: bool) -> Mapping[str, Any]:
    """Return the preprocessing that a file's notes ask for; say what is assumed without notes."""
    if not weights.is_file():
        return {}
    notes = notes_of(weights)
    if notes is not None:
        listed = ", ".join(f"{key} {value}" for key, value in notes.preprocess.items())
        log.info("%s: %s, as %s says", weights, listed or "nothing of pictures", notes.source)
        return notes.preprocess
    defaults = PreprocessCfg()
    log.warning(
        "%s has no notes, so it is read as %s with mean %s and deviation %s of pictures, and with"
        " %s; if it was trained otherwise, put its %s beside it",
        *(
            weights,
            name,
            defaults.mean,
            defaults.std,
            "QuickGELU" if quick else "the configuration's GELU",
        ),
        BESIDE,
    )
    return {}


def create_custom(config: str, weights: Path | None = None) -> torch.nn.Module:
    """Create a model from `models/<config>.json`, or a configuration of open_clip's own.

    Pictures are squashed to its square input.

    Raises:
        UnknownModel, MissingFile, CorruptFile: see `isotope.models.encoders.load`.
    """
    path = CONFIGS / f"{config}.json"
    names = {*(p.stem for p in CONFIGS.glob("*.json")), *open_clip.list_models()}
    if config not in names:
        problem = f"no config {config!r} in {CONFIGS} or open_clip"
        raise UnknownModel("models", problem, _near(config, sorted(names)))
    if config not in open_clip.list_models():
        open_clip.add_model_config(path)
    squash = {"resize_mode": "squash"}
    if weights is None:
        return open_clip.create_model(config, force_preprocess_cfg=squash)
    return _from_file(config, weights, squash)


def create_trained(name: str, weights: Path) -> torch.nn.Module:
    """Create a model of open_clip's list with weights that `isotope.train.clip` fine-tuned.

    Raises:
        MissingFile, CorruptFile: see `isotope.models.encoders.load`.
    """
    notes = training_notes(weights)
    quick = bool(notes.get("quick_gelu"))
    return _from_file(name, weights, notes.get("preprocess"), quick=quick)


def empty(notes: Mapping[str, Any]) -> torch.nn.Module:
    """Create the architecture in the metadata of trained weights, with random weights.

    Raises:
        UnknownModel: a config that is no longer there.
    """
    if "config" in notes:
        return create_custom(str(notes["config"]))
    return open_clip.create_model(
        str(notes["name"]),
        pretrained_text=False,
        force_preprocess_cfg=notes.get("preprocess"),
        force_quick_gelu=bool(notes.get("quick_gelu")),
    )


def _from_file(
    name: str, weights: Path, preprocess: Mapping[str, Any] | None = None, *, quick: bool = False
) -> torch.nn.Module:
    if not weights.is_file():
        raise MissingFile(weights, f"no weights for {name}", "correct `pretrained`, or train first")
    if weights.suffix not in _WEIGHTS:
        remedy = f"use one of {', '.join(sorted(_WEIGHTS))}"
        raise UnknownModel(weights, f"weights in format {weights.suffix!r}", remedy)
    try:
        return open_clip.create_model(
            name,
            pretrained=str(weights),
            force_preprocess_cfg=dict(preprocess or {}),
            force_quick_gelu=quick,
        )
    except _UNLOADABLE as error:
        problem = f"weights that do not load as {name} ({str(error)[:200]})"
        raise CorruptFile(weights, problem, "fetch or train them again") from error


def _from_tag(name: str, tag: str, preprocess: dict[str, Any], *, quick: bool) -> torch.nn.Module:
    settings = open_clip.get_pretrained_cfg(name, tag)
    if not settings:
        tags = open_clip.list_pretrained_tags_by_model(name)
        raise UnknownModel(f"models: {name}", f"no pretrained tag {tag!r}", _near(tag, tags))
    try:
        # Under the other activation a tag's vectors differ, and open_clip only warns.
        return open_clip.create_model(
            name, pretrained=tag, force_preprocess_cfg=preprocess, force_quick_gelu=quick
        )
    except RuntimeError as error:
        # open_clip turns every failure to download, of whatever kind, into this one.
        raise OSError(str(error)) from error


@contextmanager
def _fetching(name: str) -> Generator[None]:
    """Say what to do when the hub is out of reach; some models keep their tokenizer there too."""
    try:
        yield
    except OSError as error:
        remedy = "check the network, or set `pretrained` to a local .safetensors file"
        raise FetchFailed(f"models: {name}", f"not fetched ({error})", remedy) from error


def _near(word: str, names: Iterable[str]) -> str:
    choices = list(names)
    near = difflib.get_close_matches(word, choices, n=5, cutoff=0.3) or choices[:5]
    return f"did you mean {', '.join(near)}" if near else "there is none to choose from"
