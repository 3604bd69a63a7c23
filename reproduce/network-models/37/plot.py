"""Figure 37: all flows to the base station, against their load."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("all flows to the base station", 2, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("37"), ["cellular", "peers", "assisted"])
        axes[0].set_title("(a) throughput of a flow")
        charts.finish(axes[0], "load of a flow (kbit/s)", "throughput (kbit/s)")
        charts.lines(axes[1], report.table("37", 1), ["cellular", "peers", "assisted"])
        axes[1].set_title("(b) variation among flows")
        charts.finish(axes[1], "load of a flow (kbit/s)", "standard deviation / mean")
        charts.legend(figure)
        return figure
