"""Claims of docs/security.md that are about the program as a whole."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracekit.intake import Options, ingest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")

#: What brings code or data in from elsewhere, or runs text.
NOT_IMPORTED = frozenset(
    (
        "code",
        "codeop",
        "ctypes",
        "dill",
        "ftplib",
        "http",
        "marshal",
        "pickle",
        "poplib",
        "requests",
        "runpy",
        "shelve",
        "smtplib",
        "socket",
        "socketserver",
        "ssl",
        "telnetlib",
        "urllib",
        "webbrowser",
        "xml",
        "xmlrpc",
        "yaml",
    )
)
NOT_CALLED = frozenset(("eval", "exec", "compile", "__import__", "system", "popen"))
#: Where a rule is not held, and why that is safe.
EXCEPTED = {
    ("tracekit/conformance.py", "pickle"): "tests of parsers: our own bytes, as between processes",
    ("tracekit/intake/worker.py", "pickle"): "whether an error of ours can leave a worker: its own",
    ("tracekit/bucket.py", "urllib"): "undoes the escapes of names in links",
    ("tracekit/compiled/__init__.py", "ctypes"): "our own library, from our own package",
    ("tracekit/compiled/arrays.py", "ctypes"): "tells numpy to have it manage memory",
    ("tracekit/intake/threads.py", "ctypes"): "tells glibc which blocks of memory to keep apart",
    ("tracekit/reading/chrome/scanner.py", "ctypes"): "calls it",
    ("parsers/perf_stat/scanning.py", "ctypes"): "calls it",
    ("parsers/tensorflow_profiler/walking.py", "ctypes"): "calls it",
    ("tracekit/attribution/nesting.py", "ctypes"): "calls it",
    ("tracekit/attribution/walking.py", "ctypes"): "calls it",
}
#: The only place that starts a program: xprof, by the interpreter that runs us.
STARTS_PROGRAMS = {"parsers/tensorflow_profiler/xprof/ask.py"}

HOOK = """
import json, sys
def refuse(event, _):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind",
                         "urllib.", "http.", "ftplib.", "smtplib.")):
        raise SystemExit(f"the network was used: {event}")
sys.addaudithook(refuse)
from tracekit.cli.app import run
print(json.dumps([run([*words, "--store", "S"]) for words in json.loads(sys.argv[1])]))
"""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("tracekit", "parsers", "queries"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith(("tracekit/parsers", "tracekit/queries")):  # links
                yield name, ast.parse(file.read_text("utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def called(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.id
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                yield function.attr if function.value.id == "os" else ""


def test_nothing_runs_text_unpickles_or_opens_connections() -> None:
    found = {
        (name, module)
        for name, tree in modules()
        for module in imported(tree)
        if module in NOT_IMPORTED
    }
    found |= {
        (name, function)
        for name, tree in modules()
        for function in called(tree)
        if function in NOT_CALLED
    }
    assert found == set(EXCEPTED)


def test_one_place_starts_programs() -> None:
    found = {name for name, tree in modules() if "subprocess" in imported(tree)}
    assert found == STARTS_PROGRAMS


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("security")
    for name, file in (
        ("a", "h100/conv2d-tf32-b64/raw.csv.gz"),
        ("b", "torch_profiler/gpu-handmade/trace.json.gz"),
    ):
        ingest(ROOT / "fixtures" / file, folder / "S", Options(run_name=name))
    return folder


#: Command lines, and how each ends.
COMMANDS = [
    (["ingest", str(ROOT / "fixtures/tensorflow_profiler/jax-cpu/host.xplane.pb")], 0),
    (["summary", "b"], 0),
    (["kernels", "--run", "a"], 0),
    (["check", "--deep"], 0),
    (["roofline", "a", "-o", "a.svg"], 0),
    (["sql", "FROM 'https://127.0.0.1/x.parquet'"], 5),
    (["sql", "FROM read_csv('https://127.0.0.1/x.csv')"], 5),
    (["sql", "INSTALL httpfs"], 5),
]


def test_no_command_uses_the_network(filled: Path) -> None:
    """All in one process, as each takes longer to start than to run."""
    done = subprocess.run(
        [sys.executable, "-c", HOOK, json.dumps([words for words, _ in COMMANDS])],
        check=False,
        cwd=filled,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "network" not in done.stderr
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1]) == [code for _, code in COMMANDS]


def test_every_claim_names_a_test_that_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) >= 15
    for file, function in named:
        text = (ROOT / file).read_text("utf-8")
        assert not function or f"def {function}(" in text, (file, function)
