"""T2: goodput over capacity while the second link loses more."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("1080 and 360 kbit/s, 300 ms; loss on the second link", 2) as (figure, axes):
        for panel, title, index in zip(axes, ["whole 14 MB", "steady state"], [0, 1], strict=True):
            charts.lines(panel, report.table("T2", index), ["prism", "linux24"])
            panel.set_xscale("log")
            panel.set_title(title)
            charts.finish(panel, "loss on the second link (%)", "goodput / capacity", top=1.1)
        charts.paper(axes[0], report.claim("PR-005").number, "PRISM below 0.8 %", left=True)
        lowest = report.table("T2").numbers[0]
        charts.reported(axes[0], [(lowest, report.claim("PR-007").number)], 0.2 * lowest, "TCP at the lowest loss")
        charts.legend(figure)
        return figure
