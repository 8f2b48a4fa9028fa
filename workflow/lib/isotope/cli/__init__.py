"""The command `isotope`."""


def main() -> int:
    """Run the command; the parser is imported when it is needed."""
    from isotope.cli.commands import main as run  # noqa: PLC0415

    return run()
