"""Q7: delays of one stream over a pipe and one three times as fast, computed and simulated."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("the second pipe three times as fast as the first", 4, columns=2) as (figure, axes):
        for panel, letter, top in zip(axes, "abcd", (12.0, 0.8, 16.0, 0.5), strict=True):
            charts.curves(panel, report.drawing(f"7{letter}"), letter, top=top)
        for claim, load in (("QM-024", "0.8"), ("QM-025", "0.95")):
            charts.paper_at(axes[0], report.claim(claim).number, f"least at load {load}")
        charts.curve_legend(figure)
        return figure
