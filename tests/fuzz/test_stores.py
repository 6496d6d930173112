"""A few kills, and a crowd for some seconds; docs/reliability.md has what many showed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest


@pytest.mark.deep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills its own processes")
def test_kills_and_crowds() -> None:
    command = [sys.executable, "-m", "tests.fuzz.stores", "--kills", "3", "--minutes", "0.04"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    counts = {
        what: int(count.replace(",", ""))
        for what, count in re.findall(r"(.*): ([\d,]+)$", done.stdout, re.MULTILINE)
    }
    assert sum(count for what, count in counts.items() if what.startswith("kill -9")) == 3
    assert counts["4 writers, 4 readers, ingests"] >= 1
    assert counts["4 writers, 4 readers, readings"] >= 1
