"""S2: the schedulers without ACK control while the links become more unlike."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("schedulers without ACK control over 1.4 Mbit/s + d, 1.4, 1.4 - d") as (figure, axes):
        (panel,) = axes
        charts.lines(panel, report.table("S2"), ["adas", "wrr", "rr", "random"])
        charts.paper(panel, report.claim("PR-019").number, "all schedulers below")
        charts.finish(panel, "disparity d (%)", "goodput / sum of TCP on each link", top=0.6)
        charts.legend(figure)
        return figure
