"""What a wheel has beside the package: the command, the figures. What its tag says of the platform."""

import os
import shutil
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


#: Stands for maturin: it looks at the library alone, whose platform the test gives, unless it is told a platform.
MATURIN = """\
#!/usr/bin/env bash
platform=$LIBRARY_PLATFORM
while (($#)); do
  case $1 in
    --out) out=$2 ;;
    --compatibility) platform=$2_x86_64 ;;
  esac
  shift
done
mkdir -p "$out"
tar -cf "$out/prismux-1-cp311-abi3-$platform.whl" python/prismux
"""


@pytest.mark.parametrize(
    ("library", "program", "tag"),
    [
        # The tag is that of whichever needs the later C library; without one, that of the library.
        ("manylinux_2_17_x86_64", "GLIBC_2.2.5 GLIBC_2.39 GLIBC_2.4", "manylinux_2_39_x86_64"),
        ("manylinux_2_34_x86_64", "GLIBC_2.2.5 GLIBC_2.17", "manylinux_2_34_x86_64"),
        ("musllinux_1_2_aarch64", "static", "musllinux_1_2_aarch64"),
        ("macosx_11_0_arm64", "no such symbols", "macosx_11_0_arm64"),
    ],
)
def test_a_wheels_tag_says_what_library_and_program_need(tmp_path: Path, library: str, program: str, tag: str) -> None:
    executables = {
        ".ci/wheel": (ROOT / ".ci/wheel").read_text(),
        ".venv/bin/maturin": MATURIN,
        "bin/strip": '#!/bin/sh\nsleep 0.1; cp "$3" "$2"\n',
        "prismux": program,
    }
    for name, text in executables.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python/prismux").mkdir(parents=True)
    shutil.copytree(ROOT / "reproduce/queueing", tmp_path / "reproduce/queueing")
    older = tmp_path / "out" / "prismux-1-cp311-abi3-manylinux_2_5_x86_64.whl"
    older.parent.mkdir()
    older.touch()
    environment = {**os.environ, "LIBRARY_PLATFORM": library, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    wheel = [tmp_path / ".ci/wheel", tmp_path / "prismux", tmp_path / "out"]
    made = subprocess.run(wheel, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    older.unlink()
    (name,) = (path.name for path in (tmp_path / "out").iterdir())
    assert name == f"prismux-1-cp311-abi3-{tag}.whl"
    inside = subprocess.run(["tar", "-tf", tmp_path / "out" / name], capture_output=True, text=True, check=True)
    assert {"python/prismux/bin/prismux", "python/prismux/reproduce/queueing/"} <= set(inside.stdout.split())
    assert not (tmp_path / "python/prismux/bin").exists()
