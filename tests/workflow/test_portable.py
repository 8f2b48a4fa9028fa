"""What only Linux has is used where something else stands beside it: macOS has to do, too.

Calls and constants of Python's own modules are found by pyright, which reads all code as macOS
would. Here are paths, ways to start processes, options of programs, bash and make.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("workflow", "tests", "docs", ".ci")
PATHS = ("/proc/", "/sys/", "/dev/shm", "/run/", "/etc/os-release", "posix_fallocate")
# What looks for another way first, or stays on Linux, which is said there.
ALLOWED = {
    "workflow/lib/isotope/intake/decode.py": {"/proc/", "os.fork", "RLIMIT_AS"},
    "workflow/lib/isotope/core/system.py": {"posix_fallocate"},
    "tests/disks.py": {"/dev/shm"},
    # Pages and commands that are refused; below a folder that nobody may write.
    "tests/lib/cli/test_cli_bad.py": {"/proc/"},
    # Processes that use no library of the system before they fork.
    "tests/forkserver.py": {"os.fork"},
    "tests/lib/core/test_progress.py": {"os.fork"},
    # Slurm is Linux's.
    "tests/cluster/slurm.py": {"prctl"},
    # Names what it looks for.
    "tests/workflow/test_portable.py": set(PATHS),
    "tests/lib/core/test_system.py": {"posix_fallocate"},
}
PROGRAMS = {"setsid", "taskset", "nproc", "ldd", "timeout", "stdbuf", "mount", "unshare", "ionice"}
NAMES = {
    *("RLIMIT_AS", "RLIMIT_RSS", "prctl", "cpu_affinity", "ionice", "memory_maps", "rlimit"),
    *("io_counters", "memory_full_info", "sensors_temperatures"),
}


def tracked(*endings: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name.endswith(endings)]
    return [name for name in names if (ROOT / name).is_file()]


def of_linux(text: str) -> Iterator[str]:
    """What a module has that only Linux knows, by its syntax."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            value = f"{node.value}/"
            yield from (path for path in PATHS if value.startswith(path))
        elif isinstance(node, ast.Attribute):
            name = f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
            yield from {name} & {"os.fork", "os.forkpty"}
            yield from {node.attr} & NAMES
        elif isinstance(node, ast.Call) and node.args:
            called, first = ast.unparse(node.func), ast.unparse(node.args[0])
            if called.endswith("get_context") and first == "'fork'":
                yield f"context {first}"
            if called.endswith(("run", "Popen", "call", "check_output", "exec")):
                yield from {*re.findall(r"^\[?'(\w+)'", first)} & PROGRAMS


def test_no_module_uses_what_only_linux_has():
    found = {name: {*of_linux((ROOT / name).read_text("utf-8"))} for name in tracked(".py")}
    assert {name: what for name, what in found.items() if what} == ALLOWED


def test_what_only_linux_has_is_noticed():
    text = (
        'open("/proc/meminfo"); os.fork(); resource.RLIMIT_AS; libc.prctl(1)\n'
        'multiprocessing.get_context("fork"); run(["nproc"]); "/dev/shm"\n'
        'psutil.Process().cpu_affinity(); multiprocessing.get_context("forkserver")\n'
        'os.path.join("a", "/process"); run(["git", "mount"])\n'
        'getattr(os, "posix_fallocate", None)\n'
    )
    assert sorted(of_linux(text)) == sorted(
        {
            *("/proc/", "os.fork", "RLIMIT_AS", "prctl", "context 'fork'", "nproc", "/dev/shm"),
            *("cpu_affinity", "posix_fallocate"),
        }
    )


def test_pyright_reads_the_code_as_macos_would():
    """So a call that Linux alone has, as os.sched_getaffinity, is an error of `make lint`."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pyright"]
    assert told["pythonPlatform"] == "Darwin"
    assert {"workflow/lib", "workflow/plugins", "tests"} <= {*told["include"]}


# Options of the programs that macOS has in BSD's kind, by what they are there; bash is 3.2.
GNU = {
    "sed": r"\s-(i|r|z)\b|\s--|\\\+|\\\||\\s",
    "grep": r"\s-\w*P|\s--",
    "find": r"\s-printf\b|\s-regextype\b",
    "xargs": r"\s-(r|d|i)\b|\s--(?!\s)",
    "cp": r"\s--(?!\s)|\s-\w*[tT]\b",
    "mv": r"\s--(?!\s)|\s-\w*[tT]\b",
    "ln": r"\s--(?!\s)|\s-\w*[rT]\b",
    "readlink": r"\s-\w*[em]",
    "date": r"\s-(d|I)|\s--",
    "stat": r"\s-c|\s--",
    "sort": r"\s--",
    "head": r"\s-n\s*-|\s--",
    "touch": r"\s--(?!\s)|\s-d\b",
    "du": r"\s-\w*b|\s--",
    "mktemp": r"\s--|\s-p",
    "tar": r"\s--(?!null\b)",
    "ls": r"\s--",
    "bash": r"\b(mapfile|readarray|coproc)\b|\bdeclare -\w*A|\$\{\w+(,,|\^\^|@)|&>>|\|&|\bwait -n",
}


def gnu(lines: str) -> list[str]:
    """Commands of a script whose options only GNU's programs take, and bash later than 3.2."""
    joined = re.sub(r"\\\n\s*", " ", lines)
    code = re.sub(r"^\s*#.*$", "", joined, flags=re.MULTILINE)
    found = [program for program in PROGRAMS if re.search(rf"(^|[|;&(]\s*){program}\b", code, re.M)]
    found += re.findall(GNU["bash"], code)
    for command in re.split(r"\n|\|\||&&|[|;()]", code):
        # What stands in quotes is an expression of the program.
        words = re.sub(r"^(\s*(do|then|else|if|while|!|@|-|\w+=\S*))*\s*", "", command)
        program = words.partition(" ")[0]
        if program in GNU and re.search(GNU[program], words):
            found.append(command.strip())
    return found


SCRIPTS = ["Makefile", ".ci/run", ".ci/pythons", ".ci/find-python", *tracked(".sh")]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_has_options_of_gnu_or_words_of_a_late_bash(name):
    assert gnu((ROOT / name).read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "git ls-files -z | xargs -0 cp -P --parents -t x",
        "sed -i s/a/b/ f",
        "n=$(nproc)",
        "date -d yesterday",
        "if readlink -e f; then",
        "cat f | grep -oP a",
        "\thead -n -1 f",
        "mapfile -t x",
        'find . -name "a" -printf "%p"',
        "declare -A names",
        "timeout 5 make",
        "stat -c %s f",
    ],
)
def test_an_option_of_gnu_or_a_word_of_a_late_bash_is_noticed(line):
    assert gnu(line) != []


# By GNU make's NEWS; 3.81 is what macOS has.
LATE = {
    ".ONESHELL": r"^\.ONESHELL\b",
    ".SHELLFLAGS": r"^\.SHELLFLAGS\b",
    ".RECIPEPREFIX": r"^\.RECIPEPREFIX\b",
    "undefine": r"^(override )?undefine\b",
    "private": r"^\S.*:\s*private\b",
    "!=": r"^[\w.-]+\s*!=",
    "::=": r"::?:=",
    "define NAME =": r"^define \S+ *[:?+]?=",
    "$(file": r"\$\((file|guile|let|intcmp)\b",
    "&:": r"^\S.*\s&:",
    "load": r"^-?load\b",
    "--output-sync": r"^\t.*(--output-sync|--trace|--shuffle|\s-O)",
    ".WAIT": r"\.(WAIT|NOTINTERMEDIATE|EXTRA_PREREQS|LOADED|LIBPATTERNS)\b",
}
OF_4 = "$(if $(filter output-sync,$(.FEATURES)),--output-sync=target)"


def late(makefile: str) -> list[str]:
    text = makefile.replace(OF_4, "")
    return [what for what, pattern in LATE.items() if re.search(pattern, text, re.MULTILINE)]


def test_the_makefile_keeps_to_make_3_81():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert late(makefile) == []
    # That of macOS looks for programs on its own PATH unless the shell does.
    assert re.search(r"^SHELL := ", makefile, re.MULTILINE)


@pytest.mark.parametrize(
    "line",
    [
        *(".ONESHELL:", "files != ls", "a ::= b", "define a =", "\t$(file >x,y)", "a b &: c"),
        *("x: private y = 1", "undefine x", "\t$(MAKE) --output-sync=target x", ".WAIT:"),
    ],
)
def test_what_make_3_81_does_not_know_is_noticed(line):
    assert late(f"a:\n\techo\n{line}\n") != []
