"""What has suggestions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from isotope.core.plugins import Step


def steps(built: Sequence[str]) -> Iterator[Step]:
    """Yield the command that serves the suggestions of the newest collection with any."""
    suggested = [name for name in built if Path("results/suggest", name).is_dir()]
    for name in suggested[-1:]:
        yield Step(f"isotope suggest {name} --serve", "a page that finds pictures for texts")
