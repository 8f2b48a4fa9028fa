"""Programs of the environment, forked from a process that has already imported what they import.

A plan by `snakemake -n` takes a second, and starting Python with Snakemake, polars and the library
takes three more. The server imports them once in a session of tests; `run` is `subprocess.run` for
the programs of PROGRAMS, and each run is a process of its own: its arguments, folder, environment,
files, process group and exit status are those of a program that was started.

A forked process shares the server's hash seed, and the modules as they were when it started; where
its PYTHONPATH names another isotope, it imports that one. The demo, and one of the layouts that are
compared byte by byte, are built by processes of their own.
"""

import array
import atexit
import fcntl
import gc
import importlib
import json
import os
import random
import re
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
# The entry points, and `python` for scripts and modules.
PROGRAMS = {
    "snakemake": "snakemake.cli:main",
    "dvc": "dvc.cli:main",
    "isotope": "isotope.cli:main",
    "python": "",
}
IMPORTED = (
    "snakemake.cli",
    "snakemake.api",
    "snakemake.script",
    "polars",
    "duckdb",
    "torch",
    "matplotlib.backends.backend_svg",
    "dvc.cli",
    "smart_open",
)
FOLDER = "ISOTOPE_TESTS_FORKSERVER"
START_S = 600
# Seconds that a program has to end after SIGTERM to its stand-in: those of torchrun.
PATIENCE_S = 30
_SIZE = 4
# The modules of isotope and of plug-ins.
_OURS = re.compile(r"isotope(_\w+)?(\.|$)")


# The client.


def run(  # noqa: PLR0913
    words: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    merged: bool = False,
    jobs: bool = False,
    largest_file: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program of PROGRAMS as `subprocess.run(..., capture_output=True, text=True)` does.

    Args:
        words: the program's name and its arguments.
        cwd: its working directory.
        env: its environment; that of this process by default.
        timeout: seconds after which it is killed.
        merged: whether the standard error goes where the standard output goes.
        jobs: whether the programs that it starts are forked too: Snakemake's jobs, DVC's stages.
        largest_file: its RLIMIT_FSIZE, bytes.

    Raises:
        subprocess.TimeoutExpired: the time is over; the process has been killed.
    """
    argv = [str(word) for word in words]
    asked = {"argv": argv, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    asked |= {"group": os.getpgrp(), "jobs": jobs, "largest_file": largest_file}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _connection() as link:
        with Path(os.devnull).open("rb") as none:
            _send(link, asked, [none.fileno(), out.fileno(), (out if merged else err).fileno()])
        link.settimeout(timeout)
        try:
            code = json.loads(_received(link))
        except TimeoutError:
            raise subprocess.TimeoutExpired(argv, timeout) from None
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess(argv, code, *texts)


def stand_in(program: str) -> Path:
    """An executable that is one of PROGRAMS and has it forked, with all that it starts.

    It is for `subprocess.Popen`; the program is in its process group if they share the session.
    """
    _connection().close()
    return folder() / "bin" / program


def spent() -> list[float]:
    """CPU seconds of each program that was forked in this session, without those it had forked."""
    path = folder() / "spent"
    lines = path.read_text().splitlines() if path.exists() else []
    return [float(line.split()[0]) for line in lines]


def folder() -> Path:
    """The folder of the session's server: the socket, the log, the stand-in for Python."""
    return Path(os.environ[FOLDER])


def _connection() -> socket.socket:
    """Connect to the server of the session, which the first one who asks starts."""
    place = folder()
    link = socket.socket(socket.AF_UNIX)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "ready").exists():
            _start(place)
    link.connect(str(place / "socket"))
    return link


def _start(place: Path) -> None:
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'workflow/lib'}"}
    line = command(place)
    with (place / "log").open("w") as log:
        output = [(os.POSIX_SPAWN_DUP2, log.fileno(), number) for number in (1, 2)]
        server = os.posix_spawn(sys.executable, line, env, file_actions=output)
    deadline = time.monotonic() + START_S
    while not (place / "ready").exists():
        if os.waitpid(server, os.WNOHANG)[0] or time.monotonic() > deadline:
            raise RuntimeError(f"the fork server did not start: {(place / 'log').read_text()}")
        time.sleep(0.02)


def command(place: Path) -> list[str]:
    """The command of a server; it is ready when a file of that name is in its folder."""
    owner = os.environ.get(f"{FOLDER}_OWNER", str(os.getpid()))
    return [sys.executable, __file__, "--serve", str(place), owner]


def _send(link: socket.socket, asked: dict[str, Any], files: list[int]) -> None:
    data = json.dumps(asked).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
    link.sendmsg([len(data).to_bytes(_SIZE, "big")], rights)
    link.sendall(data)


def _received(link: socket.socket) -> bytes:
    data = link.recv(64)
    if not data:
        raise RuntimeError(f"the fork server is gone: {(folder() / 'log').read_text()}")
    return data


# The server.


def serve(place: Path, owner: int) -> None:
    """Import, then fork for every request, until the process that owns the session has ended."""
    os.chdir(ROOT)
    _warm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = (ROOT / "workflow/lib", Path(__file__).parent)
    # The library comes last, where an editable installation puts it.
    base = [*(path for path in sys.path if Path(path).resolve() not in own), str(own[0])]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place / "socket"))
    listener.listen(64)
    gc.collect()
    gc.freeze()
    (place / "ready").touch()
    while _alive(owner):
        if not select.select([listener], [], [], 1.0)[0]:
            continue
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _attend(link, base, place)
        link.close()


def _warm() -> None:
    """Import, and compute what every plan computes first: the plugins, what functions depend on.

    All of the library is imported, with what encodes and trains: that is seconds a job.
    """
    for name in IMPORTED:
        importlib.import_module(name)
    for kind in ("executor", "storage", "report", "logger", "scheduler"):
        registry = importlib.import_module(f"snakemake_interface_{kind}_plugins.registry")
        getattr(registry, f"{kind.title()}PluginRegistry")()
    provenance = importlib.import_module("isotope.core.provenance")
    library = ROOT / "workflow/lib/isotope"
    for path in sorted(library.rglob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            module = ".".join(path.relative_to(library).with_suffix("").parts)
            importlib.import_module(f"isotope.{module}")
            provenance.closure(module)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _attend(link: socket.socket, base: list[str], place: Path) -> NoReturn:
    """Run the program in a process, tell its exit status; without its client it is killed."""
    ended, wakeup = _heard_children()
    head, rights, *_ = link.recvmsg(_SIZE, socket.CMSG_SPACE(3 * _SIZE))
    files = array.array("i", rights[0][2]).tolist()
    data = b""
    while len(data) < int.from_bytes(head, "big"):
        data += link.recv(65_536)
    asked = json.loads(data)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (link, ended, wakeup):
            end.close()
        _become(asked, files, base, place)
    for file in files:
        os.close(file)
    if link in select.select([link, ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    _note_spent(asked, place)
    try:
        link.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())
    except OSError:
        os._exit(1)
    os._exit(0)


def _heard_children() -> tuple[socket.socket, socket.socket]:
    """Return what can be read from as soon as a child has ended, and what is written to then."""
    ended, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup.fileno())
    return ended, wakeup


def _note_spent(asked: dict[str, Any], place: Path) -> None:
    """Note the CPU seconds of a process that has ended, the start of its line, and the test."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = " ".join(asked["argv"][:4]).encode("unicode_escape").decode()
    test = asked["env"].get("PYTEST_CURRENT_TEST", "")
    with (place / "spent").open("a") as spent:
        spent.write(f"{used.ru_utime + used.ru_stime:.2f}\t{line}\t{test}\n")


def _become(asked: dict[str, Any], files: list[int], base: list[str], place: Path) -> NoReturn:
    """Be the program, from its arguments to its exit status."""
    try:
        os.setpgid(0, asked["group"])
    except OSError:
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (
        open(n, "r" if n == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        for n in range(3)
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    if asked["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest_file"],) * 2)
    random.seed()
    program, arguments = Path(asked["argv"][0]).name, asked["argv"][1:]
    sys.orig_argv = [sys.executable, *arguments]
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *base]
    snakemake = program == "snakemake" or arguments[:2] == ["-m", "snakemake"]
    if asked["jobs"] and (snakemake or program != "python"):
        os.environ["PATH"] = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        sys.executable = str(place / "bin/python") if snakemake else sys.executable
    _heed(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    _end(lambda: _main(program, arguments))


def _heed(paths: Iterable[str]) -> None:
    """Take from the folders of PYTHONPATH what has been imported, or run, without them: another
    isotope, and what is installed there, which may be a plug-in.
    """
    for path in map(Path, paths):
        if (custom := path / "sitecustomize.py").exists():
            exec(compile(custom.read_text(), str(custom), "exec"), {})
        is_other = (path / "isotope").is_dir() and not (ROOT / "workflow/lib").samefile(path)
        if is_other or any(path.glob("*.dist-info")):
            for name in [name for name in sys.modules if _OURS.match(name)]:
                del sys.modules[name]


def _main(program: str, arguments: list[str]) -> object:
    """Run an entry point, or what follows `python`."""
    if entry := PROGRAMS[program]:
        sys.argv = [str(BIN / program), *arguments]
        module, _, name = entry.partition(":")
        return getattr(importlib.import_module(module), name)()
    if arguments[0] == "-u":
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        arguments = arguments[1:]
    if arguments[0] == "-m":
        sys.argv = [arguments[1], *arguments[2:]]
        sys.path.insert(0, str(Path.cwd()))
        return runpy.run_module(arguments[1], run_name="__main__", alter_sys=True) and None
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        return None
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).parent))
    runpy.run_path(arguments[0], run_name="__main__")
    return None


def _end(main: Callable[[], object]) -> NoReturn:
    """End the process as the interpreter does after `sys.exit(main())`."""
    code: object
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
    threading._shutdown()  # pyright: ignore
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF if isinstance(code, int) else 0 if code is None else 1)


# The stand-ins: what a forked program starts by name, or as `sys.executable`, is forked too.

STAND_IN = """#!{python} -ISs
import array, json, os, signal, socket, sys
# What is sent to the group reaches the program, which says how it ends. SIGTERM may be for the
# stand-in alone, or the program in another session: it is killed with the stand-in, in the end.
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, lambda *_: signal.alarm({patience_s}))
def leave(*_):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
signal.signal(signal.SIGALRM, leave)
link = socket.socket(socket.AF_UNIX)
link.connect({socket!r})
asked = {{"argv": sys.argv, "cwd": os.getcwd(), "env": dict(os.environ)}}
asked |= {{"group": os.getpgrp(), "jobs": True, "largest_file": None}}
data = json.dumps(asked).encode()
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
link.sendmsg([len(data).to_bytes({size}, "big")], rights)
link.sendall(data)
code = json.loads(link.recv(64))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def prepare(place: Path) -> None:
    """Make the folder of a session's server, and name it to this process and its children."""
    furnish(place)
    os.environ[FOLDER] = str(place)
    os.environ[f"{FOLDER}_OWNER"] = str(os.getpid())


def furnish(place: Path) -> None:
    """Make the folder of a server, with the stand-ins whose programs it forks."""
    (place / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        write_stand_in(place / "bin" / name, place)


def write_stand_in(program: Path, place: Path, patience_s: int = PATIENCE_S) -> None:
    """Write a stand-in of the server in a folder, named as the program that it has forked."""
    socket_file = str(place / "socket")
    asking = {"python": sys.executable, "socket": socket_file, "size": _SIZE}
    program.write_text(STAND_IN.format(**asking, patience_s=patience_s))
    program.chmod(0o755)


if __name__ == "__main__":
    serve(Path(sys.argv[2]), int(sys.argv[3]))
