"""Figure 33: throughput and power against the number of hosts."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("more hosts, least range", 2, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("33"), ["cellular", "peers"])
        axes[0].set_title("(a) throughput")
        charts.paper(axes[0], report.claim("NM-002").number, "cellular")
        charts.finish(axes[0], "hosts", "throughput (Mbit/s)")
        charts.lines(axes[1], report.table("33", 1), ["cellular", "peers"])
        axes[1].set_title("(b) power")
        charts.finish(axes[1], "hosts", "power of a host (W)")
        charts.legend(figure)
        return figure
