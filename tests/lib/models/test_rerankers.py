"""Rerankers: small random checkpoints of the real classes, against the libraries and the cards."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder
from tests import kernels
from tests import tiny_rerankers as tiny
from tests.models import model_of

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, UnknownModel
from isotope.core.pixels import decode
from isotope.models import rerankers
from isotope.models.pairs import ScoredPair
from isotope.models.reranker_sizes import weights

TEXTS = [
    ("a dog runs", "two red balls on the green field"),
    ("the boat", "a dog"),
    ("the left boat", "red"),
    ("two dogs", "the green field " * 3),
    ("", "a dog"),
]
LONG = ("a dog runs on the field " * 40, "two red balls on the green field " * 90)
SEEING = ("qwen3-vl", "jina-m0")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory) -> dict[str, Path]:
    return {kind: tiny.save(tmp_path_factory.mktemp("tiny") / kind, kind) for kind in tiny.KINDS}


def load(place: Path, images: str = "captions", **keys: Any) -> Any:
    entry = {"kind": "reranker", "name": str(place), "images": images, **keys}
    return rerankers.load(model_of(entry), device="cpu")


def scores(model: Any, pairs: list[ScoredPair], batch: int = 1) -> np.ndarray:
    """Score pairs one by one; a batch has one of them several times."""
    return np.array([model.scores([ready] * batch)[-1] for ready in model.prepare(pairs)])


def seen(seed: int = 0) -> list[bytes]:
    return [tiny.picture(w, h, seed) for w, h in ((100, 70), (64, 64), (40, 300))]


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_a_classifier_scores_as_the_cross_encoder_of_sentence_transformers(checkpoints, kind):
    pairs = [*TEXTS, LONG]
    theirs = CrossEncoder(str(checkpoints[kind]), device="cpu").predict(
        pairs, activation_fn=torch.nn.Sigmoid()
    )
    ours = scores(load(checkpoints[kind], context=64), [ScoredPair(*pair) for pair in pairs])
    assert 1 / (1 + np.exp(-ours)) == pytest.approx(theirs, abs=2e-6)
    assert len(set(ours.tolist())) == len(ours)


def test_two_classes_give_the_odds_of_the_second(tmp_path):
    place = tiny.save(tmp_path, "bert", num_labels=2)
    theirs = CrossEncoder(str(place), device="cpu").predict(TEXTS, apply_softmax=True)
    ours = scores(load(place), [ScoredPair(*pair) for pair in TEXTS])
    assert 1 / (1 + np.exp(-ours)) == pytest.approx(theirs[:, 1], abs=2e-6)


def library_odds(model: Any, tokenizer: Any, inputs: dict[str, Any]) -> float:
    """The logit of `yes` less that of `no`, of the whole model's vocabulary at the last token."""
    with torch.inference_mode():
        logits = model(**inputs).logits[0, -1]
    yes, no = tokenizer.convert_tokens_to_ids(["yes", "no"])
    return float(logits[yes] - logits[no])


def test_qwen3_is_asked_as_its_model_card_says(checkpoints):
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints["qwen3"])
    model = transformers.Qwen3ForCausalLM.from_pretrained(checkpoints["qwen3"]).eval()
    told = "Find the picture"
    expected = []
    for query, document in TEXTS:
        prompt = (
            "<|im_start|>system\nJudge whether the Document meets the requirements based on the "
            'Query and the Instruct provided. Note that the answer can only be "yes" or "no".'
            f"<|im_end|>\n<|im_start|>user\n<Instruct>: {told}\n<Query>: {query}\n<Document>: "
            f"{document}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
        )
        expected.append(library_odds(model, tokenizer, tokenizer(prompt, return_tensors="pt")))
    ours = scores(load(checkpoints["qwen3"]), [ScoredPair(*pair, told) for pair in TEXTS], batch=3)
    assert ours == pytest.approx(expected, abs=1e-5)


def official(tokenizer: Any, eyes: Any, sides: list[Any]) -> dict[str, Any]:
    """What Qwen3-VL's processor makes of the chat of its reranker's model card."""
    least, most = 4 * 32 * 32, 1_280 * 32 * 32
    processor: Any = transformers.Qwen3VLProcessor(
        image_processor=eyes,
        tokenizer=tokenizer,
        video_processor=transformers.Qwen3VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    )
    judge = "Judge whether the Document meets the requirements based on the Query and the Instruct "
    judge += 'provided. Note that the answer can only be "yes" or "no".'
    told = "Given a search query, retrieve relevant candidates that answer the query."
    content: list[dict[str, Any]] = [{"type": "text", "text": f"<Instruct>: {told}"}]
    for head, side in zip(("<Query>:", "\n<Document>:"), sides, strict=True):
        content.append({"type": "text", "text": head})
        is_text = isinstance(side, str)
        own = {"type": "text", "text": side} if is_text else {"type": "image", "image": side}
        content.append(own)
    turns: Any = [
        {"role": "system", "content": [{"type": "text", "text": judge}]},
        {"role": "user", "content": content},
    ]
    text = processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    images = [side for side in sides if not isinstance(side, str)]
    size = {"shortest_edge": least, "longest_edge": most}
    return processor(text=[text], images=images, size=size, return_tensors="pt")


def test_qwen3_vl_is_asked_in_both_directions_as_its_model_card_says(checkpoints):
    place = checkpoints["qwen3-vl"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    eyes = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    model = transformers.Qwen3VLForConditionalGeneration.from_pretrained(place).eval()
    pairs = [
        pair for webp in seen() for pair in (ScoredPair("a dog", webp), ScoredPair(webp, "a dog"))
    ]
    expected = [
        library_odds(
            model,
            tokenizer,
            official(tokenizer, eyes, [s if isinstance(s, str) else decode(s) for s in pair[:2]]),
        )
        for pair in pairs
    ]
    ours = scores(load(place, "pixels"), pairs, batch=3)
    assert ours == pytest.approx(expected, abs=1e-5)
    assert len({f"{score:.4f}" for score in ours}) == len(pairs)


def test_jina_reranker_m0_scores_by_its_two_layers(checkpoints, tmp_path):
    """Its modeling.py: state of token 100 behind the prompt, two layers, less 2.65."""
    place = checkpoints["jina-m0"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    eyes = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    published = load_file(place / "model.safetensors")
    backbone = tiny.qwen2_vl(tokenizer).model.eval()
    names = {"visual.": "visual.", "model.": "language_model."}
    state = {
        new + name.removeprefix(old): value
        for old, new in names.items()
        for name, value in published.items()
        if name.startswith(old)
    }
    backbone.load_state_dict(state)
    webp = seen()[0]
    size = {"shortest_edge": 3_136, "longest_edge": 602_112}
    made = eyes(images=[decode(webp)], size=size, return_tensors="pt")
    count = int(made["image_grid_thw"].prod()) // 4
    prompt = f"**Document**:\n<|vision_start|>{'<|image_pad|>' * count}<|vision_end|>\n"
    ids = [*tokenizer(f"{prompt}**Query**:\na dog")["input_ids"], 100]
    tokens = torch.tensor([ids])
    pad = tokenizer.convert_tokens_to_ids("<|image_pad|>")
    with torch.inference_mode():
        last = backbone(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            mm_token_type_ids=(tokens == pad).int(),
            **made,
        ).last_hidden_state[0, -1]
        inner = torch.relu(published["score.0.weight"] @ last + published["score.0.bias"])
        expected = published["score.2.weight"] @ inner + published["score.2.bias"] - 2.65
    ours = scores(load(place, "pixels"), [ScoredPair("a dog", webp)], batch=2)
    assert ours == pytest.approx(expected.numpy(), abs=1e-5)


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_score_is_the_same_whatever_is_beside_it_and_whenever_it_is_made(checkpoints, kind):
    sides: list[Any] = [seen()[0], seen(1)[0]] if kind in SEEING else ["a dog", "red balls"]
    pairs = [ScoredPair(query, side) for query in ("the boat", "two dogs") for side in sides]
    images = "pixels" if kind in SEEING else "captions"
    first, again = load(checkpoints[kind], images), load(checkpoints[kind], images)
    ready = first.prepare(pairs)
    assert len({each.shape for each in ready}) == 1
    alone = scores(first, pairs, batch=4)
    together = first.scores(ready)
    turned = again.scores(again.prepare(pairs[::-1]))[::-1]
    kernels.assert_same_but_for_rounding(together, alone)
    kernels.assert_same_but_for_rounding(turned, alone)
    assert again.scores(ready).tobytes() == together.tobytes()


@pytest.mark.parametrize("kind", ["qwen3", "qwen3-vl", "jina-m0"])
def test_a_long_pair_loses_the_end_of_its_longer_text_and_never_the_prompt(checkpoints, kind):
    images = "pixels" if kind in SEEING else "captions"
    model = load(checkpoints[kind], images, context=256 if kind == "jina-m0" else 512)
    whole = load(checkpoints[kind], images)
    query = "two red balls"
    long = ScoredPair(query, LONG[1])
    [cut], [full] = model.prepare([long]), whole.prepare([long])
    most = 256 if kind == "jina-m0" else 512
    assert most - 16 <= len(cut.tokens["input_ids"]) <= most < len(full.tokens["input_ids"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints[kind])
    told, every = (tokenizer.decode(each.tokens["input_ids"]) for each in (cut, full))
    assert query in told
    assert told[-12:] == every[-12:]
    assert told[:60] == every[:60]


@given(
    text=st.text(alphabet=["a", "é", "図", " ", "<", "|", "\n"], max_size=80),
    mark=st.sampled_from(tiny.MARKS),
)
def test_marks_of_the_prompt_in_a_text_are_words_to_nobody(text, mark):
    tokenizer = tiny.bytewise()
    model = rerankers.QwenVL.__new__(rerankers.QwenVL)
    model._marks = sorted(tokenizer.get_added_vocab(), key=len, reverse=True)
    plain = model._plain(f"{text}{mark}{text}")
    ids = tokenizer(plain, add_special_tokens=False)["input_ids"]
    assert not {*tokenizer.convert_ids_to_tokens(ids)} & {*tiny.MARKS}


def test_a_picture_that_is_a_line_is_seen_all_the_same(checkpoints):
    model = load(checkpoints["qwen3-vl"], "pixels")
    [line] = scores(model, [ScoredPair("a dog", tiny.picture(1_200, 2))])
    assert np.isfinite(line)


def test_fewer_pixels_are_fewer_tokens(checkpoints):
    few, many = (
        load(checkpoints["qwen3-vl"], "pixels", **keys) for keys in ({"pixels": 32 * 32 * 4}, {})
    )
    pair = [ScoredPair("a dog", tiny.picture(320, 320))]
    sizes = [len(model.prepare(pair)[0].tokens["input_ids"]) for model in (few, many)]
    assert sizes[1] - sizes[0] == 100 - 4


def test_a_side_without_words_is_null_to_a_vision_language_model(checkpoints):
    model = load(checkpoints["qwen3-vl"])
    empty, null = model.prepare([ScoredPair("a dog", ""), ScoredPair("a dog", "NULL")])
    assert empty == null


def test_a_model_of_texts_sees_no_pictures(checkpoints):
    for kind in ("bert", "qwen3"):
        with pytest.raises(BadParams, match="pictures for a model of texts"):
            load(checkpoints[kind], "pixels")


@pytest.mark.parametrize("kind", ["bert", "jina-m0"])
def test_an_instruction_that_nobody_reads_is_refused(checkpoints, kind):
    with pytest.raises(BadParams, match="an instruction for a model that reads none"):
        load(checkpoints[kind], instruction="find the picture")


def test_a_context_beyond_the_model_s_positions_is_refused(checkpoints):
    for kind, most in (("bert", 64), ("xlm-roberta", 64), ("qwen3", 2048)):
        with pytest.raises(BadParams, match=f"positions for {most:,} tokens"):
            load(checkpoints[kind], context=most + 1)


def test_a_context_that_does_not_hold_the_prompt_is_refused(checkpoints):
    with pytest.raises(BadParams, match="do not hold without its texts; raise"):
        load(checkpoints["qwen3"], context=40).prepare([ScoredPair("a dog", "red balls")])


def changed(place: Path, target: Path, **config: Any) -> Path:
    shutil.copytree(place, target, dirs_exist_ok=True)
    told = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**told, **config}))
    return target


@pytest.mark.parametrize(
    "config",
    [
        {"architectures": ["NewForSequenceClassification"], "model_type": "new"},
        {"architectures": ["BertModel"]},
        {"architectures": ["LlamaForCausalLM"], "model_type": "llama"},
    ],
)
def test_an_architecture_of_no_family_is_named_with_those_there_are(checkpoints, tmp_path, config):
    place = changed(checkpoints["bert"], tmp_path, auto_map={"AutoModel": "evil.Evil"}, **config)
    (tmp_path / "evil.py").write_text("raise SystemExit('remote code was run')")
    with pytest.raises(UnknownModel, match="code in a checkpoint is never run") as error:
        load(place)
    assert config["architectures"][0] in str(error.value)


def test_a_classifier_of_many_classes_ranks_nothing(tmp_path):
    place = tiny.save(tmp_path, "bert", num_labels=3)
    with pytest.raises(UnknownModel, match="a classifier of 3 classes"):
        load(place)


def test_weights_that_are_not_all_there_are_named(checkpoints, tmp_path):
    place = changed(checkpoints["jina-m0"], tmp_path)
    own = load_file(place / "model.safetensors")
    del own["score.2.weight"]
    save_file(own, place / "model.safetensors", {"format": "pt"})
    with pytest.raises(CorruptFile, match=r"1 weights missing, score\.2\.weight first"):
        load(place, "pixels")


def test_pickles_are_never_read(checkpoints, tmp_path):
    place = changed(checkpoints["bert"], tmp_path)
    torch.save(load_file(place / "model.safetensors"), place / "pytorch_model.bin")
    (place / "model.safetensors").unlink()
    with pytest.raises(FetchFailed, match=r"\.safetensors"):
        load(place)


def test_a_tokenizer_without_yes_is_no_reranker_s(checkpoints, tmp_path):
    place = changed(checkpoints["qwen3"], tmp_path)
    tiny.bytewise("a dog").save_pretrained(place)
    with pytest.raises(UnknownModel, match="no token 'yes'"):
        load(place)


def test_a_folder_that_is_not_there_is_no_checkpoint(tmp_path):
    with pytest.raises(FetchFailed, match="not loaded"):
        load(tmp_path / "none")


@pytest.mark.parametrize("kind", ["bert", "jina-m0"])
def test_weights_are_counted_without_being_loaded(checkpoints, kind):
    own = load_file(checkpoints[kind] / "model.safetensors")
    assert weights(str(checkpoints[kind])) == sum(value.numel() for value in own.values())


def test_weights_elsewhere_are_those_of_the_model_card_or_assumed():
    assert weights("Qwen/Qwen3-VL-Reranker-2B") > 2e9
    assert weights("nobody/knows") == 600_000_000


def test_a_file_without_a_head_has_no_weights_to_count(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\x05\0\0\0\0\0\0\0oops!")
    with pytest.raises(CorruptFile, match="no head of safetensors"):
        weights(str(tmp_path))
