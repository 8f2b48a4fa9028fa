"""The files that a value passes through, as jobs of the demo run on it.

The functions of jobs are called in this process, as their rules call them, and every call within
the library is looked at. A file is on the walk if a function of it gets the value, by its name or
address, as an argument, alone or within another one (a column of ids alone is no row); or gets the
bytes, pixels or numbers that a function on the walk has made of it, as an argument, as what is
returned or yielded to it, or in a field of its object. A query is on the walk if it is read on the
way; its rows are not looked at.
What another process does is not seen.

`python tests/walks.py PROJECT [TITLE ...]` prints walks of a project in which the demo has run;
with `PYTHONPATH=PROJECT/workflow/lib` those of an earlier one.
"""

import inspect
import re
import shutil
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType, MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import torch
import yaml
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

# Beside the package isotope stand those of plug-ins.
LIBRARY = f"{Path(isotope.__file__).parents[1]}/"
# What a text, or a picture, becomes.
_MADE = (bytes, bytearray, memoryview, np.ndarray, torch.Tensor, Image.Image)
_LONGEST, _MOST, _DEEPEST = 20_000, 4_000, 5
_COLLECTS = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# It stands for servers, and is no part of the way from a real one.
_STAND_IN = "crawl/serve.py"
_COLLECTION = {"source": "toy", "collection": "toy", "model": "tiny-clip", "system": "bm25"}


# A value of `systems.bm25.k1` that nothing else has.
_K1 = 0.9137


class Walk(NamedTuple):
    """The rules whose jobs a value goes through, the exhibit that it ends in, params that have it.

    What is planned is `target`.
    """

    rules: Sequence[str]
    exhibit: str = ""
    target: str = "all"
    params: Mapping[str, Any] = MappingProxyType({})


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
    "A params key to its effect": Walk(
        ("search_bm25",),
        target="results/search/toy/small/test/t2m/bm25.parquet",
        params={"systems": {"bm25": {"k1": _K1}}},
    ),
}


class Watch:
    """The files and queries that a value, known by any of its marks, has been seen in."""

    def __init__(self, marks: Iterable[str | float], library: str = LIBRARY) -> None:
        """Watch for texts that match a mark, or a number, in a folder whose path ends in `/`."""
        self.files, self.queries = dict[str, None](), dict[str, None]()
        self._marks = [re.compile(mark) for mark in marks if isinstance(mark, str)]
        self._numbers = {mark for mark in marks if isinstance(mark, float)}
        self._library = library
        # What pauses is kept, so that no later call can have its number.
        self._holders = dict[int, FrameType | None]()
        self._known = dict[int, object]()
        self._is_on = False
        sys.addaudithook(self._opened)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what runs meanwhile, in all threads."""
        self._is_on = True
        threading.setprofile(self._passed)
        sys.setprofile(self._passed)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # pyright: ignore[reportArgumentType]
            self._is_on = False
            self._holders.clear()
            self._known.clear()

    def _opened(self, event: str, args: tuple[Any, ...]) -> None:
        is_query = event == "open" and str(args[0]).endswith(".sql")
        if self._is_on and is_query and not _is_digested(sys._getframe(1)):
            path = str(args[0]).partition(self._library)[2] or str(args[0]).partition("/sql/")[2]
            self.queries[path.removeprefix("isotope/sql/")] = None

    def _passed(self, frame: FrameType, event: str, value: object) -> None:
        if not self._is_of_library(frame):
            return
        if event == "call":
            self._called(frame)
        elif event == "return":
            self._returned(frame, value)

    def _is_of_library(self, frame: FrameType) -> bool:
        """Tell whether a function is Python of the library; rules only hand on what they get."""
        file = frame.f_code.co_filename
        return file.startswith(self._library) and file.endswith(".py")

    def _called(self, frame: FrameType) -> None:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        count += sum(bool(code.co_flags & flag) for flag in _COLLECTS)
        arguments = {name: frame.f_locals.get(name) for name in code.co_varnames[:count]}
        fields = self._parts(arguments.pop("self", None))
        values = [*arguments.values()]
        made_here = self._holds(self._caller(frame)) and any(map(_is_made, values))
        if made_here or self._has(values) or self._has(fields, is_named=False):
            self._hold(frame, values)

    def _returned(self, frame: FrameType, value: object) -> None:
        """Note that the caller gets what is made of the value, returned or yielded."""
        caller = self._caller(frame)
        if self._holds(frame) and _is_made(value):
            self._remember(value)
        # Nothing is made of a number of the params.
        if caller and self._marks and self._has(value) and self._has(value, is_named=False):
            self._hold(caller, [])
        if not frame.f_code.co_flags & _PAUSES:
            self._holders.pop(id(frame), None)

    def _caller(self, frame: FrameType) -> FrameType | None:
        """Return the nearest caller within the library."""
        before = frame.f_back
        while before and not self._is_of_library(before):
            before = before.f_back
        return before

    def _holds(self, frame: FrameType | None) -> bool:
        return frame is not None and id(frame) in self._holders

    def _hold(self, frame: FrameType, values: Sequence[object]) -> None:
        self._holders[id(frame)] = frame if frame.f_code.co_flags & _PAUSES else None
        file = frame.f_code.co_filename.removeprefix(self._library)
        self.files[file.removeprefix("isotope/")] = None
        for value in filter(_is_made, values):
            self._remember(value)

    def _remember(self, value: Any) -> None:
        parts = value if isinstance(value, list | tuple) else [value]
        self._known |= {id(part): part for part in parts if isinstance(part, _MADE)}

    def _has(self, value: object, depth: int = _DEEPEST, *, is_named: bool = True) -> bool:
        """Tell whether a value is in another one: by its name, or as what was made of it."""
        if id(value) in self._known:
            return True
        if isinstance(value, bytes | str | URL):
            text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            return is_named and len(text) < _LONGEST and any(m.search(text) for m in self._marks)
        if isinstance(value, float):
            return is_named and value in self._numbers
        if not depth or not (is_named or self._known):
            return False
        parts = self._parts(value)
        having = [part for part in parts if self._has(part, depth - 1, is_named=is_named)]
        if any(isinstance(part, str | URL) for part in having):
            # What lies beside a name is what it names.
            self._remember([*parts])
        return bool(having)

    def _parts(self, value: Any) -> Sequence[Any]:
        """Return what a value is made of."""
        if isinstance(value, pl.DataFrame):
            value = value.to_arrow()
        if isinstance(value, pa.Table | pa.RecordBatch):
            texts = [c for c in value.columns if "string" in str(c.type) and len(c) <= _MOST]
            parts = [text for column in texts for text in column.to_pylist()]
        elif isinstance(value, partial):
            parts = [*value.args, *value.keywords.values()]
        elif isinstance(value, Mapping):
            parts = [*value, *value.values()] if len(value) <= _MOST else []
        elif isinstance(value, list | tuple | set | frozenset | deque):
            parts = [*value] if len(value) <= _MOST else []
        elif self._is_ours(type(value)):
            slots = (s for base in type(value).__mro__ for s in getattr(base, "__slots__", ()))
            parts = [*getattr(value, "__dict__", {}).values()]
            parts += [getattr(value, slot, None) for slot in slots]
        else:
            parts = []
        return parts

    def _is_ours(self, kind: type) -> bool:
        """Tell whether a class is the library's."""
        file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        return file.startswith(self._library)


def _is_digested(frame: FrameType | None) -> bool:
    """Tell whether a file is opened for its bytes, as code is, and not read as a query."""
    names = list[str]()
    while frame and len(names) < _DEEPEST:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return "read_bytes" in names


def _is_made(value: object) -> bool:
    first = next(iter(value), None) if isinstance(value, list | tuple) else value
    return isinstance(first, _MADE)


def walked(place: Path, title: str) -> list[str]:
    """Return the files of a walk in a project in which the demo has run, in the order of the walk.

    Its jobs are run again; their outputs are what they were.
    """
    walk = WALKS[title]
    with chdir(place), TemporaryDirectory() as folder:
        overlay = Path(folder) / "overlay.yaml"
        overlay.write_text(yaml.safe_dump({**walk.params}))
        watch = Watch([_K1] if walk.params else marks(title))
        with watch.on() if walk.params else nullcontext():
            planned = jobs(place, walk, [place / "params.yaml", overlay])
        for job in planned:
            _remove(job)
            with watch.on():
                call.run(job)
    # A number of the params is in no row.
    queries = () if walk.params else watch.queries
    shown = (q for q in queries if not q.startswith("tabulate/") or walk.exhibit in q)
    return [*(file for file in watch.files if file != _STAND_IN), *shown]


def _remove(job: SimpleNamespace) -> None:
    """Remove what a job has made, and what it would take up again."""
    for path in map(Path, job.output):
        if path.is_file():
            path.unlink()
    params = dict(job.params.items())
    if scratch := (params.get("given") or params).get("scratch"):
        shutil.rmtree(scratch, ignore_errors=True)


def jobs(place: Path, walk: Walk, params: Sequence[Path]) -> list[SimpleNamespace]:
    """Return the jobs of a walk's rules on the demo's own collection, in the order of the rules."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        loaded = api.workflow(
            ResourceSettings(cores=1),
            ConfigSettings(configfiles=[*params]),
            snakefile=place / "Snakefile",
            workdir=place,
        )
        settings = DAGSettings(targets={walk.target}, forceall=True)
        loaded.dag(settings).execute_workflow(executor="local", pseudo_executor="dryrun")
        workflow: Any = loaded._workflow
        rules = walk.rules
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
    """Return what a value is known by, in the project's folder: regular expressions.

    An address is known at any host, as another one stands in for its own.
    """
    folder = Path("data/collect/toy")
    texts, images, qrels = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("texts", "images", "qrels")
    )
    if title.endswith("vector"):
        crawled = pl.read_parquet("data/crawl/toy/ledger-00000.parquet").filter(status="success")
        row = crawled.join(images, on="image_url").sort("image_url").row(0, named=True)
        path = URL(row["image_url"], encoded=True).raw_path
        return [f"//[^/]+{re.escape(path)}", row["image_id"]]
    if title.endswith("suggestion"):
        row = pl.read_parquet("results/suggest/toy/feed.parquet").row(0, named=True)
        return [row["text_id"], row["image_id"]]
    row = qrels.filter(split="test").join(texts, on="text_id").row(0, named=True)
    ids = [row["text_id"], row["image_id"]]
    return [*ids, re.escape(row["page_title"])] if title.endswith("judgement") else ids


if __name__ == "__main__":
    for name in [name for name in WALKS if name in sys.argv[2:] or not sys.argv[2:]]:
        files = walked(Path(sys.argv[1]).resolve(), name)
        sys.stdout.write(f"{name}: {len(files)}\n  {' '.join(files)}\n")
