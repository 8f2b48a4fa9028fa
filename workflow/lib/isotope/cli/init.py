"""`isotope init`: look at somebody's data, and propose what its columns are."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from isotope.cli.guess import GuessedColumn, guess, is_url, refused
from isotope.cli.guess import languages as by_names
from isotope.cli.languages import spoken
from isotope.cli.places import PictureNames, beside, pictures_in
from isotope.cli.tally import Tally, values_of
from isotope.cli.understanding import Languages, Understanding, Unused, UserAnswers
from isotope.core.errors import BadArgument, EmptyTable, MissingColumn, MissingFile
from isotope.core.progress import Progress
from isotope.core.schemas import SEVERAL
from isotope.params.messages import suggest
from isotope.params.pairs import IR_DATASETS, NONE, URLS
from isotope.parse.forms import ROLES, Form, Rejection, form_of
from isotope.parse.forms.base import FILE, QUERY_ID, ROW
from isotope.parse.forms.texts import root_of
from isotope.schemas.collect import IMAGES, OPTIONAL, TEXTS

SHOWN = 10
_SAMPLE = 2_000
_SEVERAL = ("text", "caption")
_TAKEN = frozenset((*TEXTS.names, *IMAGES.names, *OPTIONAL.names, "licence"))
_VALUE = re.compile(
    r"-?\d+([.,]\d+)?|\d{4}-\d{2}-\d{2}.*|.*\.(jpe?g|png|webp|gif|tiff?)|https?:.*", re.I
)


def understand(question: UserAnswers) -> Understanding:
    """Look at all of the data.

    Raises:
        MissingFile: data or pictures that are not there.
        UnknownForm: data of no form that isotope reads.
        MissingColumn: a column of `--columns` that is not there, with the likely spelling; no
            column that looks like a picture or a text.
        BadArgument: a role that nobody knows.
        EmptyTable: data without a row.
        CorruptFile: data that can't be read.
    """
    paths = paths_of(question.table)
    form = form_of(paths, question.form)
    options = _options(form, paths)
    first = next(form.read(paths, options, []), None)
    if first is None or not len(first):
        raise EmptyTable(question.table, "no row that can be read", "give data with rows")
    within = next(iter(form.pictures(paths, options)), None) is not None
    location, pictures = _pictures_of(question, first, within=within)
    if within and form.has_files:
        pictures = pictures_in(root_of(paths))
    roles = _roles(question, form, first, pictures)
    location = location or _elsewhere(first, roles, within=within)
    set_by_form = {"form": [*form.roles.values(), QUERY_ID]}
    keep, unused = _travelling(first, {**set_by_form, **roles})
    languages, rejected = _languages(question, first, roles), list[Rejection]()
    tally, rows = Tally(roles, pictures, languages.columns), list[Mapping[str, object]]()
    progress = Progress("rows looked at")
    for batch in form.read(paths, options, rejected):
        records = batch.to_pylist()
        rows += [_shown(record, roles) for record in records[: SHOWN - len(rows)]]
        for record in records:
            tally.add(record)
        progress.add(len(records))
    progress.finish()
    counts = tally.counts(len(rejected), is_known=pictures is not None or within)
    read = roles, keep, unused, languages
    return Understanding(question, paths, form, options, *read, location, counts, rows)


def paths_of(table: str) -> list[Path]:
    """Return the files or folder that a user means: a path, a pattern, an id of `ir_datasets`.

    Raises:
        MissingFile: nothing of this name.
        BadArgument: a name with braces, which params take for a name of their own.
    """
    if {*table} & {*"{}"}:
        raise BadArgument("TABLE", f"{table!r} has braces in it", "rename it")
    if table.startswith(IR_DATASETS):
        return [Path(table)]
    path = Path(table)
    if path.exists():
        return [path]
    matches = sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
    if "*" in table and matches:
        return matches
    near = [sibling.name for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
    raise MissingFile(path, "no such file or folder", suggest(path.name, near))


def _options(form: Form, paths: Sequence[Path]) -> dict[str, Any]:
    """Return what the data asks for: no header where the first line is a row, quotes of a TSV."""
    if "header" not in form.options:
        return {}
    options: dict[str, Any] = {}
    lines = next(form.read(paths, {"header": False}, []), None)
    first = lines.slice(0, 1).to_pylist()[0] if lines is not None else {}
    fields = [str(value) for name, value in first.items() if name not in (FILE, ROW)]
    if any(_VALUE.fullmatch(value) for value in fields):
        options["header"] = False
    if form.name == "tsv" and _rejections(form, paths, options):
        quoted = options | {"quote": '"'}
        options = quoted if not _rejections(form, paths, quoted) else options
    return options


def _rejections(form: Form, paths: Sequence[Path], options: Mapping[str, Any]) -> int:
    rejected: list[Rejection] = []
    next(form.read(paths, options, rejected), None)
    return len(rejected)


def _columns(batch: pa.RecordBatch) -> list[GuessedColumn]:
    sample = batch.slice(0, _SAMPLE)
    names = [name for name in batch.schema.names if name not in (FILE, ROW)]
    return [GuessedColumn(n, batch.schema.field(n).type, sample[n].to_pylist()) for n in names]


def _pictures_of(
    question: UserAnswers, first: pa.RecordBatch, *, within: bool
) -> tuple[str | None, PictureNames | None]:
    """Return where pictures lie, as the overlay says it, and which there are."""
    if question.pictures is not None:
        return question.pictures, pictures_in(Path(question.pictures))
    if within or question.table.startswith(IR_DATASETS):
        return None, None
    folder = beside(Path(question.table), [v for c in _columns(first) for v in c.texts])
    return (str(folder), pictures_in(folder)) if folder else (None, None)


def _elsewhere(
    first: pa.RecordBatch, roles: Mapping[str, Sequence[str]], *, within: bool
) -> str | None:
    """Return what the overlay says of pictures of which no place is known."""
    names = roles.get("image")
    values = [str(v) for v in first[names[0]].to_pylist() if v is not None] if names else []
    if values and all(map(is_url, values)):
        return URLS
    return None if within and names else NONE


def _roles(
    question: UserAnswers, form: Form, first: pa.RecordBatch, pictures: PictureNames | None
) -> dict[str, list[str]]:
    """Return the columns of each role: those said, those of the form, and guesses."""
    columns = _columns(first)
    stated = _columns_said(question, [column.name for column in columns])
    taken = {name for names in stated.values() for name in names}
    filled = {column.name for column in columns if column.filled}
    set_by_form = {
        role: [name]
        for role, name in form.roles.items()
        if name in filled and name not in taken and role not in stated
    }
    taken |= {name for names in set_by_form.values() for name in names}
    left = [column for column in columns if column.name not in taken]
    guessed = guess(
        left, pictures.has_picture if pictures else None, settled={*set_by_form, *stated}
    )
    if set_by_form:
        guessed = {role: names for role, names in guessed.items() if _is_free(role, set_by_form)}
    roles = {**guessed, **set_by_form, **stated}
    if "image" in stated and "image_id" not in stated and "image_id" in guessed:
        roles["image_id"] = guessed["image_id"]
    _demand(question.table, roles, [column.name for column in columns])
    return {role: roles[role] for role in ROLES if role in roles}


def _is_free(role: str, set_by_form: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a role may be guessed beside what the form says: ids go with what they name."""
    return role not in set_by_form and not (
        role in ("image_id", "text_id") and role[:-3] in set_by_form
    )


def _columns_said(question: UserAnswers, names: Sequence[str]) -> dict[str, list[str]]:
    for role, columns in question.columns.items():
        if role not in ROLES:
            raise BadArgument("--columns", f"no role {role!r}", suggest(role, ROLES))
        if len(columns) > 1 and role not in _SEVERAL:
            problem = f"{role} is several columns"
            raise BadArgument("--columns", problem, f"only {' and '.join(_SEVERAL)} may be")
        for column in columns:
            if column not in names:
                problem, parts = f"no column {column!r}", column.split(",")
                if len(parts) > 1 and {part.strip() for part in parts} <= {*names}:
                    assignments = " ".join(f"{role}={part.strip()}" for part in parts)
                    raise BadArgument("--columns", problem, f"of several columns say {assignments}")
                raise MissingColumn(question.table, problem, suggest(column, names))
    return {role: [*columns] for role, columns in question.columns.items()}


def _demand(table: str, roles: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    lacking = [role for role in ("image", "text") if not {role, f"{role}_id"} & {*roles}]
    if lacking:
        problem = f"no column of {', '.join(names)} looks like the {lacking[0]}"
        raise MissingColumn(table, problem, f"say which is: --columns {lacking[0]}=COLUMN")


def _travelling(
    first: pa.RecordBatch, roles: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], Unused]:
    """Return columns that travel along, with the picture if equal in all its rows, or the text.

    And those that do not, with why.
    """
    used = {name for names in roles.values() for name in names}
    all_columns = _columns(first)
    columns = [column for column in all_columns if column.name not in used]
    key = next((roles[role][0] for role in ("image", "image_id") if role in roles), None)
    keys = first.slice(0, _SAMPLE)[key].to_pylist() if key else []
    travelling: dict[str, list[str]] = {"image": [], "text": []}
    unused: dict[str, str] = {}
    for column in columns:
        why = _unfit(column)
        if why:
            unused[column.name] = why
            continue
        pairs = {(k, repr(v)) for k, v in zip(keys, column.values, strict=True)} if keys else set()
        travelling["image" if keys and len(pairs) == len(set(keys)) else "text"].append(column.name)
    sides = {side: names for side, names in travelling.items() if names}
    return sides, Unused(unused, refused(all_columns, roles))


def _unfit(column: GuessedColumn) -> str:
    """Return why a column can't travel along; empty if it can."""
    if not column.filled:
        return "empty"
    if column.name.lower() in _TAKEN:
        return "the collection has a column of this name: rename it to keep it"
    if not re.fullmatch(r"[^\W\d_]\w*", column.name):
        return "its name is not of letters, digits and _: rename it to keep it"
    return ""


def _languages(
    question: UserAnswers, first: pa.RecordBatch, roles: Mapping[str, Sequence[str]]
) -> Languages:
    """Return the languages of texts: those said, by names of columns, by a column, by words."""
    texts = [*roles.get("text", ()), *roles.get("caption", ())]
    stated = dict(language.split("=", 1) for language in question.languages if "=" in language)
    for name in stated:
        if name not in texts:
            problem = f"{name!r} is no column of texts or captions"
            raise BadArgument("--language", problem, suggest(name, texts))
    codes_stated = [code for code in question.languages if "=" not in code]
    if codes_stated:
        return Languages(codes_stated[-1], stated, "said")
    columns = {**by_names(texts), **stated}
    if "language" in roles:
        codes = first[roles["language"][0]].drop_null().unique().to_pylist()
        return Languages(str(codes[0]) if len(codes) == 1 else SEVERAL, columns, "its column")
    by_words = {c.name: spoken(c.texts) for c in _columns(first) if c.name in texts}
    problem = {name: code for name, code in by_words.items() if code} | columns
    if len({*problem.values()}) > 1:
        return Languages(SEVERAL, problem, "names" if columns == problem else "words")
    if problem:
        return Languages(next(iter(problem.values())), {}, "names" if columns else "words")
    return Languages(None, {}, "")


def _shown(record: Mapping[str, Any], roles: Mapping[str, Sequence[str]]) -> dict[str, object]:
    shown: dict[str, object] = {"row": f"{record[FILE]}:{record[ROW]}"}
    for role, names in roles.items():
        values = values_of(record, names)
        shown[role] = values if len(values) > 1 else next(iter(values), None)
    return shown
