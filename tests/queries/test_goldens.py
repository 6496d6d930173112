"""Expected files are written by people who ask for it, never by CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "fixtures" / "queries"


def test_ci_compares_and_never_approves() -> None:
    before = {path: path.stat().st_mtime_ns for path in CASES.rglob("*")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--update-golden"]
    done = subprocess.run(
        [*command, "tests/queries/test_cases.py"],
        cwd=ROOT,
        env=os.environ | {"CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "CI compares, it does not approve" in done.stdout + done.stderr
    assert {path: path.stat().st_mtime_ns for path in CASES.rglob("*")} == before


def test_nothing_is_updated_unless_asked(
    updates_goldens: bool, pytestconfig: pytest.Config
) -> None:
    assert updates_goldens == ("--update-golden" in pytestconfig.invocation_params.args)
