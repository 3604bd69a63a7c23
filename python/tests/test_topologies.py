"""Networks from generators and graphs."""

from pathlib import Path

import pytest

import prismux
from prismux import topologies


def scenario(network: topologies.Network, *flows: tuple[str, str], seconds: int = 5) -> prismux.Scenario:
    """A download for each pair of hosts."""
    named = {f"file-{k}": {"from": a, "to": b} for k, (a, b) in enumerate(flows, 1)}
    return prismux.Scenario.from_dict({"duration": f"{seconds} s", **network, "flows": named})


def test_a_dumbbell_shares_its_bottleneck() -> None:
    network = topologies.dumbbell(3, bottleneck={"rate": "6 Mbit/s", "delay": "10 ms", "queue": "1 bdp"})
    assert len(network["nodes"]) == 8 and len(network["links"]) == 7
    flows = [(f"left-{k}", f"right-{k}") for k in (1, 2, 3)]
    result = prismux.run(scenario(network, *flows, seconds=20))
    assert result.goodput_bps == pytest.approx(6e6 * 1448 / 1500, rel=0.1)
    assert result.jain is not None and result.jain > 0.7


def test_the_long_flow_of_a_parking_lot_crosses_every_hop() -> None:
    network = topologies.parking_lot(4)
    result = prismux.run(scenario(network, ("h0", "h4"))).to_dict()
    crossed = {name for name, link in result["links"].items() if link["delivered_bytes"] > 1e5}
    assert crossed >= {"r0-r1", "r1-r2", "r2-r3", "r3-r4", "h0-r0"}


@pytest.mark.parametrize("ports", [2, 4, 6])
def test_a_fat_tree_has_the_published_size_and_a_way_between_any_two_hosts(ports: int) -> None:
    network = topologies.fat_tree(ports)
    kinds = [node["kind"] for node in network["nodes"].values()]
    assert kinds.count("host") == ports**3 // 4
    assert kinds.count("router") == 5 * ports**2 // 4
    assert len(network["links"]) == 3 * ports**3 // 4
    hosts = [name for name, node in network["nodes"].items() if node["kind"] == "host"]
    assert prismux.run(scenario(network, (hosts[0], hosts[-1]), seconds=1)).goodput_bps > 1e6


def test_a_random_graph_is_connected_and_follows_from_its_seed() -> None:
    network = topologies.random_graph(20, 30, seed=7)
    assert network == topologies.random_graph(20, 30, seed=7) != topologies.random_graph(20, 30, seed=8)
    assert len(network["links"]) == 30 + 20
    reached, waiting = {"r1"}, ["r1"]
    while waiting:
        at = waiting.pop()
        for link in network["links"].values():
            for a, b in (link["between"], link["between"][::-1]):
                if a == at and b not in reached:
                    reached.add(b)
                    waiting.append(b)
    assert reached == set(network["nodes"])
    assert prismux.run(scenario(network, ("h1", "h20"), seconds=1)).goodput_bps > 0


GML = """\
Creator "somebody"
graph [
  label "three cities"
  node [ id 0 label "Oslo" ]
  node [ id 1 label "Bergen" ]
  node [ id 7 label "Tromsø" ]
  edge [ source 0 target 1 delay "7 ms" LinkLabel "Blue" ]
  edge [ source 1 target 7 LinkSpeedRaw 20000000.0 ]
  edge [ source 7 target 1 ]
]
"""


def test_a_graph_in_gml_becomes_a_network(tmp_path: Path) -> None:
    path = tmp_path / "cities.gml"
    path.write_text(GML, encoding="utf-8")
    network = topologies.from_gml(path)
    assert {name: node["kind"] for name, node in network["nodes"].items()} == {
        "Oslo": "host",
        "Bergen": "router",
        "Tromsø": "host",
    }
    ends = {tuple(link["between"]): link for link in network["links"].values()}
    assert ends["Bergen", "Oslo"] == {"between": ["Bergen", "Oslo"], **topologies.SLOW, "delay": "7 ms"}
    assert prismux.run(scenario(network, ("Oslo", "Tromsø"), seconds=1)).goodput_bps > 1e5

    fast = topologies.from_gml(path, settings=lambda edge: {"rate": f"{edge.get('LinkSpeedRaw', 1e6):.0f} bit/s"})
    assert fast["links"]["Bergen-Tromsø"]["rate"] == "20000000 bit/s"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "this is no GML"),
        ("graph [ node [ id 0 ]", "in the middle"),
        ("graph [ node [ id 0 ] edge [ source 0 target 1 ] ]", "not there"),
        ('graph [ node [ id 0 label "a" ] node [ id 1 label "a" ] ]', "one label"),
        ("graph [ node [ label 3 ] ]", "no id"),
        ("graph ]", "a bracket too many"),
    ],
)
def test_what_is_no_gml_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.gml"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        topologies.from_gml(path)


class Triangle:
    """As much of networkx as is needed."""

    def __init__(self, directed: bool = False) -> None:
        self.directed = directed
        self.nodes = _View([(1, {}), (2, {}), ("x", {"kind": "host"})])
        self.edges = _View([(1, 2, {"rate": "5 Mbit/s", "weight": 3}), (2, "x", {}), ("x", 1, {})])

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return False

    def degree(self, node: object) -> int:
        return 2


class _View(list):  # type: ignore[type-arg]  # of anything, as networkx has it
    def __iter__(self):  # type: ignore[no-untyped-def]  # of anything, as networkx has it
        return (item[0] for item in list.__iter__(self))

    def __call__(self, data: bool) -> list[object]:
        return list(list.__iter__(self))


def test_a_graph_of_networkx_becomes_a_network() -> None:
    network = topologies.from_graph(Triangle(), link={"rate": "1 Mbit/s", "delay": "1 ms"})
    assert network["nodes"]["x"] == {"kind": "host"} and network["nodes"]["1"] == {"kind": "router"}
    assert network["links"]["1-2"] == {"between": ["1", "2"], "rate": "5 Mbit/s", "delay": "1 ms"}
    with pytest.raises(ValueError, match="directed"):
        topologies.from_graph(Triangle(directed=True))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: topologies.dumbbell(0),
        lambda: topologies.parking_lot(0),
        lambda: topologies.fat_tree(3),
        lambda: topologies.random_graph(5, 3),
        lambda: topologies.random_graph(5, 11),
    ],
)
def test_sizes_that_make_no_network_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        wrong()  # type: ignore[operator]  # a call behind a parameter
