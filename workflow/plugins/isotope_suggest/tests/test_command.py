"""`isotope suggest`: pictures for a section or a text, sections for a picture, JSON, a page."""

import io
import json
import sys
from pathlib import Path

import pytest
from workflow.plugins.isotope_suggest.tests import suggest_live
from workflow.plugins.isotope_suggest.tests.suggest_world import word

from isotope.cli import commands

TEXT = suggest_live.about(5)
ANSWER = {"image_id", "image_url", "file_page", "caption", "pages", "probability", "kind"} | {
    "reasons",
    "credit",
    "width",
    "height",
    "low",
    "high",
    "is_free",
}
SECTION_FIELDS = {"text_id", "page_title", "section_title", "page_url", "text", "probability"} | {
    "reasons",
    "is_open",
    "low",
    "high",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = suggest_live.project(tmp_path_factory.mktemp("command"))
    (folder / "section.txt").write_text(TEXT)
    (folder / "picture.webp").write_bytes(suggest_live.webp(3))
    return folder


@pytest.fixture
def ask(root, monkeypatch, capsys):
    """Run the command in the project; return its status and what it wrote."""
    monkeypatch.chdir(root)
    params = suggest_live.params()
    monkeypatch.setattr("isotope.params.files.load", lambda *_: params)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = commands.main(["suggest", "world", *arguments])
        return (status, *capsys.readouterr())

    return run


def piped(data: bytes, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))


def test_a_text_a_file_and_standard_input_have_the_same_answers(ask, monkeypatch):
    status, from_file, _ = ask("--text", "section.txt", "--json")
    piped(TEXT.encode(), monkeypatch)
    assert (status, ask("-", "--json")[1]) == (0, from_file)
    record = json.loads(from_file)
    assert set(record) == {"notes", "answers"}
    assert [set(answer) for answer in record["answers"]] == [ANSWER] * len(record["answers"])
    assert record["answers"][0]["image_id"] == "image-0005"


def test_the_terminal_gets_a_table_then_credit_lines_then_notes(ask):
    status, out, _ = ask("--section", "text-0081", "--top", "2")
    table, credits = out.split("\n\n")
    assert status == 0
    assert table.splitlines()[0].split() == ["chance", "caption", "page", "reasons"]
    assert f"a {word(81)} beside a {word(981)}" in table.splitlines()[1]
    assert len(table.splitlines()) == 3
    assert f" 1  Painter {word(81)}, CC BY-SA 4.0, https://x.org/File:{word(81)}.jpg" in credits
    assert f"https://upload.x.org/{word(81).title()}.jpg" in credits


def test_a_picture_gets_sections_by_id_or_from_a_file(ask):
    _, out, _ = ask("--image", "image-0101", "--json", "--top", "1")
    [section] = json.loads(out)["answers"]
    assert set(section) == SECTION_FIELDS
    assert (section["text_id"], section["is_open"]) == ("text-0101", True)
    status, out, _ = ask("--image", "picture.webp", "--top", "3")
    assert status == 0
    assert out.splitlines()[0].split() == ["chance", "section", "picture", "reasons"]
    assert len(out.partition("\n\n")[0].splitlines()) == 4


def test_a_page_of_the_answers_has_their_pictures_and_asks_nobody(ask, root):
    status, _, _ = ask("--text", "section.txt", "--html", "answers.html", "--top", "3")
    page = (root / "answers.html").read_text()
    assert status == 0
    assert page.count("data:image/webp;base64,") == page.count("<img ") == 3
    assert f"a {word(5)} beside a {word(905)}" in page
    assert "<script" not in page
    assert 'src="http' not in page


def test_the_wikis_own_way_is_a_system(ask):
    _, out, _ = ask("--section", "text-0084", "--system", "wikimedia", "--json")
    assert [a["probability"] for a in json.loads(out)["answers"]] == [0.8]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "BadArgument: isotope suggest: nothing to answer; name one of --section, --text, -"),
        (("-", "--image", "x"), "BadArgument: isotope suggest: - and --image together; name one"),
        (("--text", "none.txt"), "MissingFile: none.txt: no such file; check the path"),
        (("--text", "."), "Unreadable: .: is a directory; check the path"),
        (("--text", "picture.webp"), "BadQuery: picture.webp: no UTF-8"),
        (("--image", "section.txt"), "BadQuery: the picture: not a picture"),
        (("--image", "none.png"), "MissingFile: none.png: no such file; check the path"),
        (("--image", "nobody"), "UnknownId: nobody: collection world has no such picture"),
        (("--section", "nobody"), "UnknownId: section nobody: collection world has no such sect"),
        (("--text", "empty.txt"), "BadQuery: the text: it has no words; give the text of a sec"),
        (("--text", "section.txt", "--html", "."), "Unwritable: "),
    ],
)
def test_bad_input_gets_a_sentence_and_nothing_is_printed(ask, root, arguments, sentence):
    (root / "empty.txt").touch()
    status, out, message = ask(*arguments)
    assert (status, out) == (1, "")
    assert message.startswith(sentence)
    assert message.count("\n") == 1


def test_the_page_is_served_with_the_engine_and_closed_with_it(ask, monkeypatch):
    served = list[object]()

    def serve(engine, collection, assessor, listening) -> str:
        served.extend([engine.collection, collection, assessor, listening.getsockname()[0]])
        return "3 judged\n"

    monkeypatch.setattr("isotope_suggest.ask.app.serve", serve)
    assert ask("--serve", "--port", "0", "--assessor", "ann")[:2] == (0, "3 judged\n")
    assert served == ["world", "world", "ann", "127.0.0.1"]
