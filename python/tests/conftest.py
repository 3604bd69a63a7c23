"""What several tests use."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, MISSING

ROOT = Path(__file__).resolve().parents[2]

Command = Callable[..., subprocess.CompletedProcess[str]]

#: Without a browser there is no page to look at; `make setup` as root installs one.
needs_browser = pytest.mark.skipif(not (DRIVER and CHROMIUM), reason=MISSING)


@pytest.fixture(scope="session")
def prismux_command() -> Command:
    """The `prismux` command that `make test` built."""
    program = Path(os.environ.get("PRISMUX", ROOT / "target/debug/prismux"))
    assert program.is_file(), f"{program} is missing: `make test-python` builds it"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    return run


SMALL = """\
duration = "10 s"

[nodes]
a = { kind = "host" }
b = { kind = "host" }

[links]
wire = { between = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", loss = 0.01 }

[flows]
file = { from = "a", to = "b", bytes = "1 MB" }
"""
