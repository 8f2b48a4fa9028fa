"""What the report says of its own verification: by what, how much, and whether anything differs.

The record is that of the job that verifies a collection (`isotope_verify.verify`). The command
writes one of its own, which the report does not show.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core import store
from isotope.core.errors import CorruptFile
from isotope.report.site import environment

# Those of other people, by the first word of what a check says of its tool.
TOOLS = {
    "pytrec-eval-terrier": "trec_eval",
    "ranx": "ranx",
    "scipy": "scipy",
    "Pyserini": "Pyserini",
    "numpy": "numpy",
}
_BY_HAND = "results/verify/{}.json"


def by_hand(collection: str) -> Path:
    """Return where the command keeps the record of a collection."""
    return Path(_BY_HAND.format(collection))


def read_record(path: Path) -> dict[str, Any]:
    """Return a record.

    Raises:
        CorruptFile: no such record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptFile(path, f"no record of a verification ({error})", "delete it") from error
    return record


def write_record(record: Mapping[str, Any], path: Path) -> None:
    """Write a record.

    Raises:
        DiskFull, Unwritable: no room or no leave to write.
    """
    with store.aside(path) as part:
        text = json.dumps(record, indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")


def block(collection: str, page: str, file: Path | None) -> str:
    """Return the HTML that a page has of its verification; None is a report without one.

    Raises:
        CorruptFile: no record of a verification.
    """
    record = read_record(file) if file else None
    template = environment().get_template("verified.html.j2")
    checks = by_others(record or {"checks": []})
    context = {"record": record, "tools": tools(checks), "brief": page == "index"}
    return template.render(collection=collection, by_others=checks, **context).strip()


def by_others(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the checks of a record in which other people's tools compared something."""
    checks = (check for check in record["checks"] if check["compared"])
    return [check for check in checks if check["tool"].partition(" ")[0] in TOOLS]


def tools(checks: Sequence[Mapping[str, Any]]) -> str:
    """Return the names of the tools of some checks of other people's, in a row of words."""
    used = [check["tool"].partition(" ")[0] for check in checks]
    *names, last = [name for tool, name in TOOLS.items() if tool in used] or ["no other tool"]
    return f"{', '.join(names)} and {last}" if names else last
