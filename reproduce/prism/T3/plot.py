"""T3: goodput in the three phases of a run in which members come and go."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("T3")
    title = "360 kbit/s throughout; 1080 kbit/s with loss until 40 s; 1800 kbit/s from 60 s"
    with style.canvas(title) as (figure, axes):
        (panel,) = axes
        charts.bars(panel, table, ["prism", "linux24"])
        charts.levels(panel, table, "capacity")
        for row, claim in ((0, "PR-009"), (2, "PR-011")):
            vanilla = table.column("linux24")[row]
            if vanilla is not None:
                ratio = report.claim(claim).number
                charts.paper(panel, ratio * vanilla.mean, f"{ratio} × TCP", ends=(row - 0.44, row + 0.44))
        charts.finish(panel, "phase", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
