"""Keeps README.md and the pages of docs/ in step with the code.

``python docs/generate.py`` rewrites the generated parts in place, with ``--check`` it shows what
would change and exits with status 1; of all pages, or of those named: ``docs/cli.md``. Generated
are:

- what stands between ``<!-- generated: NAME -->`` and ``<!-- end of NAME -->``;
- the output in ``console`` blocks: lines that begin with ``$ `` are run, in order;
- the output in ``pycon`` blocks: lines that begin with ``>>> `` are run, in order.

All commands of one page run in one folder, which holds a copy of the folders of fixtures/ that
the page names. A block that follows ``<!-- file: NAME -->`` is a file in that folder; a
pyproject.toml among them is installed there. Commands are tracekit and `echo $?`, and
`| head -n N` may follow; any other is left as it stands. A command must end with 0 unless
`echo $?` comes next. Clock and random ids are replaced, so that the same code gives the same text.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import importlib
import inspect
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import typing
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from tracekit import errors
from tracekit.catalog import Field, Parameter, Query, catalog, tables_of
from tracekit.parsers import BUILT_IN
from tracekit.result import unit_of
from tracekit.schema import PARTITION_KEYS, TABLES, Table

pa.array([0])  # finds pandas, before a command keeps it out: all run in this process

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100

_ENVIRONMENT = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "PYTHONUTF8": "1"}
_NOT_OURS = ("TRACEKIT_", "FORCE_COLOR", "LINES")
_CLOCK_NS = 1_767_603_600 * 10**9  # 2026-01-05 09:00 UTC
_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "bool": "BOOLEAN"}

_BLOCK = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)
_FENCE = re.compile(
    r"(?P<file><!-- file: (?P<path>[\w./-]+) -->\n)?"
    r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
#: The data of ParaDnn's authors, and where they lie in their repository.
PARADNN = ROOT.parent / "shared" / "corpus" / "paradnn"
_PARADNN = "paradnn/scripts/data"
_HEAD = re.compile(r"(.*)\| head -n (\d+)\s*$")


def documents() -> list[Path]:
    """The pages that may have generated parts, but those whose files are not here."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if has_its_files(page.read_text("utf-8"))]


def has_its_files(text: str) -> bool:
    """Whether the files that the commands of a page read are here: some are others', not ours."""
    return PARADNN.is_dir() or f" {_PARADNN}/" not in text


def generated(text: str) -> str:
    """A page with its generated parts as the code has them now."""
    text = _BLOCK.sub(lambda match: match[1] + BLOCKS[match[2]]() + match[3], text)
    with Session(text) as session:
        return _FENCE.sub(lambda match: _fence(match, session), text)


def differences(path: Path) -> str:
    """What the generated parts of a page lack, as a diff; empty if nothing."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text("utf-8")
    ours, theirs = (part.splitlines(keepends=True) for part in (text, generated(text)))
    found = difflib.unified_diff(ours, theirs, f"{name} as it is", f"{name} by the code")
    return "".join(found)


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or say what would change."""
    named = [argument for argument in arguments if argument != "--check"]
    known = {page.relative_to(ROOT).as_posix(): page for page in documents()}
    if not known.keys() >= set(named):
        sys.stderr.write("usage: python docs/generate.py [--check] [PAGE ...]\n")
        sys.stderr.write(f"a PAGE is one of: {', '.join(known)}\n")
        return 2
    pages = [known[name] for name in dict.fromkeys(named or known)]
    if "--check" in arguments:
        found = "".join(map(differences, pages))
        sys.stdout.write(found)
        return 1 if found else 0
    for path in pages:
        path.write_text(generated(path.read_text("utf-8")), "utf-8", newline="\n")
    return 0


# -- commands and their output --------------------------------------------------------------------


def _fence(match: re.Match[str], session: Session) -> str:
    """One fenced block, with the output that its commands give now."""
    if match["file"]:
        session.write(match["path"], match["body"])
        return match[0]
    fill = {"console": session.console, "pycon": session.pycon}.get(match["kind"])
    return match[0] if fill is None else f"```{match['kind']}\n{fill(match['body'])}```"


class Session:
    """A folder in which the commands of one page run."""

    def __init__(self, text: str) -> None:
        """Use as a context; the folder is gone afterwards. `text` is the page."""
        self._fixtures = set(re.findall(r"\bfixtures/(\w+)", text))
        self._stack = contextlib.ExitStack()
        self._folder = Path()
        self._is_extended = False
        self._names: dict[str, Any] = {}
        seconds, numbers = itertools.count(1), itertools.count(1)
        self._clock = lambda: _CLOCK_NS + next(seconds) * 10**9
        self._unique = lambda: uuid.UUID(int=next(numbers) << 96)

    def __enter__(self) -> Session:
        """Go into the folder."""
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tracekit-docs-"))
        self._folder = Path(folder)
        for name in self._fixtures:  # all of them are some thousand files
            if (ROOT / "fixtures" / name).is_dir():
                shutil.copytree(ROOT / "fixtures" / name, self._folder / "fixtures" / name)
        if PARADNN.is_dir():
            (self._folder / _PARADNN).parent.mkdir(parents=True)
            (self._folder / _PARADNN).symlink_to(PARADNN, target_is_directory=True)
        self._stack.enter_context(contextlib.chdir(self._folder))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_OURS)}
        self._stack.enter_context(mock.patch.dict(os.environ, kept | _ENVIRONMENT, clear=True))
        return self

    def __exit__(self, *_: object) -> None:
        """Go back."""
        self._stack.close()

    def write(self, path: str, text: str) -> None:
        """Put a file into the folder; a project description is as good as installed."""
        Path(path).write_text(text, "utf-8")
        if path == "pyproject.toml":
            self._is_extended = True
            _install(tomllib.loads(text)["project"], self._folder)

    def console(self, body: str) -> str:
        """The commands of a console block, each with its output."""
        commands = [line for line in body.splitlines() if line.startswith("$ ")]
        parts, code = [], 0
        for command, following in itertools.zip_longest(commands, commands[1:]):
            output = f"{code}\n"
            if command != "$ echo $?":
                output, code = self._run(command.removeprefix("$ "))
            if code and "$ echo $?" not in (command, following):
                raise RuntimeError(f"{command}\nends with {code}:\n{output}")
            parts.append(f"{command}\n{output}")
        return "".join(parts)

    def _run(self, command: str) -> tuple[str, int]:
        """The output and exit code of one command."""
        shown = _HEAD.fullmatch(command)
        words = shlex.split(shown[1] if shown else command)
        if words[0] != "tracekit":
            return "", 0
        run = self._run_apart if self._is_extended else self._run_here
        output, code = run(words[1:])
        lines = [line.rstrip() + "\n" for line in output.splitlines()]
        return "".join(lines[: int(shown[2])] if shown else lines), code

    def _run_here(self, arguments: list[str]) -> tuple[str, int]:
        from tracekit.cli.app import run

        with _captured() as buffer, self._repeatable():
            code = run(arguments)
        return buffer.getvalue().decode(), code

    def _run_apart(self, arguments: list[str]) -> tuple[str, int]:
        """In a process of its own, which sees what is installed in the folder."""
        path = os.pathsep.join(p for p in (str(self._folder), os.environ.get("PYTHONPATH")) if p)
        done = subprocess.run(
            [sys.executable, "-m", "tracekit", *arguments],
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.stdout.decode(), done.returncode

    def pycon(self, body: str) -> str:
        """The statements of a Python session, each with its output."""
        parts = []
        for example in doctest.DocTestParser().get_examples(body):
            first, *others = example.source.splitlines()
            prompts = [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
            with _captured() as buffer, self._repeatable():
                exec(compile(example.source, "<pycon>", "single"), self._names)  # noqa: S102
            lines = [line.rstrip() for line in buffer.getvalue().decode().splitlines()]
            parts += [*prompts, *lines]
        return "".join(line + "\n" for line in parts)

    @contextlib.contextmanager
    def _repeatable(self) -> Iterator[None]:
        with (
            mock.patch("time.time_ns", self._clock),
            mock.patch("uuid.uuid4", self._unique),
            mock.patch("sys.displayhook", sys.__displayhook__),
        ):
            yield


@contextlib.contextmanager
def _captured() -> Iterator[io.BytesIO]:
    """Both outputs, in the order in which a terminal would show them."""
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, "utf-8", newline="\n", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield buffer
    stream.detach()


def _install(project: dict[str, Any], folder: Path) -> None:
    """What an installer leaves of a project: its name and its entry points."""
    home = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    home.mkdir()
    head = {"Metadata-Version": "2.1", "Name": project["name"], "Version": project["version"]}
    (home / "METADATA").write_text("".join(f"{k}: {v}\n" for k, v in head.items()), "utf-8")
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (home / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")


# -- tables ---------------------------------------------------------------------------------------


def _tables() -> str:
    return "".join(map(_table, TABLES.values()))


def _table(table: Table) -> str:
    keys = [(key, "VARCHAR", "", "from the folder's name") for key in PARTITION_KEYS]
    own = [(c.name, _TYPES[str(c.type)], unit_of(c.name), c.doc) for c in table.columns]
    own += [(c.name, _TYPES[str(c.type)], "", f"in files only: {c.doc}") for c in table.stored]
    rows = [(f"`{name}`", type_, unit, doc) for name, type_, unit, doc in (*keys, *own)]
    account = " An event table: every event of a file has its row in one of these."
    text = f"### `{table.name}`\n\n{table.doc}{account if table.is_event else ''}\n\n"
    return text + _grid(("column", "type", "unit", "meaning"), rows) + "\n"


def _grid(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    head = list(header)
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _formats() -> str:
    rows = [(f"`{entry.name}`", entry.load()().title) for entry in BUILT_IN]
    return _grid(("name", "reads"), rows)


# -- queries --------------------------------------------------------------------------------------

_BESIDE = "--run gpu --param other_run_id=later --store S"
_SWEPT = "--store S --param metric=images_per_s --param runs=sweep"
_QUERY_EXAMPLES = {
    "comparison": f"tracekit query comparison {_BESIDE} | head -n 12",
    "comparison_runs": f"tracekit query comparison_runs {_BESIDE}",
    "kernel_advice": "tracekit query kernel_advice --run advice --store S --param top=3",
    "layer_comparison": "tracekit query layer_comparison --store S --param runs=alexnet-*",
    "memory_by_kind": "tracekit query memory_by_kind --run cpu --store S",
    "reported_op_time": "tracekit query reported_op_time --run cpu --store S | head -n 8",
    "runs": "tracekit query runs --store S",
    "issues": "tracekit query issues --run cut --store S --format csv",
    "stacks": "tracekit query stacks --run gpu --store S | head -n 20",
    "timeline": "tracekit query timeline --run gpu --store S | head -n 9",
    "run_summary": "tracekit query run_summary --run gpu --store S --format json",
    "configurations": "tracekit query configurations --run sweep --store S",
    "distribution": f"tracekit query distribution {_SWEPT} --param by=model",
    "outliers": f"tracekit query outliers {_SWEPT} --param by=model",
    "heatmap": f"tracekit query heatmap {_SWEPT} --param x=nodes --param y=batch",
    "speedup": "tracekit query speedup --store S --param over=platform --param baseline=old "
    "--param metric=images_per_s",
    "training_metrics": "tracekit query training_metrics --store S --param runs=lstm",
    "kernel_matches": "tracekit query kernel_matches --run lstm --store S | head -n 10",
    "profiling_cost": "tracekit query profiling_cost --run lstm --store S | head -n 10",
    "model_check": "tracekit query model_check --run lstm --store S | head -n 16",
    "sensitivity": f"tracekit query sensitivity {_SWEPT}",
    "amdahl": "tracekit query amdahl --store S --param over=nodes --param metric=images_per_s "
    "--param runs=alexnet*",
    "scaling": "tracekit query scaling --store S --param over=nodes --param metric=images_per_s",
}


def _reports() -> str:
    return "".join(_query(q) for q in catalog().values() if q.kind == "report")


def _other_queries() -> str:
    return "".join(_query(q) for q in catalog().values() if q.kind not in ("report", "finding"))


def _findings() -> str:
    return "".join(_query(q) for q in catalog().values() if q.kind == "finding")


def _query(query: Query) -> str:
    lines = [f"### `{query.name}`", "", query.purpose, "", f"- Source: {query.source}"]
    lines += [f"- Topic: {query.topic}"] * (query.kind == "report")
    needs = [" or ".join(f"`{table}`" for table in tables_of(need)) for need in query.needs]
    lines += [f"- Needs rows in: {', '.join(needs)}"] * bool(needs)
    lines += [f"- Uses: {_named(query.depends)}"] * bool(query.depends)
    lines += [f"- Kind: {query.kind}"] * (query.kind not in ("report", "finding"))
    if query.finding is not None:
        lines += [f"- Finding: {query.finding.title}. {query.finding.action}"]
    lines += [f"- Parameter {_parameter_of(p)}" for p in query.parameters]
    text = "\n".join(lines) + "\n\n"
    if query.columns:
        text += _grid(("column", "type", "unit", "meaning"), map(_field, query.columns)) + "\n"
    if query.kind == "report":
        run = "counters" if {"kernel_counter", "device"} & set(query.needs) else "gpu"
        run = "alexnet" if "measurement" in query.needs else run
        run = "lstm" if "kernel_match" in query.needs else run
        default = f"tracekit query {query.name} --run {run} --store S"
        text += f"```console\n$ {_QUERY_EXAMPLES.get(query.name, default)}\n```\n\n"
    return text


def _parameter_of(parameter: Parameter) -> str:
    """A parameter of a query in a line: what it is, and what it is if not given."""
    text = f"`{parameter.name}` ({parameter.type}): {parameter.doc}"
    if parameter.choices:
        text += f"; one of {', '.join(parameter.choices)}"
    if parameter.default is not None:
        return f"{text}; if not given: {str(parameter.default).lower()}"
    return text if parameter.is_required else f"{text}; optional"


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _field(field: Field) -> tuple[str, str, str, str]:
    return f"`{field.name}`", field.type, unit_of(field.name), field.doc


# -- the command line -----------------------------------------------------------------------------

_GPU = "fixtures/torch_profiler/gpu-handmade/trace.json.gz"
_LATER = "fixtures/torch_profiler/gpu-changed/trace.json.gz"
_CUT = "fixtures/torch_profiler/hand-made/cut.json"
_COUNTERS = "fixtures/nsight_compute/raw-v100-handmade/report.csv"
_ROOFLINE = "fixtures/roofline/lstm.csv"
_PAPER = "'V100 (Wang 2020, measured)'"
_LSTM = "fixtures/h100/lstm"
_JAVED = "fixtures/javed2019/alexnet-ps4-vanilla-64"
_SQL = '"SELECT stream_id, count(*) AS launches FROM kernel GROUP BY ALL ORDER BY ALL"'
_COMMAND_EXAMPLES = {
    "ingest": [
        f"tracekit ingest {_GPU} --run gpu --label batch=32 --store S",
        f"tracekit ingest {_GPU} --store S",
        f"tracekit ingest {_CUT} --store S --strict",
        "echo $?",
    ],
    "runs": ["tracekit runs --store S"],
    "issues": [f"tracekit ingest {_CUT} --run cut --store S", "tracekit issues --store S"],
    "formats": [
        "tracekit formats",
        f"tracekit formats --explain {_GPU}",
        "tracekit formats perf-stat --events zen4",
    ],
    "devices": ['tracekit devices "Tesla V100-SXM2-16GB"'],
    "compare": [
        f"tracekit ingest {_LATER} --run later --store S",
        "tracekit compare gpu later --store S --top 3 --fail-on 4%",
        "echo $?",
    ],
    "kernels": [
        "tracekit kernels --run gpu --store S --top 3",
        f"tracekit ingest {_COUNTERS} --run counters --device 'TITAN V' --store S",
        "tracekit kernels --run counters --store S --below-average --top 5",
    ],
    "join": [
        f"tracekit ingest {_LSTM}/trace.json.gz --run lstm --store J",
        f"tracekit ingest {_LSTM}/raw.csv.gz --run lstm-ncu --store J",
        "tracekit join lstm lstm-ncu --store J",
    ],
    "joins": ["tracekit joins --store J", "tracekit joins lstm --remove lstm-ncu --store J"],
    "roofline": [
        f"tracekit ingest {_ROOFLINE} --run lstm --device {_PAPER} --store S",
        "tracekit roofline lstm --store S",
        "tracekit roofline lstm --by run --model 4d --store S -o lstm.svg",
    ],
    "chart": [
        f"tracekit ingest {_JAVED}-{nodes} --run alexnet{nodes} --label nodes={nodes} "
        f"--metric images_per_s={images} --device '2x Xeon Gold 6126' --store P"
        for nodes, images in ((1, 101), (8, 299))
    ]
    + [
        "tracekit chart throughput --store P",
        "tracekit chart oi_breakdown --over nodes --store P -o fig9.svg",
        "tracekit chart flame gpu --store S",
    ],
    "queries": ["tracekit queries gpu --store S"],
    "query": ["tracekit query gpu_utilization --run gpu --store S --format csv"],
    "sql": [f"tracekit sql --store S --format markdown {_SQL}"],
    "summary": ["tracekit summary gpu --store S"],
    "advise": ["tracekit advise gpu --store S"],
    "critical-path": ["tracekit critical-path gpu --store S --top 6"],
    "report": ["tracekit report gpu --store S -o gpu.html"],
    "export": ["tracekit export gpu --store S -o gpu-trace.json.gz"],
    "remove": ["tracekit remove cut --store S"],
    "compact": ["tracekit compact --grace 0 --store S"],
    "check": ["tracekit check --store S"],
}
#: The order in which a reader meets them; others come after.
_ORDER = (
    "ingest",
    "runs",
    "issues",
    "formats",
    "devices",
    "summary",
    "advise",
    "critical-path",
    "report",
    "kernels",
    "join",
    "joins",
    "compare",
    "roofline",
    "chart",
    "export",
    "queries",
    "query",
    "sql",
    "remove",
    "compact",
    "check",
)
_VALUES = {Path: "PATH", str: "TEXT", int: "NUMBER", float: "NUMBER"}


def commands() -> dict[str, Callable[..., Any]]:
    """The functions behind the commands, in the order of the page."""
    app = importlib.import_module("tracekit.cli.app").app
    found = {}
    for command in app.registered_commands:
        assert command.callback is not None
        found[command.name or command.callback.__name__.replace("_", "-")] = command.callback
    known = [name for name in _ORDER if name in found]
    return {name: found[name] for name in dict.fromkeys((*known, *found))}


def _commands() -> str:
    return "".join(_command(name, callback) for name, callback in commands().items())


def _command(name: str, callback: Callable[..., Any]) -> str:
    hints = typing.get_type_hints(callback, include_extras=True)
    parameters = inspect.signature(callback).parameters.values()
    entries = [_parameter(p, hints[p.name]) for p in parameters]
    arguments = [what for is_option, what, _ in entries if not is_option]
    usage = " ".join(["tracekit", name, *arguments, "[OPTIONS]"])
    rows = [(f"`{what}`", meaning) for _, what, meaning in entries]
    text = f"### `tracekit {name}`\n\n{inspect.getdoc(callback)}\n\n    {usage}\n\n"
    text += _grid(("", "meaning"), rows) + "\n"
    lines = [f"$ {line}" for line in _COMMAND_EXAMPLES.get(name, ())]
    return text + ("\n".join(["```console", *lines, "```", "", ""]) if lines else "")


def _parameter(parameter: inspect.Parameter, hint: Any) -> tuple[bool, str, str]:
    """Whether it is an option, how it is written, and what it means."""
    kind, info = typing.get_args(hint)
    inner = next(k for k in (typing.get_args(kind) or (kind,)) if k is not type(None))
    is_list = typing.get_origin(inner) is list or typing.get_origin(kind) is list
    value = info.metavar or _VALUES.get((typing.get_args(inner) or (inner,))[0], "TEXT")
    meaning = info.help or ""
    if type(info).__name__ == "ArgumentInfo":
        return False, info.metavar or parameter.name.upper(), meaning
    names = [n for n in (info.default, *info.param_decls) if isinstance(n, str)]
    names = names or ["--" + parameter.name.replace("_", "-")]
    what = ", ".join(sorted(names, key=lambda n: n.startswith("--")))
    if inner is not bool:
        what += f" {value}"
    remarks = ["may be given several times"] * is_list
    remarks += [f"or ${info.envvar}"] * bool(info.envvar)
    if parameter.default not in (None, False, inspect.Parameter.empty):
        remarks.append(f"default: {parameter.default}")
    return True, what, meaning + (f" ({'; '.join(remarks)})" if remarks else "")


def _exit_codes() -> str:
    app = importlib.import_module("tracekit.cli.app")
    meanings: dict[int, list[str]] = {0: ["Success."]}
    for kind in _error_kinds():
        meanings.setdefault(kind.exit_code, []).append(_first_line(kind))
    meanings[errors.TracekitError.exit_code][0] = (
        "Anything else that tracekit refuses or cannot do."
    )
    meanings.setdefault(app._USAGE, []).append("An invalid command line.")  # noqa: SLF001
    meanings[app._BUG] = ["A bug in tracekit, or in a parser of another package; please report it."]  # noqa: SLF001
    meanings[app.INTERRUPTED] = ["Ctrl-C. No partial results were kept."]
    rows = [(str(code), " ".join(meanings[code])) for code in sorted(meanings)]
    return _grid(("code", "meaning"), rows)


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0].replace("``", "`")


def _error_kinds() -> list[type[errors.TracekitError]]:
    """Every kind of error, those that others derive from first."""
    kinds = [
        k
        for _, k in inspect.getmembers(errors, inspect.isclass)
        if issubclass(k, errors.TracekitError)
    ]
    return sorted(kinds, key=lambda kind: (len(kind.mro()), kind.__name__))


BLOCKS: dict[str, Callable[[], str]] = {
    "formats": _formats,
    "tables": _tables,
    "reports": _reports,
    "findings": _findings,
    "other queries": _other_queries,
    "commands": _commands,
    "exit codes": _exit_codes,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
