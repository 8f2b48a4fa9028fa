"""Pictures decoded in the process of a test."""

from collections.abc import Mapping
from typing import Any

from isotope.intake import convert
from isotope.intake.decoders import Converted


class InProcess:
    """`isotope.intake.decoders.Decoders` without processes, for tests of everything else."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self._limits = limits

    async def start(self) -> None: ...

    async def convert(self, data: bytes, content_type: str | None, where: str = "") -> Converted:
        del where
        return convert.answer(data, content_type, self._limits)

    async def close(self) -> None: ...
