"""Figure 2 of the TCP-DOOR paper: segments received against time."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("one transfer over 20 moving hosts, without route cache") as (figure, (panel,)):
        charts.lines(panel, report.table("DOOR2"), ["tcp", "door"])
        charts.finish(panel, "time (s)", "segments received")
        charts.legend(figure)
        return figure
