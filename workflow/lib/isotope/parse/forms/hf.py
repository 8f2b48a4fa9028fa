"""A data set of Hugging Face's `datasets` on a disk: what `save_to_disk` writes, or a hub's folder.

Formats: https://huggingface.co/docs/datasets, "Save" (state.json, dataset_info.json and streams of
Arrow) and "Structure your repository" (train-00000-of-00002.parquet). The package is not needed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import CorruptFile, MissingFile
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.tables import undamaged
from isotope.parse.forms import embedded
from isotope.parse.forms.base import Form, Picture, Rejection
from isotope.parse.forms.embedded import RowFile
from isotope.parse.forms.texts import files_of, named, suffix

_STATE, _INFO = "state.json", "dataset_info.json"
_SHARD = re.compile(r"(?P<split>[\w.]+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?\.parquet")
_MEND = "write the data set again by `save_to_disk`"


class HuggingFace(Form):
    """Splits of rows, with pictures in a column of the feature `Image`."""

    name = "hf"
    roles: ClassVar[Mapping[str, str]] = {"split": "split"}

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by state.json beside dataset_info.json, or by the names of a hub's shards."""
        files = files_of(paths)
        names = {path.name for path in files}
        tables = [path for path in files if path.suffix == ".parquet"]
        shards = bool(tables) and all(_SHARD.fullmatch(path.name) for path in tables)
        return {_STATE, _INFO} <= names or (shards and all(map(_is_beside, files)))

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all splits; a ClassLabel comes as its name.

        A column of pictures comes with `<column>.path`, the path that a picture had. `split` is
        that of the folder or file, unless the rows have a column of this name.

        Raises:
            MissingFile: a file that state.json names.
            CorruptFile: a file that is not what it should be; splits with other columns.
        """
        yield from embedded.read(_tables(files_of(paths)))

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the pictures of all columns."""
        yield from embedded.pictures(_tables(files_of(paths)))


def _is_beside(path: Path) -> bool:
    """Tell whether a file is a table or says something of tables."""
    return path.suffix in (".parquet", ".md", ".json", ".txt")


def _tables(files: Sequence[Path]) -> list[RowFile]:
    states = [path for path in files if path.name == _STATE]
    names = dict(named(files))
    if states:
        return [table for state in states for table in _saved(state, names)]
    shards = [path for path in files if suffix(path) == ".parquet"]
    return [_with_split(embedded.parquet(path, names[path]), _split_of(path)) for path in shards]


def _split_of(path: Path) -> str | None:
    match = _SHARD.fullmatch(path.name)
    return match["split"] if match else None


def _saved(state: Path, names: Mapping[Path, str]) -> Iterator[RowFile]:
    state_fields, info = _json(state), _json(state.with_name(_INFO))
    is_dict = (state.parent.parent / "dataset_dict.json").is_file()
    split = state.parent.name if is_dict else state_fields.get("_split")
    classes = {
        name: feature["names"]
        for name, feature in (info.get("features") or {}).items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    }
    for data_file in state_fields.get("_data_files", []):
        path = state.with_name(data_file["filename"])
        if not path.is_file():
            raise MissingFile(path, f"no such file, which {_STATE} names", _MEND)
        table = _arrow(path, names.get(path, path.name))
        yield _with_split(_with_classes(table, classes), split)


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise MissingFile(path, "no such file", _MEND)
    try:
        value = json_value(path.read_bytes())
    except Refused as error:
        raise CorruptFile(path, error.reason, _MEND) from error
    return value if isinstance(value, dict) else {}


def _arrow(path: Path, name: str) -> RowFile:
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
            schema = stream.schema.remove_metadata()
    except (pa.ArrowException, OSError) as error:
        raise CorruptFile(path, f"no stream of Arrow: {error}", _MEND) from error
    return RowFile(path, name, schema, partial(_batches, path))


def _batches(path: Path, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as stream:
        for batch in undamaged(path, iter(stream)):
            chosen = batch.select(list(columns))
            for start in range(0, len(batch), rows):
                yield chosen.slice(start, rows)


def _with_classes(table: RowFile, classes: Mapping[str, Sequence[str]]) -> RowFile:
    """Return the table with the names of its classes in place of their numbers."""
    present = {name: names for name, names in classes.items() if name in table.schema.names}
    schema = table.schema
    for name in present:
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in table.batches(columns, rows):
            yield pa.record_batch(
                [
                    _classes(batch[name], present[name]) if name in present else batch[name]
                    for name in batch.schema.names
                ],
                names=batch.schema.names,
            )

    return replace(table, schema=schema, batches=batches) if present else table


def _classes(numbers: pa.Array, names: Sequence[str]) -> pa.Array:
    # -1 is the number of no class.
    valid = [n if n is not None and 0 <= n < len(names) else None for n in numbers.to_pylist()]
    return pa.array([None if n is None else names[n] for n in valid], pa.string())


def _with_split(table: RowFile, split: str | None) -> RowFile:
    if "split" in table.schema.names:
        return table

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        stored = [name for name in columns if name != "split"]
        for batch in table.batches(stored, rows):
            arrays = dict(zip(stored, batch.columns, strict=True))
            arrays["split"] = pa.array([split] * len(batch), pa.string())
            yield pa.record_batch([arrays[name] for name in columns], names=list(columns))

    schema = table.schema.append(pa.field("split", pa.string()))
    return replace(table, schema=schema, batches=batches)
