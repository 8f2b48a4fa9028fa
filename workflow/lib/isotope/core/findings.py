"""What `isotope doctor` says of a machine: the core's findings, and those of plug-ins."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `ok`, `missing` (a run will fail) or `note` (a run will do without)."""

    subject: str
    state: str
    detail: str
    remedy: str = ""
