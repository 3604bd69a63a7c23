"""Nodes and links of well-known networks, and of graphs, as the tables of a scenario.

Every function returns a dictionary with ``nodes`` and ``links``, to which a scenario adds the rest::

    import prismux
    from prismux import topologies

    network = topologies.dumbbell(3, bottleneck={"rate": "10 Mbit/s", "delay": "20 ms", "queue": "1 bdp"})
    flows = {f"file-{k}": {"from": f"left-{k}", "to": f"right-{k}"} for k in range(1, 4)}
    scenario = prismux.Scenario.from_dict({"duration": "20 s", **network, "flows": flows})

Settings of links are those of a scenario file. Packets take the way with the fewest hops, one for each destination; of
several equally short ones that over the link made first.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["dumbbell", "fat_tree", "from_gml", "from_graph", "parking_lot", "random_graph"]

#: Settings of a link.
Link: TypeAlias = Mapping[str, Any]
#: ``nodes`` and ``links`` of a scenario.
Network: TypeAlias = dict[str, dict[str, Any]]

FAST: Link = {"rate": "100 Mbit/s", "delay": "1 ms"}
SLOW: Link = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "1 bdp"}
HOST = {"kind": "host"}
ROUTER = {"kind": "router"}

#: Keys of a link that edges of graphs may have.
LINK_KEYS = ("rate", "delay", "jitter", "loss", "queue", "corrupt", "duplicate", "forward", "reverse", "trace")


def _network(nodes: Mapping[str, Mapping[str, str]], edges: Iterable[tuple[str, str, Link]]) -> Network:
    """The tables; a link is called after its ends."""
    links = {f"{a}-{b}": {"between": [a, b], **settings} for a, b, settings in edges}
    return {"nodes": {name: dict(node) for name, node in nodes.items()}, "links": links}


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} is {value}\n  expected: at least {least}")


def dumbbell(pairs: int, *, access: Link = FAST, bottleneck: Link = SLOW) -> Network:
    """Hosts ``left-1``, ``right-1``, ... on both sides of one link, ``west-east``, between two routers.

    Raises ValueError for less than one pair.
    """
    _at_least("pairs", pairs, 1)
    numbers = range(1, pairs + 1)
    nodes = {"west": ROUTER, "east": ROUTER}
    nodes |= {f"{side}-{k}": HOST for side in ("left", "right") for k in numbers}
    edges = [("west", "east", bottleneck)]
    edges += [(f"left-{k}", "west", access) for k in numbers]
    edges += [("east", f"right-{k}", access) for k in numbers]
    return _network(nodes, edges)


def parking_lot(hops: int, *, access: Link = FAST, bottleneck: Link = SLOW) -> Network:
    """A row of routers ``r0`` to ``rN``, joined by ``hops`` links, with a host ``h0`` to ``hN`` at each.

    A long flow goes from ``h0`` to ``hN``, and cross traffic from ``h0`` to ``h1``, from ``h1`` to ``h2``, and so on.
    Raises ValueError for less than one hop.
    """
    _at_least("hops", hops, 1)
    numbers = range(hops + 1)
    nodes = {f"r{k}": ROUTER for k in numbers} | {f"h{k}": HOST for k in numbers}
    edges = [(f"r{k}", f"r{k + 1}", bottleneck) for k in range(hops)]
    edges += [(f"h{k}", f"r{k}", access) for k in numbers]
    return _network(nodes, edges)


def fat_tree(ports: int, *, link: Link = FAST) -> Network:
    """The fat tree of switches with ``ports`` ports (M. Al-Fares, A. Loukissas, A. Vahdat, SIGCOMM 2008).

    A quarter of the cube of ``ports`` hosts, called ``h-POD-EDGE-NUMBER`` from 0; routers are ``edge-POD-NUMBER``,
    ``pod-POD-NUMBER`` and ``core-NUMBER``. Raises ValueError unless ``ports`` is even and at least 2.
    """
    _at_least("ports", ports, 2)
    if ports % 2:
        raise ValueError(f"ports is {ports}\n  expected: an even number")
    half = range(ports // 2)
    nodes: dict[str, dict[str, str]] = {f"core-{k}": ROUTER for k in range(len(half) ** 2)}
    edges: list[tuple[str, str, Link]] = []
    for pod in range(ports):
        nodes |= {f"pod-{pod}-{k}": ROUTER for k in half} | {f"edge-{pod}-{k}": ROUTER for k in half}
        nodes |= {f"h-{pod}-{edge}-{k}": HOST for edge in half for k in half}
        edges += [(f"core-{len(half) * k + c}", f"pod-{pod}-{k}", link) for k in half for c in half]
        edges += [(f"pod-{pod}-{k}", f"edge-{pod}-{edge}", link) for k in half for edge in half]
        edges += [(f"edge-{pod}-{edge}", f"h-{pod}-{edge}-{k}", link) for edge in half for k in half]
    return _network(nodes, edges)


def random_graph(routers: int, links: int, *, seed: int = 1, link: Link = SLOW, access: Link = FAST) -> Network:
    """A connected graph of routers ``r1``, ``r2``, ... with so many links, and a host ``h1``, ``h2``, ... at each.

    A random tree, whose every router hangs on one before it, and further links between pairs drawn with equal chances.
    The same seed gives the same graph. Raises ValueError for fewer links than a tree has, or more than there are pairs.
    """
    _at_least("routers", routers, 1)
    _at_least("links", links, routers - 1)
    pairs = routers * (routers - 1) // 2
    if links > pairs:
        raise ValueError(f"links is {links}\n  expected: at most {pairs}, one for each pair of routers")
    chance = random.Random(seed)
    edges = {(chance.randint(1, k - 1), k) for k in range(2, routers + 1)}
    while len(edges) < links:
        a, b = sorted(chance.sample(range(1, routers + 1), 2))
        edges.add((a, b))
    numbers = range(1, routers + 1)
    nodes = {f"r{k}": ROUTER for k in numbers} | {f"h{k}": HOST for k in numbers}
    joined: list[tuple[str, str, Link]] = [(f"r{a}", f"r{b}", link) for a, b in sorted(edges)]
    return _network(nodes, [*joined, *((f"h{k}", f"r{k}", access) for k in numbers)])


def from_graph(
    graph: Any,
    *,
    link: Link = SLOW,
    settings: Callable[[Mapping[str, Any]], Link] | None = None,
    hosts: Callable[[Any, int], bool] | None = None,
) -> Network:
    """The nodes and links of a networkx graph.

    A link has the settings ``link``, then those of its edge's attributes that are keys of links (``rate``, ``delay``,
    ``queue``, ...); with ``settings``, what that makes of the attributes. A node with one link is a host and any other
    a router, unless it has an attribute ``kind``, or ``hosts(node, links)`` says otherwise.

    Raises ValueError for a directed graph, parallel edges and loops.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise ValueError("the graph is directed or has parallel edges\n  remedy: networkx.Graph(graph)")
    names = {node: str(node) for node in graph.nodes}
    if len(set(names.values())) < len(names):
        raise ValueError("two nodes have the same name as texts")
    of_edge = settings or (lambda attributes: {key: attributes[key] for key in LINK_KEYS if key in attributes})
    is_host = hosts or (lambda _, links: links == 1)
    nodes = {}
    for node, attributes in graph.nodes(data=True):
        kind = attributes.get("kind") or ("host" if is_host(node, graph.degree(node)) else "router")
        nodes[names[node]] = {"kind": kind}
    edges = []
    for a, b, attributes in graph.edges(data=True):
        if a == b:
            raise ValueError(f"{names[a]} is linked to itself")
        edges.append((names[a], names[b], {**link, **of_edge(attributes)}))
    return _network(nodes, edges)


def from_gml(
    path: str | os.PathLike[str],
    *,
    link: Link = SLOW,
    settings: Callable[[Mapping[str, Any]], Link] | None = None,
    hosts: Callable[[Any, int], bool] | None = None,
) -> Network:
    """The nodes and links of a file in GML (Graph Modelling Language), as ``from_graph``; nodes go by their labels.

    Edges between the same two nodes count once, loops not at all. Raises OSError for a file that cannot be read, and
    ValueError for one that is no GML, or whose labels are not unique.
    """
    graph = _section(_gml(Path(path).read_text(encoding="utf-8")), "graph", path)
    labels: dict[Any, str] = {}
    for node in map(_single, graph.get("node", [])):
        if "id" not in node:
            raise ValueError(f"{path}: a node has no id")
        labels[node["id"]] = str(node.get("label", node["id"]))
    if len(set(labels.values())) < len(labels):
        raise ValueError(f"{path}: two nodes have one label")
    return from_graph(_Graph(graph, labels), link=link, settings=settings, hosts=hosts)


def _section(tree: Mapping[str, list[Any]], name: str, path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    found = tree.get(name, [])
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ValueError(f"{path}: this is no GML\n  expected: {name} [ node [ id 0 ] edge [ source 0 target 1 ] ]")
    section: dict[str, list[Any]] = found[0]
    return section


class _Graph:
    """A graph of a GML file, with as much of networkx's interface as ``from_graph`` needs."""

    def __init__(self, graph: Mapping[str, list[Any]], labels: Mapping[Any, str]) -> None:
        nodes = [_single(node) for node in graph.get("node", [])]
        self._nodes = {labels[node["id"]]: node for node in nodes}
        self._edges: dict[tuple[str, str], dict[str, Any]] = {}
        for edge in map(_single, graph.get("edge", [])):
            try:
                a, b = sorted((labels[edge["source"]], labels[edge["target"]]))
            except KeyError as missing:
                raise ValueError(f"an edge has no {missing}, or names a node that is not there") from None
            if a != b:
                self._edges.setdefault((a, b), edge)
        self._degrees = Counter(node for ends in self._edges for node in ends)
        self.nodes = _View(self._nodes, list(self._nodes.items()))
        self.edges = _View(self._edges, [(a, b, attributes) for (a, b), attributes in self._edges.items()])

    def is_directed(self) -> bool:
        return False

    def is_multigraph(self) -> bool:
        return False

    def degree(self, node: str) -> int:
        return self._degrees[node]


class _View:
    """Nodes or edges: iterable, and callable for their attributes."""

    def __init__(self, keys: Iterable[Any], items: list[Any]) -> None:
        self._keys, self._items = list(keys), items

    def __iter__(self) -> Any:
        return iter(self._keys)

    def __call__(self, data: bool) -> list[Any]:
        return self._items


def _single(section: Mapping[str, Any]) -> dict[str, Any]:
    """The values of keys that stand once."""
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in section.items()}


_TOKEN = re.compile(r'"(?P<text>[^"]*)"|(?P<bracket>[\[\]])|(?P<word>[^\s\[\]"]+)')


def _gml(text: str) -> dict[str, list[Any]]:
    """The tree of a GML text: the values of each key, in order."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    tokens = list(_TOKEN.finditer("\n".join(lines)))
    root: dict[str, list[Any]] = {}
    stack, key = [root], None
    for token in tokens:
        word, bracket = token["word"], token["bracket"]
        if bracket == "]":
            if len(stack) == 1 or key is not None:
                raise ValueError("this is no GML: a bracket too many, or a key without value")
            stack.pop()
        elif key is None:
            if word is None:
                raise ValueError("this is no GML: a value without key")
            key = word
        elif bracket == "[":
            inner: dict[str, list[Any]] = {}
            stack[-1].setdefault(key, []).append(inner)
            stack.append(inner)
            key = None
        else:
            stack[-1].setdefault(key, []).append(token["text"] if word is None else _number(word))
            key = None
    if len(stack) > 1 or key is not None:
        raise ValueError("this is no GML: it ends in the middle")
    return root


def _number(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
