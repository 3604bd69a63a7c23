"""S7: mean goodput and its variation among twenty flows."""

from matplotlib.figure import Figure

from prismux.figures import Report, style


def draw(report: Report) -> Figure:
    """Draw the figure from a result file."""
    table = report.table("S7")
    with style.canvas("20 flows over 10 Mbit/s", 2) as (figure, axes):
        for panel, column, label in zip(
            axes, ["mean kbit/s", "CoV"], ["mean goodput (kbit/s)", "coefficient of variation"], strict=True
        ):
            measured = [(x, p) for x, p in zip(table.numbers, table.column(column), strict=True) if p is not None]
            errors = [[p.mean - p.low for _, p in measured], [p.high - p.mean for _, p in measured]]
            look = style.look("prism")
            means = [p.mean for _, p in measured]
            panel.errorbar([x for x, _ in measured], means, yerr=errors, color=look.colour, marker=look.marker)
            panel.set_xlabel("PRISM flows among the 20")
            panel.set_ylabel(label)
            panel.set_ylim(0, max(p.high for _, p in measured) * 1.6)
        return figure
