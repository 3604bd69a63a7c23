"""Figures: each a pure function of a result file, with axes that say what they show."""

import copy
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import ROOT
from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image

from prismux.figures import Claim, Curve, Report, ReportError, style
from prismux.figures.__main__ import code_of, draw, folders, main, source_of

FOLDERS = folders(ROOT / "reproduce")
RESULTS = Path(__file__).parent / "data/claims-quick.json"


def report(folder: Path, data: Any = None) -> Report:
    """The results that a figure is drawn from."""
    reports = Report.load(RESULTS) if data is None else Report.parse(data)
    return reports[folder.parent.name]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data() -> Any:
    return json.loads(RESULTS.read_text())


def test_every_figure_of_the_papers_has_its_folder() -> None:
    names = [folder.name for folder in FOLDERS]
    assert set(names) >= {
        "T1",
        "T2",
        "T3",
        *(f"S{n}" for n in range(1, 9)),
        "Q6",
        "Q7",
        "C",
        "D2",
        *(f"P{n}" for n in (1, 2, 3, 4, 5, 6, 8)),
    }
    assert len(names) == len(set(names)), "pictures of all systems lie in one folder"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_figure_is_a_pure_function_of_its_file(folder: Path, tmp_path: Path) -> None:
    drawn = []
    for name in ("first", "again"):
        paths = style.save(code_of(folder).draw(report(folder)), str(tmp_path / name))
        drawn.append([Path(path).read_bytes() for path in paths])
    assert drawn[0] == drawn[1]
    picture = Image.open(tmp_path / "first.png").convert("L")
    ink = sum(picture.histogram()[:200]) / (picture.width * picture.height)
    assert 0.005 < ink < 0.6, f"{ink:.1%} of the picture is dark"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_axes_have_labels_units_and_a_baseline(folder: Path) -> None:
    figure = code_of(folder).draw(report(folder))
    assert figure.get_suptitle()
    for axes in figure.axes:
        assert axes.get_ylabel()
        assert axes.get_xlabel() or all(label.get_text() for label in axes.get_xticklabels())
        assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_figure_shows_what_is_in_the_file(folder: Path, data: Any) -> None:
    before = svg(code_of(folder).draw(report(folder, data)))
    changed = copy.deepcopy(data)
    for entry in changed["series"]:
        for _, cells in entry["table"]["rows"]:
            for cell in filter(None, cells):
                cell["mean"] *= 0.5
                cell["ci95"] = cell["ci95"] and [value * 0.5 for value in cell["ci95"]]
    for entry in changed["figures"]:
        for curve in entry["figure"]["curves"]:
            curve["points"] = [[x, y * 0.5] for x, y in curve["points"]]
    assert svg(code_of(folder).draw(report(folder, changed))) != before


def svg(figure: Figure) -> str:
    """The picture without its random marks."""
    text = io.StringIO()
    with pyplot.rc_context({"svg.hashsalt": "test"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_says_what_the_paper_did_and_where_everything_is(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for heading in ("What the paper did", "Scenario", "Analysis", "Plot"):
        assert f"## {heading}" in text
    for link in re.findall(r"\]\((?!http)([^)]+)\)", text):
        assert (folder / link).resolve().is_file(), link


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_figure_names_its_source(folder: Path) -> None:
    title = draw(folder, report(folder)).get_suptitle()
    assert re.search(r"\[(Fig|fig|Claims)[^]]*\]$", title), title


#: Reported numbers that no axis of their figures has.
NO_PLACE = {
    **dict.fromkeys(
        ("NM-012", "PR-023", "PR-024", "PR-025", "PR-038", "PT-013", "RC-014", "TD-011"), "a ratio of two values"
    ),
    **dict.fromkeys(("PR-047", "PR-049", "PR-051", "TD-008"), "a deviation"),
    **dict.fromkeys(("QM-026", "QM-032"), "no packet to the first pipe: the edge of the panel"),
    "R2-002": "a time of which the panels show but the ends",
}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_figure_marks_the_numbers_that_its_source_reports(
    folder: Path, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = re.match(r"(?:Fig\.|[Ff]igure) (\d+)(\(\w\))?", source_of(folder))
    if number is None:
        return
    place = re.compile(rf"Fig {number[1]}\b" + re.escape(number[2] or ""))
    own = [claim for claim in data["claims"] if claim["system"] == folder.parent.name and place.search(claim["place"])]
    numbers = {claim["id"] for claim in own if not isinstance(claim["reported"], str)}
    marked: list[str] = []
    claim_of = Report.claim

    def claim(report: Report, name: str) -> Claim:
        marked.append(name)
        return claim_of(report, name)

    monkeypatch.setattr(Report, "claim", claim)
    code_of(folder).draw(report(folder, data))
    assert numbers - set(marked) - set(NO_PLACE) == set()


def test_colours_of_one_figure_differ_also_without_colour() -> None:
    looks = [style.look(name) for name in ("adas", "wrr", "random", "hrtt", "nip", "ideal")]
    assert len({look.colour for look in looks}) == len({(look.marker, look.dashes) for look in looks}) == 6


def test_a_file_that_is_no_report_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, reason in (
        ("", "no JSON"),
        ("{}", "not the output"),
        ('{"series": 3, "claims": [{"system": "prism"}]}', "not the output"),
    ):
        path = tmp_path / "wrong.json"
        path.write_text(text)
        with pytest.raises(ReportError, match=reason):
            Report.load(path)
    assert main([str(path), "--out", str(tmp_path)]) == 2
    assert "not the output" in capsys.readouterr().err


def test_figures_without_results_are_left_out_and_named(
    tmp_path: Path, data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    some = {
        **data,
        "figures": [],
        "series": [entry for entry in data["series"] if entry["table"]["experiment"][:2] == "T1"],
    }
    path = tmp_path / "some.json"
    path.write_text(json.dumps(some))
    assert main([str(path), "--figures", str(ROOT / "reproduce"), "--out", str(tmp_path / "out")]) == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"T1.svg", "T1.png", "T1.pdf"}
    assert "S1: not drawn: the file has no results for S1; it has T1" in capsys.readouterr().err


def test_one_figure_can_be_asked_for(tmp_path: Path) -> None:
    assert main([str(RESULTS), "--figures", str(ROOT / "reproduce"), "--only", "T1", "--out", str(tmp_path)]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {"T1.svg", "T1.png", "T1.pdf"}


def test_simulated_points_lie_on_the_computed_curves() -> None:
    """Four standard errors of some hundred points: none should be farther away."""
    compared = 0
    for drawing in Report.load(RESULTS)["queueing"].drawings.values():
        for curve in drawing.curves:
            along = sorted(point[::-1] for point in curve.points) if _sideways(curve) else sorted(curve.points)
            for spot in curve.simulated:
                expected = numpy.interp(spot.at, *zip(*along, strict=True))
                half_width = (spot.point.high - spot.point.low) / 2
                assert abs(spot.point.mean - expected) < 2 * half_width + 0.002 * expected, (curve.label, spot)
                compared += 1
    assert compared > 100


def _sideways(curve: Curve) -> bool:
    return any(spot.axis == "x" for spot in curve.simulated)
