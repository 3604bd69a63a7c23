"""The page of a running home in a real browser: real daemons, real traffic, an uplink whose name is markup."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from conftest import ROOT, needs_browser
from page_lab import HOSTILE, PageLab


def has_namespaces() -> bool:
    """Whether this user may make namespaces and TUN devices in them."""
    if not all(map(shutil.which, ["unshare", "nsenter", "ip"])) or not Path("/dev/net/tun").exists():
        return False
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc"]
    if os.geteuid() != 0:
        command.append("--map-root-user")
    return subprocess.run([*command, "ip", "tuntap", "add", "t0", "mode", "tun"], capture_output=True).returncode == 0


# Without a browser or namespaces there is no page to look at; `.ci/setup tests` installs what is missing. What is
# answered over HTTP, and to whom, the daemons' own tests say everywhere.
pytestmark = [
    needs_browser,
    pytest.mark.skipif(not has_namespaces(), reason="needs namespaces and TUN devices"),
]

# Resolves to what `look` returns once it is something, or to null after a while.
UNTIL = """
return new Promise((resolve) => {
  const limit = performance.now() + 30000;
  const ask = () => {
    const seen = (() => { LOOK })();
    if (seen || performance.now() > limit) resolve(seen || null);
    else setTimeout(ask, 100);
  };
  ask();
});
"""

CARDS = """
const cards = [...document.querySelectorAll(".card")].map((card) => ({
  name: card.querySelector("h3").textContent,
  badge: card.querySelector(".badge").textContent,
  why: card.querySelector(".why").textContent,
  figures: Object.fromEntries([...card.querySelectorAll("dl div")].map(
    (figure) => [figure.querySelector("dt").textContent, figure.querySelector("dd").textContent])),
  lines: card.querySelectorAll("path.line").length,
}));
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageLab]:
    program = Path(os.environ.get("PRISMUX", ROOT / "target/debug/prismux")).resolve()
    with PageLab(program, tmp_path_factory.mktemp("page")) as lab:
        yield lab


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, lab: PageLab) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        browser.open(lab.url)
        yield browser


def until(browser: Browser, look: str) -> object:
    return browser.run(UNTIL.replace("LOOK", look))


def test_each_link_has_a_card_with_what_it_carries_and_why(browser: Browser) -> None:
    used = "return cards.length === 2 && cards.every((card) => card.badge === 'In use') && cards;"
    assert until(browser, CARDS + used), browser.run(CARDS + "return cards;")
    carries = "return cards.some((card) => /Mbit/.test(card.figures.Down)) && cards;"
    assert until(browser, CARDS + carries), browser.run(CARDS + "return cards;")
    known = "return cards.every((card) => / ms$/.test(card.figures['Round trip']) && card.lines >= 2) && cards;"
    cards = until(browser, CARDS + known)
    assert isinstance(cards, list), browser.run(CARDS + "return cards;")
    assert [card["name"] for card in cards] == ["wan0", HOSTILE], "as text, not as markup"
    assert browser.run("return document.querySelectorAll('body script').length;") == 0
    assert browser.run("return document.querySelectorAll('#chart path.area').length;") == 4, "two links, two directions"
    assert "Mbit/s" in browser.run("return document.getElementById('sums').textContent;")
    assert until(browser, "return document.querySelectorAll('#decisions li time').length;")
    assert until(browser, "return /203.0.113.1:4717/.test(document.getElementById('flows').textContent);")
    booked = (
        "return [...document.querySelectorAll('.booked')].every((line) => /^Today .* since 20/.test(line.textContent));"
    )
    assert until(browser, booked), "accounts of today and of this month"
    assert "Mbit/s" in browser.run("return document.getElementById('flows').textContent;"), "busiest by what they carry"
    assert browser.complaints() == []


def test_the_pointer_tells_what_was_carried_then(browser: Browser) -> None:
    x, y = browser.run(
        "const box = document.getElementById('chart').getBoundingClientRect(); return [box.right - 12, box.y + 60];"
    )
    browser.point(round(x), round(y))
    reading = browser.run("return document.getElementById('reading').textContent;")
    assert "wan0 ↓" in reading and f"{HOSTILE} ↓" in reading


def test_another_stretch_of_time_is_shown(browser: Browser) -> None:
    browser.run("document.querySelectorAll('#spans button')[1].click();")
    assert until(browser, "return document.querySelectorAll('#chart path.area').length === 4;"), (
        "ten seconds have passed"
    )
    browser.run("document.querySelectorAll('#spans button')[0].click();")
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [320, 390, 768, 1500])
def test_the_page_fits_every_width_in_light_and_dark(browser: Browser, width: int) -> None:
    grounds = []
    for dark in [False, True]:
        browser.emulate(width, 900, dark)
        size = browser.run("const root = document.documentElement; return [root.scrollWidth, root.clientWidth];")
        assert size[0] <= size[1], f"{width}: {size}"
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor;"))
    assert grounds[0] != grounds[1]


def test_a_daemon_that_is_gone_is_said_to_be_gone(browser: Browser, lab: PageLab) -> None:
    lab.kill_home()
    told = until(browser, "const told = document.getElementById('gone'); return !told.hidden && told.textContent;")
    assert isinstance(told, str) and told.startswith("The daemon has not answered for")
    assert browser.run("return document.body.classList.contains('old');")
    assert len(browser.run(CARDS + "return cards;")) == 2, "what was known stays, as old"
