"""The package: stubs, docstrings, readme."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import prismux


def test_stubs_agree_with_the_compiled_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "prismux", "--concise", "--mypy-config-file", "pyproject.toml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "python", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_public_is_documented() -> None:
    for name in prismux.__all__:
        thing = getattr(prismux, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member in (m for m in vars(thing) if not m.startswith("_")):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


def test_the_examples_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.S):
        exec(compile(block, "README.md", "exec"), names)
    assert isinstance(names["comparison"], prismux.Comparison)
