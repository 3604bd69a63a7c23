//! Repair packets over links that lose packets: what a proxy sends is made good at the members.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel};
use prismux_plan::{Flow, FlowId, NodeId, Plan, ProxySettings, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

struct Bond {
    simulation: Simulation,
    proxy: NodeId,
    download: FlowId,
}

/// A download over a near link without losses and a far one that loses 2 %.
fn bond(fec: bool, seed: u64) -> Bond {
    let (mut plan, mut options) = (Plan::new("fec", Duration::from_secs(60)), SimulationOptions::checked());
    let (server, receiver) = (plan.host("server"), plan.host("receiver"));
    let settings = ProxySettings { receipts: true, fec, ..ProxyConfig::default().into() };
    let proxy = plan.prism_proxy("proxy", settings);
    let fast = LinkConfig::new(Rate::from_mbps(1000), Duration::from_millis(1));
    plan.symmetric_link("backbone", [server, proxy], fast.clone());
    for (index, (ms, loss)) in [(20, 0.0), (120, 0.02)].into_iter().enumerate() {
        let member = plan.member(&format!("m{index}"));
        let mut there = LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(ms));
        let back = there.clone();
        there.loss = LossModel::Bernoulli(Probability::new(loss).unwrap());
        plan.link(&format!("wwan{index}"), [proxy, member], there, back);
        plan.symmetric_link(&format!("wlan{index}"), [member, receiver], fast.clone());
    }
    let receive_buffer = ByteCount::new(16_000_000);
    let config =
        TcpConfig { mss: 1420, receive_buffer, max_out_of_order_ranges: 1 << 16, ..TcpConfig::modern() };
    let flow = Flow::new("download", server, receiver, Transport::Tcp);
    let download = options.carry(&mut plan, flow, TcpFlow::new(config));
    let simulation = Simulation::from_plan(&plan, Seed(seed), options).unwrap();
    Bond { simulation, proxy, download }
}

impl Bond {
    /// Of the far link after so long: packets lost for good, and given back.
    fn far_link(&mut self, duration: Duration) -> (u64, u64) {
        self.simulation.run_until(Instant::ZERO + duration);
        assert_eq!(self.simulation.faults(), Vec::<String>::new());
        let (_, counters) = self.simulation.measured_links(self.proxy).get(1).copied().expect("two links");
        (counters.lost_packets, counters.recovered_packets)
    }
}

/// As long as there is room on a lossy link, most of its losses are made good at its end; every byte comes once.
#[test]
fn repairs_make_good_what_a_far_link_loses_while_it_has_room() {
    let at = Duration::from_secs(4);
    for seed in 1..=3 {
        let (mut plain, mut repaired) = (bond(false, seed), bond(true, seed));
        let (lost, none) = plain.far_link(at);
        let (left, recovered) = repaired.far_link(at);
        assert_eq!(none, 0, "nobody asked for repairs");
        assert!(recovered > 0 && left * 2 < lost.max(recovered), "{lost}; {left} and {recovered}");
        let bytes = |bond: &Bond| bond.simulation.delivered_bytes(bond.download);
        assert!(bytes(&repaired) * 10 > bytes(&plain) * 9, "{} {}", bytes(&repaired), bytes(&plain));
    }
}
