"""Figure 36: from local to non-local traffic."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("0 to 100 % of the flows leave the cell", 3, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("36"), ["cellular", "peers", "assisted"])
        axes[0].set_title("(a) throughput")
        charts.finish(axes[0], "non-local flows (%)", "throughput (Mbit/s)")
        charts.lines(axes[1], report.table("36", 1), ["cellular", "peers"])
        axes[1].set_title("(b) power")
        charts.finish(axes[1], "non-local flows (%)", "power of a host (W)")
        charts.lines(axes[2], report.table("36", 2), ["peers", "assisted"])
        axes[2].set_title("(c) variation among flows")
        charts.finish(axes[2], "non-local flows (%)", "standard deviation / mean")
        charts.legend(figure)
        return figure
