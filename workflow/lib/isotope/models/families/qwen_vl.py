"""Embedders on Qwen's vision-language models, such as Qwen3-VL-Embedding and GME.

Li et al., Qwen3-VL-Embedding and Qwen3-VL-Reranker, arXiv 2601.04720, 2026, section 2; Zhang et
al., GME, arXiv 2412.16855, 2024, section 3. The instruction is the turn of the system, the text or
the picture that of the user, and the state of the last token before an answer is the vector. A text
that exceeds the context is cut before the end of its turn, so that token is always the same.

A picture keeps its shape, so pictures differ in tokens: those with as many patches share a chunk.
"""

import unicodedata
from typing import Any, NamedTuple

import torch
import transformers
from PIL import Image

from isotope.core.errors import UnknownModel
from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings
from isotope.models.families.encoder import (
    POOLINGS,
    FamilyEncoder,
    FloatArray,
    chunks,
    compute_type,
    distinct,
    fitting,
    right_padded,
)
from isotope.models.transformers import fetching, padded

_MODELS = {"qwen2_vl": "Qwen2VLModel", "qwen2_5_vl": "Qwen2_5_VLModel", "qwen3_vl": "Qwen3VLModel"}
_LAST = "lasttoken"
_PICTURE = "<|image_pad|>"
# Stands for a text while a turn is laid out; no text has it.
_TEXT = "\x00"
_NO_TEXT = "NULL"
# Beyond this ratio of its sides a picture has no size in patches.
_MOST_RATIO = 200


class _Habits(NamedTuple):
    """How a checkpoint is used by those who published it."""

    instruction: str
    context: int
    # What stands after the turn.
    suffix: str = ""
    # The least and the most patches of a picture, after merging.
    patches: tuple[int, int] | None = None
    # An instruction ends with punctuation.
    is_sentence: bool = False


def _habits(config: dict[str, Any]) -> _Habits:
    """Return the habits of a checkpoint: Qwen3-VL-Embedding's script, GME's class, or neither's."""
    if "max_image_tokens" in config:
        patches = (int(config["min_image_tokens"]), int(config["max_image_tokens"]))
        context = int(config["max_length"])
        return _Habits("You are a helpful assistant.", context, "<|endoftext|>", patches)
    if config["model_type"] == "qwen3_vl":
        return _Habits("Represent the user's input.", 8_192, "", (4, 1_800), is_sentence=True)
    return _Habits("You are a helpful assistant.", 8_192)


def load(checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str) -> "QwenEncoder":
    """Load the encoder of a checkpoint.

    Raises:
        As `QwenEncoder`.
    """
    return QwenEncoder(checkpoint, settings, device)


class QwenEncoder(FamilyEncoder):
    """One model for texts and pictures; on a GPU its weights are bf16."""

    def __init__(
        self, checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
    ) -> None:
        """Load the model, without the layer that generates words.

        `instruction` has one for texts and one for pictures: a sentence, or the name of a prompt of
        the checkpoint. `pixels` is the largest picture.

        Raises:
            BadParams: settings that the model does not have.
            UnknownModel: another pooling than lasttoken or mean, or no chat template.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        keys = ("dim", "context", "pixels", "instruction.texts", "instruction.images")
        checkpoint.only(settings, *keys)
        habits = _habits(checkpoint.config)
        self._pool = POOLINGS[checkpoint.pooling([*POOLINGS]) or _LAST]
        with fetching(checkpoint.name):
            config: Any = transformers.AutoConfig.from_pretrained(
                checkpoint.name, **checkpoint.options
            )
        text: Any = config.get_text_config()
        super().__init__(device, checkpoint.cut(settings.dim, int(text.hidden_size)))
        most = int(text.max_position_embeddings)
        self._context = checkpoint.context(settings.context, habits.context, most)
        self._tokenizer: Any = checkpoint.tokenizer(transformers.AutoTokenizer)
        self._processor = _image_processor(checkpoint, settings.pixels, habits.patches)
        turns = _Turns(checkpoint, self._tokenizer, habits, settings)
        self._texts, self._pictures = turns.texts(), turns.pictures()
        kind = getattr(transformers, _MODELS[str(config.model_type)])
        model = checkpoint.load(kind, compute_type(device))
        self._model: Any = model.to(self.device.torch)
        self._picture_id = int(config.image_token_id)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        rows = self._ids(texts)
        length = max(padded(len(row), self._context) for row in rows)
        ids, mask = self.on_device(*right_padded(rows, length, self._tokenizer.pad_token_id or 0))
        return self.unit(lambda: self._text_vectors(ids, mask))

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return [padded(len(row), self._context) for row in self._ids(texts)] if texts else []

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        some, places = distinct(images)
        return self.unit(lambda: self._picture_vectors(some)[places])

    def picture_shapes(self, images: list[Image.Image]) -> list[int]:
        """Return the patches of each picture; pictures with as many share a chunk."""
        return [self._patches(_tamed(image)) for image in images]

    def _ids(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens of turns; what exceeds the context is cut before their end."""
        before, after = self._texts
        turns = [before + (text or _NO_TEXT) + after for text in texts]
        end = len(self._tokenizer(after, add_special_tokens=False)["input_ids"])
        rows = self._tokenizer(turns, add_special_tokens=False)["input_ids"]
        room = self._context - end
        return [row if len(row) <= self._context else row[:room] + row[-end:] for row in rows]

    def _text_vectors(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows = torch.empty((len(ids), self._model.config.get_text_config().hidden_size))
        for some in chunks(len(ids), min(len(ids), fitting(ids.shape[1]))):
            states = self._states(input_ids=ids[some], attention_mask=mask[some])
            rows[some] = self._pool(states, mask[some]).float().cpu()
        return rows

    def _picture_vectors(self, images: list[Image.Image]) -> torch.Tensor:
        rows = torch.empty((len(images), self._model.config.get_text_config().hidden_size))
        tame = [_tamed(image) for image in images]
        groups: dict[int, list[int]] = {}
        for n, image in enumerate(tame):
            groups.setdefault(self._patches(image), []).append(n)
        for patches, places in groups.items():
            ids = self._picture_ids(patches)
            for some in chunks(len(places), fitting(len(ids))):
                places_of_chunk = [places[n] for n in some]
                rows[places_of_chunk] = (
                    self._chunk([tame[n] for n in places_of_chunk], ids).float().cpu()
                )
        return rows

    def _chunk(self, images: list[Image.Image], ids: list[int]) -> torch.Tensor:
        """Return the vectors of pictures with the same tokens."""
        inputs = self._processor(images, return_tensors="pt")
        pixels, grids, tokens = self.on_device(
            inputs["pixel_values"], inputs["image_grid_thw"], torch.tensor([ids] * len(images))
        )
        mask = torch.ones_like(tokens)
        states = self._states(
            input_ids=tokens,
            attention_mask=mask,
            pixel_values=pixels,
            image_grid_thw=grids,
            mm_token_type_ids=(tokens == self._picture_id).int(),
        )
        return self._pool(states, mask)

    def _states(self, **inputs: torch.Tensor) -> torch.Tensor:
        return self._model(**inputs, use_cache=False).last_hidden_state

    def _patches(self, image: Image.Image) -> int:
        return int(self._processor.get_number_of_image_patches(image.height, image.width, {}))

    def _picture_ids(self, patches: int) -> list[int]:
        tokens = patches // self._processor.merge_size**2
        turn = self._pictures.replace(_PICTURE, _PICTURE * tokens)
        return self._tokenizer(turn, add_special_tokens=False)["input_ids"]


class _Turns:
    """Lays out what the model reads, by the chat template of its checkpoint."""

    def __init__(
        self,
        checkpoint: CheckpointFiles,
        tokenizer: Any,  # noqa: ANN401
        habits: _Habits,
        settings: CheckpointSettings,
    ) -> None:
        self._checkpoint, self._tokenizer, self._habits = checkpoint, tokenizer, habits
        self._instruction, self._prompts = settings.instruction, checkpoint.prompts()
        self._template = tokenizer.chat_template or self._own_template()

    def texts(self) -> tuple[str, str]:
        """Return what stands before and after a text."""
        before, _, after = self._turn("texts", {"type": "text", "text": _TEXT}).partition(_TEXT)
        return before, after

    def pictures(self) -> str:
        """Return a turn with a picture, of one token."""
        turn = self._turn("images", {"type": "image"})
        if turn.count(_PICTURE) != 1:
            problem = f"a chat template that marks no picture by {_PICTURE}"
            raise UnknownModel(self._checkpoint.where, problem, "use its own tokenizer files")
        return turn

    def _turn(self, side: str, content: dict[str, str]) -> str:
        system = {"type": "text", "text": self._instruction_of(side)}
        talk = [{"role": "system", "content": [system]}, {"role": "user", "content": [content]}]
        turn = self._tokenizer.apply_chat_template(
            talk, chat_template=self._template, add_generation_prompt=True, tokenize=False
        )
        return turn + self._habits.suffix

    def _instruction_of(self, side: str) -> str:
        named = self._instruction.get(side, "")
        text = self._prompts.get(named, named).strip() or self._habits.instruction
        needs_stop = self._habits.is_sentence and not unicodedata.category(text[-1]).startswith("P")
        return text + "." * needs_stop

    def _own_template(self) -> str:
        """Return the template of a file beside the tokenizer's, where older checkpoints have it.

        Raises:
            UnknownModel: there is none.
        """
        template = self._checkpoint.json("chat_template.json", default={}).get("chat_template")
        if not template:
            remedy = "use a checkpoint with a chat template"
            raise UnknownModel(self._checkpoint.where, "no chat template", remedy)
        return str(template)


def _image_processor(
    checkpoint: CheckpointFiles, pixels: int | None, patches: tuple[int, int] | None
) -> Any:  # noqa: ANN401
    """Return the checkpoint's image processor with the sizes that its publishers use, or `pixels`.

    Raises:
        BadParams: fewer pixels than the smallest picture has.
    """
    processor = checkpoint.image_processor()
    area = (processor.patch_size * processor.merge_size) ** 2
    size = processor.size
    least, most = (
        (n * area for n in patches)
        if patches
        else (
            int(size["shortest_edge"]),
            int(size["longest_edge"]),
        )
    )
    if pixels is not None and pixels < area:
        problem = f"{pixels} pixels, and a token has {area}"
        raise checkpoint.refused("pixels", problem, "use more")
    most = pixels or most
    processor.size = type(size)(shortest_edge=min(least, most), longest_edge=most)
    return processor


def _tamed(image: Image.Image) -> Image.Image:
    """Return a picture whose longer side is at most 200 times the shorter one, as GME has it."""
    # ASSUME such a picture is squeezed: Qwen3-VL-Embedding's paper does not say, its script stops.
    long, short = max(image.size), min(image.size)
    if long <= _MOST_RATIO * short:
        return image
    side = _MOST_RATIO * short
    return image.resize((min(image.width, side), min(image.height, side)))
