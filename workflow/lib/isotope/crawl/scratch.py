"""What a shard's crawl has so far, in a database that survives a kill at any moment."""

import json
import sqlite3
import sys
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core.errors import DiskFull, free_space
from isotope.crawl.ledger import HOST_DOWN, Row
from isotope.intake.headers import clean
from isotope.schemas.crawl import LEDGER

# Column `told` is the row of the ledger as JSON; by another name, killed runs would begin anew.
_SCRATCH_TABLES = """
    CREATE TABLE IF NOT EXISTS done (
        image_id TEXT PRIMARY KEY, image_url TEXT UNIQUE, status TEXT, told TEXT, webp BLOB
    );
    CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT)
"""
# SQLite has one error for a disk without room, another for a quota or a limit.
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
_ROWS_AT_ONCE = 64
# How JSON writes half of a character.
_SURROGATE = r"\ud"
_LEDGER_COLUMNS: dict[str, Any] = dict(pl.DataFrame(LEDGER.empty_table()).schema)


class Scratch:
    """Rows of the ledger and pictures, one a URL; what was not committed is requested again."""

    def __init__(self, path: Path) -> None:
        """Open the database, or make it.

        Raises:
            DiskFull: no room for it. So does every method that writes; what was committed stays.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._uncommitted = path, 0
        self._con = sqlite3.connect(path, isolation_level=None)
        with ExitStack() as opened, self._naming_full_disk():
            opened.callback(self.close)
            # One job writes a shard, so no shared memory is needed, which network disks lack.
            self._con.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._con.execute("PRAGMA journal_mode = WAL")
            self._con.execute("PRAGMA synchronous = NORMAL")
            self._con.executescript(_SCRATCH_TABLES)
            opened.pop_all()

    @contextmanager
    def _naming_full_disk(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            self._roll_back()
            if error.sqlite_errorname in _NO_ROOM:
                raise DiskFull(self.path, f"{error}, {free_space(self.path)}") from error
            raise

    def _roll_back(self) -> None:
        """Give up the open transaction, if SQLite has not done so already."""
        self._uncommitted = 0
        if self._con.in_transaction:
            self._con.execute("ROLLBACK")

    def urls(self) -> set[str]:
        """Return the URLs that are done."""
        return {url for (url,) in self._con.execute("SELECT image_url FROM done")}

    def add(self, image_id: str, row: Mapping[str, Any], webp: bytes | None) -> None:
        """Keep one finished row of the ledger, and its picture if it is a new one."""
        with self._naming_full_disk():
            if not self._uncommitted:
                self._con.execute("BEGIN")
            values = (image_id, row["image_url"], row["status"], json.dumps(row), webp)
            self._con.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?, ?)", values)
            self._uncommitted += 1
        if self._uncommitted >= _ROWS_AT_ONCE:
            self.commit()

    def commit(self) -> None:
        """Make what was added survive."""
        with self._naming_full_disk():
            if self._uncommitted:
                self._con.execute("COMMIT")
                self._uncommitted = 0

    def forget(self, statuses: Collection[str]) -> None:
        """Drop the rows with these outcomes, so that they are requested again."""
        marks = ", ".join("?" for _ in statuses)
        self._delete(f"status IN ({marks})", sorted(statuses))

    def forget_again(self) -> None:
        """Drop the rows that another address may bring in another run."""
        self._delete("json_extract(told, '$.again')", [])

    def untried(self, statuses: Collection[str], alternate: int) -> list[tuple[str, Row]]:
        """Return (image_id, row) of these outcomes that were not requested by `alternate`.

        Alternates count from 1 and are tried in order.
        """
        marks = ", ".join("?" for _ in statuses)
        tried = "coalesce(json_extract(told, '$.tried'), 0) < ?"
        query = f"SELECT image_id, told FROM done WHERE status IN ({marks}) AND {tried}"
        rows = self._con.execute(f"{query} ORDER BY image_id", [*sorted(statuses), alternate])
        return [(image_id, json.loads(row)) for image_id, row in rows]

    def rows(self, statuses: Collection[str]) -> list[tuple[str, Row]]:
        """Return (image_id, row) of these outcomes."""
        return self.untried(statuses, sys.maxsize)

    def answered(self) -> Iterator[tuple[str, str | None]]:
        """Yield each URL that had an answer, and the address that gave it, if it is another one."""
        query = "SELECT image_url, json_extract(told, '$.fetched_from') FROM done"
        yield from self._con.execute(
            f"{query} WHERE json_extract(told, '$.http_status') IS NOT NULL"
        )

    def given_up(self) -> dict[str, str]:
        """Return the host that was down, by image_url: that of the URL, or behind a redirect."""
        rows = (row for _, row in self.rows({HOST_DOWN}))
        return {row["image_url"]: row["host"] for row in rows if row.get("host")}

    def forget_urls(self, urls: Iterable[str]) -> None:
        """Drop the rows of these URLs."""
        for url in urls:
            self._delete("image_url = ?", [url])

    def _delete(self, where: str, values: list[Any]) -> None:
        self.commit()
        with self._naming_full_disk():
            self._con.execute(f"DELETE FROM done WHERE {where}", values)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings under which the rows came, as far as they are stored."""
        rows = self._con.execute("SELECT name, value FROM settings")
        return {name: json.loads(value) for name, value in rows}

    @settings.setter
    def settings(self, values: Mapping[str, Any]) -> None:
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        self.commit()
        with self._naming_full_disk():
            self._con.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)

    @property
    def finished(self) -> bool:
        """Whether the shard's tables were once written from here."""
        return bool(self._con.execute("PRAGMA user_version").fetchone()[0])

    @finished.setter
    def finished(self, value: bool) -> None:
        self.commit()
        with self._naming_full_disk():
            self._con.execute(f"PRAGMA user_version = {int(value)}")

    def ledger(self) -> pl.DataFrame:
        """Return all rows, by URL."""
        rows = (_row(record) for (record,) in self._con.execute("SELECT told FROM done"))
        when = pl.from_epoch("fetched_at").dt.replace_time_zone("UTC").dt.cast_time_unit("ms")
        schema = {**_LEDGER_COLUMNS, "fetched_at": pl.Int64()}
        return pl.DataFrame(list(rows), schema=schema).with_columns(when).sort("image_url")

    def succeeded(self) -> bool:
        """Tell whether there is any picture."""
        query = "SELECT EXISTS (SELECT 1 FROM done WHERE status = 'success')"
        return bool(self._con.execute(query).fetchone()[0])

    def reused(self) -> list[tuple[str, Row]]:
        """Return (image_id, row) of the pictures that lie with an earlier crawl."""
        query = "SELECT image_id, told FROM done WHERE status = 'success' AND webp IS NULL"
        return [(image_id, json.loads(row)) for image_id, row in self._con.execute(query)]

    def with_picture(self) -> set[str]:
        """Return the ids of the pictures that were fetched."""
        rows = self._con.execute("SELECT image_id FROM done WHERE webp IS NOT NULL")
        return {image_id for (image_id,) in rows}

    def pictures(self) -> Iterator[tuple[str, bytes]]:
        """Yield (image_id, WebP) of what was fetched, by id."""
        query = "SELECT image_id, webp FROM done WHERE webp IS NOT NULL ORDER BY image_id"
        yield from self._con.execute(query)

    def rows_by_url(self) -> Iterator[Row]:
        """Yield all rows by URL, one in memory at a time."""
        for (record,) in self._con.execute("SELECT told FROM done ORDER BY image_url"):
            yield _row(record)

    def pictures_with_rows(self) -> Iterator[tuple[str, Row, bytes]]:
        """Yield (image_id, row, WebP) of what was fetched, by id."""
        query = "SELECT image_id, told, webp FROM done WHERE webp IS NOT NULL ORDER BY image_id"
        for image_id, record, webp in self._con.execute(query):
            yield image_id, _row(record), webp

    def close(self) -> None:
        """Commit and close."""
        try:
            self.commit()
        finally:
            self._con.close()


def _row(record: str) -> Row:
    """Return a row as it was kept; older crawls kept headers that no table can take."""
    row: Row = json.loads(record)
    if _SURROGATE in record:
        return {name: clean(v) if isinstance(v, str) else v for name, v in row.items()}
    return row
