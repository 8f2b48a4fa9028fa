"""Retrieval tasks of this folder for the package mteb, which has to be installed; isotope has not.

Two lines evaluate a model on them:

    import mteb, runpy
    mteb.evaluate(model, runpy.run_path("mteb/tasks.py")["TASKS"])

TASKS are the two directions between texts and pictures. CAPTIONED are the same with the captions of
pictures beside them, where there are captions.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

RELEASE_FOLDER = Path(__file__).resolve().parent
LETTERS = {"t": "text", "i": "image"}


def language_codes(languages: list[str]) -> list[str]:
    """Return codes as mteb writes them (eng-Latn) of codes such as en; unknown ones are left out.

    A language whose script mteb does not know is taken to be written in Latin letters.
    """
    from mteb.languages import ISO_TO_LANGUAGE  # noqa: PLC0415

    three, scripts = _mapping("iso_639_1_to_3"), _mapping("iso_639_3_to_default_script")
    short = [code.partition("-")[0] for code in languages]
    long = [three.get(code, code) for code in short]
    codes = [f"{code}-{scripts.get(code, 'Latn')}" for code in long if code in ISO_TO_LANGUAGE]
    return list(dict.fromkeys(codes))


def _mapping(name: str) -> dict[str, str]:
    file = files("mteb.languages") / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def task(fields: dict[str, Any]) -> Any:  # noqa: ANN401 (a task of mteb)
    """Return the task of an entry of tasks.json."""
    from mteb import TaskMetadata  # noqa: PLC0415
    from mteb.abstasks.retrieval import AbsTaskRetrieval  # noqa: PLC0415

    category = fields["category"]
    values: dict[str, Any] = {
        "name": fields["name"],
        "dataset": {"path": str(RELEASE_FOLDER), "revision": fields["revision"]},
        "description": fields["description"],
        "reference": fields["homepage"] or None,
        "type": "Retrieval" if category == "t2t" else "Any2AnyRetrieval",
        "category": category,
        "modalities": [name for letter, name in LETTERS.items() if letter in category],
        "eval_splits": fields["splits"],
        "eval_langs": {fields["subset"]: language_codes(fields["languages"])},
        "main_score": "ndcg_at_10",
        "license": fields["licence_url"] or "not specified",
        "annotations_creators": "derived",
        "sample_creation": "found",
        "dialect": [],
        "bibtex_citation": "",
        "prompt": {"query": fields["prompt"]},
    }
    members = {"metadata": TaskMetadata(**values), "__module__": __name__}
    return type(fields["name"], (AbsTaskRetrieval,), members)()


def tasks(folder: Path) -> list[Any]:
    """Return the tasks of a folder; there are none beside this file in isotope itself."""
    listed = folder / "tasks.json"
    entries = json.loads(listed.read_text("utf-8")) if listed.is_file() else []
    return [task(entry) for entry in entries]


_ALL = tasks(RELEASE_FOLDER)
TASKS = _ALL[:2]
CAPTIONED = _ALL[2:]
