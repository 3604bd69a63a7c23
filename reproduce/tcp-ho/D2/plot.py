"""D2: how long a flow stands still after a disconnection."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("idle time after a disconnection of 0.25 to 30 s", 2) as (figure, axes):
        table = report.table("D2")
        charts.lines(axes[0], table, ["tcp", "tcp-ho"])
        charts.finish(axes[0], "disconnection (s)", "seconds from the link's return to new data")
        charts.lines(axes[1], table, ["saved", "saved, by arithmetic"])
        charts.finish(axes[1], "disconnection (s)", "seconds saved")
        charts.legend(figure)
        return figure
