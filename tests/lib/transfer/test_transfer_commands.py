"""Commands push and pull: where the remote is from, what a terminal shows, what Ctrl-C leaves."""

import io
import signal
import subprocess
import sys
import time

import pytest
from tests.transfers import ISOTOPE, contents, push

from isotope.cli import commands
from isotope.transfer import sizes


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_remote(monkeypatch):
    monkeypatch.delenv("ISOTOPE_REMOTE", raising=False)


def test_the_remote_is_that_of_the_command_the_environment_or_the_params(
    project, elsewhere, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(project)
    assert commands.main(["push"]) == 1
    assert "no remote; name one, or set ISOTOPE_REMOTE, or `remote`" in capsys.readouterr().err
    (project / "params.yaml").write_text(f"remote: {tmp_path / 'of-params'}\n")
    assert commands.main(["push"]) == 0
    monkeypatch.setenv("ISOTOPE_REMOTE", str(tmp_path / "of-environment"))
    assert commands.main(["push"]) == 0
    assert commands.main(["push", str(tmp_path / "of-command"), "collect"]) == 0
    assert [len([*tmp_path.glob(f"of-{who}/files/*/*")]) for who in ("params", "environment")] == [
        12,
        12,
    ]
    assert len([*tmp_path.glob("of-command/files/*/*")]) == 3
    monkeypatch.chdir(elsewhere)
    assert commands.main(["pull"]) == 0
    assert contents(elsewhere) == contents(project)
    (project / "params.yaml").write_text("remote: [a, b]\n")
    monkeypatch.delenv("ISOTOPE_REMOTE")
    monkeypatch.chdir(project)
    assert commands.main(["push"]) == 1
    assert "BadParams: params.yaml: remote: no address: ['a', 'b']" in capsys.readouterr().err


def test_a_list_has_the_versions_and_what_they_have(project, tmp_path, capsys):
    push(project, tmp_path / "remote", version="one")
    push(project, tmp_path / "remote", "data/collect", version="two")
    assert commands.main(["pull", str(tmp_path / "remote"), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == ["one", "two"]
    assert "    data/collect/toy: 2 files, 8.0 kB" in lines
    assert len([line for line in lines if line.startswith("    data/acquire/wiki")]) == 1


def test_a_terminal_shows_size_rate_and_time_left_and_clears_the_line(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sizes, "_MOMENT_S", 0)
    with sizes.counted("fetched", 5_000_000) as progress:
        progress.resume(1_000_000)
        time.sleep(0.01)
        progress.add(1_500_000)
    shown = stream.getvalue().split("\r\x1b[K")
    assert shown[1].startswith("fetched: 2.5 MB of 5.0 MB (50%), ")
    assert shown[1].endswith(" s left")
    assert "/s, " in shown[1]
    assert shown[-1] == ""


def test_a_file_shows_no_line_that_moves(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sizes, "_MOMENT_S", 0)
    with sizes.counted("sent", 10) as progress:
        progress.add(10)
    assert sys.stderr.getvalue() == ""  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 B"), (812, "812 B"), (1_400, "1.4 kB"), (23e9, "23 GB"), (4.2e17, "420 PB")],
)
def test_sizes_are_told_in_two_figures(count, told):
    assert sizes.size_of(count) == told


def test_ctrl_c_ends_it_at_once_and_the_same_command_goes_on(many, tmp_path):
    remote = tmp_path / "remote"
    command = [*ISOTOPE, "push", str(remote), "--jobs", "1"]
    with subprocess.Popen(command, cwd=many, stderr=subprocess.PIPE, text=True) as process:
        limit = time.monotonic() + 60
        while process.poll() is None and not [*remote.glob("files/*/*")]:
            assert time.monotonic() < limit
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    if process.returncode:  # it may have ended before
        assert process.returncode == 130
        assert said.splitlines() == ["interrupted; run again to go on"]
        assert not [*remote.glob("incoming/*")]
    assert push(many, remote).startswith(("Sent ", "Nothing to send"))
