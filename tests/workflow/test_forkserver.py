"""A program that is forked ends, is killed and sees its surroundings as one that is started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests import forkserver

ENDINGS = {
    "a status": "import sys; print('said'); sys.exit(3)",
    "words": "import sys; sys.exit('what went wrong')",
    "an error": "1 / 0",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "Ctrl-C": "raise KeyboardInterrupt",
    "a thread": "import threading, time; threading.Thread(target=lambda: (time.sleep(0.2),"
    " print('late'))).start()",
    "atexit": "import atexit; atexit.register(print, 'last')",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_with_the_same_status_and_words(ending: str, tmp_path: Path) -> None:
    words = ["-c", ENDINGS[ending]]
    forked = forkserver.run(["python", *words], cwd=tmp_path)
    started = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    assert forked.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]


def test_it_has_the_folder_the_arguments_and_the_environment_of_the_call(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys; print(os.getcwd(), sys.argv[1:], os.environ.get('OWN'), __name__)"
    )
    done = forkserver.run(["python", script, "one", "two"], cwd=tmp_path, env={"OWN": "mine"})
    assert done.stdout == f"{tmp_path} ['one', 'two'] mine __main__\n"
    bare = forkserver.run(["python", "-u", script], cwd=tmp_path, env={})
    assert bare.stdout == f"{tmp_path} [] None __main__\n"


def test_a_limit_of_file_sizes_is_its_own(tmp_path: Path) -> None:
    line = ["python", "-c", "from pathlib import Path; Path('file').write_bytes(bytes(2_000))"]
    limited = forkserver.run(line, cwd=tmp_path, largest_file=1_000)
    assert "File too large" in limited.stderr
    assert forkserver.run(line, cwd=tmp_path).returncode == 0


def test_it_is_killed_when_its_time_is_over(tmp_path: Path) -> None:
    line = ["python", "-c", "import os, time; print(os.getpid(), file=open('pid', 'w'), flush=True)"
            "; time.sleep(600)"]  # fmt: skip
    for seconds in (1, 10, 60):
        with pytest.raises(subprocess.TimeoutExpired):
            forkserver.run(line, cwd=tmp_path, timeout=seconds)
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    deadline = time.monotonic() + 30
    while psutil.pid_exists(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


# One system call: Python swallows Ctrl-C where it closes a file that nobody refers to.
WAITING = """import os, signal, sys, time
def end(*_):
    time.sleep(0.5)
    sys.exit(7)
for number in (signal.SIGTERM, signal.SIGINT) if sys.argv[1:] else ():
    signal.signal(number, end)
out = os.open('pid', os.O_CREAT | os.O_WRONLY)
os.write(out, str(os.getpid()).encode())
time.sleep(60)
"""


def process(place: Path) -> int:
    """The process of WAITING, when it waits."""
    while not (place / "pid").exists() or not (place / "pid").read_text():
        time.sleep(0.01)
    return int((place / "pid").read_text())


def demand_ended(process: int) -> None:
    deadline = time.monotonic() + 30
    while psutil.pid_exists(process):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_stand_ins_group_reaches_it(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [forkserver.stand_in("python"), "-c", WAITING],
        cwd=tmp_path,
        process_group=0,
        stderr=subprocess.DEVNULL,
    ) as run:
        forked = process(tmp_path)
        assert os.getpgid(forked) == run.pid
        os.killpg(run.pid, number)
        assert run.wait(30) == -number
    demand_ended(forked)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_may_tidy_up_after_a_signal_to_the_stand_ins_group(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = [forkserver.stand_in("python"), "-c", WAITING, "tidies up"]
    with subprocess.Popen(command, cwd=tmp_path, process_group=0) as run:
        process(tmp_path)
        os.killpg(run.pid, number)
        assert run.wait(30) == 7


def test_after_sigterm_to_the_stand_in_alone_both_end(tmp_path: Path) -> None:
    program = tmp_path / "python"
    forkserver.stand_in("python")
    forkserver.write_stand_in(program, forkserver.folder(), patience_s=1)
    with subprocess.Popen([program, "-c", WAITING], cwd=tmp_path, process_group=0) as run:
        forked = process(tmp_path)
        run.terminate()
        assert run.wait(30) == -signal.SIGTERM
    demand_ended(forked)
