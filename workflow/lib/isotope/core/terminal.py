"""Tables for a terminal."""

from collections.abc import Collection, Sequence

from tabulate import tabulate

_WIDEST = 60


def table(
    rows: Sequence[Sequence[object]],
    head: Sequence[str] = (),
    *,
    right: Collection[int] | None = None,
) -> str:
    """Return rows as lines of columns, two blanks apart, below the names of `head`; None is a dash.

    `right` are the columns set to the right, by default those in which a number stands.
    """
    count = len(head) or max(map(len, rows), default=0)
    numbers = {n for n in range(count) if any(isinstance(row[n], int | float) for row in rows)}
    chosen = numbers if right is None else right
    # tabulate would make a column two wider than its head; as the first row it does not.
    text = tabulate(
        [head, *rows] if head else rows,
        tablefmt="plain",
        colalign=["right" if n in chosen else "left" for n in range(count)],
        disable_numparse=True,
        missingval="—",
    )
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def short(value: object) -> object:
    """Return a number or None as it is, anything else as one line of at most 60 characters."""
    if value is None or isinstance(value, int | float):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
