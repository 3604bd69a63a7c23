"""P6: one of two pipes goes dark."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2 Mbit/s dark from 25 s to 50 s beside 5 Mbit/s", 2) as (figure, panels):
        for panel, way in zip(panels, ["pTCP", "smart"], strict=True):
            charts.lines(panel, report.table("P6"), [f"{way}, pipe 1", f"{way}, pipe 2"])
            charts.finish(panel, "time (s)", "throughput (Mbit/s)")
        charts.legend(figure)
        return figure
