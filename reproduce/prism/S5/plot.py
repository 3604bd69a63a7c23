"""S5: the reverse path controller on, in part and off."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("the reverse path controller over 1.4 Mbit/s + d, 1.4, 1.4 - d") as (figure, axes):
        (panel,) = axes
        charts.lines(panel, report.table("S5"), ["full", "partial", "none"])
        charts.paper(panel, report.claim("PR-037").number, "RPC off stays below")
        charts.finish(panel, "disparity d (%)", "goodput / sum of TCP on each link", top=1.1)
        charts.legend(figure)
        return figure
