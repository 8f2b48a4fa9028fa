"""A model grades a pool: tiny random checkpoints of real architectures, by the real code."""

import io
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import AutoModelForImageTextToText, AutoProcessor, CLIPConfig, CLIPModel
from workflow.plugins.isotope_judge.tests.tiny_vlm import save_vlm

from isotope.core import store
from isotope.core.errors import (
    CorruptFile,
    DiskFull,
    EmptyTable,
    FetchFailed,
    IntegrityError,
    UnknownModel,
)
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope_judge import answers as answered
from isotope_judge import grading
from isotope_judge.answers import AnswerFile
from isotope_judge.display import shuffled
from isotope_judge.grading import grade_pool
from isotope_judge.params import Judge, ModelJudge
from isotope_judge.prompts import PROMPT as DEFAULT
from isotope_judge.prompts import Item, MessagePicture, message, read_items
from isotope_judge.schemas import MODEL_GRADES, POOL
from isotope_judge.vlm import Vlm, within

KINDS = ("qwen2_vl", "idefics3")
PROMPT = "{scale}\nQuery: {query}\nCandidate: {document}\nGrade:"
SCALE: Mapping[int, str] = {0: "no", 1: "so so", 2: "yes"}
FILE = Path("judgements/toy/models/tiny.jsonl")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("vlm")
    return {kind: save_vlm(folder / kind, kind) for kind in KINDS}


def webp(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, "WEBP")
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Two texts and three images, of which the last has no pixels; nine pairs in a pool."""
    monkeypatch.chdir(tmp_path)
    texts = [
        {"text_id": f"t{n}", "page_title": title, "section_title": "Nests", "hierarchy": "Nests"}
        | {"context_section_description": f"{title} build nests."}
        for n, title in enumerate(("Bees", "Wasps"))
    ]
    images = [
        {"image_id": name, "image_url": f"https://example.org/{name}.jpg", "sha256": f"sha-{name}"}
        | {"caption_reference_description": [f"a picture of {name}"]}
        for name in ("amber", "blue", "crimson")
    ]
    store.write_rows([{c: r.get(c) for c in TEXTS.names} for r in texts], "texts.parquet", TEXTS)
    store.write_rows(
        [{c: r.get(c) for c in IMAGES.names} for r in images], "images.parquet", IMAGES
    )
    pixels = [
        {"image_id": name, "image_url": "", "width": 40, "height": 30, "webp": webp(colour)}
        for name, colour in (("amber", "orange"), ("blue", "blue"))
    ]
    store.write_rows(pixels, "shard-00000.parquet", PIXELS)
    pairs = [("t2m", t, i) for t in ("t0", "t1") for i in ("amber", "blue", "crimson")]
    pairs += [("m2t", i, t) for i, t in (("amber", "t0"), ("blue", "t0"), ("blue", "t1"))]
    rows = [
        {"split": "test", "task": k, "query_id": q, "doc_id": d, "rank": 1, "systems": ["s"]}
        for k, q, d in sorted(pairs)
    ]
    store.write_rows(rows, "pool.parquet", POOL)
    return tmp_path


def spec_of(name: Path | str, **changes: Any) -> ModelJudge:
    fields = {"kind": "vlm", "name": str(name), "prompt": PROMPT, "precision": "float32"}
    return ModelJudge.of_plain(fields | changes)


def grade(spec: ModelJudge, scale: Mapping[Any, str] = SCALE) -> pl.DataFrame:
    """Grade the pool of the working directory."""
    grade_pool(
        pool=Path("pool.parquet"),
        texts=Path("texts.parquet"),
        images=Path("images.parquet"),
        pixels=[Path("shard-00000.parquet")],
        grades=Path("grades.parquet"),
        collection="toy",
        judge="tiny",
        spec=spec,
        scale=scale,
    )
    return pl.read_parquet("grades.parquet")


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """The number of words and pictures of each message that a model has read."""
    sizes: list[int] = []
    read: Callable[..., Any] = Vlm.read

    def counted(self: Vlm, parts: Any) -> Any:
        sizes.append(len(parts))
        return read(self, parts)

    monkeypatch.setattr(Vlm, "read", counted)
    return sizes


@pytest.mark.parametrize("kind", KINDS)
def test_the_probabilities_are_those_of_the_first_token_that_the_library_would_generate(
    checkpoints, kind
):
    """By the model card's own road: chat template, processor, generate."""
    name, picture = checkpoints[kind], Image.new("RGB", (64, 48), "teal")
    words = ["Is it ", picture, " teal? Grade it.", picture]
    answer = Vlm(spec_of(name), [0, 1, 2]).read(words)
    processor: Any = AutoProcessor.from_pretrained(name)
    model: Any = AutoModelForImageTextToText.from_pretrained(name, dtype=torch.float32)
    content = [
        {"type": "text", "text": w} if isinstance(w, str) else {"type": "image"} for w in words
    ]
    chat = [{"role": "user", "content": content}]
    text = processor.apply_chat_template(chat, add_generation_prompt=True)
    # Idefics' template begins with the token that its tokenizer would add.
    inputs = processor(
        text=text, images=[picture, picture], return_tensors="pt", add_special_tokens=False
    )
    generated = model.generate(
        **inputs,
        max_new_tokens=1,
        do_sample=False,
        output_logits=True,
        return_dict_in_generate=True,
    )
    shares = generated.logits[0][0].softmax(0).numpy()
    ids = [processor.tokenizer.convert_tokens_to_ids(digit) for digit in "012"]
    expected = shares[ids] / shares[ids].sum()
    assert [answer.probabilities[g] for g in (0, 1, 2)] == pytest.approx(
        expected.tolist(), rel=1e-5
    )
    assert answer.mass == pytest.approx(float(shares[ids].sum()), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_graded_twice_and_in_other_batches_the_bytes_are_the_same(
    folder, checkpoints, kind, monkeypatch
):
    outputs: list[tuple[bytes, ...]] = []
    for batch in (1, 4, 4, 100):
        shutil.rmtree("judgements", ignore_errors=True)
        monkeypatch.setattr(grading, "_WRITTEN", batch)
        table = grade(spec_of(checkpoints[kind]))
        outputs.append((Path("grades.parquet").read_bytes(), FILE.read_bytes()))
        assert table.columns == MODEL_GRADES.names
    assert len(set(outputs)) == 1


def test_every_pair_has_a_grade_of_the_scale_beside_its_expectation_and_mass(folder, checkpoints):
    table = grade(spec_of(checkpoints["qwen2_vl"]))
    pool = pl.read_parquet("pool.parquet")
    pair = ["split", "task", "query_id", "doc_id"]
    assert table.select(pair).equals(pool.select(pair))
    assert set(table["grade"]) <= set(SCALE)
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    by_key = {line["key"]: line["probabilities"] for line in lines}
    for row in table.iter_rows(named=True):
        shares = by_key[row["key"]]
        assert sum(shares.values()) == pytest.approx(1, abs=2e-6)
        assert row["expected"] == pytest.approx(sum(int(g) * p for g, p in shares.items()))
        assert shares[str(row["grade"])] == max(shares.values())
        assert 0 < row["mass"] < 1
    pictured_by_pair = {
        (r["query_id"], r["doc_id"]): r["pictured"] for r in table.iter_rows(named=True)
    }
    assert [pair for pair, pictured in pictured_by_pair.items() if not pictured] == [
        ("t0", "crimson"),
        ("t1", "crimson"),
    ]


def test_of_two_grades_that_are_equally_likely_the_lower_one_counts():
    assert answered.answer("k", {0: 0.2, 2: 0.4, 1: 0.4}, 0.9, None).grade == 1


def test_a_killed_run_goes_on_where_it_was(folder, checkpoints, asked, monkeypatch):
    monkeypatch.setattr(grading, "_WRITTEN", 2)
    spec = spec_of(checkpoints["qwen2_vl"])
    grade(spec)
    expected = Path("grades.parquet").read_bytes(), FILE.read_bytes()
    shutil.rmtree("judgements")
    Path("grades.parquet").unlink()
    asked.clear()
    add = AnswerFile.add

    def killed(self: AnswerFile, *args: Any) -> None:
        if len(self.by_key) == 4:
            raise KeyboardInterrupt
        add(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(AnswerFile, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            grade(spec)
    assert not Path("grades.parquet").exists()
    assert len(FILE.read_text().splitlines()) == 4
    asked.clear()
    grade(spec)
    assert len(asked) == 9 - 4
    assert (Path("grades.parquet").read_bytes(), FILE.read_bytes()) == expected
    asked.clear()
    grade(spec)
    assert not asked


def test_a_torn_last_line_is_asked_again(folder, checkpoints, asked):
    spec = spec_of(checkpoints["qwen2_vl"])
    grade(spec)
    content = FILE.read_bytes()
    FILE.write_bytes(content[:-20])
    asked.clear()
    grade(spec)
    assert len(asked) == 1
    assert FILE.read_bytes() == content


def test_a_full_disk_leaves_the_answers_as_they_were(folder, checkpoints, monkeypatch):
    monkeypatch.setattr(grading, "_WRITTEN", 4)
    spec = spec_of(checkpoints["qwen2_vl"])
    write, calls = answered.os.pwrite, []

    def full(descriptor: int, content: bytes, at: int) -> int:
        calls.append(at)
        return write(descriptor, content if len(calls) < 2 else content[:9], at)

    monkeypatch.setattr(answered.os, "pwrite", full)
    with pytest.raises(DiskFull, match=r"tiny\.jsonl"):
        grade(spec)
    lines = FILE.read_bytes()
    assert lines.count(b"\n") == 4
    assert lines.endswith(b"\n")


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": PROMPT + " "},
        {"answer": "Grade: "},
        {"pixels": 1024},
        {"precision": "bfloat16"},
    ],
)
def test_another_prompt_or_reading_asks_every_pair_anew(folder, checkpoints, asked, change):
    grade(spec_of(checkpoints["qwen2_vl"]))
    asked.clear()
    grade(spec_of(checkpoints["qwen2_vl"], **change))
    assert len(asked) == 9
    asked.clear()
    grade(spec_of(checkpoints["qwen2_vl"]))
    assert not asked, "the first answers are kept"


def test_other_weights_and_another_scale_ask_anew_and_another_folder_does_not(
    folder, checkpoints, asked
):
    grade(spec_of(checkpoints["qwen2_vl"]))
    asked.clear()
    shutil.copytree(checkpoints["qwen2_vl"], "elsewhere")
    grade(spec_of("elsewhere"))
    assert not asked
    grade(spec_of(checkpoints["qwen2_vl"]), {**SCALE, 2: "certainly"})
    assert len(asked) == 9
    asked.clear()
    grade(spec_of(save_vlm(folder / "other", seed=1)))
    assert len(asked) == 9


def test_an_item_that_has_changed_asks_only_its_own_pairs_anew(folder, checkpoints, asked):
    spec = spec_of(checkpoints["qwen2_vl"])
    grade(spec)
    texts = pl.read_parquet("texts.parquet")
    changed = pl.col("context_section_description").str.replace("Wasps build", "Wasps steal")
    store.write(texts.with_columns(changed).to_arrow(), "texts.parquet", TEXTS)
    asked.clear()
    grade(spec)
    assert len(asked) == 4
    images = pl.read_parquet("images.parquet")
    content = pl.col("sha256").replace("sha-amber", "sha-other")
    store.write(images.with_columns(content).to_arrow(), "images.parquet", IMAGES)
    asked.clear()
    grade(spec)
    assert len(asked) == 3


def test_a_message_shows_what_a_person_sees_and_no_ranks_or_systems(folder):
    crawled = frozenset({"amber", "blue"})
    texts = read_items(Path("texts.parquet"), "texts", ["t0"], crawled)
    images = read_items(Path("images.parquet"), "images", ["amber", "crimson"], crawled)
    shown = message(PROMPT, SCALE, texts["t0"], images["amber"], 4000)
    before, picture, after = shown.parts
    assert before == (
        "0: no\n1: so so\n2: yes\nQuery: Page: Bees\nSection: Nests\n"
        "Text of the section: Bees build nests.\nCandidate: "
    )
    assert picture == MessagePicture("amber", "sha-amber")
    assert after == "\nCaption: a picture of amber\nGrade:"
    blind = message(PROMPT, SCALE, texts["t0"], images["crimson"], 4000)
    assert len(blind.parts) == 1
    assert "(no picture)\nCaption: a picture of crimson" in str(blind.parts[0])
    cut = message(PROMPT, SCALE, texts["t0"], images["crimson"], 12)
    assert "Query: Page: Bees\nS …\n" in str(cut.parts[0])


def test_a_picture_is_made_smaller_in_proportion_and_never_larger():
    large = within(Image.new("RGB", (4000, 1000)), 10_000)
    assert large.size == (200, 50)
    assert within(Image.new("RGB", (30, 20)), 10_000).size == (30, 20)


def test_a_vlm_without_a_token_for_a_grade_is_named(folder):
    spec = spec_of(save_vlm(folder / "deaf", digits="01"))
    with pytest.raises(UnknownModel, match="no single token for the grade 2"):
        grade(spec)
    assert not FILE.exists()


def test_a_model_that_does_not_chat_about_pictures_is_named(folder):
    sizes: dict[str, Any] = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 1}
    model: Any = CLIPModel(CLIPConfig(text_config=sizes, vision_config=sizes, projection_dim=8))
    model.save_pretrained(folder / "clip")
    with pytest.raises((UnknownModel, FetchFailed), match="clip"):
        grade(spec_of(folder / "clip"))


def test_weights_that_are_missing_or_pickled_or_elsewhere_are_named(folder, checkpoints):
    part = Path(shutil.copytree(checkpoints["qwen2_vl"], "part"))
    weights = load_file(part / "model.safetensors")
    some = {k: v for k, v in weights.items() if "layers.1." not in k}
    save_file(some, part / "model.safetensors", {"format": "pt"})
    with pytest.raises(CorruptFile, match="weights missing"):
        grade(spec_of(part))
    (part / "model.safetensors").unlink()
    torch.save(weights, part / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        grade(spec_of(part))
    with pytest.raises(FetchFailed, match="nowhere"):
        grade(spec_of(folder / "nowhere"))


def test_a_pool_without_a_pair_and_an_item_that_is_gone_are_named(folder, checkpoints):
    spec = spec_of(checkpoints["qwen2_vl"])
    pool = pl.read_parquet("pool.parquet")
    store.write(pool.clear().to_arrow(), "pool.parquet", POOL)
    with pytest.raises(EmptyTable, match="no pair"):
        grade(spec)
    gone = pool.with_columns(doc_id=pl.col("doc_id").replace("blue", "gone"))
    store.write(gone.to_arrow(), "pool.parquet", POOL)
    with pytest.raises(IntegrityError, match="gone"):
        grade(spec)


def test_a_line_that_is_no_answer_is_named_by_its_number(folder, checkpoints):
    spec = spec_of(checkpoints["qwen2_vl"])
    grade(spec)
    lines = FILE.read_text().splitlines()
    FILE.write_text("\n".join([lines[0], '{"grade": 3}', *lines[1:]]) + "\n")
    with pytest.raises(CorruptFile, match=r"tiny\.jsonl:2: no answer"):
        grade(spec)


def test_answers_of_two_commits_of_a_model_are_not_mixed(folder, checkpoints):
    spec, pool = spec_of(checkpoints["qwen2_vl"]), pl.read_parquet("pool.parquet")
    store.write(pool.head(2).to_arrow(), "pool.parquet", POOL)
    grade(spec)
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    earlier = "".join(json.dumps(line | {"commit": "0" * 40}) + "\n" for line in lines)
    FILE.write_text(earlier)
    assert grade(spec).height == 2, "where nothing is asked, the model is not even loaded"
    store.write(pool.to_arrow(), "pool.parquet", POOL)
    with pytest.raises(IntegrityError, match="answers by commit 000"):
        grade(spec)
    assert FILE.read_text() == earlier


def test_the_first_queries_by_chance_are_a_random_sample_and_the_same_for_all():
    ids = [f"q{n:03d}" for n in range(400)]
    pool = pl.DataFrame({"task": "t2m", "query_id": ids, "doc_id": "d"})
    ann, bob = ([q.query_id for q in shuffled(pool, a, by_chance=True)] for a in ("ann", "bob"))
    assert ann == bob
    assert ann != ids == sorted(ann)
    places = np.array([ids.index(name) for name in ann[:100]])
    # The mean of 100 of 400 places is 199.5 with a standard error of 10.
    assert abs(places.mean() - 199.5) < 35


def test_the_default_prompt_names_the_meaning_of_every_grade():
    scale, item = Judge.defaults()["scale"], Item({"Page": "Bees"}, None)
    shown = "".join(str(part) for part in message(DEFAULT, scale, item, item, 99).parts)
    assert all(f"{grade}: {meaning}" in shown for grade, meaning in scale.items())
    assert shown.count("Page: Bees") == 2
