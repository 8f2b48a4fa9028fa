"""Karpathy's dataset_*.json: images with captions and splits.

Format: the files of "Deep Visual-Semantic Alignments" (Karpathy and Fei-Fei, 2015) for COCO,
Flickr8k and Flickr30k.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.intake.texts import head
from isotope.parse.forms import lists
from isotope.parse.forms.base import Form, Rejection, refuse
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.texts import files_of, named, suffix

_SENTENCES = pa.schema(
    [
        *(("imgid", pa.string()), ("cocoid", pa.string()), ("image", pa.string())),
        *(("filepath", pa.string()), ("filename", pa.string())),
        *(("sentid", pa.string()), ("raw", pa.string())),
        *(("split", pa.string()), ("source_split", pa.string())),
    ]
)


class Karpathy(Form):
    """One list of images, each with its sentences and its split; pictures lie apart."""

    name = "karpathy"
    roles: ClassVar[Mapping[str, str]] = {
        **{"image": "image", "image_id": "imgid", "text": "raw"},
        **{"text_id": "sentid", "split": "split"},
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the first image of a record of JSON, which has sentences."""
        files = files_of(paths)
        return bool(files) and all(
            suffix(path) == ".json" and _has_sentences(path) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each sentence, and one for an image without any.

        `image` is `filepath/filename`, or `filename` where there is no path, as for Flickr.
        `split` has `restval` as train, as papers do since VSE++; `source_split` has it as it is.

        Raises:
            CorruptFile: a file that is no JSON record, or not all of it.
        """
        rows = (row for file in named(files_of(paths)) for row in _sentences(*file, rejected))
        yield from batches(rows, _SENTENCES)


def _has_sentences(path: Path) -> bool:
    begin = head(path).decode("utf-8", "replace").lstrip("\ufeff")
    return "images" in lists.keys(begin) and any(f'"{name}"' in begin for name in lists.SENTENCES)


def _sentences(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    for _, row, image in lists.records((path, name), rejected, "images"):
        if not isinstance(image, dict) or not isinstance(image.get("filename"), str):
            refuse(rejected, (name, row), "an image without filename", str(image))
            continue
        fields, sentences = _karpathy_image(image), image.get("sentences") or [{}]
        if not isinstance(sentences, list):
            refuse(rejected, (name, row), "sentences that are no list", str(image))
            continue
        for sentence in cast(list[object], sentences):
            if isinstance(sentence, dict):
                yield name, row, fields | _sentence(cast(dict[str, object], sentence))
            else:
                refuse(rejected, (name, row), "a sentence that is no record", str(sentence))


def _karpathy_image(image: Mapping[str, Any]) -> dict[str, object]:
    split, below = image.get("split"), image.get("filepath")
    return {
        **{key: image.get(key) for key in ("imgid", "cocoid", "filepath", "filename")},
        "image": f"{below}/{image['filename']}" if below else image["filename"],
        "split": "train" if split == "restval" else split,
        "source_split": split,
    }


def _sentence(sentence: Mapping[str, Any]) -> dict[str, object]:
    return {"sentid": sentence.get("sentid"), "raw": sentence.get("raw")}
