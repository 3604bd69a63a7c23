"""Tables of figures from sweeps: means and intervals over the seeds, and what is refused."""

from pathlib import Path

import polars
import pytest
from conftest import SMALL

import prismux
from prismux.figures import Point, ReportError, Table


@pytest.mark.parametrize(
    ("values", "half"),
    [
        # stdev times the 97.5 % quantile of Student's t over the root of n.
        ([1.0, 3.0], 12.706),
        ([1.0, 2.0, 3.0], 4.303 / 3**0.5),
        ([-1.0, 1.0] * 50, 1.9842 * (100 / 99) ** 0.5 / 10),
    ],
)
def test_an_interval_is_students(values: list[float], half: float) -> None:
    point = Point.of(values)
    assert (point.mean, point.n) == (sum(values) / len(values), len(values))
    assert point.high - point.mean == pytest.approx(half, rel=1e-3)
    assert point.mean - point.low == pytest.approx(half, rel=1e-3)


def test_one_run_has_no_interval() -> None:
    assert Point.of([2.5]) == Point(2.5, 2.5, 2.5, 1)


def test_a_sweep_becomes_a_table_of_means_by_variant(tmp_path: Path) -> None:
    text = SMALL + '[variants.near]\nlinks.wire.rate = "20 Mbit/s"\n[variants.far]\nlinks.wire.delay = "90 ms"\n'
    scenario, over = prismux.Scenario.from_text(text), {"links.wire.loss": [0.02, 0.01]}
    sweep = prismux.sweep(scenario, over, variants=["near", "far"], seeds=3, out=tmp_path / "sweep.parquet")
    table = Table.of_sweep(sweep.table, "links.wire.loss", "total.goodput_bps")
    assert table.numbers == (0.01, 0.02) and set(table.columns) == {"near", "far"}
    frame = polars.DataFrame(sweep.table)
    for variant in table.columns:
        for loss, point in zip(table.numbers, table.column(variant), strict=True):
            runs = frame.filter(variant=variant).filter(polars.col("links.wire.loss") == loss)["total.goodput_bps"]
            assert point == Point.of(runs.to_list()) and point.n == 3
    with pytest.raises(ReportError, match=r'no column "links.wire.lost".*links.wire.loss'):
        Table.of_sweep(sweep.table, "links.wire.lost", "total.goodput_bps")
    with pytest.raises(ReportError, match=r'no column "total.speed"'):
        Table.of_sweep(sweep.table, "links.wire.loss", "total.speed")


def test_rows_of_another_axis_are_not_averaged(tmp_path: Path) -> None:
    axes: dict[str, list[float | str]] = {"links.wire.loss": [0.01, 0.02], "links.wire.delay": ["10 ms", "20 ms"]}
    sweep = prismux.sweep(prismux.Scenario.from_text(SMALL), axes, seeds=2, out=tmp_path / "sweep.parquet")
    with pytest.raises(ReportError, match="filter the other axes"):
        Table.of_sweep(sweep.table, "links.wire.loss", "total.goodput_bps")
    one = polars.DataFrame(sweep.table).filter(polars.col("links.wire.delay") == 0.01)
    assert list(Table.of_sweep(one, "links.wire.loss", "total.goodput_bps").columns) == ["all"]
