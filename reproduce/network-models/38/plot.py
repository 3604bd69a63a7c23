"""Figure 38: spatial reuse of whole journeys, and what links carry under 802.11."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("what peers could carry, and what they do", 2, columns=2) as (figure, axes):
        charts.lines(axes[0], report.table("38"), ["spatial reuse", "hops"])
        reuse = [report.claim(name).number for name in ("NM-018", "NM-019")]
        hops = [report.claim(name).number for name in ("NM-020", "NM-021")]
        charts.reported(axes[0], [(0, reuse[0]), (100, reuse[1]), (0, hops[0]), (100, hops[1])], 6, "reuse and hops")
        axes[0].set_title("(a) schedules of whole journeys")
        charts.finish(axes[0], "non-local flows (%)", "transmissions in a slot; hops")
        charts.lines(axes[1], report.table("37", 3), ["802.11 and DSR"])
        charts.reported(axes[1], [(report.claim("NM-024").number, report.claim("NM-023").number)], 2, "peak")
        axes[1].set_title("(b) all links together, under 802.11")
        charts.finish(axes[1], "load of a flow (kbit/s)", "throughput (Mbit/s)")
        charts.legend(figure)
        return figure
