//! Which links tell the ways of a flow's data apart.
use crate::description::{Network, Number};
use crate::run::{FlowRecord, MOST_SERIES, Run};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Of what a flow's busiest link carried, the part below which another is no way of it.
const LEAST_PART: u64 = 200;
/// A queue that never held more than this is none: two packets.
const LEAST_QUEUE: u64 = 3000;
/// Queues that a panel shows.
const MOST_QUEUES: usize = 6;

/// Bytes that each flow's packets brought over each link in the direction of its data, and back.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// By flow: link and direction of the data, with the bytes of the data.
    data: Vec<BTreeMap<(Number, usize), u64>>,
    /// The same of what comes back.
    back: Vec<BTreeMap<(Number, usize), u64>>,
}

impl Used {
    pub fn new(flows: usize) -> Self {
        Self { data: vec![BTreeMap::new(); flows], back: vec![BTreeMap::new(); flows] }
    }

    /// A packet of a flow passed a link in a direction.
    pub fn passed(&mut self, flow: Number, link: Number, way: usize, is_data: bool, bytes: u32) {
        let side = if is_data { &mut self.data } else { &mut self.back };
        *side[flow].entry((link, way)).or_default() += u64::from(bytes);
    }

    /// The links that a flow's data took at the distance where they took the most; of several such distances where
    /// they are slowest, then nearest to the sender. Without any data, none.
    fn ways(&self, flow: Number, network: &Network, run: &Run) -> Vec<(Number, usize)> {
        let used = &self.data[flow];
        let most = used.values().copied().max().unwrap_or(0);
        let mut layers: BTreeMap<usize, Vec<(Number, usize)>> = BTreeMap::new();
        for (&(link, way), &bytes) in used {
            if bytes.saturating_mul(LEAST_PART) >= most {
                layers.entry(network.distance(flow, link, way)).or_default().push((link, way));
            }
        }
        let rate = |&(link, way): &(Number, usize)| {
            let link = &run.description.links[link];
            let rate = if way == 0 { link.rate_bps } else { link.reverse_rate_bps };
            rate.unwrap_or(u64::MAX)
        };
        let slow = |links: &[(Number, usize)]| links.iter().map(rate).fold(0, u64::saturating_add);
        layers
            .into_iter()
            .max_by_key(|(hops, links)| (links.len(), Reverse(slow(links)), *hops))
            .map_or_else(Vec::new, |(_, links)| links)
    }

    /// Gives each flow its paths: of the shared links, where there are some, those that it used.
    pub fn give_paths(&self, network: &Network, run: &mut Run) {
        let shared = run.paths.clone();
        let mut own: Vec<Vec<(Number, usize)>> = Vec::new();
        for flow in 0..run.flows.len() {
            let mut ways = if shared.is_empty() { self.ways(flow, network, run) } else { Vec::new() };
            ways.extend(self.data[flow].keys().filter(|(link, _)| shared.contains(link)));
            if ways.is_empty() {
                ways.extend(shared.iter().map(|&link| (link, 0)));
            }
            ways.sort_by_key(|&(link, way)| (shared.iter().position(|&path| path == link), link, way));
            ways.dedup_by_key(|&mut (link, _)| link);
            run.paths.extend(ways.iter().map(|&(link, _)| link).filter(|link| !shared.contains(link)));
            own.push(ways);
        }
        if shared.is_empty() {
            run.paths.sort_unstable();
            run.paths.dedup();
        }
        for (record, ways) in run.flows.iter_mut().zip(own) {
            let place = |link: Number| run.paths.iter().position(|&path| path == link).unwrap_or(0);
            record.path_numbers = ways.iter().map(|&(link, _)| place(link)).collect();
            record.path_directions = ways.iter().map(|&(_, way)| way).collect();
            record.paths.resize_with(ways.len(), Default::default);
        }
    }

    /// Which queues, flows and links are worth a line each, once all series are finished.
    pub fn choose_series(&self, run: &mut Run) {
        for (flow, record) in run.flows.iter_mut().enumerate() {
            let used = self.data[flow].keys().chain(self.back[flow].keys());
            let peak = |&(link, way): &(Number, usize)| run.links[link].queue[way].greatest();
            let mut queues: Vec<(Number, usize)> =
                used.copied().filter(|queue| peak(queue) > LEAST_QUEUE).collect();
            queues.sort_by_key(|queue| (Reverse(peak(queue)), *queue));
            queues.dedup();
            queues.truncate(MOST_QUEUES);
            record.queues = queues;
        }
        run.busiest = greatest(run.flows.iter().map(|flow: &FlowRecord| flow.arrived.total()));
        run.lossy = greatest(run.links.iter().map(|link| link.dropped.iter().map(|sums| sums.total()).sum()));
    }
}

/// The numbers of the greatest amounts that are not zero, in order of the numbers.
fn greatest(amounts: impl Iterator<Item = u64>) -> Vec<usize> {
    let mut known: Vec<(Reverse<u64>, usize)> = amounts
        .enumerate()
        .filter(|&(_, amount)| amount > 0)
        .map(|(k, amount)| (Reverse(amount), k))
        .collect();
    known.sort_unstable();
    known.truncate(MOST_SERIES);
    let mut numbers: Vec<usize> = known.into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    numbers
}
