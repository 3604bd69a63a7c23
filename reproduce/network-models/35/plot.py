"""Figure 35: hot spots."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("half of the hosts in hot spots", 2, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("35"), ["cellular", "peers"])
        axes[0].set_title("(a) throughput")
        charts.finish(axes[0], "squares that hold half of the hosts", "throughput (Mbit/s)")
        charts.lines(axes[1], report.table("35", 1), ["cellular", "peers"])
        axes[1].set_title("(b) power")
        charts.finish(axes[1], "squares that hold half of the hosts", "power of a host (W)")
        charts.legend(figure)
        return figure
