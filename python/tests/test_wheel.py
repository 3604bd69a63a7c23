"""What a wheel has beside the package: the command, the figures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from prismux import _command
from prismux.figures import __main__ as figures

RESULTS = Path(__file__).parent / "data/claims-quick.json"


def test_the_command_is_the_program_of_the_package(tmp_path: Path) -> None:
    program = tmp_path / "prismux"
    program.write_text('#!/bin/sh\necho "$PRISMUX_PYTHON" "$@"; exit 7\n')
    program.chmod(0o755)
    code = f"from pathlib import Path; from prismux import _command as c; c.PROGRAM = Path({str(program)!r}); c.main()"
    environment = {name: value for name, value in os.environ.items() if name != "PRISMUX_PYTHON"}
    said = subprocess.run(
        [sys.executable, "-c", code, "run", "two words"], capture_output=True, text=True, env=environment, check=False
    )
    assert (said.returncode, said.stdout) == (7, f"{sys.executable} run two words\n"), said.stderr


def test_a_package_without_the_command_says_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_command, "PROGRAM", tmp_path / "prismux")
    assert _command.main() == 1
    assert "make wheel" in capsys.readouterr().err


def test_figures_are_those_of_the_package_outside_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [str(RESULTS), "--only", "T1", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(figures, "PLACES", (Path("reproduce"), tmp_path / "nowhere"))
    assert figures.main(arguments) == 1
    assert "nothing drawn" in capsys.readouterr().err
    monkeypatch.setattr(figures, "PLACES", (Path("reproduce"), ROOT / "reproduce"))
    assert figures.main(arguments) == 0
    assert list((tmp_path / "out").glob("T1*"))
