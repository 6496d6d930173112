"""What pyproject.toml says is what lies on disk."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import tracekit

ROOT = Path(__file__).resolve().parent.parent
MAPPED = ("parsers", "queries")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def folders_with_modules() -> set[str]:
    """The dotted name of each folder that holds Python, as it is imported."""
    found = set()
    for top in ("tracekit", *MAPPED):
        # os.walk does not follow the links, so each folder is met once, where it really is.
        for folder, _, files in os.walk(ROOT / top):
            if any(name.endswith(".py") for name in files):
                dotted = ".".join(Path(folder).relative_to(ROOT).parts)
                found.add(f"tracekit.{dotted}" if top in MAPPED else dotted)
    return found


def test_packages_are_the_folders_on_disk(project: dict[str, Any]) -> None:
    packages = project["tool"]["setuptools"]["packages"]
    assert sorted(packages) == sorted(folders_with_modules())


def test_each_package_has_an_init(project: dict[str, Any]) -> None:
    mapping = project["tool"]["setuptools"]["package-dir"]
    for package in project["tool"]["setuptools"]["packages"]:
        folder = ROOT / mapping.get(package, package.replace(".", "/"))
        assert (folder / "__init__.py").is_file(), package


def test_data_files_are_covered(project: dict[str, Any]) -> None:
    mapping = project["tool"]["setuptools"]["package-dir"]
    shipped = set((ROOT / "queries").glob("**/*.py"))
    for package, patterns in project["tool"]["setuptools"]["package-data"].items():
        for pattern in patterns:
            folder = ROOT / mapping.get(package, package.replace(".", "/"))
            shipped.update(folder.glob(pattern))
    assert ROOT / "tracekit" / "py.typed" in shipped
    on_disk = {path for path in (ROOT / "queries").rglob("*.*") if "__pycache__" not in path.parts}
    assert on_disk <= shipped
    assert set((ROOT / "tracekit").glob("**/*.toml")) <= shipped


@pytest.mark.skipif(sys.platform == "win32", reason="git writes links as text files there")
@pytest.mark.parametrize("name", MAPPED)
def test_links_point_beside_the_package(name: str) -> None:
    assert (ROOT / "tracekit" / name).readlink() == Path("..", name)


def test_a_checkout_without_links_is_covered(tmp_path: Path) -> None:
    def links(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if (Path(folder) / name).is_symlink()]

    for folder in ("tracekit", *MAPPED):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=links)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_inside.py").write_text(
        "from pathlib import Path\n"
        "import tracekit.parsers, tracekit.queries\n"
        "def test_from_here():\n"
        "    for package in (tracekit.parsers, tracekit.queries):\n"
        "        assert Path(package.__file__).is_relative_to(Path(__file__).parent)\n"
    )
    inside = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_inside.py"]
    run = subprocess.run(inside, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_version_is_one(project: dict[str, Any]) -> None:
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "tracekit._version.__version__"
    }
    assert metadata.version("tracekit") == tracekit.__version__


# -- locks -----------------------------------------------------------------------------------------


def locked(name: str) -> dict[str, Version]:
    """The packages of a lock file and their versions; fails where one has no hash."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text  # whoever installs says where from
    entries = re.findall(r"(?m)^([a-z0-9._-]+)==(\S+)((?:[^\n]*\\\n)+[^\n]*)", text)
    assert len(entries) == sum(line[:1].isalnum() for line in text.splitlines())
    assert all("--hash=sha256:" in rest for _, _, rest in entries)
    return {canonicalize_name(name): Version(version) for name, version, _ in entries}


def test_locks_have_what_is_declared_with_hashes(project: dict[str, Any]) -> None:
    declared = project["project"]["dependencies"]
    for_tests = project["project"]["optional-dependencies"]["dev"]
    for lock, texts in (
        ("requirements.lock", declared),
        ("requirements-dev.lock", (*declared, *for_tests)),
    ):
        versions = locked(lock)
        for requirement in map(Requirement, texts):
            version = versions[canonicalize_name(requirement.name)]
            assert version in requirement.specifier, requirement
    assert locked("requirements.lock").items() <= locked("requirements-dev.lock").items()
