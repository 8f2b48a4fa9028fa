"""Write the schema of params.yaml and the generated parts of README.md and docs/: `make docs`."""

from pathlib import Path

from isotope.cli import schema
from isotope.cli.reference import documents, rewrite

root = Path(__file__).resolve().parents[1]
(root / schema.FILE).write_text(schema.text(), encoding="utf-8")
for page in documents(root):
    old = page.read_text(encoding="utf-8")
    new = rewrite(old, root)
    if new != old:
        page.write_text(new, encoding="utf-8")
