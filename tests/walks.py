"""The files that a value passes through, as jobs of the demo run on it.

The functions of jobs are called in this process, as their rules call them, and every call within
the library is looked at. A file is on the walk if a function of it gets the value as an argument,
alone or within another one, or gets bytes, pixels or numbers from a function that does; a query is,
if it is read on the way. What another process does is not seen.

`python tests/walks.py PROJECT [TITLE ...]` prints walks of a project in which the demo has run;
with `PYTHONPATH=PROJECT/workflow/lib` those of an earlier one.
"""

import inspect
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import torch
from PIL import Image
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)
from yarl import URL

import isotope
from isotope.plan import call

LIBRARY = f"{Path(isotope.__file__).parent}/"
# What a text, or a picture, becomes.
_MADE = (bytes, bytearray, memoryview, np.ndarray, torch.Tensor, Image.Image)
_LONGEST, _MOST, _DEEPEST = 20_000, 4_000, 3
_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# It stands for servers, and is no part of the way from a real one.
_STAND_IN = "crawl/serve.py"
_COLLECTION = {"source": "toy", "collection": "toy", "model": "tiny-clip", "system": "bm25"}


class Walk(NamedTuple):
    """The rules whose jobs a value goes through, and which exhibit it ends in, if in one."""

    rules: Sequence[str]
    exhibit: str = ""


WALKS = {
    "A picture's URL to its vector": Walk(
        ("crawl_urls", "crawl_shard", "crawl_ledger", "encode_shard")
    ),
    "A row of WIT to its judgement": Walk(("parse_wit", "project_source", "collect_tables")),
    "A hit to its cell of Table 3": Walk(
        ("search_bm25", "score_runs", "tabulate_tables_toy"), "table3"
    ),
    "A section to its suggestion": Walk(
        ("suggest_pictures", "suggest_sections", "suggest_candidates", "suggest_feed")
    ),
}


class Watch:
    """The files and queries that a value, known by any of its marks, has been seen in."""

    def __init__(self, marks: Iterable[str]) -> None:
        """Watch for texts that contain a mark."""
        self.marks = [*marks]
        self.files, self.queries = dict[str, None](), dict[str, None]()
        self._frames = set[int]()
        self._is_on = False
        sys.addaudithook(self._opened)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what runs meanwhile, in all threads."""
        self._is_on = True
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # pyright: ignore[reportArgumentType]
            self._is_on = False

    def _opened(self, event: str, args: tuple[Any, ...]) -> None:
        if self._is_on and event == "open" and str(args[0]).endswith(".sql"):
            self.queries[str(args[0]).partition("/sql/")[2]] = None

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "return" and not frame.f_code.co_flags & _PAUSES:
            # Its number may be that of a later call; what pauses also returns so.
            self._frames.discard(id(frame))
        if event != "call" or not file.startswith(LIBRARY):
            return
        count = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
        names = [n for n in frame.f_code.co_varnames[:count] if n not in ("self", "cls")]
        values = [frame.f_locals.get(name) for name in names]
        if any(map(self._has, values)) or (self._is_from_one(frame) and any(map(_is_made, values))):
            self._frames.add(id(frame))
            self.files[file.removeprefix(LIBRARY)] = None

    def _is_from_one(self, frame: FrameType) -> bool:
        """Tell whether the nearest caller within the library has the value."""
        before = frame.f_back
        while before and not before.f_code.co_filename.startswith(LIBRARY):
            before = before.f_back
        return before is not None and id(before) in self._frames

    def _has(self, value: Any, depth: int = _DEEPEST) -> bool:  # noqa: PLR0911
        if isinstance(value, bytes):
            return len(value) < _LONGEST and any(m.encode() in value for m in self.marks)
        if isinstance(value, str | URL):
            text = str(value)
            return len(text) < _LONGEST and any(mark in text for mark in self.marks)
        if depth == 0:
            return False
        if isinstance(value, Mapping):
            parts = [*value, *value.values()] if len(value) <= _MOST else []
            return any(self._has(part, depth - 1) for part in parts)
        if isinstance(value, list | tuple | set | frozenset):
            return len(value) <= _MOST and any(self._has(part, depth - 1) for part in value)
        if isinstance(value, pl.DataFrame):
            value = value.to_arrow()
        if isinstance(value, pa.Table | pa.RecordBatch):
            texts = (c for c in value.columns if "string" in str(c.type))
            return any(self._has(column.to_pylist(), 2) for column in texts)
        if type(value).__module__.startswith("isotope."):
            slots = (s for of in type(value).__mro__ for s in getattr(of, "__slots__", ()))
            parts = [*getattr(value, "__dict__", {}).values()]
            parts += [getattr(value, slot, None) for slot in slots]
            return any(self._has(part, depth - 1) for part in parts)
        return False


def _is_made(value: object) -> bool:
    first = next(iter(value), None) if isinstance(value, list | tuple) else value
    return isinstance(first, _MADE)


def walked(place: Path, title: str) -> list[str]:
    """Return the files of a walk in a project in which the demo has run, in the order of the walk.

    Its jobs are run again; their outputs are what they were.
    """
    walk = WALKS[title]
    with chdir(place):
        watch = Watch(marks(title))
        for job in jobs(place, walk.rules):
            for path in map(Path, job.output):
                if path.is_file():
                    path.unlink()
            with watch.on():
                call.run(job)
    shown = (q for q in watch.queries if not q.startswith("tabulate/") or walk.exhibit in q)
    return [*(file for file in watch.files if file != _STAND_IN), *shown]


def jobs(place: Path, rules: Sequence[str]) -> list[SimpleNamespace]:
    """Return the jobs of some rules on the demo's own collection, in the order of the rules."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        loaded = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(configfiles=[place / "params.yaml"]),
            snakefile=place / "Snakefile",
            workdir=place,
        )
        settings = DAGSettings(targets={"all"}, forceall=True)
        loaded.dag(settings).execute_workflow(executor="local", pseudo_executor="dryrun")
        workflow: Any = loaded._workflow
        own = [job for job in workflow.dag.jobs if job.rule.name in rules and _is_of_demo(job)]
        return [
            SimpleNamespace(
                input=job.input,
                output=job.output,
                params=job.params,
                wildcards=job.wildcards,
                threads=1,
                config=workflow.config,
            )
            for job in sorted(own, key=lambda job: rules.index(job.rule.name))
        ]


def _is_of_demo(job: Any) -> bool:
    values = dict(job.wildcards.items())
    known = all(_COLLECTION.get(name, value) == value for name, value in values.items())
    return known and values.get("shard", "00000") == "00000" and "earlier" not in values


def marks(title: str) -> list[str]:
    """Return what a value is known by, in the project's folder."""
    folder = Path("data/collect/toy")
    texts, images, qrels = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("texts", "images", "qrels")
    )
    if title.endswith("vector"):
        crawled = pl.read_parquet("data/crawl/toy/ledger-00000.parquet").filter(status="success")
        row = crawled.join(images, on="image_url").sort("image_url").row(0, named=True)
        return ["/".join(row["image_url"].split("/")[-3:]), row["image_id"]]
    if title.endswith("suggestion"):
        row = pl.read_parquet("results/suggest/toy/feed.parquet").row(0, named=True)
        return [row["text_id"], row["image_id"]]
    row = qrels.filter(split="test").join(texts, on="text_id").row(0, named=True)
    ids = [row["text_id"], row["image_id"]]
    return [*ids, row["page_title"]] if title.endswith("judgement") else ids


if __name__ == "__main__":
    for name in [name for name in WALKS if name in sys.argv[2:] or not sys.argv[2:]]:
        files = walked(Path(sys.argv[1]).resolve(), name)
        sys.stdout.write(f"{name}: {len(files)}\n  {' '.join(files)}\n")
