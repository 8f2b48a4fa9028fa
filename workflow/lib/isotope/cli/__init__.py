"""The command `isotope`."""

import sys

from isotope.core.errors import BadPlugin


def main() -> int:
    """Run the command; the parser is imported when it is needed."""
    try:
        from isotope.cli.commands import main as run  # noqa: PLC0415
    except BadPlugin as error:
        sys.stderr.write(f"BadPlugin: {error}\n")
        return 1
    return run()
