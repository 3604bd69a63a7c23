//! Two home uplinks behind a proxy: server - proxy = two members = receiver.

use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, QueueLimit};
use prismux_plan::{Flow, FlowId, LinkId, NodeId, Plan, Role, Transport};
use prismux_prism::ProxyConfig;
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Rate};

/// The network before it runs.
pub struct Uplinks {
    pub plan: Plan,
    pub options: SimulationOptions,
    pub server: NodeId,
    pub proxy: NodeId,
    pub members: [NodeId; 2],
    pub receiver: NodeId,
    pub wwan: [LinkId; 2],
}

/// 20 Mbit/s 15 ms and 8 Mbit/s 30 ms, each with a queue of two bandwidth-delay products.
pub fn uplinks() -> Uplinks {
    let mut plan = Plan::new("uplinks", Duration::from_secs(1000));
    let server = plan.host("server");
    let proxy = plan.prism_proxy("proxy", ProxyConfig::default().into());
    let members = [plan.member("m1"), plan.member("m2")];
    let receiver = plan.host("receiver");
    let link =
        |mbps, ms, queue| LinkConfig::new(Rate::from_mbps(mbps), Duration::from_millis(ms)).with_queue(queue);
    plan.symmetric_link("backbone", [server, proxy], link(1000, 10, QueueLimit::Unlimited));
    let wwan = [
        plan.symmetric_link("wwan1", [proxy, members[0]], link(20, 15, QueueLimit::Bdp(2.0))),
        plan.symmetric_link("wwan2", [proxy, members[1]], link(8, 30, QueueLimit::Bdp(2.0))),
    ];
    for (index, member) in members.into_iter().enumerate() {
        let name = format!("wlan{}", index + 1);
        plan.symmetric_link(&name, [member, receiver], link(300, 1, QueueLimit::Unlimited));
    }
    Uplinks { plan, options: SimulationOptions::checked(), server, proxy, members, receiver, wwan }
}

impl Uplinks {
    /// Members return receipts, as between daemons.
    pub fn with_receipts(mut self) -> Self {
        if let Role::PrismProxy(settings) = &mut self.plan[self.proxy].role {
            settings.receipts = true;
        }
        self
    }

    /// A link between the members: they are neighbours.
    pub fn join_members(&mut self) {
        let config = LinkConfig::new(Rate::from_mbps(300), Duration::from_millis(1));
        self.plan.symmetric_link("lan", self.members, config);
    }

    /// A download that begins at `start` and has no end.
    pub fn download(&mut self, name: &str, start: Duration) -> FlowId {
        let transport = TcpFlow::new(TcpConfig { mss: 1400, ..TcpConfig::modern() });
        let flow = Flow::new(name, self.server, self.receiver, Transport::Tcp).start_at(start);
        self.options.carry(&mut self.plan, flow, transport)
    }

    /// The simulation, ready to run.
    pub fn build(self) -> Simulation {
        Simulation::from_plan(&self.plan, Seed(5), self.options).unwrap()
    }
}

/// Bit/s of `flow` in the next `span`.
pub fn goodput(simulation: &mut Simulation, flow: FlowId, span: Duration) -> f64 {
    let before = simulation.delivered_bytes(flow);
    simulation.run_until(simulation.now() + span);
    (simulation.delivered_bytes(flow) - before) as f64 * 8.0 / span.as_secs_f64()
}
