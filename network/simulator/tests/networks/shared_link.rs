//! A bond over a link that others use too, past its proxy.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, FlowId, NodeId, Plan, ProxySettings, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant, Rate};

/// A download over 30 Mbit/s, 25 ms and 12 Mbit/s, 60 ms, and another one over the first link alone.
struct Rivals {
    simulation: Simulation,
    proxy: NodeId,
    /// The download over both, and the other one.
    flows: [FlowId; 2],
}

impl Rivals {
    fn new(seed: u64, starts: [Duration; 2]) -> Self {
        let mut plan = Plan::new("rivals", Duration::from_secs(60));
        let (server, other) = (plan.host("server"), plan.host("other"));
        let members = [plan.member("m1"), plan.member("m2")];
        let settings = ProxySettings {
            receipts: true,
            members: Some(members.to_vec()),
            ..ProxyConfig::default().into()
        };
        let proxy = plan.prism_proxy("proxy", settings);
        let cell = plan.router("cell");
        let (receiver, neighbour) = (plan.host("receiver"), plan.host("neighbour"));
        let wire = LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1))
            .with_queue(QueueLimit::Unlimited);
        let wires = [
            [server, proxy],
            [proxy, cell],
            [other, cell],
            [members[0], receiver],
            [members[1], receiver],
            [members[0], neighbour],
        ];
        for (number, ends) in wires.into_iter().enumerate() {
            plan.symmetric_link(&format!("wire{number}"), ends, wire.clone());
        }
        let slow = |mbps, ms| {
            LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(QueueLimit::Bdp(1.0))
        };
        plan.symmetric_link("wwan1", [cell, members[0]], slow(30, 25));
        plan.symmetric_link("wwan2", [proxy, members[1]], slow(12, 60));
        let mut options = SimulationOptions::checked();
        let ends = [("download", server, receiver), ("rival", other, neighbour)];
        let flows = [0, 1].map(|place: usize| {
            let (name, from, to) = ends[place];
            let flow = Flow::new(name, from, to, Transport::Tcp).start_at(starts[place]);
            let config = TcpConfig { mss: 1400, ..TcpConfig::modern() };
            options.carry(&mut plan, flow, TcpFlow::new(config))
        });
        let simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
        Self { simulation, proxy, flows }
    }

    /// Mbit/s of both between two times.
    fn goodput(&mut self, from_s: u64, to_s: u64) -> [f64; 2] {
        let mut bytes = |at| {
            self.simulation.run_until(Instant::from_secs(at));
            self.flows.map(|flow| self.simulation.delivered_bytes(flow) as f64)
        };
        let (before, after) = (bytes(from_s), bytes(to_s));
        [0, 1].map(|place| (after[place] - before[place]) * 8.0 / 1e6 / (to_s - from_s) as f64)
    }
}

/// What sees no data of a download must not decide when its ACKs are due.
#[test]
fn a_download_past_the_proxy_has_its_answers_past_it_too() {
    let mut rivals = Rivals::new(1, [Duration::from_secs(20), Duration::ZERO]);
    let [_, alone] = rivals.goodput(5, 15);
    assert!(alone > 27.0, "{alone}");
    let counters = rivals.simulation.proxy_counters(rivals.proxy).unwrap();
    assert_eq!((counters.data_packets, counters.reverse_packets), (0, 0), "{counters:?}");
}

/// Whoever keeps its own queue short is left next to nothing by one that fills it. Single runs differ much, as those of
/// two TCP senders in one drop-tail queue do, so the mean of several starts is judged.
#[test]
fn a_bond_gets_its_share_of_a_link_that_another_download_filled_first() {
    let shares = [100, 200, 300, 400, 500, 600].map(|ms| {
        let mut rivals = Rivals::new(1, [Duration::from_millis(ms), Duration::ZERO]);
        let [download, rival] = rivals.goodput(15, 30);
        // 11.4 Mbit/s come over the second link and 28.5 over the first, for both.
        [download - 11.4, rival]
    });
    let mean = |place: usize| shares.iter().map(|share| share[place]).sum::<f64>() / shares.len() as f64;
    assert!(mean(0) > 8.0 && mean(1) > 10.0, "bond, rival: {shares:?}");
}
