"""The check of prose: what it finds on a page, and what it lets be."""

from pathlib import Path

import pytest
from tests import prose

LONG = " ".join(["word"] * 41)
BEGINNING = "# Title\n\nAt the end you have a collection.\n\n"
GUIDE = f"{BEGINNING}```sh\nisotope\n```\n\n"


def problems(folder: Path, text: str, kind: str = "Reference") -> list[tuple[int, str]]:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/page.md").write_text(text, "utf-8")
    (folder / "docs/navigation.yaml").write_text(f"{kind}:\n- Group: [page.md]\n", "utf-8")
    return [(fault.line, fault.problem) for fault in prose.faults(folder)]


@pytest.mark.parametrize(
    "text",
    [
        f"```text\n{LONG}\n```\n",
        f"<!-- parameters a -->\n{LONG}\n<!-- /parameters -->\n",
        f"## {LONG}\n",
        f"Read `{LONG}`.\n",
        f"{LONG[:-5]}. {LONG[:-5]}.\n",
        f"{LONG[:-5]}.) {LONG[:-5]}.\n",
        f"| a | b |\n| --- | --- |\n| {LONG[:-5]} | {LONG[:-5]} |\n",
        f"* {LONG[:-5]}\n* {LONG[:-5]}\n",
        "What it is used to read; a grade that is no longer there.\n",
    ],
)
def test_code_generated_blocks_and_sentences_side_by_side_are_fine(tmp_path, text):
    assert problems(tmp_path, BEGINNING + text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}.\n",
        f"First. {LONG[: len(LONG) // 2]}\n{LONG[len(LONG) // 2 :]}\n",
        f"| a | b |\n| --- | --- |\n| x | {LONG} |\n",
        f"* {LONG}\n",
        f"Hu et al. [{LONG[:-10]}](page.md)\n",
        "They were formerly files.\n",
        "It Used to be a list.\n",
    ],
)
def test_a_long_sentence_and_a_word_of_history_are_found_wherever_they_stand(tmp_path, text):
    [(line, told)] = problems(tmp_path, BEGINNING + text)
    assert line == (7 if text.startswith("|") else 5)
    assert "words in a sentence" in told or "is history" in told


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n",
        "No title.\n",
        "# Title\n\n## Next\n\nText.\n",
        "# Title\n\n```sh\nisotope\n```\n",
        "# Title\n\n* One.\n",
        "# Title\n\nOne. Two.\n",
    ],
)
def test_a_page_that_does_not_begin_with_a_sentence_is_refused(tmp_path, text):
    [(_, told)] = problems(tmp_path, text)
    assert "begin with a sentence" in told


def test_a_guide_shows_code_early_and_other_pages_need_none(tmp_path):
    assert problems(tmp_path, BEGINNING) == []
    assert problems(tmp_path, GUIDE, prose.GUIDES) == []
    assert problems(tmp_path, GUIDE.replace("```sh", "\n" * 10 + "```sh"), prose.GUIDES) == []
    late = GUIDE.replace("```sh", "\n" * 11 + "```sh")
    assert problems(tmp_path, late, prose.GUIDES) == [
        (15, "a guide without code in its first 15 lines")
    ]


def test_each_page_of_docs_and_plug_ins_stands_once_in_the_navigation(tmp_path):
    plugin = tmp_path / "workflow/plugins/isotope_new/docs"
    plugin.mkdir(parents=True)
    (plugin / "new.md").write_text(BEGINNING, "utf-8")
    assert problems(tmp_path, BEGINNING) == [(1, "0 times in navigation.yaml: name it once there")]
    (plugin / "navigation.yaml").write_text("Reference: [new.md]\nExplanation: [new.md]\n")
    assert problems(tmp_path, BEGINNING) == [(1, "2 times in navigation.yaml: name it once there")]


def test_words_of_all_pages_are_counted_with_what_is_generated(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "MOST", 60)
    assert problems(tmp_path, BEGINNING) == []
    text = f"{BEGINNING}<!-- columns a -->\n{LONG}\n<!-- /columns -->\n\n```\n{LONG}\n```\n"
    [(_, told)] = problems(tmp_path, text)
    assert "more than 60" in told


def test_the_front_page_is_looked_at_and_the_program_tells_page_and_line(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "README.md").write_text(f"{BEGINNING}{LONG}\n", "utf-8")
    faults = prose.faults(tmp_path)
    monkeypatch.setattr(prose, "faults", lambda: faults)
    assert prose.main() == 1
    assert capsys.readouterr().out.startswith("README.md:5: 41 words in a sentence: word")
    monkeypatch.setattr(prose, "faults", list)
    assert prose.main() == 0
