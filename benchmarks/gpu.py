"""What isotope computes on a GPU takes, beside what torch takes for it, and processors.

    python benchmarks/gpu.py [MILLIONS] [QUERIES] [ITEMS] [PART ...]  (default 11 50000 4096, all)

Models have their published architectures and random weights. `encode`: ViT-B-32 and ViT-L-14
beside the same model whole in bf16, and on this machine's processors; `sentence`: MiniLM likewise.
`train`: a step on 1,024 pairs in micro-batches of 128 (params/atomic-finetune.yaml) and whole,
beside torch's. `decode`: a language model of 1.5 billion weights, as judges and rerankers have
them. `search`: QUERIES among MILLIONS of half-precision vectors in files, 1,000 hits each, beside
FAISS on the processors (a tenth of either; the same bits) and torch's half-precision products on
vectors that the card holds already. `ceilings`: what the card's products and copies reach.

Points go to benchmarks/results/gpu_points.csv, where each part replaces its own; gpu.md shows all,
and the rates of `isotope estimate` follow (isotope_estimate/estimate.csv). A machine
without a GPU shows the points that there are.
"""

import copy
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import ELSEWHERE, write
from gpu_points import CLIPS, DIM, MICRO_BATCH, TOWERS, Point, rates, read, report, saved
from PIL import Image
from rates import keep

from isotope.core.resources import PACKAGE

ROUNDS, BATCH, DEPTH, MEMORY_MB, FEW = 3, 512, 1_000, 8_192, 8_192
PAIRS, MILLION, SHARDS = 1_024, 1_000_000, 4
SENTENCE, WORDS, CONTEXT, MESSAGE = "MiniLM", 180, 256, 1_000


def clock(work: Callable[[], Any], times: int = ROUNDS) -> float:
    """Return the median seconds of some work on the card, after a first that is not counted."""
    import torch  # noqa: PLC0415

    found = list[float]()
    for _ in range(1 + times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return statistics.median(found[1:])


def ceilings() -> Iterator[Point]:
    """Yield the seconds of products and copies; items are operations and bytes."""
    import torch  # noqa: PLC0415

    n, size = 8_192, 1 << 30
    for kind in (torch.bfloat16, torch.float32):
        a, b = (torch.randn(n, n, device="cuda", dtype=kind) for _ in range(2))
        name = f"product of {str(kind).removeprefix('torch.')}, operations"
        yield Point("ceilings", name, clock(lambda a=a, b=b: a @ b, 5), 2 * n**3, "torch")
    block = torch.empty(size, dtype=torch.uint8, device="cuda")
    yield Point("ceilings", "copy on the card, bytes", clock(block.clone), 2 * size, "torch")
    here = torch.from_numpy(np.ones(size, np.uint8))
    yield Point("ceilings", "copy to the card, bytes", clock(here.cuda), size, "torch")


def sentences(count: int) -> list[str]:
    """Return texts of as many words as a section of AToMiC has."""
    words = [word for word in json.loads(pieces().read_text("utf-8")) if word.isalpha()][100:]
    draw = np.random.default_rng(0).integers(0, len(words), (count, WORDS))
    return [" ".join(words[n] for n in row) for row in draw]


def pieces() -> Path:
    """Return the file of the vocabulary of BERT."""
    return PACKAGE / "core/wordpieces.json"


def noise(count: int) -> list[Image.Image]:
    """Return pictures of 300 px."""
    draw = np.random.default_rng(0)
    coarse = draw.integers(0, 255, (count, 12, 12, 3), dtype=np.uint8)
    return [Image.fromarray(block).resize((300, 300)) for block in coarse]


def encode(items: int) -> Iterator[Point]:
    """Yield what texts and pictures take by CLIPs, as tensors and from what isotope reads."""
    for name in CLIPS:
        yield from encode_clip(name, items)


def encode_clip(name: str, items: int) -> Iterator[Point]:
    """Yield those of a CLIP: isotope's on the card, those of the model whole in bf16, the CPUs'."""
    import open_clip  # noqa: PLC0415
    import torch  # noqa: PLC0415

    from isotope.models.open_clip import ClipEncoder  # noqa: PLC0415

    torch.manual_seed(0)
    model: Any = open_clip.create_model(name, pretrained=None)
    there: Any = ClipEncoder(name, copy.deepcopy(model))
    words, shown = sentences(items), noise(min(items, BATCH))
    ready = torch.stack([there._preprocess(picture) for picture in shown])
    tensors = {
        "texts": there._tokenize(words),
        "pictures": ready.repeat(-(-items // len(ready)), 1, 1, 1)[:items],
    }
    for side, took in by_encoder(there, tensors).items():
        yield Point("encode", f"{name}, {side}", took, items)
    whole = copy.deepcopy(model).eval().to("cuda", torch.bfloat16)
    for side, took in by_torch(whole, tensors).items():
        yield Point("encode", f"{name}, {side}", took, items, "torch, whole in bf16")
    some = words[:BATCH]
    took = clock(lambda: there.encode_texts(some), 1)
    yield Point("encode", f"{name}, texts from strings", took, len(some))
    took = clock(lambda: there.encode_images(shown), 1)
    yield Point("encode", f"{name}, pictures from Pillow", took, len(shown))
    few = {side: block[:32] for side, block in tensors.items()}
    for side, took in by_encoder(ClipEncoder(name, model, "cpu"), few).items():
        yield Point("encode", f"{name}, {side}", took, 32, f"{os.cpu_count()} CPUs")


def by_encoder(encoder: Any, tensors: Mapping[str, Any]) -> dict[str, float]:  # noqa: ANN401
    """Return the seconds of isotope's encoder over what is ready."""
    return {
        side: clock(
            lambda s=side, b=block: [
                encoder._run(getattr(encoder._model, TOWERS[s]), part) for part in b.split(BATCH)
            ]
        )
        for side, block in tensors.items()
    }


def by_torch(whole: Any, tensors: Mapping[str, Any]) -> dict[str, float]:  # noqa: ANN401
    """Return those of a model whose weights are bf16, without isotope."""
    import torch  # noqa: PLC0415

    def run(side: str) -> None:
        with torch.inference_mode():
            for block in tensors[side].split(BATCH):
                inputs = block.cuda()
                inputs = inputs.bfloat16() if inputs.is_floating_point() else inputs
                getattr(whole, TOWERS[side])(inputs, normalize=True).float().cpu()

    return {side: clock(lambda s=side: run(s)) for side in tensors}


def save_sentence(place: Path) -> None:
    """Save all-MiniLM-L6-v2's architecture with random weights and BERT's vocabulary."""
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: PLC0415

    vocabulary = {word: n for n, word in enumerate(json.loads(pieces().read_text("utf-8")))}
    made: Any = BertWordPieceTokenizer(vocabulary)
    marks: dict[str, Any] = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]"}
    PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer, model_max_length=CONTEXT, sep_token="[SEP]", **marks
    ).save_pretrained(place)
    sizes: dict[str, Any] = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    config = BertConfig(vocab_size=len(vocabulary), num_attention_heads=12, **sizes)
    BertModel(config, add_pooling_layer=False).save_pretrained(place)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    listed = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(kinds.items())
    ]
    (place / "modules.json").write_text(json.dumps(listed))
    (place / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    (place / "1_Pooling/config.json").write_text(json.dumps(pooling))


def sentence(items: int) -> Iterator[Point]:
    """Yield what texts take by MiniLM's architecture, from strings."""
    with tempfile.TemporaryDirectory() as place:
        yield from encode_sentences(Path(place), items)


def encode_sentences(place: Path, items: int) -> Iterator[Point]:
    """Yield those of a checkpoint in a folder."""
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    from isotope.models.sentence import SentenceEncoder  # noqa: PLC0415

    save_sentence(place)
    words, name = sentences(items), f"{SENTENCE}, texts from strings"
    there = SentenceEncoder(str(place))
    blocks = [words[i : i + BATCH] for i in range(0, items, BATCH)]
    took = clock(lambda: [there.encode_texts(block) for block in blocks], 1)
    yield Point("sentence", name, took, items)
    library = SentenceTransformer(str(place), device="cuda", model_kwargs={"dtype": torch.bfloat16})
    took = clock(lambda: library.encode(words, batch_size=BATCH, convert_to_tensor=True), 1)
    yield Point("sentence", name, took, items, "sentence-transformers, whole in bf16")
    here, few = SentenceEncoder(str(place), device="cpu"), words[:128]
    took = clock(lambda: here.encode_texts(few), 1)
    yield Point("sentence", name, took, len(few), f"{os.cpu_count()} CPUs")


def train(_: int) -> Iterator[Point]:
    """Yield what a pair takes to learn from, in micro-batches and in one graph."""
    import open_clip  # noqa: PLC0415
    import torch  # noqa: PLC0415

    from isotope.models.kinds._training import Resources  # noqa: PLC0415
    from isotope.models.kinds.trained import Train  # noqa: PLC0415
    from isotope.train.clip import ClipStepper  # noqa: PLC0415
    from isotope.train.loop import deterministic  # noqa: PLC0415
    from isotope.train.step import Ranks  # noqa: PLC0415

    recipe = Train(batch=PAIRS, learning_rate=1e-5)
    tokens = torch.randint(1, 40_000, (PAIRS, 77))
    tokens[:, -1] = 49_407
    batch = torch.rand(PAIRS, 3, 224, 224), tokens
    for name, micro_batch in (*((name, MICRO_BATCH) for name in CLIPS), ("ViT-B-32", PAIRS)):
        with deterministic(0, os.cpu_count() or 1):
            model = open_clip.create_model(name, pretrained=None)
            stepper = ClipStepper(model, recipe, Resources(micro_batch=micro_batch), Ranks(), 99)
            took = clock(lambda s=stepper: s.step(batch), 2)
        yield Point("train", f"{name}, {learned(micro_batch)}", took, PAIRS)
        del model, stepper
        torch.cuda.empty_cache()
    model = open_clip.create_model("ViT-B-32", pretrained=None).cuda()
    took = clock(lambda: plain_step(model, batch), 2)
    yield Point("train", f"ViT-B-32, {learned(PAIRS)}", took, PAIRS, "torch, in one graph")


def learned(micro_batch: int) -> str:
    """Return what is counted of a training in micro-batches of so many pairs."""
    return f"pairs learned from, {micro_batch:,} at a time"


def plain_step(model: Any, batch: Any) -> None:  # noqa: ANN401
    """Learn from a batch as open_clip's own loss has it, in one graph."""
    import torch  # noqa: PLC0415
    from open_clip.loss import ClipLoss  # noqa: PLC0415

    known = getattr(model, "steps_by", None)
    optimizer = known or torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    model.steps_by = optimizer
    pictures, tokens = (side.cuda() for side in batch)
    with torch.autocast("cuda", torch.bfloat16):
        sides = (
            model.encode_image(pictures, normalize=True),
            model.encode_text(tokens, normalize=True),
        )
        loss = ClipLoss()(*sides, model.logit_scale.exp())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def decode(_: int) -> Iterator[Point]:
    """Yield what a message takes in a decoder: one alone in bf16 (a judge), pairs in autocast."""
    import torch  # noqa: PLC0415
    from transformers import AutoModel, Qwen2Config  # noqa: PLC0415

    sizes: dict[str, Any] = {"hidden_size": 1536, "intermediate_size": 8960, "vocab_size": 151_936}
    config = Qwen2Config(
        num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2, **sizes
    )
    with torch.device("cuda"):
        model: Any = AutoModel.from_config(config, dtype=torch.float32).eval()
        alone, pairs = (
            torch.ones(1, MESSAGE, dtype=torch.long),
            torch.ones(8, 1_024, dtype=torch.long),
        )

    def of(ids: Any) -> None:  # noqa: ANN401
        with torch.inference_mode():
            model(input_ids=ids, use_cache=False)

    with torch.autocast("cuda", torch.bfloat16):
        yield Point("decode", "tokens of pairs to rerank", clock(lambda: of(pairs)), pairs.numel())
    model.bfloat16()
    yield Point("decode", "tokens of messages to judge", clock(lambda: of(alone)), alone.numel())


def made(folder: Path, rows: int) -> list[Path]:
    """Write half-precision shards of random unit vectors, drawn on the card."""
    import torch  # noqa: PLC0415

    paths = [folder / f"shard-{n}.npy" for n in range(SHARDS)]
    for path in paths:
        size = rows // SHARDS
        head = {"descr": "<f2", "fortran_order": False, "shape": (size, DIM)}
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, head)
            for start in range(0, size, MILLION):
                block = torch.randn(min(MILLION, size - start), DIM, device="cuda")
                half = torch.nn.functional.normalize(block, dim=1).half()
                half.cpu().numpy().tofile(file)
    return paths


def search(rows: int, queries: int) -> Iterator[Point]:
    """Yield what exact search takes; items are pairs of a query and a document."""
    import torch  # noqa: PLC0415

    from isotope.core.exact import VectorShards, top_k  # noqa: PLC0415

    asked = torch.nn.functional.normalize(torch.randn(queries, DIM), dim=1).numpy()
    with tempfile.TemporaryDirectory() as place:
        for size, many in ((rows // 10, queries // 10), (rows, queries)):
            paths = made(Path(place), size)
            shards, every = VectorShards(paths), np.arange(size // SHARDS * SHARDS)
            answers = {}
            for device in ("cuda", "cpu") if size < rows else ("cuda",):
                start = time.perf_counter()
                found = top_k(asked[:many], shards, every, DEPTH, MEMORY_MB, device=device)
                took = time.perf_counter() - start
                answers[device] = found[0].tobytes(), found[1].tobytes()
                of = "isotope" if device == "cuda" else f"isotope (FAISS), {os.cpu_count()} CPUs"
                yield Point("search", f"{size:,} vectors", took, many * size, of)
            assert len({*answers.values()}) == 1, "a GPU finds the same bits"
        took = in_half(paths, asked[:FEW])
        yield Point(
            "search", f"{rows:,} vectors", took, len(asked[:FEW]) * rows, "torch, half precision"
        )


def in_half(paths: Sequence[Path], asked: Any) -> float:  # noqa: ANN401
    """Return the seconds of torch's own products and top k over vectors that the card holds."""
    import torch  # noqa: PLC0415

    stored = [torch.from_numpy(np.load(path)).cuda() for path in paths]

    def find() -> None:
        for some in torch.from_numpy(asked).split(512):
            there, best = some.cuda().half(), list[Any]()
            for shard in stored:
                for block in shard.split(MILLION):
                    best.append(
                        torch.topk(there @ block.T, min(DEPTH, len(block)), sorted=False)[0]
                    )
            torch.topk(torch.cat(best, dim=1), DEPTH)[0].cpu()

    return clock(find, 1)


def parts(million: float, queries: int, items: int) -> dict[str, Callable[[], Iterator[Point]]]:
    """Return what each part measures."""
    rows = int(million * MILLION)
    return {
        "ceilings": ceilings,
        "encode": lambda: encode(items),
        "sentence": lambda: sentence(items),
        "train": lambda: train(items),
        "decode": lambda: decode(items),
        "search": lambda: search(rows, queries),
    }


def main(numbers: Sequence[float] = (), some: Sequence[str] = ()) -> None:
    """Measure the parts on this machine's GPU, and report all points."""
    import torch  # noqa: PLC0415

    sizes = [*numbers, *(11, 50_000, 4_096)[len(numbers) :]]
    every = parts(sizes[0], int(sizes[1]), int(sizes[2]))
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU; the points are earlier ones")
        every = {}
    for name, measure in every.items():
        if not some or name in some:
            points = list[Point]()
            for point in measure():
                points.append(point)
                print(f"{point}", file=sys.stderr, flush=True)
                saved(name, points)
    rows = read()
    if rows:
        write("gpu", report(rows))
    if rows and not ELSEWHERE:
        keep(rates(rows))


if __name__ == "__main__":
    given = sys.argv[1:]
    main([float(word) for word in given[:3]], given[3:])
