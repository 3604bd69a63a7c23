"""The cookbook: its programs run as the page has them, each in a folder of its own, and print what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PAGE = ROOT / "docs/guides/cookbook.md"
SECTION = re.compile(r"^## \d\. (.*?)\n(.*?)(?=^## |\Z)", re.M | re.S)
PROGRAM = re.compile(r'^```python title="(.*?)"\n(.*?)^```\n\nIt prints:\n\n```text\n(.*?)^```', re.M | re.S)
#: With their minus and fraction.
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SECTIONS = dict(SECTION.findall(PAGE.read_text()))
#: What a program draws, with a word that its picture has.
PICTURES = {
    "A link that follows a trace": ("trace", "kB that wait"),
    "A published figure with other parameters": ("loss", "PRISM"),
}


def about_equal(said: str, printed: str) -> bool:
    """Whether the words are the same and the numbers within a tenth, or one in the last digit."""
    if NUMBER.sub("#", said).split() != NUMBER.sub("#", printed).split():
        return False

    def close(one: str, other: str) -> bool:
        digits = len(one.partition(".")[2])
        return abs(float(one) - float(other)) <= max(0.1 * abs(float(one)), 1.01 * 10.0**-digits)

    return all(map(close, NUMBER.findall(said), NUMBER.findall(printed)))


def test_the_cookbook_has_the_tasks_of_a_first_day() -> None:
    assert list(SECTIONS) == [
        "A scheduler of your own",
        "A congestion control of your own",
        "A topology of your own",
        "A link that follows a trace",
        "A sweep on a cluster",
        "A published figure with other parameters",
        "A comparison with MPTCP",
        "Schedulers that wait, in a sweep",
    ]


@pytest.mark.parametrize("title", SECTIONS)
def test_a_program_of_the_cookbook_prints_what_the_page_says(title: str, tmp_path: Path) -> None:
    [(name, program, said)] = PROGRAM.findall(SECTIONS[title])
    (tmp_path / name).write_text(program)
    done = subprocess.run(
        [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert about_equal(said, done.stdout), f"the page says:\n{said}\nprinted:\n{done.stdout}"
    if title in PICTURES:
        picture, word = PICTURES[title]
        assert word in (tmp_path / f"{picture}.svg").read_text()
        assert f"pictures/cookbook-{picture}.svg" in SECTIONS[title]
        assert (ROOT / f"docs/pictures/cookbook-{picture}.svg").is_file()


def test_output_is_compared_by_words_and_nearby_numbers() -> None:
    assert about_equal("mine 1.17 Mbit/s\n", "mine  1.20 Mbit/s\n")
    assert not about_equal("mine 1.17 Mbit/s\n", "mine 0.90 Mbit/s\n")
    assert not about_equal("mine 1.17 Mbit/s\n", "yours 1.17 Mbit/s\n")
