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


TYPED = """\
import prismux
from prismux.policies import CongestionControl, LinkScheduler

class Quickest(LinkScheduler):
    def choose(self, links: list[prismux.LinkView], packet: prismux.PacketView, /) -> prismux.LinkView | None:
        return min(links, key=lambda link: link.{attribute}, default=None)

class Halving:
    def on_ack(self, ack: prismux.AckView, window: prismux.WindowView) -> float:
        return window.cwnd_bytes
    def {method}(self, signal: str, window: prismux.WindowView) -> float:
        return window.cwnd_bytes / 2

def of(flow: str) -> CongestionControl:
    return Halving()

prismux.run("two-members", scheduler=lambda proxy: Quickest(), congestion=Halving)
"""


@pytest.mark.parametrize(
    ("attribute", "method", "complaints"),
    [("hrtt_s", "on_congestion", 0), ("hrtt", "on_congestion", 1), ("hrtt_s", "on_loss", 2)],
)
def test_a_type_checker_knows_what_policies_have(tmp_path: Path, attribute: str, method: str, complaints: int) -> None:
    program = tmp_path / "own.py"
    program.write_text(TYPED.format(attribute=attribute, method=method))
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "python", check=False)
    assert done.stdout.count("error: ") == complaints, done.stdout + done.stderr


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
