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
from typing import Any, cast

from mteb import TaskMetadata
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import PromptDict
from mteb.languages import ISO_TO_LANGUAGE, check_language_code
from mteb.types import Modalities

HERE = Path(__file__).resolve().parent


def _mapping(name: str) -> dict[str, str]:
    found = files("mteb.languages") / f"{name}.json"
    return json.loads(found.read_text("utf-8")) if found.is_file() else {}


def language_codes(languages: list[str]) -> list[str]:
    """Return codes as mteb writes them (eng-Latn) of codes such as en; unknown ones are left out.

    A language whose script mteb does not know is taken to be written in Latin letters.
    """
    three, scripts = _mapping("iso_639_1_to_3"), _mapping("iso_639_3_to_default_script")
    longs = [three.get(code.partition("-")[0], code.partition("-")[0]) for code in languages]
    codes = [f"{code}-{scripts.get(code, 'Latn')}" for code in longs if code in ISO_TO_LANGUAGE]
    for code in codes:
        check_language_code(code)
    return list(dict.fromkeys(codes))


def task(entry: dict[str, Any]) -> AbsTaskRetrieval:
    """Return the task of an entry of tasks.json."""
    category = entry["category"]
    letters: list[tuple[str, Modalities]] = [("t", "text"), ("i", "image")]
    licence = entry["licence_url"] or "not specified"
    metadata = TaskMetadata(
        name=entry["name"],
        dataset={"path": str(HERE), "revision": entry["revision"]},
        description=entry["description"],
        reference=entry["homepage"] or None,
        type="Retrieval" if category == "t2t" else "Any2AnyRetrieval",
        category=category,
        modalities=[name for letter, name in letters if letter in category],
        eval_splits=entry["splits"],
        eval_langs={entry["subset"]: language_codes(entry["languages"])},
        main_score="ndcg_at_10",
        license=licence,
        annotations_creators="derived",
        sample_creation="found",
        dialect=[],
        bibtex_citation="",
        prompt=cast("PromptDict", {"query": entry["prompt"]}),
    )
    made = type(entry["name"], (AbsTaskRetrieval,), {"metadata": metadata, "__module__": __name__})
    return made()


_ALL = [task(entry) for entry in json.loads((HERE / "tasks.json").read_text("utf-8"))]
TASKS = _ALL[:2]
CAPTIONED = _ALL[2:]
