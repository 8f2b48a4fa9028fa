"""Rerankers: models of transformers that read a query and a document together, and score the pair.

What a checkpoint's config says chooses the family; no remote code, safetensors only.

* Sequence classifiers, as sentence-transformers' CrossEncoder reads them: one logit, or the second
  of two less the first (Nogueira and Cho, Passage Re-ranking with BERT, 2019, section 3).
* Qwen3-Reranker, and rerankers on Qwen's vision-language models: a chat with instruction, query and
  document, scored by the logit of `yes` less that of `no` behind it
  (https://huggingface.co/Qwen/Qwen3-Reranker-0.6B, https://huggingface.co/Qwen/Qwen3-VL-Reranker-2B).
* jina-reranker-m0: Qwen2-VL, and two layers over the state of a last token that asks for the score
  (https://huggingface.co/jinaai/jina-reranker-m0, modeling.py).

A score is what the model cards put into their sigmoid, which at single precision makes equals of
scores that differ. A batch has pairs of one shape, tokens padded to a power of two and pictures of
the same patches, so a pair's score does not depend on what is beside it.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
import transformers

from isotope.core.errors import BadParams, CorruptFile, UnknownModel
from isotope.models.kinds.reranker import Reranker as Entry
from isotope.models.pairs import FloatArray, PairScorer, Ready, ScoredPair
from isotope.models.patches import Patches
from isotope.models.transformers import Device, all_weights, fetching, padded


def load(model: Entry, device: str = "auto") -> PairScorer:
    """Load the model of an entry of `models` of kind reranker.

    Raises:
        UnknownModel: an architecture that is of none of the families.
        BadParams: pictures or an instruction for a model that reads none, or too long a context.
        CorruptFile: weights that do not load, or that leave a part of the model at random.
        FetchFailed: a folder without the files it needs, or a hub that is out of reach.
    """
    name = model.name
    options = {"revision": model.revision or "main", "trust_remote_code": False}
    with fetching(name):
        config, _ = transformers.PreTrainedConfig.get_config_dict(
            name, revision=options["revision"]
        )
        family = _family(name, config)
        if model.images == "pixels" and not family.sees:
            remedy = "set `images: captions`, or name a vision-language reranker"
            raise BadParams(f"models: {name}", "pictures for a model of texts", remedy)
        if model.instruction and not family.follows:
            remedy = "leave it out, or name a reranker of Qwen's"
            raise BadParams(f"models: {name}", "an instruction for a model that reads none", remedy)
        return family(model, options, Device(device))


def _family(name: str, config: Mapping[str, Any]) -> type["Classifier | _Decoder"]:
    architecture = str((config.get("architectures") or ["none"])[0])
    kind = str(config.get("model_type"))
    if architecture == "JinaVLForRanking":
        return Jina
    if architecture.endswith("ForSequenceClassification") and kind in transformers.CONFIG_MAPPING:
        return Classifier
    if architecture.endswith("ForCausalLM") and kind == "qwen3":
        return Qwen
    if architecture.endswith("ForConditionalGeneration") and kind in _SEEING:
        return QwenVL
    remedy = "use a sequence classifier that transformers has, Qwen3-Reranker, a reranker on "
    remedy += f"{', '.join(_SEEING)}, or jina-reranker-m0; code in a checkpoint is never run"
    raise UnknownModel(f"models: {name}", f"architecture {architecture!r} of {kind!r}", remedy)


_SEEING = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")
# Their positions begin behind that of the padding.
_SHIFTED = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert")
_LONGEST = 8_192


def _context(entry: Entry, most: int, usual: int) -> int:
    """Return the most tokens of a pair.

    Raises:
        BadParams: more than the model has positions for.
    """
    chosen = entry.context or min(most, usual)
    if chosen > most:
        problem = f"context {chosen:,}, and the model has positions for {most:,} tokens"
        raise BadParams(f"models: {entry.name}", problem, f"use {most} or less")
    return chosen


class Classifier:
    """A sequence classifier over two texts: a cross-encoder."""

    sees, follows = False, False

    def __init__(self, entry: Entry, options: dict[str, Any], device: Device) -> None:
        """Load it, as `load` says."""
        name = entry.name
        model = all_weights(name, transformers.AutoModelForSequenceClassification, options)
        if model.config.num_labels not in (1, 2):
            problem = f"a classifier of {model.config.num_labels} classes"
            raise UnknownModel(f"models: {name}", problem, "use one that has one class, or two")
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name, **options)
        shift = int(self._tokenizer.pad_token_id) + 1 if model.config.model_type in _SHIFTED else 0
        most = int(model.config.max_position_embeddings) - shift
        most = min(most, int(self._tokenizer.model_max_length))
        self._context = _context(entry, most, _LONGEST)
        self._device, self._model = device, model.eval().to(device.torch)

    def prepare(self, pairs: Sequence[ScoredPair]) -> list[Ready]:
        """Return pairs of texts as tokens; of a long pair the longer side is cut."""
        queries, documents = ([str(pair[n]) for pair in pairs] for n in (0, 1))
        tokens = self._tokenizer(
            queries, documents, truncation="longest_first", max_length=self._context
        )
        rows = [dict(zip(tokens, row, strict=True)) for row in zip(*tokens.values(), strict=True)]
        return [Ready((padded(len(row["input_ids"]), self._context),), row) for row in rows]

    def scores(self, batch: Sequence[Ready]) -> FloatArray:
        """Return the logit of relevance, float32 [n]."""
        tokens = {name: [ready.tokens[name] for ready in batch] for name in batch[0].tokens}
        [most] = batch[0].shape
        inputs = self._tokenizer.pad(
            tokens, padding="max_length", max_length=most, return_tensors="pt"
        )
        # Not at half precision, at which a logit has a few hundred values and ties are many.
        with torch.inference_mode():
            logits = self._model(**inputs.to(self._device.torch)).logits.float().cpu().numpy()
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


# Rounds of cutting: what is left of a cut text may have other tokens than it had.
_ROUNDS = 8
_PAD = "<|image_pad|>"
_IMAGE = f"<|vision_start|>{_PAD}<|vision_end|>"
_JUDGE = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".'
)


class _Decoder:
    """A language model that scores a prompt by the state of its last token."""

    sees, follows = True, True
    # The class of transformers and how it is loaded; the model cards' instruction, most tokens of a
    # pair, least and most tokens of a picture, and tokens that stand behind each prompt.
    _class: Any
    _loading: Mapping[str, Any] = MappingProxyType({})
    _instruction = ""
    _usual = _LONGEST
    _tokens_of_picture = (4, 1_280)
    _last: Sequence[int] = ()

    def __init__(self, entry: Entry, options: dict[str, Any], device: Device) -> None:
        """Load it, as `load` says."""
        self._name = entry.name
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(self._name, **options)
        model = all_weights(self._name, self._class, {**options, **self._loading})
        most = int(model.config.get_text_config().max_position_embeddings)
        self._context = _context(entry, most, self._usual)
        self._score = self._scorer(model.eval())
        self._device, self._model = device, model.to(device.torch)
        self._marks = sorted(self._tokenizer.get_added_vocab(), key=len, reverse=True)
        self._patches: Patches | None = None
        if entry.images == "pixels":
            tokens, pixels = self._tokens_of_picture, entry.pixels
            self._patches = Patches(self._name, options, tokens, pixels)
            self._pad = self._token(_PAD)

    def prepare(self, pairs: Sequence[ScoredPair]) -> list[Ready]:
        """Return pairs as prompts in tokens; of a long pair the longer text is cut.

        Raises:
            BadParams: a prompt that is too long even without its texts.
        """
        return [self._ready(pair) for pair in pairs]

    def scores(self, batch: Sequence[Ready]) -> FloatArray:
        """Return the scores of prompts of one shape, float32 [n]."""
        most, *_ = batch[0].shape
        rows = [ready.tokens["input_ids"] for ready in batch]
        ids = torch.tensor([row + [0] * (most - len(row)) for row in rows])
        ends = torch.tensor([len(row) - 1 for row in rows])
        # Behind the last token nothing is read: each token sees those before it alone.
        inputs = {"input_ids": ids, "attention_mask": torch.arange(most) <= ends[:, None]}
        inputs["attention_mask"] = inputs["attention_mask"].long()
        if self._patches and batch[0].pictures:
            inputs["mm_token_type_ids"] = (ids == self._pad).int()
            inputs_of_pictures = [
                self._patches.processed(picture) for ready in batch for picture in ready.pictures
            ]
            inputs |= {
                name: torch.cat([picture_inputs[name] for picture_inputs in inputs_of_pictures])
                for name in inputs_of_pictures[0]
            }
        states = self._device.rows(lambda: self._last_states(inputs, ends))
        with torch.inference_mode():
            return self._score(states).numpy()

    def _last_states(self, inputs: Mapping[str, torch.Tensor], ends: torch.Tensor) -> torch.Tensor:
        placed = {name: value.to(self._device.torch) for name, value in inputs.items()}
        states = self._model.model(**placed, use_cache=False).last_hidden_state
        return states[torch.arange(len(ends)), ends]

    def _scorer(self, model: Any) -> Callable[[torch.Tensor], torch.Tensor]:  # noqa: ANN401
        """Return what makes scores [n] of states [n, dim], in main memory at single precision."""
        rows = model.get_output_embeddings().weight.detach().float()
        direction = rows[self._token("yes")] - rows[self._token("no")]
        return lambda states: states @ direction

    def _prompt(self, sides: Sequence[str], instruction: str) -> str:
        """Return the prompt of a query and a document, of which a picture is `_IMAGE`."""
        raise NotImplementedError

    def _token(self, word: str) -> int:
        """Return the id of a token.

        Raises:
            UnknownModel: the tokenizer has no such token.
        """
        vocabulary = self._tokenizer.get_vocab()
        if word not in vocabulary:
            remedy = "use a checkpoint of one of Qwen's rerankers, or of jina-reranker-m0"
            raise UnknownModel(f"models: {self._name}", f"no token {word!r}", remedy)
        return int(vocabulary[word])

    def _ready(self, pair: ScoredPair) -> Ready:
        pictures = tuple(side for side in pair[:2] if isinstance(side, bytes))
        grids = [self._patches.grid(picture) for picture in pictures] if self._patches else []
        tokens = self._fitted(pair, grids)
        sides = [n for grid in grids for n in grid]
        shape = (padded(len(tokens), self._context), *sides)
        return Ready(shape, {"input_ids": tokens}, pictures)

    def _fitted(self, pair: ScoredPair, grids: Sequence[tuple[int, int]]) -> list[int]:
        """Return the tokens of a pair, its texts cut until they fit into the context."""
        sides = [_IMAGE if isinstance(s, bytes) else self._plain(s) for s in pair[:2]]
        for _ in range(_ROUNDS):
            prompt = self._prompt(sides, pair.instruction or self._instruction)
            tokens = [*self._tokens(self._with_picture_tokens(prompt, grids)), *self._last]
            over = len(tokens) - self._context
            if over <= 0:
                return tokens
            sides = self._cut(sides, over)
        problem = f"a prompt that {self._context:,} tokens do not hold without its texts"
        remedy = "raise the model's `context`, or lower its `pixels`"
        raise BadParams(f"models: {self._name}", problem, remedy)

    def _plain(self, text: str) -> str:
        """Return a text without marks of the prompt, which only the prompt may have."""
        for mark in self._marks if "<" in text else ():
            text = text.replace(mark, " ")
        return text

    def _with_picture_tokens(self, prompt: str, grids: Sequence[tuple[int, int]]) -> str:
        """Put as many tokens into a prompt as each picture becomes."""
        parts = prompt.split(_PAD)
        if len(parts) != len(grids) + 1:
            problem = f"a chat template with {len(parts) - 1} places for {len(grids)} pictures"
            raise CorruptFile(f"models: {self._name}", problem, "use the checkpoint's own template")
        counts = [self._patches.tokens(grid) if self._patches else 0 for grid in grids]
        filled = zip(parts, [*counts, 0], strict=True)
        return "".join(part + _PAD * count for part, count in filled)

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False)["input_ids"]

    def _cut(self, sides: Sequence[str], over: int) -> list[str]:
        """Take so many tokens from the texts, from the longer one first."""
        sizes = [0 if side == _IMAGE else len(self._tokens(side)) for side in sides]
        total = max(0, sum(sizes) - over)
        short = min(*sizes, total // 2)
        lefts = [short, total - short] if sizes[0] <= sizes[1] else [total - short, short]
        return [
            side if side == _IMAGE else self._head(side, left)
            for side, left in zip(sides, lefts, strict=True)
        ]

    def _head(self, text: str, tokens: int) -> str:
        """Return the beginning of a text that has so many tokens."""
        spans = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ends = [end for _, end in spans["offset_mapping"]]
        return text if tokens >= len(ends) else text[: ends[tokens - 1] if tokens else 0]


class Qwen(_Decoder):
    """Qwen3-Reranker: texts alone."""

    sees = False
    _class = transformers.AutoModelForCausalLM
    _instruction = "Given a web search query, retrieve relevant passages that answer the query"

    def _prompt(self, sides: Sequence[str], instruction: str) -> str:
        head = f"<|im_start|>system\n{_JUDGE}<|im_end|>\n<|im_start|>user\n"
        body = f"<Instruct>: {instruction}\n<Query>: {sides[0]}\n<Document>: {sides[1]}"
        return f"{head}{body}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


class QwenVL(_Decoder):
    """A reranker on a vision-language model of Qwen's: texts and pictures, by its chat template."""

    _class = transformers.AutoModelForImageTextToText
    _instruction = "Given a search query, retrieve relevant candidates that answer the query."

    def _prompt(self, sides: Sequence[str], instruction: str) -> str:
        contents = [("text", f"<Instruct>: {instruction}")]
        for head, side in zip(("<Query>:", "\n<Document>:"), sides, strict=True):
            contents += [("text", head), *self._content(side)]
        chat = [("system", [("text", _JUDGE)]), ("user", contents)]
        messages = [
            {
                "role": role,
                "content": [{"type": kind, kind: value} for kind, value in contents_of_role],
            }
            for role, contents_of_role in chat
        ]
        if not self._tokenizer.chat_template:
            problem, remedy = "no chat template", "use a checkpoint that has one"
            raise UnknownModel(f"models: {self._name}", problem, remedy)
        return self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )

    @staticmethod
    def _content(side: str) -> Iterator[tuple[str, str]]:
        """Yield a side as a part of the chat; the model card has NULL for one without content."""
        yield ("image", "") if side == _IMAGE else ("text", side or "NULL")


class _Ranking(transformers.Qwen2VLForConditionalGeneration):
    """The published architecture: no vocabulary's head, and two layers that make the score."""

    def __init__(self, config: Any) -> None:  # noqa: ANN401
        config.tie_word_embeddings = False
        super().__init__(config)
        self.lm_head = torch.nn.Identity()
        width = config.get_text_config().hidden_size
        layers = torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)
        self.score = torch.nn.Sequential(*layers)
        self.post_init()


class Jina(_Decoder):
    """jina-reranker-m0: texts and pictures, the document first."""

    follows = False
    _class = _Ranking
    # The checkpoint has names that transformers maps for classes of its own alone.
    _loading: Mapping[str, Any] = MappingProxyType(
        {
            "key_mapping": {
                "^visual": "model.visual",
                r"^model(?!\.(language_model|visual))": "model.language_model",
            }
        }
    )
    _usual = 10_240
    _tokens_of_picture = (4, 768)
    _last = (100,)
    _bias = 2.65

    def _prompt(self, sides: Sequence[str], instruction: str) -> str:
        query, document = sides
        return f"**Document**:\n{document}\n**Query**:\n{query}"

    def _scorer(self, model: Any) -> Callable[[torch.Tensor], torch.Tensor]:  # noqa: ANN401
        layers = copy.deepcopy(model.score)
        return lambda states: layers(states).squeeze(-1) - self._bias
