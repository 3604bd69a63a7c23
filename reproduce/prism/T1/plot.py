"""T1: goodput over capacity while the second link becomes slower."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    names = ["prism", "linux24", "linux24-newreno"]
    with style.canvas("1800 and 600 kbit/s; the second link slower than the first", 2) as (figure, axes):
        for panel, title, index in zip(axes, ["whole 14 MB", "steady state"], [0, 1], strict=True):
            table = report.table("T1", index)
            charts.lines(panel, table, names)
            panel.set_title(title)
            charts.finish(panel, "delay difference (ms)", "goodput / capacity", top=1.1)
        charts.paper(axes[0], report.claim("PR-001").number, "PRISM below 400 ms")
        charts.legend(figure)
        return figure
