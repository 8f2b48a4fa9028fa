"""What one can judge."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from isotope.core.plugins import Step


def steps(built: Sequence[str]) -> Iterator[Step]:
    """Yield the command that judges the newest collection with a pool."""
    pooled = [name for name in built if Path("results/score", name, "pool.parquet").is_file()]
    for name in pooled[-1:]:
        yield Step(f"isotope judge {name} --assessor YOU", "grade what the systems have found")
