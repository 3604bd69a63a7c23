//! Networks of two uplinks, with one bottleneck or two.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_link::{DeliveryTrace, Jitter, LinkChange, LinkConfig, QueueLimit, ScheduledChange, lte};
use prismux_plan::{Flow, NodeId, Plan, ProxySettings, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant, Rate};
use std::sync::Arc;

/// Rates that bind nobody.
const WIDE_MBPS: u64 = 1000;
/// When a bottleneck that comes and goes is there.
pub const COMES_AND_GOES: [u64; 2] = [90, 180];

/// What stands between proxy and members.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cell {
    pub name: &'static str,
    /// Whether the members share a bottleneck; `None`: they do between two times.
    pub shares: Option<bool>,
    /// Rate of what both pass, if it binds.
    pub common_mbps: Option<u64>,
    /// Rates of the members' own links, if they bind.
    pub own_mbps: [Option<u64>; 2],
    /// One-way delays of these.
    pub delays_ms: [u64; 2],
    /// Jitter of these, in order.
    pub jitter_ms: u64,
    /// What binds varies as LTE does.
    pub is_lte: bool,
    /// Downloads of others through each bottleneck.
    pub rivals: usize,
    /// Downloads over both.
    pub downloads: usize,
}

impl Cell {
    fn link(&self, mbps: Option<u64>, delay_ms: u64, random: &mut RandomStream) -> LinkConfig {
        let rate = Rate::from_mbps(mbps.unwrap_or(WIDE_MBPS));
        let mut link = LinkConfig::new(rate, Duration::from_millis(delay_ms));
        link.bdp_round_trip = mbps.map(|_| Duration::from_millis(60));
        link.queue = mbps.map_or(QueueLimit::Unlimited, |_| QueueLimit::Bdp(2.0));
        if mbps.is_some() && self.is_lte {
            let trace: Option<DeliveryTrace> = lte::trace(rate, Duration::from_secs(60), random);
            link.trace = trace.map(Arc::new);
            link.rate = if link.trace.is_some() { None } else { link.rate };
        }
        link
    }

    /// What both members' packets pass.
    fn common(&self, random: &mut RandomStream) -> LinkConfig {
        let mut common = self.link(self.common_mbps, 1, random);
        if self.shares.is_none() {
            common.queue = QueueLimit::Packets(100);
            common.schedule = COMES_AND_GOES
                .iter()
                .zip([Rate::from_mbps(15), Rate::from_mbps(WIDE_MBPS)])
                .map(|(at, rate)| ScheduledChange {
                    at: Instant::from_secs(*at),
                    change: LinkChange::rate(rate),
                })
                .collect();
        }
        common
    }

    /// Names and ends of downloads: over both members, through what is common, and through each member's own link.
    fn flows(
        &self,
        [server, receiver]: [NodeId; 2],
        [other, neighbour]: [NodeId; 2],
        neighbours: [NodeId; 2],
    ) -> Vec<(String, NodeId, NodeId)> {
        let mut flows: Vec<(String, NodeId, NodeId)> = Vec::new();
        flows.extend((0..self.downloads).map(|n| (format!("download{n}"), server, receiver)));
        for n in 0..self.rivals {
            if self.common_mbps.is_some() {
                flows.push((format!("rival{n}"), other, neighbour));
            } else {
                flows.extend((0..2).map(|place| (format!("rival{n}-{place}"), other, neighbours[place])));
            }
        }
        flows
    }

    /// The network with its traffic, and its proxy.
    pub fn build(&self, seed: u64) -> (Simulation, NodeId) {
        let mut plan = Plan::new(self.name, Duration::from_secs(400));
        let (server, other) = (plan.host("server"), plan.host("other"));
        let members = [plan.member("m1"), plan.member("m2")];
        let settings = ProxySettings {
            receipts: true,
            members: Some(members.to_vec()),
            ..ProxyConfig::default().into()
        };
        let proxy = plan.prism_proxy("proxy", settings);
        let (near, far) = (plan.router("near"), plan.router("far"));
        let tails = [plan.router("tail1"), plan.router("tail2")];
        let (receiver, neighbour) = (plan.host("receiver"), plan.host("neighbour"));
        let neighbours = [plan.host("n1"), plan.host("n2")];
        let mut random = Seed(seed).stream("shared-bottleneck");
        let wire = LinkConfig::new(Rate::from_mbps(WIDE_MBPS), Duration::from_millis(1))
            .with_queue(QueueLimit::Unlimited);
        let mut wires = vec![[server, proxy], [proxy, near], [other, near], [far, neighbour]];
        for place in 0..2 {
            wires.extend([
                [tails[place], members[place]],
                [members[place], receiver],
                [tails[place], neighbours[place]],
            ]);
        }
        for (number, ends) in wires.into_iter().enumerate() {
            plan.symmetric_link(&format!("wire{number}"), ends, wire.clone());
        }
        let common = self.common(&mut random);
        let way_back = |link: &LinkConfig| LinkConfig {
            trace: None,
            rate: Some(Rate::from_mbps(WIDE_MBPS)),
            schedule: Vec::new(),
            ..link.clone()
        };
        plan.link("common", [near, far], common.clone(), way_back(&common));
        for (place, tail) in tails.into_iter().enumerate() {
            let mut own = self.link(self.own_mbps[place], self.delays_ms[place], &mut random);
            own.jitter = Jitter { max: Duration::from_millis(self.jitter_ms), in_order: true };
            let back = way_back(&own);
            plan.link(&format!("own{place}"), [far, tail], own, back);
        }
        let mut options = SimulationOptions::default();
        let flows = self.flows([server, receiver], [other, neighbour], neighbours);
        for (name, from, to) in flows {
            let start = Duration::from_millis(random.below(1000));
            let flow = Flow::new(&name, from, to, Transport::Tcp).start_at(start);
            options.carry(&mut plan, flow, TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() }));
        }
        (Simulation::from_plan(&plan, Seed(seed), options).expect("a network that holds together"), proxy)
    }
}

/// All of them.
pub fn cells() -> Vec<Cell> {
    let separate = |name, mbps: [u64; 2], delays_ms| Cell {
        name,
        shares: Some(false),
        own_mbps: mbps.map(Some),
        delays_ms,
        downloads: 1,
        ..Cell::default()
    };
    let shared = |name, mbps, delays_ms| Cell {
        name,
        shares: Some(true),
        common_mbps: Some(mbps),
        delays_ms,
        downloads: 1,
        ..Cell::default()
    };
    vec![
        separate("separate, equal", [10, 10], [20, 20]),
        separate("separate, equal, 30 Mbit/s", [30, 30], [15, 15]),
        separate("separate, equal, 3 Mbit/s", [3, 3], [30, 30]),
        Cell { downloads: 5, ..separate("separate, equal, five downloads", [10, 10], [20, 20]) },
        separate("separate, unequal", [20, 8], [15, 30]),
        Cell { rivals: 1, ..separate("separate, equal, rivals", [20, 20], [20, 20]) },
        Cell { jitter_ms: 10, ..separate("separate, equal, jitter", [10, 10], [20, 20]) },
        Cell { is_lte: true, ..separate("separate, LTE", [15, 15], [20, 20]) },
        Cell { is_lte: true, ..separate("separate, LTE, unequal", [20, 8], [20, 40]) },
        shared("shared", 20, [20, 20]),
        shared("shared, 60 Mbit/s", 60, [15, 15]),
        shared("shared, 6 Mbit/s", 6, [30, 30]),
        Cell { downloads: 5, ..shared("shared, five downloads", 20, [20, 20]) },
        shared("shared, unequal ways", 20, [10, 40]),
        Cell { rivals: 1, ..shared("shared, rival", 30, [20, 20]) },
        Cell { rivals: 3, ..shared("shared, three rivals", 30, [20, 20]) },
        Cell { jitter_ms: 10, ..shared("shared, jitter", 20, [20, 20]) },
        Cell { is_lte: true, ..shared("shared, LTE", 30, [20, 20]) },
        Cell { shares: None, ..separate("becomes shared, then separate", [20, 20], [20, 20]) },
    ]
}
