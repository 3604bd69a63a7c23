"""Figure 22: RCP beside TCP."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("twenty flows over 10 Mbit/s; groups that come and go; bursts on the way back", 4, columns=2) as (
        figure,
        axes,
    ):
        shares = report.table("22a")
        charts.lines(axes[0], shares, ["tcp", "rcp"])
        axes[0].set_title("(a) mean of a flow")
        charts.finish(axes[0], "flows over RCP", "goodput (kbit/s)")
        charts.lines(axes[1], shares, ["variation"])
        axes[1].set_title("(b) variation over flows")
        charts.finish(axes[1], "flows over RCP", "standard deviation / mean")
        charts.lines(axes[2], report.table("22c"), ["tcp", "rcp", "late-tcp", "late-rcp"])
        axes[2].set_title("(c) mean of a group")
        charts.finish(axes[2], "time (s)", "received by a flow (MB)")
        charts.lines(axes[3], report.table("22d"), ["tcp", "rcp"])
        axes[3].set_title("(d) load on the way back")
        charts.finish(axes[3], "bursty UDP flows on the way back", "goodput of a flow (kbit/s)")
        charts.legend(figure)
        return figure
