"""Pictures decoded in the process of a test."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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


class WaitedFor:
    """`isotope.intake.pictures.Pictures` without processes, likewise."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self._limits = limits

    def __enter__(self) -> "WaitedFor":
        return self

    def __exit__(self, *_: object) -> None: ...

    def convert_all(
        self, pictures: Iterable[tuple[str, Callable[[], bytes]]]
    ) -> Iterator[tuple[str, bytes, Converted]]:
        for name, read in pictures:
            data = read()
            yield name, data, self.convert(name, data)

    def convert(self, name: str, data: bytes) -> Converted:
        del name
        return convert.answer(data, None, self._limits)
