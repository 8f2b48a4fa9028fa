"""The tracer of walks finds the files that a value passes through, and no other."""

import re
import sys
from importlib import import_module
from textwrap import dedent

import pytest
from tests.walks import Watch

MARK = "picture-7"
# Small libraries: their files, each after a line with its name. `start.run` is called; the files
# whose first line says so get the picture, by its name, its bytes or its pixels.
LIBRARIES = {
    "as an argument, within lists, mappings and partial calls": """
        # start
        from functools import partial
        import plain, listed, mapped, later, without
        def run():
            plain.take("picture-7")
            listed.take(["picture-6", ("picture-7", 1)])
            mapped.take(rows={"picture-7": None})
            later.take(partial(print, "picture-7"))
            without.take(["picture-6"], {"picture-8": 7})
        # plain: has it
        def take(name): return Within().take(name)
        class Within:
            def take(self, name): return 1
        # listed: has it
        def take(*rows): return 1
        # mapped: has it
        def take(**tables): return 1
        # later: has it
        def take(call): return 1
        # without
        def take(rows, more): return 1
    """,
    "in a row of a table and in the field of an object": """
        # start
        from dataclasses import dataclass
        import polars as pl
        import framed, column, field, number
        @dataclass
        class Wanted:
            picture: str
        def run():
            rows = pl.DataFrame({"id": ["picture-6", "picture-7"], "n": [1, 2]})
            framed.take(rows)
            column.take(rows.to_arrow()["id"])
            field.take([Wanted("picture-7")])
            number.take(rows["n"])
        # framed: has it
        def take(rows): return 1
        # column
        def take(ids): return 1
        # field: has it
        def take(wanted): return 1
        # number
        def take(numbers): return 1
    """,
    "from a generator, through threads and an object that keeps it, to its vector": """
        # start: has it
        from concurrent.futures import ThreadPoolExecutor
        import decode, encode, kept, stored, waiting
        def run():
            pictures = waiting.Waiting(encode.Encoder().encode)
            with ThreadPoolExecutor(2) as pool:
                for name, content in stored.pictures():
                    kept.count(len(content))
                    pictures.add(pool.submit(decode.decode, content).result())
            pictures.finish()
        # stored: has it
        def pictures():
            yield from map(Shard().picture, (6, 7))
        class Shard:
            def picture(self, number):
                name = f"picture-{number}"
                return read(name), bytes(number)
        def read(name): return name
        # decode: has it
        import numpy as np
        def decode(content): return np.frombuffer(content, np.uint8)
        # kept
        def count(size): return size
        # waiting: has it
        class Waiting:
            def __init__(self, encode): self.encode, self.items = encode, {}
            def add(self, item): self.items.setdefault(0, []).append((0, item))
            def finish(self): return self.flush(0)
            def flush(self, shape): return self.encode([item for _, item in self.items.pop(shape)])
        # encode: has it
        class Encoder:
            def encode(self, items): return items[0] * 2
    """,
    "while others wait, whose pictures it is not": """
        # start: has it
        import asyncio, other, received
        def run():
            async def both():
                await asyncio.gather(one("picture-7"), another("picture-6"))
            asyncio.run(both())
        async def one(name):
            content = await received.body(name)
        async def another(name):
            await asyncio.sleep(0.01)
            await other.keep(name, b"another")
        # received: has it
        import asyncio
        async def body(name):
            await asyncio.sleep(0.02)
            return b"one"
        # other
        async def keep(name, content): return content
    """,
    "that is gone once its call has returned": """
        # start
        import after, before
        def run():
            for _ in range(3):
                before.take("picture-7")
                other()
        def other():
            for n in range(100):
                after.take(bytes(n))
        # before: has it
        def take(name): return [*letters(name)]
        def letters(name): yield from name
        # after
        def take(content): return len(content)
    """,
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_a_walk_has_the_files_that_get_the_value(case, tmp_path, monkeypatch):
    written = re.findall(r"^# (\w+)(: has it)?\n((?:(?!# ).*\n)*)", dedent(LIBRARIES[case]), re.M)
    for name, _, text in written:
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    start = import_module("start")
    watch = Watch([MARK], f"{tmp_path}/")
    with watch.on():
        start.run()
    for name, *_ in written:
        del sys.modules[name]
    expected = {f"{name}.py" for name, has, _ in written if has}
    assert {*watch.files} == expected


def test_a_query_is_on_the_walk_where_it_is_read_meanwhile(tmp_path):
    for name in ("before", "meanwhile"):
        (tmp_path / "sql").mkdir(exist_ok=True)
        (tmp_path / f"sql/{name}.sql").write_text("SELECT 1")
    watch = Watch([MARK])
    (tmp_path / "sql/before.sql").read_text()
    with watch.on():
        (tmp_path / "sql/meanwhile.sql").read_text()
    assert [*watch.queries] == ["meanwhile.sql"]
