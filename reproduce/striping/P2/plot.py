"""P2: the unaware application with larger buffers on its fast pipe."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("0.5 and 5 Mbit/s at 100 ms; buffers of the fast pipe enlarged") as (figure, (panel,)):
        charts.lines(panel, report.table("P2"), ["sockets", "sockets and resequencing"])
        panel.axvline(report.claim("ST-009").number, color="#555555", linewidth=1, linestyle=":", label="paper: needed")
        charts.finish(panel, "times 64 kB", "goodput / ideal", top=1.1)
        charts.legend(figure)
        return figure
