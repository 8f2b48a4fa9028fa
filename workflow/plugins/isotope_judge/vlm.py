"""A vision-language model that grades: the probability of each grade as the next token.

The model reads a chat message of texts and pictures. Its grade is not parsed from words that it
generates: of the logits behind the message those of the digits of the scale are taken, in one pass,
so that every pair has a grade and a distribution over all grades (as G-Eval weighs its scores, Liu
et al., EMNLP 2023, section 2). The share of the probability that the digits have in all (`mass`)
tells whether the model was about to answer with one.

A message is read alone. A batch would have to be padded, and the last bits of an answer would
depend on what is read beside it; a message of a picture or two has some hundred to some thousand
tokens, whose products fill a processor or a GPU by themselves.
"""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from PIL import Image
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

from isotope.core.errors import CorruptFile, FetchFailed, UnknownModel
from isotope.models.transformers import complete
from isotope_judge.params import ModelJudge

Part = str | Image.Image


class Reading(NamedTuple):
    """The probability of each grade among the grades, and of all grades among the tokens."""

    probabilities: Mapping[int, float]
    mass: float


class Vlm:
    """A model in evaluation mode: the same message gives the same reading."""

    def __init__(self, spec: ModelJudge, grades: Sequence[int], device: str = "auto") -> None:
        """Load `spec.name`, a folder or a hub's id, at its revision; safetensors, no remote code.

        `grades` are the digits of the scale.

        Raises:
            UnknownModel: no chat model of pictures and texts that transformers has by itself, or
                one whose tokenizer has no token for a grade.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
            CorruptFile: weights that do not load, or that are not all there.
        """
        self._name, self._answer, self._pixels = spec.name, spec.answer, spec.pixels
        options = {"revision": spec.revision or "main", "trust_remote_code": False}
        with self._loading():
            config: Any = AutoConfig.from_pretrained(self._name, **options)
            self._processor: Any = AutoProcessor.from_pretrained(self._name, **options)
            model = self._weights(getattr(torch, spec.precision), options)
        self.commit: str | None = getattr(config, "_commit_hash", None)
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        self._device = torch.device(automatic if device == "auto" else device)
        self._model: Any = model.eval().to(self._device)
        self._dtype = next(self._model.parameters()).dtype
        self._last = "logits_to_keep" in inspect.signature(self._model.forward).parameters
        self._grades = {grade: self._token(grade) for grade in sorted(grades)}

    @contextmanager
    def _loading(self) -> Any:  # noqa: ANN401
        """Name what is wrong with a checkpoint."""
        where = f"judge: {self._name}"
        try:
            yield
        except (SafetensorError, RuntimeError) as error:
            problem = f"weights that do not load ({str(error)[:200]})"
            raise CorruptFile(where, problem, "fetch them again") from error
        except OSError as error:
            remedy = "check the network, or set `name` to a folder with config, tokenizer, "
            remedy += "preprocessor, chat template and .safetensors"
            raise FetchFailed(where, f"not loaded ({str(error)[:300]})", remedy) from error
        except (ValueError, TypeError, KeyError) as error:
            problem = f"no model of its type answers about pictures ({str(error)[:200]})"
            remedy = "name a chat model that transformers loads as image-text-to-text, such as "
            raise UnknownModel(where, problem, f"{remedy}Qwen/Qwen3-VL-8B-Instruct") from error

    def _weights(self, dtype: torch.dtype, options: Mapping[str, Any]) -> Any:  # noqa: ANN401
        chosen: Any = AutoModelForImageTextToText
        loaded, report = chosen.from_pretrained(
            self._name, use_safetensors=True, output_loading_info=True, dtype=dtype, **options
        )
        return complete(self._name, loaded, report)

    def _token(self, grade: int) -> int:
        """Return the id of the digit behind the beginning of an answer.

        Raises:
            UnknownModel: it is none or several tokens there, or the unknown one.
        """
        tokenizer: Any = getattr(self._processor, "tokenizer", None)
        where = f"judge: {self._name}"
        if tokenizer is None or not getattr(self._processor, "chat_template", None):
            problem = "no tokenizer with a chat template"
            raise UnknownModel(where, problem, "name a model that was trained to chat")
        before = self._rendered(["grade"])
        ids = [
            tokenizer(text, add_special_tokens=False)["input_ids"]
            for text in (before, f"{before}{grade}")
        ]
        *same, last = ids[1]
        if same != ids[0] or last == tokenizer.unk_token_id:
            problem = f"its tokenizer has no single token for the grade {grade} after an answer's "
            problem += f"beginning {before[-20:]!r}"
            raise UnknownModel(where, problem, "set `answer`, or name another model")
        return int(last)

    def _messages(self, parts: Sequence[Part]) -> list[dict[str, Any]]:
        content = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image", "image": part}
            for part in parts
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if self._answer:
            text = [{"type": "text", "text": self._answer}]
            messages.append({"role": "assistant", "content": text})
        return messages

    def _template(self, parts: Sequence[Part], **options: Any) -> Any:  # noqa: ANN401
        ends = "continue_final_message" if self._answer else "add_generation_prompt"
        return self._processor.apply_chat_template(self._messages(parts), **{ends: True}, **options)

    def _rendered(self, parts: Sequence[Part]) -> str:
        return str(self._template(parts, tokenize=False))

    def read(self, parts: Sequence[Part]) -> Reading:
        """Return what the model says of a message of texts and RGB pictures of any size.

        Raises:
            CorruptFile: logits that are no numbers.
        """
        smaller = [p if isinstance(p, str) else within(p, self._pixels) for p in parts]
        inputs: Any = self._template(
            smaller, tokenize=True, return_dict=True, return_tensors="pt"
        ).to(self._device)
        batch = {k: v.to(self._dtype) if v.is_floating_point() else v for k, v in inputs.items()}
        last = {"logits_to_keep": 1} if self._last else {}
        with torch.inference_mode():
            logits = self._model(**batch, **last).logits[0, -1].float().cpu()
        grade_logits = logits[list(self._grades.values())]
        if not bool(torch.isfinite(grade_logits).all()):
            remedy = "set `precision: float32`, or fetch the weights again"
            raise CorruptFile(f"judge: {self._name}", "logits that are no numbers", remedy)
        mass = float((grade_logits.logsumexp(0) - logits.logsumexp(0)).exp())
        shares = grade_logits.softmax(0).tolist()
        return Reading(dict(zip(self._grades, shares, strict=True)), min(mass, 1.0))


def within(picture: Image.Image, pixels: int) -> Image.Image:
    """Return the picture with at most so many pixels, its sides in proportion."""
    width, height = picture.size
    scale = (pixels / (width * height)) ** 0.5
    if scale >= 1:
        return picture
    size = max(1, int(width * scale)), max(1, int(height * scale))
    return picture.resize(size, Image.Resampling.LANCZOS)
