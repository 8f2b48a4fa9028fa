"""Pictures decoded in the process of a test."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from isotope.intake import convert
from isotope.intake.decoders import Converted
from isotope.intake.limits import MAX_PIXELS

# The command line of a decoder as it is where processes can't fork, such as macOS.
_ANEW = (
    "import json, signal, sys\n"
    "from isotope.intake import decode\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "decode.FORKS = False\n"
    "decode.main(json.loads(sys.argv[1]))\n"
)


def start_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have decoders start their workers as programs of their own."""
    real = asyncio.create_subprocess_exec

    async def start(program: str, *arguments: str, **more: Any) -> object:
        return await real(program, "-c", _ANEW, arguments[-1], **more)

    monkeypatch.setattr("isotope.intake.decoders.asyncio.create_subprocess_exec", start)


class InProcess:
    """`isotope.intake.decoders.Decoders` without processes, for tests of everything else."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self._limits = {"max_pixels": MAX_PIXELS, **limits}

    async def start(self) -> None: ...

    async def convert(self, data: bytes, content_type: str | None, where: str = "") -> Converted:
        del where
        return convert.answer(data, content_type, self._limits)

    async def close(self) -> None: ...


class WaitedFor:
    """`isotope.intake.pictures.PictureDecoders` without processes, likewise."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self._limits = {"max_pixels": MAX_PIXELS, **limits}

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
