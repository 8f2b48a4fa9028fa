"""The wheel with what it requires, installed as a user does, of the versions that are locked."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.demo import BIN, LIMIT_S

ROOT = Path(__file__).parents[1]
LOCKED = re.compile(r"^(\S+==[^\s;]+(?: ; [^\\\n]+?)?) *\\?$", re.MULTILINE)
SYSTEM = ("/usr/bin", "/bin")


class Installation:
    """An environment of its own, with nothing of the checkout in reach of its programs."""

    def __init__(
        self,
        place: Path,
        wheel: Path,
        extras: Sequence[str] = (),
        *,
        python: str = sys.executable,
        system: Sequence[str | Path] = SYSTEM,
    ) -> None:
        """Make one; the test skips where no index serves the packages.

        Programs of the system are those of the folders `system`.
        """
        self.bin, self.home = place / "bin", place.with_name("home")
        self._path = os.pathsep.join(map(str, (self.bin, *system)))
        self.home.mkdir()
        locked = place.with_suffix(".txt")
        lock = (ROOT / "requirements.lock").read_text("utf-8")
        locked.write_text("\n".join(LOCKED.findall(lock)) + "\n")
        uv = BIN / "uv"
        subprocess.run([uv, "venv", "--quiet", "--python", python, place], check=True)
        asked = f"{wheel}[{','.join(extras)}]" if extras else wheel
        options = ["--quiet", "--python", self.bin / "python", "--constraints", locked]
        done = subprocess.run(
            [uv, "pip", "install", *options, asked], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"the packages can't be installed here: {done.stderr[-500:]}")
        [self.packages] = place.glob("lib/python*/site-packages")

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, in a home where nobody has been."""
        outside = {"PYTHONPATH", "VIRTUAL_ENV", "JAVA_HOME"}
        env = {name: value for name, value in os.environ.items() if name not in outside}
        env |= {"PATH": self._path, "HOME": str(self.home), "COLUMNS": "200"}
        return subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )

    def isotope(self, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return self.run("isotope", *words, cwd=cwd)

    def answer(self, *words: str | Path, cwd: Path) -> str:
        """What a command prints that ends well."""
        return ended_well(self.isotope(*words, cwd=cwd))


def ended_well(done: subprocess.CompletedProcess[str]) -> str:
    """What a program printed, which has ended well."""
    assert done.returncode == 0, (done.stdout + done.stderr)[-8_000:]
    return done.stdout
