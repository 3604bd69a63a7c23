"""The documentation: the tutorial runs, the site builds, the guides' examples work."""

import html
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from browser import Browser
from conftest import ROOT, Command, needs_browser
from nbclient import NotebookClient

import prismux
from prismux.figures import Report, ReportError
from prismux.figures.claims import page

RESULTS = Path(__file__).parent / "data/claims-quick.json"


@pytest.mark.filterwarnings("default")
def test_the_tutorial_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))
    assert 'did you mean "wwan2"' in printed
    assert "6 0\n" in printed, "the second sweep finds everything done"
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})}
    assert "image/png" in kinds


def test_the_tutorial_is_kept_without_its_outputs() -> None:
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


def test_examples_of_the_guides_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = prismux.Scenario.find("two-members").text
    (tmp_path / "mine.toml").write_text(text)
    for guide in sorted((ROOT / "docs/guides").glob("*.md")):
        for block in re.findall(r"```python\n(.*?)```", guide.read_text(), re.S):
            short = block.replace("500ms..1000ms/50ms", "500ms..550ms/50ms").replace("seeds=10", "seeds=1")
            exec(compile(short, guide.name, "exec"), {})


def test_the_claims_page_has_every_claim_and_counts_them() -> None:
    reports = Report.load(RESULTS)
    text = page(list(reports.items()))
    for system, prefix, number in (
        ("prism", "PR", 69),
        ("tcp-ho", "HO", 9),
        ("rcp", "RC", 21),
        ("r2cp", "R2", 17),
        ("ptcp", "PT", 22),
        ("striping", "ST", 18),
        ("queueing", "QM", 35),
        ("tcp-door", "TD", 18),
        ("network-models", "(?:NM|AS|DM|HS|MM)", 56),
    ):
        claims = reports[system].claims
        rows = re.findall(rf"^\| {prefix}-\d{{3}} \|.*\| ([a-z ]+) \| \[?(\**[a-z-]+)[^|]*\|$", text, re.M)
        assert len(rows) == len(claims) == number
        # The totals are those of the rows of the page.
        measured = [verdict for kind, verdict in rows if kind == "measured"]
        others = [verdict for kind, verdict in rows if kind in ("arithmetic", "read back")]
        assert len(measured) + len(others) == number
        holds, also = measured.count("holds"), others.count("holds")
        assert f"{number} claims: {holds} of {len(measured)} measured hold" in text
        assert not others or f"; {also} of {len(others)} by arithmetic or read back hold" in text
        assert re.search(rf"^\| \[{system}\]\(#{system}\) \| {number} \| {len(measured)} \| {holds} \|", text, re.M)
        assert re.search(rf"^\| \[{system}\].* \| {len(others)} \| {also} \|$", text, re.M)


def test_kinds_of_results_are_those_of_the_tables() -> None:
    tables = [tomllib.loads(path.read_text()) for path in sorted((ROOT / "study/claims").glob("*.toml"))]
    known = {claim["id"]: claim["kind"] for table in tables for claim in table["claim"]}
    found = {claim.id: claim.kind for report in Report.load(RESULTS).values() for claim in report.claims.values()}
    assert found == known and set(known.values()) == {"measured", "arithmetic", "read-back"}


@pytest.mark.parametrize("kind", [None, "believed"])
def test_a_claim_without_a_kind_is_refused(kind: str | None, tmp_path: Path) -> None:
    data = json.loads(RESULTS.read_text())
    if kind is None:
        del data["claims"][7]["kind"]
    else:
        data["claims"][7]["kind"] = kind
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ReportError, match="kind"):
        Report.load(path)


def test_a_claim_that_does_not_hold_says_why() -> None:
    for report in Report.load(RESULTS).values():
        silent = [claim.id for claim in report.claims.values() if claim.verdict != "holds" and not claim.cause]
        assert not silent


PAGES = [
    *sorted((ROOT / "docs/protocols").glob("*.md")),
    *sorted((ROOT / "docs/theory").glob("*.md")),
    *(ROOT / crate / "README.md" for crate in ("network/link", "network/simulator", "daemons")),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_page_of_a_protocol_or_model_has_the_headings_of_all(path: Path) -> None:
    headings = re.findall(r"^## (.*)", path.read_text(), re.M)
    for heading in ("Scope and limitations", "Usage", "Examples", "Validation", "References"):
        assert any(found.startswith(heading) for found in headings), f"{path}: {headings}"


def test_scenarios_and_settings_of_the_examples_exist(prismux_command: Command) -> None:
    checked = 0
    for path in [*PAGES, *sorted((ROOT / "docs/guides").glob("*.md"))]:
        for command in re.findall(r"^    prismux (?:run|compare|sweep) (.*)", path.read_text(), re.M):
            words = shlex.split(command.partition("&&")[0], comments=True)
            if words[0].endswith(".toml") or words[0].isupper():
                continue
            settings = [word for at, word in enumerate(words) if at and words[at - 1] == "--set"]
            said = prismux_command("check", words[0], *(f"--set={setting}" for setting in settings))
            assert said.returncode == 0, f"{path}: {command}\n{said.stderr}"
            checked += 1
    assert checked > 10


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built into a relative folder, as the Makefile names one."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, str(ROOT / "docs/build.py"), "--results", str(RESULTS), "--out", "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_site_has_its_pages_and_needs_no_network(site: Path) -> None:
    start = (site / "index.html").read_text()
    assert "pictures/demo.svg" in start and (site / "pictures/demo.svg").is_file()
    for name in (
        "claims.html",
        "figures/T1.html",
        "figures/T1.svg",
        "figures/Q6.svg",
        "api.html",
        "tutorial.html",
        "scenario.html",
    ):
        assert (site / name).is_file(), name
    fetched = r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]*)"'
    for path in site.rglob("*.html"):
        assert not re.findall(fetched, path.read_text()), path


@needs_browser
def test_the_start_page_shows_the_picture_on_one_screen_and_the_search_finds(site: Path, tmp_path: Path) -> None:
    with Browser(tmp_path, 1366, 768) as browser:
        browser.open(f"file://{site}/index.html")
        bottom, height = browser.run(
            "const picture = document.querySelector('img[src$=\"demo.svg\"]');"
            "return [picture.getBoundingClientRect().bottom, innerHeight];"
        )
        assert 300 < bottom <= height
        found = browser.run(SEARCH)
        assert "Your own scheduler" in found
        assert not browser.complaints()


@needs_browser
def test_claims_filter_and_show_their_verdicts_in_colour(site: Path, tmp_path: Path) -> None:
    with Browser(tmp_path, 1366, 768) as browser:
        browser.open(f"file://{site}/claims.html")
        before, colours = browser.run(
            "const cells = [...document.querySelectorAll('td.verdict')];"
            "const colours = new Set(cells.map((cell) => getComputedStyle(cell).color));"
            "return [cells.length, colours.size];"
        )
        assert before > 5 and colours > 1
        shown = "return [...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden).length;"
        browser.run("document.querySelectorAll('.claims-filter .verdict-differs').forEach((choice) => choice.click());")
        without = browser.run(shown)
        assert 0 < without < before
        browser.run("document.querySelectorAll('.claims-filter .kind-measured').forEach((choice) => choice.click());")
        assert 0 < browser.run(shown) < without, "what is by arithmetic or read back stays"
        browser.run("document.querySelectorAll('.claims-filter .kind-measured').forEach((choice) => choice.click());")
        browser.run(
            "document.querySelectorAll('.claims-filter input').forEach((field) => {"
            " field.value = 'PR-0'; field.dispatchEvent(new Event('input')); });"
        )
        assert browser.run(shown) <= without
        assert not browser.complaints()


def test_the_reference_tells_types(site: Path) -> None:
    text = (site / "api.html").read_text()
    plain = html.unescape(re.sub(r"<[^>]+>", "", text))
    assert "goodput_bps: float" in plain, "properties have types"
    assert "scheduler:" in plain, "so have arguments"
    assert "AckView()" not in plain, "nobody makes one"
    assert "on_rate(rate: RateView, window: WindowView, /) -> float" in plain and "fat_tree" in plain


# Types a word into the search, and resolves to the titles that it finds.
SEARCH = """
const input = document.querySelector(".md-search__input");
input.focus();
input.value = "scheduler";
input.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
return new Promise((resolve, reject) => {
  const limit = performance.now() + 20000;
  const look = () => {
    const titles = [...document.querySelectorAll(".md-search-result__item h1")].map((title) => title.textContent);
    if (titles.length > 0) resolve(titles);
    else if (performance.now() > limit) reject(new Error("the search finds nothing"));
    else setTimeout(look, 50);
  };
  look();
});
"""
