//! Who can be reached from where, in one pass over the plan: paths alone would take one search for every flow.
use crate::{NodeId, NodeKind, Plan};
use alloc::vec;
use alloc::vec::Vec;

/// Who reaches whom over links and media, working or not. Hosts forward nothing; media do.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By node, then by medium: neighbours, numbered likewise.
    neighbours: Vec<Vec<usize>>,
    /// By node, then by medium: the region that it is in, `None` for hosts. All of a region reach one another.
    region: Vec<Option<usize>>,
}

impl Reach {
    /// Of `plan`, all of whose references lead somewhere.
    pub fn of(plan: &Plan) -> Self {
        let nodes = plan.nodes.len();
        let mut neighbours = vec![Vec::new(); nodes + plan.media.len()];
        let mut join = |a: usize, b: usize| {
            neighbours[a].push(b);
            neighbours[b].push(a);
        };
        for [a, b] in plan.links.iter().map(|link| link.ends) {
            join(a.index(), b.index());
        }
        for (index, medium) in plan.media.iter().enumerate() {
            medium.attached.iter().for_each(|node| join(node.index(), nodes + index));
        }
        let mut reach = Self { region: vec![None; neighbours.len()], neighbours };
        let forwards = |index: usize| plan.nodes.get(index).is_none_or(|node| node.kind() != NodeKind::Host);
        for start in (0..reach.region.len()).filter(|&index| forwards(index)) {
            if reach.region[start].is_none() {
                reach.fill(start, forwards);
            }
        }
        reach
    }

    /// Puts all that is around `start` into its region.
    fn fill(&mut self, start: usize, forwards: impl Fn(usize) -> bool) {
        let mut waiting = vec![start];
        self.region[start] = Some(start);
        while let Some(at) = waiting.pop() {
            for &next in &self.neighbours[at] {
                if forwards(next) && self.region[next].is_none() {
                    self.region[next] = Some(start);
                    waiting.push(next);
                }
            }
        }
    }

    /// The regions that `node` is in or next to.
    fn regions(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        let own = self.region[node.index()];
        let next = self.neighbours[node.index()].iter().filter_map(|&next| self.region[next]);
        own.into_iter().chain(next.filter(move |_| own.is_none()))
    }

    /// Whether packets get from `from` to `to`.
    pub fn leads(&self, from: NodeId, to: NodeId) -> bool {
        from == to
            || self.neighbours[from.index()].contains(&to.index())
            || self.regions(from).any(|region| self.regions(to).any(|other| other == region))
    }
}
