"""P5: rates that change, by how often."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("2 Mbit/s beside 5 Mbit/s that changes; estimates every 10 s") as (figure, (panel,)):
        charts.lines(panel, report.table("P5"), ["pTCP", "smart"])
        charts.finish(panel, "period (s)", "goodput (Mbit/s)")
        charts.legend(figure)
        return figure
