//! Numbers for the names of a run, and what its network says about directions.
use prismux_trace::event::{RadioDescription, RunDescription};
use std::collections::{HashMap, VecDeque};

/// Number of a node, link or flow in the run's description.
pub(crate) type Number = usize;

/// The names of a run by number, and distances in its network.
#[derive(Debug)]
pub(crate) struct Network {
    nodes: HashMap<String, Number>,
    links: HashMap<String, Number>,
    flows: HashMap<String, Number>,
    /// Of each link, its nodes.
    ends: Vec<[Number; 2]>,
    /// Of each flow, the node that sends the data and the one that receives it.
    flow_ends: Vec<[Number; 2]>,
    /// `hops[flow][node]`: links from the node to the flow's receiver; the air between any two hosts on it counts as
    /// one.
    hops: Vec<Vec<usize>>,
    proxies: Vec<bool>,
}

/// The direction in which a packet travels, as seen by a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamDirection {
    /// From the sender of the data to its receiver.
    Data,
    /// Back.
    Acks,
}

impl Network {
    /// The network of a run; links, radios and flows that name a node that is not there are an error.
    ///
    /// # Errors
    /// When links, radios or flows name a node that is not there.
    pub fn new(run: &RunDescription<'_>) -> Result<Self, String> {
        let numbered = |names: Vec<&str>| -> HashMap<String, Number> {
            names.into_iter().enumerate().map(|(number, name)| (name.to_string(), number)).collect()
        };
        let nodes = numbered(run.nodes.iter().map(|node| &*node.name).collect());
        let find = |name: &str| {
            nodes.get(name).copied().ok_or_else(|| format!("it has no node \"{name}\", which it names"))
        };
        let pairs = |pairs: Vec<[&str; 2]>| -> Result<Vec<[Number; 2]>, String> {
            pairs.into_iter().map(|[a, b]| Ok([find(a)?, find(b)?])).collect()
        };
        let ends = pairs(run.links.iter().map(|link| [&*link.ends[0], &*link.ends[1]]).collect())?;
        let flow_ends = pairs(run.flows.iter().map(|flow| [&*flow.from, &*flow.to]).collect())?;
        let on_air = |radio: &RadioDescription<'_>| radio.hosts.iter().map(|host| find(host)).collect();
        let airs: Vec<Vec<Number>> = run.radios.iter().map(on_air).collect::<Result<_, _>>()?;
        let hops = flow_ends.iter().map(|[_, to]| hops_to(*to, run.nodes.len(), &ends, &airs)).collect();
        Ok(Self {
            links: numbered(run.links.iter().map(|link| &*link.name).collect()),
            flows: numbered(run.flows.iter().map(|flow| &*flow.name).collect()),
            proxies: run.nodes.iter().map(|node| node.kind.ends_with("proxy")).collect(),
            nodes,
            ends,
            flow_ends,
            hops,
        })
    }

    pub fn node(&self, name: &str) -> Option<Number> {
        self.nodes.get(name).copied()
    }

    pub fn link(&self, name: &str) -> Option<Number> {
        self.links.get(name).copied()
    }

    pub fn flow(&self, name: &str) -> Option<Number> {
        self.flows.get(name).copied()
    }

    /// The node that sends a flow's data, and the one that receives it.
    pub fn flow_ends(&self, flow: Number) -> [Number; 2] {
        self.flow_ends[flow]
    }

    /// Whether the node is one that holds ACKs back.
    pub fn is_proxy(&self, node: Number) -> bool {
        self.proxies[node]
    }

    /// The other end of a link.
    pub fn opposite(&self, link: Number, node: Number) -> Number {
        let [a, b] = self.ends[link];
        if node == a { b } else { a }
    }

    /// The direction in which a packet of a flow travels that `from` sends over `link`.
    pub fn stream_direction(&self, flow: Number, link: Number, from: Number) -> StreamDirection {
        let hops = &self.hops[flow];
        if hops[self.opposite(link, from)] < hops[from] {
            StreamDirection::Data
        } else {
            StreamDirection::Acks
        }
    }

    /// Direction of a link in which `from` sends: 0 forward, 1 reverse.
    pub fn direction(&self, link: Number, from: Number) -> usize {
        usize::from(self.ends[link][0] != from)
    }

    /// Links from where data of a flow enter a link, in a direction, to its receiver.
    pub fn distance(&self, flow: Number, link: Number, way: usize) -> usize {
        self.hops[flow][self.ends[link][way]]
    }

    /// The links that several users share, which are the paths of all data where there are some.
    pub fn shared(run: &RunDescription<'_>) -> Vec<Number> {
        (0..run.links.len()).filter(|&link| run.links[link].shared).collect()
    }
}

/// Links from each node to `to`, or from one host on an air to another; `usize::MAX` where none lead there.
fn hops_to(to: Number, nodes: usize, ends: &[[Number; 2]], airs: &[Vec<Number>]) -> Vec<usize> {
    let mut hops = vec![usize::MAX; nodes];
    hops[to] = 0;
    let (mut queue, mut known) = (VecDeque::from([to]), vec![false; airs.len()]);
    while let Some(node) = queue.pop_front() {
        let mut near: Vec<Number> = Vec::new();
        near.extend(ends.iter().filter(|[_, b]| *b == node).map(|[a, _]| *a));
        near.extend(ends.iter().filter(|[a, _]| *a == node).map(|[_, b]| *b));
        for (air, known) in airs.iter().zip(&mut known).filter(|(air, _)| air.contains(&node)) {
            if !std::mem::replace(known, true) {
                near.extend(air);
            }
        }
        for there in near {
            if hops[there] == usize::MAX {
                hops[there] = hops[node] + 1;
                queue.push_back(there);
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_on_one_air_are_a_hop_apart() {
        // Server, core and two base stations by wire; a car and another on the air with both.
        let wires = [[0, 1], [1, 2], [1, 3]];
        assert_eq!(hops_to(4, 6, &wires, &[vec![2, 3, 4, 5]]), [3, 2, 1, 1, 0, 1]);
        assert_eq!(
            hops_to(4, 6, &wires, &[]),
            [usize::MAX, usize::MAX, usize::MAX, usize::MAX, 0, usize::MAX]
        );
    }
}
