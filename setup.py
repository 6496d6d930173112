"""Builds the C library with the package; pyproject.toml says all else."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "build_backend"))
import compiling  # noqa: E402 - needs the path


class BuildWithLibrary(build_py):
    """Copies the modules, and compiles the library to them."""

    def run(self) -> None:
        """Compile into the checkout where modules are used from there."""
        super().run()
        built = ROOT if self.editable_mode else Path(self.build_lib)
        compiling.compiled(ROOT, built / compiling.FOLDER)


class WithLibrary(Distribution):
    """A package that is not the same on every platform."""

    def has_ext_modules(self) -> bool:
        """Say so."""
        return True


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Any Python 3, any interface, this platform."""
        return ("py3", "none", super().get_tag()[2])


setup(
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
)
