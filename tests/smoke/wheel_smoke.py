"""Build sdist and wheel, install the wheel in a clean place, and use it there as a user would.

Run it as a script. It needs `build`; the clean place gets run-time dependencies only.
"""

import csv
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from build_backend import compiling  # noqa: E402 - needs the path

FIXTURE = ROOT / "fixtures" / "torch_profiler" / "gpu-handmade" / "trace.json.gz"
SHIPPED = (".py", ".sql", ".toml", ".html", ".css", ".js")
NOT_SOURCE = (
    *(".git", ".venv", "build", "dist", "*.egg-info", ".*_cache", "__pycache__"),
    "_tracekit.*",
)


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a command outside the checkout; its stdout, or all it said if it ends otherwise."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != code:
        shown = " ".join(str(part) for part in command)
        sys.exit(f"wheel smoke: {shown}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(held: bool, what: str) -> None:
    """Stop with ``what`` unless it held."""
    if not held:
        sys.exit(f"wheel smoke: {what}")


def built(work: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it."""
    # A copy, because a build leaves an egg-info behind whose old file list the next one believes.
    ignored = shutil.ignore_patterns(*NOT_SOURCE)
    shutil.copytree(ROOT, work / "source", symlinks=True, ignore=ignored)
    run(sys.executable, "-m", "build", "--outdir", work / "dist", work / "source", cwd=work)
    (sdist,) = (work / "dist").glob("*.tar.gz")
    (wheel,) = (work / "dist").glob("*.whl")
    return sdist, wheel


def wanted_in_wheel() -> set[str]:
    """The files of the checkout that must be in the wheel, by their names there."""
    names = {"tracekit/py.typed"}
    if compiling.has_compiler():
        names.add(f"tracekit/compiled/{compiling.NAME}")
    for top, prefix in (("tracekit", ""), ("parsers", "tracekit/"), ("queries", "tracekit/")):
        for folder, _, files in os.walk(ROOT / top):  # does not follow the links
            inside = prefix + Path(folder).relative_to(ROOT).as_posix()
            names.update(f"{inside}/{name}" for name in files if Path(name).suffix in SHIPPED)
    return names


def check_wheel(wheel: Path) -> int:
    """The wheel holds every module and query, and nothing else; the number of its files."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = wanted_in_wheel()
    check(not wanted - names, f"the wheel lacks {sorted(wanted - names)}")
    check(not names - wanted, f"the wheel has, and should not, {sorted(names - wanted)}")
    return len(names)


def check_sdist(sdist: Path) -> None:
    """The sdist holds what a packager needs to test it."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    fixture = FIXTURE.relative_to(ROOT).as_posix()
    source = "tracekit/compiled/tracekit.c"
    for name in ("conftest.py", "Makefile", "LICENSE", "tests/test_packaging.py", fixture, source):
        check(name in names, f"the sdist lacks {name}")
    doubled = [name for name in names if name.startswith(("tracekit/parsers", "tracekit/queries"))]
    check(not doubled, f"the sdist has the links' content twice: {doubled}")


def installed(wheel: Path, work: Path) -> Path:
    """The folder of commands of a new environment with the wheel in it."""
    venv.create(work / "venv", with_pip=True)
    commands = work / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (commands / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    # Few of the modules are ever imported here: compiling them all takes a third of the time.
    run(*pip, "--no-compile", wheel, cwd=work)
    return commands


def rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV output."""
    return list(csv.DictReader(io.StringIO(text)))


def check_import(commands: Path, away: Path) -> None:
    """The packages come from the new environment, and no stray one came along."""
    packages = "import tracekit.parsers, tracekit.queries; print(tracekit.parsers.__file__)"
    place = run(commands / "python", "-c", packages, cwd=away)
    check(place.startswith(str(commands.parent)), f"tracekit.parsers comes from {place}")
    finder = "import importlib.util as u; print([n for n in {} if u.find_spec(n)])".format(
        ["parsers", "queries", "tests", "fixtures"]
    )
    strays = run(commands / "python", "-c", finder, cwd=away).strip()
    check(strays == "[]", f"importable, and should not be: {strays}")


def check_use(commands: Path, away: Path) -> None:
    """The installed command reads a trace and answers."""

    def tracekit(*arguments: str) -> str:
        return run(commands / "tracekit", *arguments, cwd=away)

    shutil.copy(FIXTURE, away / "trace.json.gz")
    check("ingest" in tracekit("--help"), "--help does not name ingest")
    if compiling.has_compiler():
        check("with its C library" in tracekit("--version"), "the C library does not load")
    run(commands / "tracekit", "no-such-command", cwd=away, code=2)
    check("torch" in tracekit("formats"), "formats does not name torch")
    check("kernel" in tracekit("queries"), "queries names none about kernels")
    tracekit("ingest", "trace.json.gz", "--store", "store")
    kernels = rows(tracekit("kernels", "--store", "store", "--format", "csv"))
    check(len(kernels) > 0, "kernels shows no kernel")
    count = "SELECT count(*) AS kernel_count FROM kernel"
    (counted,) = rows(tracekit("sql", count, "--store", "store", "--format", "csv"))
    check(int(counted["kernel_count"]) >= len(kernels), f"sql counts {counted} kernels")
    tracekit("report", "trace", "--store", "store", "--output", "page.html")
    check("</html>" in (away / "page.html").read_text(encoding="utf-8"), "the page is cut")
    tracekit("export", "trace", "--store", "store", "--output", "out.json.gz")
    tracekit("ingest", "out.json.gz", "--store", "again")
    again = rows(tracekit("kernels", "--store", "again", "--format", "csv"))
    check(len(again) == len(kernels), f"of {len(kernels)} kernels, {len(again)} come back")
    tracekit("export", "trace", "--store", "store", "--output", "out.xlsx")
    check(zipfile.is_zipfile(away / "out.xlsx"), "the workbook is cut")


def main() -> None:
    """Build, look inside, install, use."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tracekit-smoke-") as name:
        work = Path(name).resolve()
        sdist, wheel = built(work)
        check_sdist(sdist)
        files = check_wheel(wheel)
        commands, away = installed(wheel, work), work / "away"
        away.mkdir()
        check_import(commands, away)
        check_use(commands, away)
    print(f"wheel smoke: {wheel.name}, {files} files, in {time.monotonic() - begun:.0f} s: good")


if __name__ == "__main__":
    main()
