"""Scenarios: same schema, same messages as on the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SMALL, Command

import prismux

SMALL_AS_DICT: dict[str, Any] = {
    "duration": "10 s",
    "nodes": {"a": {"kind": "host"}, "b": {"kind": "host"}},
    "links": {"wire": {"between": ["a", "b"], "rate": "10 Mbit/s", "delay": "20 ms", "loss": 0.01}},
    "flows": {"file": {"from": "a", "to": "b", "bytes": "1 MB"}},
}


def test_file_text_and_dictionary_are_the_same_experiment(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    scenarios = [
        prismux.Scenario.from_file(path),
        prismux.Scenario.from_text(SMALL),
        prismux.Scenario.from_dict(SMALL_AS_DICT),
    ]
    assert len({scenario.hash() for scenario in scenarios}) == 1
    assert scenarios[0].name == "small"
    assert scenarios[0].duration_s == 10.0


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_scenario_survives_the_way_through_a_dictionary(path: Path) -> None:
    import tomllib

    direct = prismux.Scenario.from_file(path)
    through = prismux.Scenario.from_dict(tomllib.loads(path.read_text()), name=path.name)
    assert through.hash() == direct.hash()
    assert through.variants == direct.variants
    for variant in direct.variants:
        assert through.hash(variant=variant) == direct.hash(variant=variant)


def test_texts_in_a_dictionary_keep_every_character() -> None:
    summary = 'quotes " and \\ and\ttabs, ünïcode, \x7f'
    scenario = prismux.Scenario.from_dict({**SMALL_AS_DICT, "summary": summary})
    assert scenario.summary == summary


def test_numbers_of_numpy_and_paths_are_taken(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("1\n2\n3\n")
    links = {"wire": {**SMALL_AS_DICT["links"]["wire"], "loss": np.float64(0.01), "shared": np.bool_(True)}}
    flows = {"file": {**SMALL_AS_DICT["flows"]["file"], "count": np.int64(2)}}
    scenario = prismux.Scenario.from_dict({**SMALL_AS_DICT, "links": links, "flows": flows})
    assert "flows.file-2" in scenario.canonical()
    links = {"wire": {"between": ["a", "b"], "delay": "1 ms", "forward": {"trace": trace}}}
    assert prismux.Scenario.from_dict({**SMALL_AS_DICT, "links": links}).hash()


BROKEN = [
    ('delay = "20 ms"', 'delay = "20 mss"', 8, "links.wire.delay"),
    ("loss = 0.01", "losss = 0.01", 8, "links.wire"),
    ('to = "b"', 'to = "c"', 11, "flows.file.to"),
    ('kind = "host" }\nb', 'kind = "hots" }\nb', 4, "nodes.a.kind"),
    ("[flows]", "[flow]", 1, "flow"),
    ("[links]", "[links", 7, ""),
]


@pytest.mark.parametrize(("good", "bad", "line", "key"), BROKEN)
def test_a_mistake_has_the_same_text_as_on_the_command_line(
    good: str, bad: str, line: int, key: str, tmp_path: Path, prismux_command: Command
) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(SMALL.replace(good, bad))
    with pytest.raises(prismux.ScenarioError) as raised:
        prismux.Scenario.from_file(path)
    said = prismux_command("run", str(path))
    assert said.returncode == 2
    assert said.stderr == f"error: {raised.value}\n"
    first = raised.value.diagnostics[0]
    assert (first.file, first.line) == (str(path), line)
    assert first.key.startswith(key)
    assert first.expected
    if bad in ('kind = "hots" }\nb', "losss = 0.01"):
        assert first.hint is not None and "did you mean" in first.hint


def test_a_mistake_in_a_dictionary_has_the_line_of_its_text() -> None:
    broken = {**SMALL_AS_DICT, "flows": {"file": {"from": "a", "to": "nobody"}}}
    with pytest.raises(prismux.ScenarioError) as raised:
        prismux.Scenario.from_dict(broken, name="mine")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.key == "flows.file.to"
    assert diagnostic.location.startswith("mine:11:")
    assert 'file = { from = "a", to = "nobody" }' in str(raised.value)


def test_an_override_that_leads_nowhere_is_refused_as_on_the_command_line(prismux_command: Command) -> None:
    with pytest.raises(prismux.ScenarioError) as raised:
        prismux.run("two-members", set={"links.wwan3.delay": "900 ms"})
    said = prismux_command("run", "two-members", "--set", "links.wwan3.delay=900 ms")
    assert said.stderr == f"error: {raised.value}\n"
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.file, diagnostic.line) == (None, None)
    assert diagnostic.hint == 'did you mean "wwan2"?'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"duration": None}, "duration: a value of type NoneType"),
        ({"nodes": {1: {}}}, "nodes: keys are texts"),
        ({"links": {"w": {"delay": {1, 2}}}}, "links.w.delay: a value of type set"),
    ],
)
def test_a_value_that_no_file_can_hold_is_named(value: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        prismux.Scenario.from_dict(value)


def test_missing_files_and_unknown_names_are_scenario_errors(tmp_path: Path) -> None:
    for missing in (tmp_path / "none.toml", "two-membres"):
        with pytest.raises(prismux.ScenarioError) as raised:
            prismux.run(missing)
        assert raised.value.diagnostics[0].line is None
    assert "two-members" in str(raised.value)


def test_shipped_scenarios_are_those_of_the_folder() -> None:
    assert set(prismux.shipped()) == {path.stem for path in (ROOT / "scenarios").glob("*.toml")}
