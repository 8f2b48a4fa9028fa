"""img2dataset as a program: its command line, its progress, its failure."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.errors import ToolFailed
from isotope.progress import Progress

# Pillow's own limit for a picture that may be a decompression bomb, doubled as Pillow does.
IMAGE_LIMIT_PIXELS = 178_956_970
_PER_FILE = 500
_POLL_S = 0.2
_WEBP_QUALITY = "100"


def command(listed: Path, folder: Path, spec: Mapping[str, Any]) -> list[str]:
    """Return img2dataset's command line: original size, WebP, Parquet, no telemetry."""
    options = {
        "url_list": str(listed),
        "output_folder": str(folder),
        "input_format": "parquet",
        "save_additional_columns": "[image_id,image_url]",
        "output_format": "parquet",
        "resize_mode": "no",
        "encode_format": "webp",
        "encode_quality": _WEBP_QUALITY,
        "max_image_area": str(IMAGE_LIMIT_PIXELS),
        "extract_exif": "False",
        "compute_hash": "sha256",
        "processes_count": "1",
        "thread_count": str(spec["threads"]),
        "timeout": str(spec["timeout_s"]),
        "user_agent_token": spec["user_agent"],
        "number_sample_per_shard": str(_PER_FILE),
        "enable_wandb": "False",
    }
    program = "from img2dataset import download; import fire; fire.Fire(download)"
    return [sys.executable, "-c", program, *(f"--{k}={v}" for k, v in options.items())]


def img2dataset(line: Sequence[str], folder: Path, total: int) -> None:
    """Run img2dataset, reporting finished files of images as it goes.

    Raises:
        ToolFailed: a non-zero exit; what was downloaded stays for the next run.
    """
    journal = folder.with_suffix(".log")
    progress = Progress("images", total)
    environment = {**os.environ, "NO_ALBUMENTATIONS_UPDATE": "1"}
    with journal.open("wb") as sink:
        child = subprocess.Popen(line, stdout=sink, stderr=subprocess.STDOUT, env=environment)
        try:
            while child.poll() is None:
                time.sleep(_POLL_S)
                done = min(len(list(folder.glob("*_stats.json"))) * _PER_FILE, total)
                progress.add(done - progress.done)
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()
    if child.returncode:
        tail = journal.read_text(errors="replace").strip().splitlines()[-1:]
        raise ToolFailed("img2dataset", f"exit status {child.returncode}: {tail}", f"see {journal}")
    progress.add(total - progress.done)
    progress.finish()
