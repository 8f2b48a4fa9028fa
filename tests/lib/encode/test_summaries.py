"""One summary in place of a picture's captions: from a table, or from a model of transformers."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from isotope.core import store
from isotope.core.errors import EmptyTable, FetchFailed, MissingColumn, MissingFile
from isotope.encode.metadata import write_summaries
from isotope.models import transformers
from isotope.params.summary import Summaries
from isotope.schemas.collect import IMAGES

WORDS = {"i1": ["A dog runs.", "One brown dog"], "i2": ["Two cats", "Cats asleep!"], "i3": []}


@pytest.fixture
def images(tmp_path) -> Path:
    rows = [
        {
            "image_id": i,
            "image_url": f"http://x/{i}.jpg",
            "language": ["en"] * len(said),
            "caption_reference_description": said,
            "caption_alt_text_description": [""] * len(said),
            "caption_attribution_description": [""] * len(said),
            "split": "test",
        }
        for i, said in WORDS.items()
    ]
    store.write_rows(rows, tmp_path / "images.parquet", IMAGES)
    return tmp_path / "images.parquet"


@pytest.fixture(autouse=True)
def _short(monkeypatch) -> None:
    monkeypatch.setattr(transformers, "TOKENS", 5)
    monkeypatch.setattr(transformers, "BEAMS", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A T5 of a few thousand random weights, with a tokenizer of whole words.

    The weights are so large that what it writes depends on what it reads.
    """
    place = str(tmp_path_factory.mktemp("t5"))
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<pad>", "</s>", "<unk>"]
    told = ["summarize : a dog runs . one brown two cats asleep !"]
    words.train_from_iterator(told, trainers.WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    config = T5Config(vocab_size=len(tokenizer), initializer_factor=30.0, **sizes)
    config.decoder_start_token_id = 0
    T5ForConditionalGeneration(config).save_pretrained(place, safe_serialization=True)
    return place


def said(path: Path) -> dict[str, list[str]]:
    table = pl.read_parquet(path)
    assert table.columns == IMAGES.names
    return dict(table.select("image_id", "caption_reference_description").iter_rows())


def test_a_ready_table_gives_one_caption_an_image(images, tmp_path):
    ready = tmp_path / "ready.csv"
    ready.write_text("image_url,summary\nhttp://x/i1.jpg,a dog\nhttp://x/other.jpg,nobody\n")
    spec = {"file": str(ready)}
    write_summaries(
        images=images,
        spec=Summaries.of_spec(spec),
        language="en",
        batch=2,
        summaries=tmp_path / "out.parquet",
    )
    assert said(tmp_path / "out.parquet") == {"i1": ["a dog"], "i2": [], "i3": []}


def test_a_model_summarises_each_images_captions_and_does_so_again(images, folder, tmp_path):
    spec = {"name": folder}
    for name in ("one", "again"):
        out = tmp_path / f"{name}.parquet"
        write_summaries(
            images=images, spec=Summaries.of_spec(spec), language="en", batch=1, summaries=out
        )
    found = said(tmp_path / "one.parquet")
    assert [len(found[i]) for i in WORDS] == [1, 1, 0]
    assert len(found["i1"][0].split()) <= 5
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "again.parquet").read_bytes()


def test_a_summary_is_of_all_captions_and_the_one_of_the_library_called_directly(
    images, folder, tmp_path
):
    """Section 3.2: "a shorter version of the corpus", as transformers itself writes it."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = T5ForConditionalGeneration.from_pretrained(folder)
    spec, out = {"name": folder}, tmp_path / "out.parquet"
    write_summaries(
        images=images, spec=Summaries.of_spec(spec), language="en", batch=1, summaries=out
    )

    def written(corpus: str) -> str:
        asked = tokenizer(f"summarize: {corpus}", return_tensors="pt")
        ids = model.generate(**asked, max_new_tokens=5, num_beams=2, do_sample=False)
        return tokenizer.decode(ids[0], skip_special_tokens=True)

    corpora = {"i1": "A dog runs. One brown dog.", "i2": "Two cats. Cats asleep!"}
    found = {image: told[0] for image, told in said(out).items() if image in corpora}
    assert found == {image: written(corpus) for image, corpus in corpora.items()}
    assert found["i1"] != written("A dog runs."), "another sentence is another summary"


def test_captions_in_another_language_are_not_summarised(images, folder, tmp_path):
    spec = {"name": folder}
    write_summaries(
        images=images,
        spec=Summaries.of_spec(spec),
        language="de",
        batch=8,
        summaries=tmp_path / "out.parquet",
    )
    assert set(map(len, said(tmp_path / "out.parquet").values())) == {0}


def test_a_table_that_is_none_is_refused(images, tmp_path):
    ready, out = tmp_path / "ready.csv", tmp_path / "out.parquet"

    def write():
        write_summaries(
            images=images, spec=Summaries(file=str(ready)), language="en", batch=2, summaries=out
        )

    with pytest.raises(MissingFile):
        write()
    ready.write_text("image_id,text\ni1,a dog\n")
    with pytest.raises(MissingColumn, match="and summary"):
        write()
    ready.write_text("image_id,summary\ni9,a dog\n")
    with pytest.raises(EmptyTable, match="no summary of an image"):
        write()
    assert not out.exists()


def test_a_model_that_is_not_there_is_named(images, tmp_path):
    spec, out = {"name": str(tmp_path / "none")}, tmp_path / "out.parquet"
    with pytest.raises(FetchFailed):
        write_summaries(
            images=images, spec=Summaries.of_spec(spec), language="en", batch=2, summaries=out
        )
