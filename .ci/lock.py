"""requirements.lock from a pylock.toml (PEP 751): names, versions and the hashes of one platform.

    python .ci/lock.py pylock.toml > requirements.lock

uv's requirements.txt lists the files of every platform; its pylock.toml lists those that fit the
platform it resolved for, with addresses, which a lock file in git should not contain.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines(packages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a requirement per package: hashes of its wheels, or of its source if it has none."""
    for package in packages:
        files = package.get("wheels") or [package["sdist"]]
        hashes = sorted(file["hashes"]["sha256"] for file in files)
        pinned = f"{package['name']}=={package['version']}"
        yield " \\\n    ".join([pinned, *(f"--hash=sha256:{digest}" for digest in hashes)])


if __name__ == "__main__":
    lock = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lines(lock["packages"])) + "\n")
