"""``python -m prismux.figures RESULTS.json --out FOLDER``: draws every figure of ``reproduce/`` that has results."""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from prismux.figures.report import Report, ReportError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Where figures lie: in the repository, or in a wheel.
PLACES = (Path("reproduce"), Path(__file__).parents[1] / "reproduce")


def code_of(folder: Path) -> ModuleType:
    """Load ``plot.py`` of a figure's folder."""
    path = folder / "plot.py"
    name = "prismux_figure_" + "_".join(folder.parts[-2:]).replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source_of(folder: Path) -> str:
    """Where a figure was published, as its folder's README begins: "Fig. 7(a) of the journal version"."""
    paragraph = (folder / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    words = " ".join(paragraph.split()).removeprefix("Published as ").replace("*", "")
    return re.split(r";|, section", words)[0].strip(".")


def draw(folder: Path, report: Report) -> Figure:
    """Draw a figure with its source in the title; ReportError where the file lacks what it needs."""
    from prismux.figures import style

    figure: Figure = code_of(folder).draw(report)
    style.cite(figure, source_of(folder))
    return figure


def folders(root: Path) -> list[Path]:
    """Return the folders of figures under ``reproduce/``, by system and name."""
    return sorted(path.parent for path in root.glob("*/*/plot.py"))


def main(arguments: list[str] | None = None) -> int:
    """Draw the figures and say where they are."""
    parser = argparse.ArgumentParser(prog="python -m prismux.figures", description=__doc__)
    parser.add_argument("results", type=Path, help="output of `prismux reproduce NAME --json`")
    parser.add_argument(
        "--figures", type=Path, help="folder of the systems' figures [default: ./reproduce, else the package's]"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of figures: T1 Q6")
    parser.add_argument("--out", type=Path, default=Path("results/figures"), help="where the pictures go")
    given = parser.parse_args(arguments)
    from prismux.figures import style

    try:
        reports = Report.load(given.results)
    except (ReportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    drawn = 0
    root = given.figures or next((place for place in PLACES if place.is_dir()), PLACES[0])
    for folder in folders(root):
        report = reports.get(folder.parent.name)
        if report is None or (given.only and folder.name not in given.only):
            continue
        try:
            figure = draw(folder, report)
        except ReportError as error:
            print(f"{folder.name}: not drawn: {error}", file=sys.stderr)
            continue
        drawn += 1
        print(", ".join(style.save(figure, str(given.out / folder.name))))
    if not drawn:
        print(f"error: nothing drawn: {root} has no figure with results in {given.results}", file=sys.stderr)
    return 0 if drawn else 1


if __name__ == "__main__":
    sys.exit(main())
