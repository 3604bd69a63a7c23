"""Q6: delays of one stream over two equal pipes, computed and simulated."""

from matplotlib.figure import Figure

from prismux.figures import Report, charts, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    with style.canvas("two equal pipes: who splits the stream, and how evenly", 4, columns=2) as (figure, axes):
        for panel, letter, top in zip(axes, "abcd", (2.0, 6.0, None, 1.0), strict=True):
            charts.curves(panel, report.drawing(f"6{letter}"), letter, top=top)
        # Some tens up to a load of 0.8, thousands close to 1.
        axes[2].set_yscale("symlog", linthresh=1)
        charts.curve_legend(figure)
        return figure
