"""C: what a host gains from telling of its move, by class of handoff."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    names = ["tcp", "tcp-ho x1", "tcp-ho x0.5", "tcp-ho x2"]
    with style.canvas("a flow after a handoff, by class", 2) as (figure, axes):
        for panel, index, y in zip(axes, (2, 3), ("seconds until data flow", "kB in the next 10 s"), strict=True):
            charts.bars(panel, report.table("C", index), names)
            charts.finish(panel, "", y)
        charts.legend(figure)
        return figure
