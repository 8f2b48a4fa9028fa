"""`isotope judge`: one assessor's page, served on this machine until Ctrl-C."""

import errno
import ipaddress
import socket
import sys
from contextlib import closing, suppress
from pathlib import Path

import uvicorn
import yaml
from starlette.applications import Starlette

from isotope.core.errors import BadParams
from isotope.judge import items as judge_items
from isotope.judge import study
from isotope.judge.desk import Desk, Pictures, SheetDesk
from isotope.params.files import SCHEMA
from isotope.params.resolve import Params
from isotope.params.union import sources

_SHUT_S = 2


def scale(params: Params, schema_file: Path = SCHEMA) -> dict[int, str]:
    """Return the label of each grade: `score.judge.scale`, or the schema's default."""
    schema = yaml.safe_load(schema_file.read_text(encoding="utf-8"))
    judge = schema["properties"]["score"]["properties"]["judge"]["properties"]
    given = params["score"].get("judge", {}).get("scale", judge["scale"]["default"])
    return {int(key): label for key, label in sorted(given.items(), key=lambda item: str(item[0]))}


def desk(collection: str, assessor: str, params: Params) -> Desk:
    """Return the desk of an assessor in the working directory's project.

    Raises:
        BadParams: a collection that the params lack, or a bad name.
        MissingFile: no pool, as `judge_items.load`.
        BrokenPromise, CorruptFile: as `Desk`.
    """
    _known(collection, params)
    items = judge_items.load(collection, assessor)
    pictures = Pictures(_shards(collection, params), set(items.words["images"]))
    return Desk(collection, assessor, items, pictures)


def sheet_desk(collection: str, assessor: str, name: str, params: Params) -> SheetDesk:
    """Return the desk of an assessor at the sheet `name`, failures or mistakes.

    Raises:
        BadParams: a collection that the params lack, a sheet that they do not ask for, a bad name.
        MissingFile: no sheet, as `judge_sheets.load`.
        BrokenPromise, CorruptFile: as `SheetDesk`.
    """
    _known(collection, params)
    sheet = study.load(collection, name, params["tabulate"])
    ids = {row[c] for row in sheet.rows for c in ("query_id", "truth_id", "found_id")}
    pictures = Pictures(_shards(collection, params), ids)
    return SheetDesk(collection, assessor, sheet, pictures)


def _known(collection: str, params: Params) -> None:
    if collection not in params["collect"]:
        known = ", ".join(params["collect"])
        remedy = f"known: {known}; name its overlay with --configfile"
        raise BadParams("params collect", f"no collection {collection!r}", remedy)


def _shards(collection: str, params: Params) -> list[Path]:
    crawls = [Path(f"data/crawl/{source}") for source in sources(params, collection)]
    return sorted(shard for crawl in crawls for shard in crawl.glob("shard-*.parquet"))


def bound(host: str, port: int, *, remote: bool = False) -> socket.socket:
    """Return a listening socket; port 0 is any free one.

    Raises:
        BadParams: a host that others reach, without `remote`; one that is none; a port in use.
    """
    if not (remote or _is_loopback(host)):
        found = f"{host} can be reached from elsewhere, and whoever reaches it can grade"
        raise BadParams("--host", found, "leave it out, or add --remote")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        busy = getattr(error, "errno", None) == errno.EADDRINUSE
        found = "another program listens there" if busy else str(error)
        remedy = "take another --port; 0 is any free one"
        raise BadParams(f"--host {host} --port {port}", found, remedy) from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(at: Desk | SheetDesk, served: Starlette, listening: socket.socket) -> str:
    """Serve until the process is told to end; return what is done, for the terminal."""
    host, port = listening.getsockname()[:2]
    place = f"[{host}]" if ":" in host else host
    told = f"{at.assessor} judges {at.collection}: http://{place}:{port}/ (Ctrl-C ends)"
    sys.stdout.write(f"{told}\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt), closing(listening):
        uvicorn.Server(_config(served)).run(sockets=[listening])
    done = at.progress()
    return f"{done['done']:,} of {done['total']:,} are graded in {at.ledger.path}\n"


def _config(served: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUT_S,
    )
