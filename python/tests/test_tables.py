"""Tables: Arrow without copies, with units and birth."""

from typing import Any

import pandas
import polars
import pyarrow
import pytest
from conftest import SMALL

import prismux

SHORT = {"duration": "8 s", "events": []}


@pytest.fixture(scope="module")
def result() -> prismux.RunResult:
    return prismux.run("two-members", seed=3, set={**SHORT, "measure.interval": "1 s"})


def test_three_readers_see_the_same_rows(result: prismux.RunResult) -> None:
    rows = pyarrow.table(result.links).to_pylist()
    assert polars.DataFrame(result.links).to_dicts() == rows
    frame = pandas.DataFrame.from_arrow(result.links)  # type: ignore[attr-defined]  # newer than the stubs
    assert frame["link"].tolist() == [row["link"] for row in rows]
    assert frame["delivered_bytes"].tolist() == [row["delivered_bytes"] for row in rows]
    assert len(result.links) == len(rows) == 5


def at(row: dict[str, Any], column: str) -> object:
    """The value of a column, whose dots lead into the JSON form; None where it has no such thing."""
    first, _, rest = column.partition(".")
    inner = row.get(first)
    return at(inner, rest) if rest and inner is not None else inner


def test_rows_are_those_of_the_json_form(result: prismux.RunResult) -> None:
    as_json = result.to_dict()
    for table, key, name in [(result.flows, "flows", "flow"), (result.links, "links", "link")]:
        for row in pyarrow.table(table).to_pylist():
            expected = as_json[key][row.pop(name)]
            assert row == {column: at(expected, column) for column in row}


def test_nothing_is_copied_on_the_way(result: prismux.RunResult) -> None:
    table = result.links
    addresses = {pyarrow.table(table)["delivered_bytes"].chunk(0).buffers()[1].address for _ in range(3)}
    assert len(addresses) == 1


def test_a_table_outlives_its_result() -> None:
    links = pyarrow.table(prismux.run(prismux.Scenario.from_text(SMALL)).links)
    assert links["link"].to_pylist() == ["wire"]


def test_series_are_long_tables(result: prismux.RunResult) -> None:
    series = polars.DataFrame(result.flow_series)
    assert series["time_s"].to_list() == [float(second) for second in range(1, 9)]
    assert series["goodput_bps"].sum() / 8 <= result.to_dict()["flows"]["download"]["bytes"]
    assert len(prismux.run(prismux.Scenario.from_text(SMALL)).flow_series) == 0


def test_metadata_carries_units_and_birth(result: prismux.RunResult) -> None:
    for table in (result.flows, result.links, result.flow_series, result.link_series):
        schema = pyarrow.schema(table)
        assert schema.metadata[b"scenario_hash"].decode() == result.scenario_hash
        assert schema.metadata[b"seed"] == b"3"
        assert schema.metadata[b"version"].decode() == prismux.__version__
        assert table.metadata == {key.decode(): value.decode() for key, value in schema.metadata.items()}
        for field in schema:
            has_unit = b"unit" in field.metadata
            assert has_unit == (pyarrow.types.is_integer(field.type) or pyarrow.types.is_floating(field.type))
        assert set(table.about) == set(table.columns)
    assert result.links.units["rate_bps"] == "bit/s"


def test_a_comparison_has_a_row_for_each_variant_and_seed() -> None:
    comparison = prismux.compare("two-members", runs=2, set=SHORT, variants=["single", "prism"])
    table = polars.DataFrame(comparison.table)
    assert table["seed"].to_list() == [1, 2, 1, 2]
    assert set(table["variant"]) == set(comparison.results)
    best, prism = (comparison.results[name] for name in comparison.results)
    alone = prismux.run("two-members", set=SHORT)
    assert prism[0].goodput_bps == alone.goodput_bps
    # One denominator for all: the best link alone has no tunnel's headers to carry.
    assert best[0].capacity_bps == prism[0].capacity_bps > alone.capacity_bps
    assert "single (m1)" in comparison.results and best[0].goodput_bps > 0
    assert not comparison.failures
    with pytest.raises(prismux.ScenarioError, match="there is no variant"):
        prismux.compare("two-members", variants=["prsm"])
