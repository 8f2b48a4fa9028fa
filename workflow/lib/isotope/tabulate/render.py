"""Print a table as Markdown (GitHub's) or LaTeX (booktabs)."""

from itertools import groupby

from isotope.tabulate.layout import Cell, Column, Table

_MARKDOWN = str.maketrans({sign: "\\" + sign for sign in "\\|*<`"})
_LATEX = str.maketrans(
    {
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
        "±": r"$\pm$", "—": "---",
    }
)  # fmt: skip


def markdown(table: Table) -> str:
    """Return the table with bold best cells and superscript letters."""
    heads = [f"{c.group} {c.label}".strip().translate(_MARKDOWN) for c in table.columns]
    rules = ["---:" if c.numeric else "---" for c in table.columns]
    body = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, rules, *body])


def latex(table: Table) -> str:
    """Return a `tabular` for the booktabs package, grouped columns under one heading."""
    kinds = "".join("r" if c.numeric else "l" for c in table.columns)
    body = [[_latex_cell(cell) for cell in row] for row in table.rows]
    lines = [
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        *_latex_groups(table.columns),
        _latex_row([c.label.translate(_LATEX) for c in table.columns]),
        r"\midrule",
        *(_latex_row(row) for row in body),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def spans(columns: list[Column]) -> list[tuple[str, int]]:
    """Return each run of columns under one group heading, with its width."""
    return [(name, len(list(run))) for name, run in groupby(columns, key=lambda c: c.group)]


def _markdown_cell(cell: Cell) -> str:
    text = cell.text.translate(_MARKDOWN)
    bold = f"**{text}**" if cell.best else text
    return f"{bold}<sup>{cell.beats}</sup>" if cell.beats else bold


def _latex_cell(cell: Cell) -> str:
    text = cell.text.translate(_LATEX)
    bold = rf"\textbf{{{text}}}" if cell.best else text
    return rf"{bold}$^{{{cell.beats}}}$" if cell.beats else bold


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_groups(columns: list[Column]) -> list[str]:
    if not any(c.group for c in columns):
        return []
    heads: list[str] = []
    rules: list[str] = []
    start = 1
    for name, width in spans(columns):
        heads.append(rf"\multicolumn{{{width}}}{{c}}{{{name.translate(_LATEX)}}}")
        if name:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [_latex_row(heads), "".join(rules)]
