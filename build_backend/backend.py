"""setuptools, which also gets a C compiler, as a wheel, where the machine has none."""

from __future__ import annotations

from typing import Any

import compiling
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - all that a build may call

# Where there is no such wheel, to ask for it would stop the installation.
_COMPILER = (
    "ziglang>=0.14; platform_machine == 'x86_64' or platform_machine == 'AMD64' "
    "or platform_machine == 'aarch64' or platform_machine == 'arm64'"
)


def _with_compiler(needed: list[str]) -> list[str]:
    return needed if compiling.has_compiler() else [*needed, _COMPILER]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """What building a wheel needs."""
    return _with_compiler(build_meta.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """What an editable installation needs."""
    return _with_compiler(build_meta.get_requires_for_build_editable(config_settings))
