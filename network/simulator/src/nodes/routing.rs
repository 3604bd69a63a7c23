//! Who sends what where: shortest paths, fixed when the network is built.
use crate::core::ids::{NodeId, PortId};
use std::collections::VecDeque;

/// A node as routing sees it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Directions of links that leave this node, in order of making, and where they lead.
    pub exits: Vec<(PortId, NodeId)>,
    /// Whether it carries other nodes' packets.
    pub forwards: bool,
}

/// Next hops of all nodes: one step per packet.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    nodes: Vec<NodeRoutes>,
}

#[derive(Debug, Clone)]
enum NodeRoutes {
    /// A node with one exit: everything leaves there.
    Default(PortId),
    /// By destination.
    Table(Box<[PortId]>),
}

/// In place of a port: no way. Four bytes an entry keep a router's table in the near cache.
const NOWHERE: PortId = PortId(u32::MAX);

impl Routes {
    /// Fewest hops; among equals the exit made first. Only forwarding nodes are passed through.
    pub fn shortest_paths(places: &[Place]) -> Self {
        let routes_of = |node: usize| match places[node].exits.as_slice() {
            [] => NodeRoutes::Default(NOWHERE),
            [(port, _)] => NodeRoutes::Default(*port),
            _ => NodeRoutes::Table(first_hops(places, node)),
        };
        Self { nodes: (0..places.len()).map(routes_of).collect() }
    }

    /// The exit of `at` that leads towards `towards`.
    #[inline]
    pub fn next(&self, at: NodeId, towards: NodeId) -> Option<PortId> {
        let port = match &self.nodes[at.index()] {
            NodeRoutes::Default(port) => *port,
            NodeRoutes::Table(table) => table.get(towards.index()).copied().unwrap_or(NOWHERE),
        };
        (port != NOWHERE).then_some(port)
    }

    /// Sends what `at` has for `towards` to `port`.
    pub fn set(&mut self, at: NodeId, towards: NodeId, port: PortId) {
        let count = self.nodes.len();
        let routes = &mut self.nodes[at.index()];
        if let NodeRoutes::Default(default) = *routes {
            *routes = NodeRoutes::Table(vec![default; count].into_boxed_slice());
        }
        if let NodeRoutes::Table(table) = routes {
            table[towards.index()] = port;
        }
    }

    /// The nodes a packet passes from `from` to `to`, both included; `None` when it never gets there.
    pub fn path(&self, places: &[Place], from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let port = self.next(at, to)?;
            at = places[at.index()].exits.iter().find(|(exit, _)| *exit == port)?.1;
            let passes = at == to || places[at.index()].forwards;
            if !passes || path.len() > places.len() {
                return None;
            }
            path.push(at);
        }
        Some(path)
    }
}

/// Breadth-first search from `start`: the first hop towards every node.
fn first_hops(places: &[Place], start: usize) -> Box<[PortId]> {
    let mut hops = vec![NOWHERE; places.len()].into_boxed_slice();
    let mut seen = vec![false; places.len()];
    seen[start] = true;
    let mut frontier = VecDeque::from([(start, NOWHERE)]);
    while let Some((node, first)) = frontier.pop_front() {
        if node != start && !places[node].forwards {
            continue;
        }
        for &(port, next) in &places[node].exits {
            if !std::mem::replace(&mut seen[next.index()], true) {
                let first = if first == NOWHERE { port } else { first };
                hops[next.index()] = first;
                frontier.push_back((next.index(), first));
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network from (first node, second node) pairs; link `k` has ports `2k` and `2k + 1`.
    fn network(nodes: usize, hosts: &[u32], links: &[(u32, u32)]) -> Vec<Place> {
        let mut places: Vec<Place> =
            (0..nodes as u32).map(|node| Place { exits: vec![], forwards: !hosts.contains(&node) }).collect();
        for (k, &(a, b)) in links.iter().enumerate() {
            places[a as usize].exits.push((PortId(2 * k as u32), NodeId(b)));
            places[b as usize].exits.push((PortId(2 * k as u32 + 1), NodeId(a)));
        }
        places
    }

    fn path(places: &[Place], from: u32, to: u32) -> Option<Vec<u32>> {
        let routes = Routes::shortest_paths(places);
        Some(routes.path(places, NodeId(from), NodeId(to))?.iter().map(|node| node.0).collect())
    }

    #[test]
    fn the_shortest_path_wins_and_among_equals_the_first_made() {
        // 0 - 1 - 3 - 4 and 0 - 2 - 3, with a detour 1 - 5 - 4.
        let places = network(6, &[], &[(0, 2), (0, 1), (1, 3), (2, 3), (3, 4), (1, 5), (5, 4)]);
        assert_eq!(path(&places, 0, 3), Some(vec![0, 2, 3]));
        assert_eq!(path(&places, 0, 4), Some(vec![0, 2, 3, 4]));
        assert_eq!(path(&places, 1, 4), Some(vec![1, 3, 4]));
        assert_eq!(path(&places, 4, 0), Some(vec![4, 3, 1, 0]));
    }

    #[test]
    fn hosts_do_not_forward() {
        let places = network(4, &[1], &[(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)]);
        assert_eq!(path(&places, 0, 3), Some(vec![0, 3]));
        let places = network(3, &[1], &[(0, 1), (1, 2)]);
        assert_eq!(path(&places, 0, 2), None);
        assert_eq!(path(&places, 0, 1), Some(vec![0, 1]));
    }

    #[test]
    fn a_set_route_overrides_one_destination() {
        let places = network(4, &[], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let mut routes = Routes::shortest_paths(&places);
        routes.set(NodeId(0), NodeId(3), PortId(2));
        let nodes = routes.path(&places, NodeId(0), NodeId(3)).unwrap();
        assert_eq!(nodes, [NodeId(0), NodeId(2), NodeId(3)]);
        assert_eq!(routes.next(NodeId(0), NodeId(1)), Some(PortId(0)));
    }

    #[test]
    fn a_loop_is_not_a_path() {
        let places = network(3, &[], &[(0, 1), (1, 2), (0, 2)]);
        let mut routes = Routes::shortest_paths(&places);
        routes.set(NodeId(0), NodeId(2), PortId(0));
        routes.set(NodeId(1), NodeId(2), PortId(1));
        assert_eq!(routes.path(&places, NodeId(0), NodeId(2)), None);
    }
}
