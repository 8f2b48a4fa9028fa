"""img2dataset's own downloader and WebP converter, run file by file so that a kill loses one file.

Its command line would start three processes, each importing for seconds, for every pass; a crawl
job is one core of a cluster, so the classes run here, in the job.
"""

import io
import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from isotope.progress import INTERRUPTED, Progress, log

# Pillow's own limit for a picture that may be a decompression bomb, doubled as Pillow does.
IMAGE_LIMIT_PIXELS = 178_956_970
PER_FILE = 200
_DIGITS = 5
_WEBP_QUALITY = 100
_COLUMNS = ["image_id", "image_url", "url"]
# img2dataset's defaults: owners who say so keep their pictures out of data sets.
_OPT_OUT = ["noai", "noimageai", "noindex", "noimageindex"]


def convert(listed: pl.DataFrame, folder: Path, spec: Mapping[str, Any]) -> None:
    """Download every `url` of `listed` (image_id, image_url, url) into Parquet files of 200.

    Files that an earlier call finished are left as they are.
    """
    progress = Progress("images", listed.height)
    download: Callable[[tuple[int, str]], None] | None = None
    for number, start in enumerate(range(0, listed.height, PER_FILE)):
        piece = listed.slice(start, PER_FILE)
        name = f"{number:0{_DIGITS}d}"
        if not (folder / f"{name}_stats.json").exists():
            download = download or downloader(folder, spec)
            urls = folder / f"{name}.urls.feather"
            piece.select(_COLUMNS).write_ipc(urls, compat_level=pl.CompatLevel.oldest())
            with leaving_at_once():
                download((number, urls.as_posix()))
        progress.add(piece.height)
    progress.finish()


def downloader(folder: Path, spec: Mapping[str, Any]) -> Callable[[tuple[int, str]], None]:
    """Return img2dataset's shard downloader: original size, WebP, no resizing, no telemetry."""
    resizer = _resizer()
    from img2dataset.downloader import Downloader  # noqa: PLC0415 (four seconds of imports)
    from img2dataset.writer import ParquetSampleWriter  # noqa: PLC0415

    return Downloader(
        sample_writer_class=ParquetSampleWriter,
        resizer=resizer,
        thread_count=spec["threads"],
        save_caption=False,
        extract_exif=False,
        output_folder=folder.as_posix(),
        column_list=_COLUMNS,
        timeout=spec["timeout_s"],
        number_sample_per_shard=PER_FILE,
        oom_shard_count=_DIGITS,
        compute_hash="sha256",
        verify_hash_type=None,
        encode_format="webp",
        retries=0,
        user_agent_token=spec["user_agent"],
        disallowed_header_directives=_OPT_OUT,
    ).download_shard


def webp_encoder() -> Callable[[bytes], tuple[bytes, int, int]]:
    """Return img2dataset's conversion of a picture's bytes to (WebP, width, height in pixels).

    It raises ValueError for bytes that are no picture or too many pixels.
    """
    resizer: list[Callable[..., tuple[Any, ...]]] = []

    def encode(data: bytes) -> tuple[bytes, int, int]:
        if not resizer:
            resizer.append(_resizer())
        webp, width, height, _, _, error = resizer[0](io.BytesIO(data))
        if error is not None:
            raise ValueError(error)
        return webp, width, height

    return encode


def _resizer() -> Callable[..., tuple[Any, ...]]:
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
    from img2dataset.resizer import Resizer  # noqa: PLC0415 (seconds of imports)

    return Resizer(
        image_size=0,
        resize_mode="no",
        resize_only_if_bigger=False,
        encode_quality=_WEBP_QUALITY,
        encode_format="webp",
        max_image_area=IMAGE_LIMIT_PIXELS,
    )


@contextmanager
def leaving_at_once() -> Generator[None, None, None]:
    """End the process on Ctrl-C; img2dataset's pool would wait for ever for its consumer.

    Only files in the scratch folder are unfinished meanwhile, and the next run makes them again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(*_: object) -> None:
    log.error("interrupted; run again to go on")
    os._exit(INTERRUPTED)
