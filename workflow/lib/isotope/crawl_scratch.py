"""What a shard's crawl has finished: a database that survives a kill at any moment."""

import json
import sqlite3
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from isotope import tables
from isotope.errors import DiskFull

_TABLE = """
    CREATE TABLE IF NOT EXISTS done (
        image_id TEXT PRIMARY KEY, image_url TEXT UNIQUE, status TEXT, told TEXT, webp BLOB
    )
"""
_ROWS_AT_ONCE = 64
_LEDGER: dict[str, Any] = dict(pl.DataFrame(tables.LEDGER.empty_table()).schema)


class Scratch:
    """Rows of the ledger and pictures, one a URL; what was not committed is asked for again."""

    def __init__(self, path: Path) -> None:
        """Open the database, or make it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._open = path, 0
        with self._named():
            self._con = sqlite3.connect(path, isolation_level=None)
            # One job writes a shard, so no shared memory is needed, which network disks lack.
            self._con.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._con.execute("PRAGMA journal_mode = WAL")
            self._con.execute("PRAGMA synchronous = NORMAL")
            self._con.execute(_TABLE)

    @contextmanager
    def _named(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise DiskFull(self.path, str(error)) from error
            raise

    def known(self) -> set[str]:
        """Return the URLs that are done."""
        return {url for (url,) in self._con.execute("SELECT image_url FROM done")}

    def add(self, image_id: str, told: Mapping[str, Any], webp: bytes | None) -> None:
        """Keep one finished row of the ledger, and its picture if it is a new one."""
        with self._named():
            if not self._open:
                self._con.execute("BEGIN")
            row = (image_id, told["image_url"], told["status"], json.dumps(told), webp)
            self._con.execute("INSERT INTO done VALUES (?, ?, ?, ?, ?)", row)
            self._open += 1
        if self._open >= _ROWS_AT_ONCE:
            self.commit()

    def commit(self) -> None:
        """Make what was added survive."""
        with self._named():
            if self._open:
                self._con.execute("COMMIT")
                self._open = 0

    def forget(self, statuses: Collection[str]) -> None:
        """Drop the rows with these outcomes, so that they are asked for again."""
        self.commit()
        marks = ", ".join("?" for _ in statuses)
        self._con.execute(f"DELETE FROM done WHERE status IN ({marks})", sorted(statuses))

    @property
    def finished(self) -> bool:
        """Whether the shard's tables were once written from here."""
        return bool(self._con.execute("PRAGMA user_version").fetchone()[0])

    @finished.setter
    def finished(self, value: bool) -> None:
        self.commit()
        self._con.execute(f"PRAGMA user_version = {int(value)}")

    def ledger(self) -> pl.DataFrame:
        """Return all rows, by URL."""
        told = (json.loads(t) for (t,) in self._con.execute("SELECT told FROM done"))
        when = pl.from_epoch("fetched_at").dt.replace_time_zone("UTC").dt.cast_time_unit("ms")
        schema = {**_LEDGER, "fetched_at": pl.Int64()}
        return pl.DataFrame(list(told), schema=schema).with_columns(when).sort("image_url")

    def with_picture(self) -> set[str]:
        """Return the ids of the pictures that were fetched."""
        found = self._con.execute("SELECT image_id FROM done WHERE webp IS NOT NULL")
        return {image_id for (image_id,) in found}

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of what was fetched, by id."""
        query = "SELECT image_id, webp FROM done WHERE webp IS NOT NULL ORDER BY image_id"
        yield from self._con.execute(query)

    def close(self) -> None:
        """Commit and close."""
        self.commit()
        self._con.close()
