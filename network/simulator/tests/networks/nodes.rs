//! A node with a rule of its own, from outside the simulator: flows spread over two links by a hash of their addresses.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, LinkId, NodeId, Plan, Transport};
use prismux_simulator::{Cbr, Node, NodeContext, Simulation, SimulationOptions, Transit};
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// Equal-cost multipath as routers do it (RFC 2992): all packets of a flow take the same link.
#[derive(Debug)]
struct EqualCost {
    beyond: NodeId,
    links: [LinkId; 2],
    spread: u64,
}

impl Node for EqualCost {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let (_, destination) = context.addresses(&packet);
        if destination != self.beyond {
            return context.forward(packet);
        }
        self.spread += 1;
        let link = self.links[(context.flow_hash(&packet) % 2) as usize];
        context.send(link, packet);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("spread_packets", self.spread)]
    }
}

/// server - fork = join - client, with two links in the middle.
fn network(flows: u32) -> (Simulation, [LinkId; 2]) {
    let (mut plan, mut options) = (Plan::new("fork", Duration::from_secs(60)), SimulationOptions::checked());
    let (server, fork) = (plan.host("server"), plan.router("fork"));
    let (join, client) = (plan.router("join"), plan.host("client"));
    let link = |mbps| {
        LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(5)).with_queue(QueueLimit::Unlimited)
    };
    plan.symmetric_link("access", [server, fork], link(100));
    let links = ["upper", "lower"].map(|name| plan.symmetric_link(name, [fork, join], link(10)));
    plan.symmetric_link("last", [join, client], link(100));
    options.forward_by("fork", EqualCost { beyond: client, links, spread: 0 });
    for flow in 0..flows {
        let cbr = Cbr { rate: Rate::from_kbps(200), packet_bytes: 500 };
        let flow = Flow::new(&format!("cbr{flow}"), server, client, Transport::Tcp);
        options.carry(&mut plan, flow.bytes(ByteCount::new(50_000)), cbr);
    }
    plan.flow(Flow::new("file", server, client, Transport::Tcp).bytes(ByteCount::new(1_000_000)));
    (Simulation::from_plan(&plan, Seed(7), options).unwrap(), links)
}

#[test]
fn flows_spread_over_both_links_and_each_stays_on_one() {
    let (mut simulation, links) = network(0);
    assert!(simulation.run_to_completion(Instant::from_secs(60)));
    let carried = links.map(|link| simulation.forward_stats(link).delivered_packets);
    assert!(carried.contains(&0) && carried[0] + carried[1] > 600, "one flow takes one link: {carried:?}");

    let (mut simulation, links) = network(16);
    simulation.run_until(Instant::from_secs(60));
    let carried = links.map(|link| simulation.forward_stats(link).delivered_packets);
    assert!(carried.iter().all(|&packets| packets > 200), "17 flows take both: {carried:?}");
    let result = simulation.result();
    assert_eq!(result.nodes["fork"]["spread_packets"], carried[0] + carried[1]);
    assert!(result.flows.values().all(|flow| flow.bytes >= 50_000), "everything arrives");
    assert_eq!(simulation.faults(), Vec::<String>::new());
}
