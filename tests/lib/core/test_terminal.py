"""Nothing that data says reaches a terminal as a command."""

import io
import logging
import unicodedata
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.cli import commands
from isotope.core.progress import log, logged
from isotope.core.terminal import MachineText, printable, write

# Clears the screen, names the window, an 8-bit CSI, a bell, backspaces, a return, half an emoji.
HOSTILE = "a\x1b[2Jb\x1b]0;owned\x07c\x9b31md\b\be\rf\ud83dg"
SHOWN = r"a\x1b[2Jb\x1b]0;owned\x07c\x9b31md\x08\x08e\x0df\ud83dg"
# As a table of the catalog can have it.
STORED = HOSTILE.replace("\ud83d", "")


class Terminal(io.StringIO):
    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._encoding

    def isatty(self) -> bool:
        return True


@given(st.text(st.characters()))
def test_what_is_printed_has_no_control_but_tab_and_line_feed_and_can_be_encoded(text):
    shown = printable(text)
    shown.encode()
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs")}
    assert controls <= {"\t", "\n"}
    assert printable(shown) == shown


def test_text_of_every_language_stays_as_it_is():
    text = (
        "naïve \u05e2\u05d1\u05e8\u05d9\u05ea (1) \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0661"
    )
    text += " \u0645\u06cc\u200c\u0634\u0648\u062f \u65e5\u672c \U0001f469\u200d\U0001f680\tcell\n"
    assert printable(text) == text


# Of Unicode 15: Bidi_Control, the categories Zl and Zp, deprecated formats, annotations and tags.
UNSEEN = [
    *("\u061c", "\u200e", "\u200f", "\u2028", "\u2029"),
    *map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x2070), *range(0xFFF9, 0xFFFC)]),
    *map(chr, range(0xE0000, 0xE0080)),
]


@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_a_character_that_turns_ends_or_hides_a_line_unseen_is_an_escape(character):
    shown = character.encode("unicode_escape").decode()
    assert printable(f"photo{character}gpj.exe\n") == f"photo{shown}gpj.exe\n"


def test_no_character_left_as_it_is_has_a_direction_to_impose():
    forced = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "B"}
    left = {c for c in map(chr, range(0x110000)) if printable(c) == c and c != "\n"}
    assert not [c for c in left if unicodedata.bidirectional(c) in forced]
    assert not [c for c in left if unicodedata.category(c) in ("Zl", "Zp")]


def test_data_for_programs_is_changed_on_a_terminal_only():
    file, terminal = io.StringIO(), Terminal()
    for stream in (file, terminal):
        write(MachineText("a,\x1b[1m\r\n"), stream)
    assert [file.getvalue(), terminal.getvalue()] == ["a,\x1b[1m\r\n", "a,\\x1b[1m\\x0d\n"]


def test_a_character_that_the_terminal_cannot_have_is_an_escape():
    terminal = Terminal("ascii")
    write("Ω fits\n", terminal)
    assert terminal.getvalue() == "\\u03a9 fits\n"


def test_a_log_and_the_errors_of_a_job_show_what_data_says_as_text(tmp_path, capsys):
    # pytest's workers can't send half a letter, which a record of the log would have.
    hostile, shown = STORED, SHOWN.replace(r"\ud83d", "")
    with logged(tmp_path / "job.log", "parse_pairs"):
        log.warning("row 3: %s", hostile)
    assert shown in (tmp_path / "job.log").read_text("utf-8")
    assert shown in capsys.readouterr().err


@pytest.mark.parametrize("is_full", [True, False])
def test_the_lines_of_a_run_show_what_data_says_as_text(is_full, tmp_path, monkeypatch):
    plugin = pytest.importorskip("snakemake_logger_plugin_isotope")
    settings = pytest.importorskip("snakemake.settings.types")
    monkeypatch.chdir(tmp_path)
    handler = plugin.LogHandler(settings.OutputSettings(dryrun=is_full), None)
    stream = Terminal()
    handler._stream = handler._screen._stream = stream
    handler._plain.stream, handler._plain.nocolor = stream, True
    handler.emit(logging.LogRecord("x", logging.ERROR, "f", 1, f"no file {HOSTILE}", (), None))
    handler.close()
    assert SHOWN in stream.getvalue()


def test_a_run_that_an_overlay_has_stopped_before_it_began_is_closed_without_a_word(
    tmp_path, monkeypatch, capsys
):
    plugin = pytest.importorskip("snakemake_logger_plugin_isotope")
    settings = pytest.importorskip("snakemake.settings.types")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text("a: [")
    monkeypatch.setattr("sys.argv", ["snakemake", "--configfile", "own.yaml"])
    handler = plugin.LogHandler.__new__(plugin.LogHandler)
    with pytest.raises(SystemExit):
        handler.__init__(settings.OutputSettings(), None)
    capsys.readouterr()
    # As `logging.shutdown` does, if the handler is still known then.
    handler.close()
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def catalog(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("results/catalog.duckdb")
    path.parent.mkdir()
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT ? AS caption", [STORED])
    return path


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_sql_prints_a_hostile_caption_as_text(form, catalog, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    assert commands.main(["sql", "--format", form, "FROM t"]) == 0
    printed = terminal.getvalue()
    assert "owned" in printed
    assert not {"\x1b", "\x07", "\x9b", "\b", "\r"} & {*printed}


def test_an_error_of_a_command_shows_a_hostile_name_as_text(catalog, capsys):
    assert commands.main(["sql", f'SELECT "{STORED}"']) == 1
    printed = capsys.readouterr().err
    assert "owned" in printed
    assert "\x1b" not in printed


def test_init_prints_a_hostile_caption_and_column_as_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"p{n}.jpg,{STORED.replace(chr(13), '')} {n}" for n in range(12)]
    Path("c.csv").write_text("file,caption\x1b[5m\n" + "\n".join(rows) + "\n", "utf-8")
    commands.main(["init", "c.csv"])
    out, err = capsys.readouterr()
    assert "owned" in out + err
    assert not {"\x1b", "\x07", "\x9b"} & {*out, *err}
