"""Figure 50: hybrid stations."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("hybrid stations, 100 flows of 64 kbit/s", 2, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("50"), ["cellular", "peers", "assisted"])
        charts.reported(axes[0], [(10, report.claim("HS-002").number)], 0.6, "peers with a schedule")
        axes[0].set_title("(a) throughput of a flow")
        charts.finish(axes[0], "hybrid stations", "throughput (kbit/s)")
        charts.lines(axes[1], report.table("50", 1), ["cellular", "peers", "assisted"])
        axes[1].set_title("(b) variation among flows")
        charts.finish(axes[1], "hybrid stations", "standard deviation / mean")
        charts.legend(figure)
        return figure
