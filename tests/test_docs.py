"""README.md and docs/ say what the code does."""

import ast
import importlib.util
import io
import re
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tracekit import catalog as catalogue
from tracekit import errors
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.events import rules
from tracekit.intake import Options, ingest
from tracekit.opmodels import Model, OpCall, Unknown
from tracekit.parsers import BUILT_IN
from tracekit.parsers.torch_profiler import categories
from tracekit.parsers.torch_profiler import rows as torch_rows
from tracekit.reading.chrome import rows as chrome_rows
from tracekit.schema import TABLES
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FIXTURES = ROOT / "fixtures" / "torch_profiler"
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))]
#: What is generated from headers and commands; `make test-deep` and `make docs` look at the rest.
WRITTEN_OFTEN = {
    "README.md",
    *(f"docs/{name}.md" for name in ("metrics", "queries", "tables")),
}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PLACES_OF_ONE_MACHINE = re.compile(
    r"(?<![\w.~])/(?:work|home|root|tmp|usr|opt|var|mnt|private|Users)/|\blocalhost\b"
)
PACKAGE_HOSTS = re.compile(
    r"pypi\.|pythonhosted|anaconda|conda\.io|npmjs|crates\.io|golang\.org|rubygems|artifactory|nexus"
)


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate: Any = loaded(DOCS / "generate.py")


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def prose_of(page: str) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", text_of(page))


def rows_of(page: str) -> list[list[str]]:
    """The rows of all tables of a page, as cells."""
    lines = [line for line in prose_of(page).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


# -- what is generated ----------------------------------------------------------------------------


@pytest.mark.usefixtures("stores_stay_open")
@pytest.mark.parametrize(
    "page",
    [
        page if page in WRITTEN_OFTEN else pytest.param(page, marks=pytest.mark.deep)
        for page in PAGES
    ],
)
def test_page_is_what_the_code_gives(page: str) -> None:
    if not generate.has_its_files(text_of(page)):
        pytest.skip("the authors' files are not here")
    difference = generate.differences(ROOT / page)
    assert not difference, f"run `python docs/generate.py`, or mend the code:\n{difference}"


def test_generator_fills_in_outputs_and_leaves_the_rest() -> None:
    page = "a\n```console\n$ echo $?\nold\n```\nb\n```pycon\n>>> 1 + 1\n3\n```\n```text\n$ x\n```\n"
    assert generate.generated(page) == page.replace("old", "0").replace("3", "2")


def test_generator_runs_commands_in_order_and_cuts_with_head() -> None:
    commands = "$ tracekit formats | head -n 1\n$ tracekit runs --store no\n$ echo $?\n"
    lines = generate.generated(f"```console\n{commands}```\n").splitlines()
    assert lines[2].startswith("format name")
    assert lines[3].startswith("$ tracekit runs")
    assert lines[-2:] == [str(errors.StoreError.exit_code), "```"]


def test_generator_refuses_a_command_that_fails() -> None:
    with pytest.raises(RuntimeError, match="ends with 4"):
        generate.generated("```console\n$ tracekit runs --store no\n```\n")


def test_generator_fills_named_parts() -> None:
    page = "<!-- generated: exit codes -->\nold\n<!-- end of exit codes -->\n"
    assert "| 130 |" in generate.generated(page)
    assert "old" not in generate.generated(page)


def test_check_shows_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "fixtures").mkdir()
    old = "```console\n$ echo $?\nold\n```\n"
    for page in ("README.md", "docs/a.md"):
        (tmp_path / page).write_text(old, "utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().out.count("-old\n+0\n") == 2
    assert generate.main(["docs/a.md"]) == 0
    assert (tmp_path / "README.md").read_text("utf-8") == old
    assert generate.main(["--check", "docs/a.md"]) == 0
    assert generate.main(["--check", "README.md"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert generate.main(["--chekc"]) == 2
    assert "one of: README.md, docs/a.md" in capsys.readouterr().err


def test_twice_gives_the_same() -> None:
    """Ids and times too: no page is as new as the clock."""
    trace = "fixtures/torch_profiler/hand-made/valid.json"
    page = f"```console\n$ tracekit ingest {trace} --store S\n$ tracekit runs --store S\n```\n"
    asked = f"{page}```console\n$ tracekit sql --store S 'SELECT * FROM source_file'\n```\n"
    assert generate.generated(asked) == generate.generated(asked) != asked


# -- what a reader can rely on --------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_run(page: str) -> None:
    for kind, body in FENCE.findall(text_of(page)):
        for line in body.splitlines():
            if kind == "console" and line.startswith("$ "):
                assert re.match(r"\$ (tracekit |echo \$\?$)", line), f"{page} does not run: {line}"
            assert kind == "console" or not line.startswith("$ tracekit"), f"{page}: {line}"
    assert "$ tracekit" not in prose_of(page)


@pytest.mark.parametrize("page", PAGES)
def test_every_python_example_is_used(page: str) -> None:
    """Sessions are run by the generator; other Python is a named file, which a test uses."""
    named = {body for _, body in NAMED_FILE.findall(text_of(page))}
    for kind, body in FENCE.findall(text_of(page)):
        assert kind != "python" or body in named, f"{page}: this example is not run:\n{body}"
    assert {name for name, _ in NAMED_FILE.findall(text_of(page))} <= {
        "tracekit_marks.py",
        "tracekit_swiglu.py",
        "tracekit_tsv.py",
        "committed.py",
        "in_dask.py",
        "in_duckdb.py",
        "in_polars.py",
        "in_spark.py",
        "ingest.sh",
        "ingest.yaml",
        "test_marks.py",
        "pyproject.toml",
        "day.txt",
        "stream_time.sql",
        "other.json",
        "my.toml",
    }


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_contributing_names_every_room_and_its_tests() -> None:
    text = prose_of("CONTRIBUTING.md")
    ours = {path.name for path in (ROOT / "tracekit").iterdir()} - {
        "__init__.py",
        "__main__.py",
        "_version.py",
        "__pycache__",
        "py.typed",
        "events.toml",
        "opclasses.toml",
        "parsers",
        "queries",
    }
    assert {name for name in ours if f"`{name}`" not in text.replace("tracekit/", "")} == set()
    for path in re.findall(r"`((?:tests|parsers|queries|fixtures|tracekit)/[\w./]*)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", *PAGES])
def test_links_lead_somewhere(page: str) -> None:
    for link in LINK.findall(prose_of(page)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        assert target.is_relative_to(ROOT), f"{page}: {link} leads out of the project"
        if anchor:
            prose = prose_of(target.relative_to(ROOT).as_posix())
            anchors = {*map(slug, HEADING.findall(prose)), *re.findall(r'<a id="([^"]+)">', prose)}
            assert anchor in anchors, f"{page}: {link}"


@pytest.mark.parametrize("page", PAGES)
def test_page_speaks_of_no_machine(page: str) -> None:
    text = text_of(page)
    assert not PLACES_OF_ONE_MACHINE.findall(text)
    assert not PACKAGE_HOSTS.findall(text)
    assert "\r" not in text
    assert "\t" not in prose_of(page)


def test_readme_is_short_and_leads_to_every_page() -> None:
    text = text_of("README.md")
    assert len(text.splitlines()) <= 220
    for page in DOCS.glob("*.md"):
        assert f"(docs/{page.name})" in text
    for target in ("demo", "test"):
        assert f"make {target}" in text
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE)
    assert "made by hand" in text


def test_picture_stands_alone() -> None:
    text = (DOCS / "flow.svg").read_text("utf-8")
    root = ET.fromstring(text)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert {"title", "desc"} <= names
    assert not names & {"script", "image", "foreignObject", "style"}
    assert text.count("http") == text.count('xmlns="http') == 1
    fills = {element.get("fill") for element in root.iter() if element.tag.endswith("rect")}
    assert len(fills) == 5  # text stands on its own ground, whatever the theme
    assert None not in fills


# -- everything is mentioned ----------------------------------------------------------------------


def test_every_table_and_column_is_described() -> None:
    text = text_of("docs/tables.md")
    for table in TABLES.values():
        part = text.partition(f"### `{table.name}`\n")[2].partition("\n### ")[0]
        assert part, table.name
        for column in table.columns:
            assert f"| `{column.name}` |" in part, f"{table.name}.{column.name}"


def test_every_query_is_described() -> None:
    text = text_of("docs/queries.md")
    for query in catalog().values():
        assert f"### `{query.name}`\n" in text
        if query.kind == "report":
            assert f"$ tracekit query {query.name}" in text
    metrics = text_of("docs/metrics.md")
    for query in catalog().values():
        if query.kind == "report" and "docs/metrics.md" in query.source:
            assert query.name in metrics, query.name


def test_every_command_is_described_with_an_example() -> None:
    text = text_of("docs/cli.md")
    for name in generate.commands():
        assert f"### `tracekit {name}`\n" in text
        assert f"$ tracekit {name} " in text or f"$ tracekit {name}\n" in text


def kinds_of(kind: type[errors.TracekitError]) -> Iterator[type[errors.TracekitError]]:
    yield kind
    for other in kind.__subclasses__():
        yield from kinds_of(other)


def test_every_exit_code_is_described() -> None:
    part = text_of("docs/cli.md").partition("## Exit codes")[2].partition("## Commands")[0]
    codes = {kind.exit_code for kind in kinds_of(errors.TracekitError)}
    named = {int(row[0]) for row in rows_of("docs/cli.md") if row[0].isdigit()}
    assert codes | {0} <= named
    for code in codes:
        assert f"| {code} |" in part


def test_every_format_is_described() -> None:
    described = {row[0] for row in rows_of("docs/formats.md")}
    for entry in BUILT_IN:
        assert f"`{entry.name}`" in described
        assert entry.name == entry.load()().name


def formats_row(*words: str) -> bool:
    return any(
        all(f"`{word}`" in " ".join(row) for word in words) for row in rows_of("docs/formats.md")
    )


def test_every_category_is_described() -> None:
    for category in categories.KERNEL_CATEGORIES:
        assert formats_row(category, "kernel"), category
    for category, kind in categories.TRANSFER_KINDS.items():
        assert formats_row(category, "transfer", kind), category
    for category, kind in categories.SLICE_KINDS.items():
        assert formats_row(category, "slice", kind), category
    for category, kind in categories.FLOW_KINDS.items():
        assert formats_row(category, kind), category


def test_every_phase_is_described() -> None:
    for phase, kind in chrome_rows.FLOW_PHASES.items():
        assert formats_row(phase, "flow", kind), phase
    for phase in chrome_rows._INSTANT_PHASES:
        assert formats_row(phase, "memory_event", "instant"), phase


def test_every_device_kind_is_described() -> None:
    for number, name in torch_rows._DEVICE_TYPES.items():
        assert f"| {number} | `{name}` |" in text_of("docs/formats.md")


def test_every_slice_kind_is_described() -> None:
    described = text_of("docs/formats.md")
    for kind in {*categories.SLICE_KINDS.values(), "other", "instant"}:
        assert f"`{kind}`" in described, kind


def issue_calls(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef, ast.expr]]:
    """Each ``Issue(code, …)`` and ``report.tell(code, …)``: its function, the code's expression."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and (
                    getattr(call.func, "id", None) == "Issue"
                    or (getattr(call.func, "attr", None) == "tell" and len(call.args) > 3)
                ):
                    yield function, call.args[0]


def codes_for(name: str, function: ast.FunctionDef, tree: ast.AST) -> Iterator[ast.expr]:
    """What a variable of a function can hold: what is assigned, or what callers give."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=True)
                    yield from (v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)
                elif isinstance(target, ast.Name) and target.id == name:
                    yield node.value
    parameters = [parameter.arg for parameter in function.args.args if parameter.arg != "self"]
    for node in ast.walk(tree) if name in parameters else ():
        if isinstance(node, ast.Call) and len(node.args) > parameters.index(name):
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            if called == function.name:
                yield node.args[parameters.index(name)]


def issue_codes() -> Counter[str]:
    """How many modules have each code."""
    codes = Counter[str]()
    for file in [*(ROOT / "parsers").rglob("*.py"), *(ROOT / "tracekit").rglob("*.py")]:
        if file.name in ("conformance.py", "parser.py"):  # issues of others
            continue
        tree = ast.parse(file.read_text("utf-8"))
        own: set[str] = set()
        for function, code in issue_calls(tree):
            found = codes_for(code.id, function, tree) if isinstance(code, ast.Name) else [code]
            told = {str(node.value) for node in found if isinstance(node, ast.Constant)}
            assert told, f"{file.name}:{code.lineno}: no code of an issue can be told here"
            own |= told
        codes.update(own | constant_codes(tree))
    return codes


def constant_codes(tree: ast.Module) -> set[str]:
    """The codes of issues that are constants of a module."""
    constants = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    calls = [call for call in constants if isinstance(call, ast.Call)]
    return {
        str(call.args[0].value)
        for call in calls
        if getattr(call.func, "id", None) == "Issue" and isinstance(call.args[0], ast.Constant)
    }


def test_every_issue_of_several_formats_is_described_and_none_that_is_not_there() -> None:
    """One of a single format says by its message and advice what it is."""
    part = text_of("docs/formats.md").partition("### Issues")[2].partition("\n## ")[0]
    described, codes = set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)), issue_codes()
    assert described <= set(codes)
    assert {code for code, count in codes.items() if count > 1} <= described


# -- the examples of docs/extending.md ------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example package, importable, in the current folder."""
    for name, body in NAMED_FILE.findall(text_of("docs/extending.md")):
        (tmp_path / name).write_text(body, "utf-8", newline="\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("tracekit_marks", "tracekit_swiglu", "tracekit_tsv"):
        sys.modules.pop(name, None)


def test_example_parser_conforms(package: Path) -> None:
    loaded(package / "test_marks.py").test_conforms()


def test_example_renderer_is_inert(package: Path) -> None:
    import pyarrow as pa

    from tracekit.render import Renderer, RenderOptions
    from tracekit.result import Result, ResultColumn

    renderer = loaded(package / "tracekit_tsv.py").TsvRenderer()
    assert isinstance(renderer, Renderer)
    table = pa.table({"name": ["a\tb\x1b[31m\n", None]})
    result = Result("x", table, (ResultColumn("name"),))
    rendered = renderer.render(result, RenderOptions(80, False))
    assert rendered.count(b"\n") == 3
    assert not set(rendered) & {0x09, 0x1B}


def test_example_project_names_its_classes(package: Path) -> None:
    project = tomllib.load(io.BytesIO((package / "pyproject.toml").read_bytes()))["project"]
    for entries in project["entry-points"].values():
        for value in entries.values():
            module, _, name = value.partition(":")
            found = loaded(package / f"{module}.py")
            of_module = [one for one in vars(found).values() if isinstance(one, Model)]
            assert isinstance(getattr(found, name), type) if name else of_module


def test_example_operator_has_its_work(package: Path) -> None:
    swiglu = loaded(package / "tracekit_swiglu.py").swiglu
    types = '["c10::Half", "c10::Half", "Scalar"]'
    call = OpCall.of("mine::swiglu", "[[8, 64], [256, 64], []]", types, None, None)
    work = swiglu.work(call)
    assert work.flops == 2 * 8 * 256 * 64
    assert sum(tensor.size_bytes for tensor in (*work.reads, *work.writes)) == 35840
    with pytest.raises(Unknown, match="do not match"):
        swiglu.work(OpCall.of("mine::swiglu", "[[8, 64], [256, 63], []]", types, None, None))


def test_example_query_gives_the_columns_of_its_header(package: Path) -> None:
    query = catalogue._read(package / "stream_time.sql", "report")
    ingest([FIXTURES / "gpu-handmade" / "trace.json.gz"], "S", Options(run_name="gpu"))
    rows = Database(open_store("S"))._fetch(query.sql, {"run_id": "gpu"})
    assert rows.column_names == [column.name for column in query.columns]
    assert rows.to_pylist()[0]["launch_count"] == 73


def test_example_event_says_what_it_counts(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(dict(NAMED_FILE.findall(text_of("docs/extending.md")))["my.toml"], "utf-8")
    (rule,) = rules([file])
    assert (rule["event_key"], rule["quantity_kind"], rule["precision_name"]) == (
        "my_vector_flops",
        "flop",
        "fp32",
    )
    assert rule["amount"] == 8
