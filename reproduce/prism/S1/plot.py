"""S1: goodput of communities of one to five members."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("one to five members of 400 kbit/s to 2.4 Mbit/s") as (figure, axes):
        (panel,) = axes
        charts.lines(panel, report.table("S1"), ["ideal", "prism", "no proxy", "wrr"])
        panel.set_xticks([1, 2, 3, 4, 5])
        charts.finish(panel, "members", "goodput in steady state (Mbit/s)")
        charts.legend(figure)
        return figure
