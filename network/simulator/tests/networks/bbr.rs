//! BBR where a congestion control can be chosen: it fills a link with a short queue, shares it with itself, and does
//! not take loss for congestion.
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, Plan, Transport};
use prismux_ptcp::PtcpConfig;
use prismux_rcp::RcpConfig;
use prismux_simulator::{AnyTransport, PtcpFlow, RcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

fn tcp(congestion: CongestionKind) -> TcpConfig {
    let mut config = TcpConfig::modern();
    (config.engine.congestion, config.engine.hystart) = (congestion, None);
    config.receive_buffer = ByteCount::new(4_000_000);
    config
}

/// 20 Mbit/s and a round trip of 40 ms: a product of about 70 packets.
fn bottleneck(queue_packets: u32, loss: f64) -> LinkConfig {
    let losses = Probability::new(loss).filter(|&loss| loss > Probability::ZERO);
    LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(20))
        .with_queue(QueueLimit::Packets(queue_packets))
        .with_loss(losses.map_or(LossModel::None, LossModel::Bernoulli))
}

/// What `flows` of one transport get of a link from 20 to 80 s, each begun half a second after the one before.
struct Shared {
    goodputs_bps: Vec<f64>,
    dropped_packets: u64,
}

impl Shared {
    fn total_mbps(&self) -> f64 {
        self.goodputs_bps.iter().sum::<f64>() / 1e6
    }

    /// Jain's index: 1 for equal shares.
    fn fairness(&self) -> f64 {
        let squares: f64 = self.goodputs_bps.iter().map(|goodput| goodput * goodput).sum();
        let total: f64 = self.goodputs_bps.iter().sum();
        total * total / (squares * self.goodputs_bps.len() as f64)
    }
}

fn share(transport: &AnyTransport, flows: u64, link: LinkConfig) -> Shared {
    let (mut plan, mut options) =
        (Plan::new("shared", Duration::from_secs(80)), SimulationOptions::checked());
    let (server, client) = (plan.host("server"), plan.host("client"));
    plan.link("link", [server, client], link, bottleneck(1000, 0.0));
    for number in 0..flows {
        let start = Duration::from_millis(500) * number;
        let flow = Flow::new(&format!("flow{number}"), server, client, Transport::Tcp).start_at(start);
        options.carry(&mut plan, flow, transport.clone());
    }
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(20));
    let before: Vec<u64> = simulation.result().flows.values().map(|flow| flow.bytes).collect();
    simulation.run_until(Instant::from_secs(80));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let result = simulation.result();
    let carried = result.flows.values().zip(before).map(|(flow, before)| flow.bytes - before);
    Shared {
        goodputs_bps: carried.map(|bytes| bytes as f64 * 8.0 / 60.0).collect(),
        dropped_packets: result.links["link"].dropped_packets,
    }
}

#[test]
fn a_link_is_full_and_a_short_queue_enough() {
    // Twice the product is room for what Startup sends too much.
    let bbr = share(&TcpFlow::new(tcp(CongestionKind::Bbr)).into(), 1, bottleneck(200, 0.0));
    assert!(bbr.total_mbps() > 17.5, "{} Mbit/s", bbr.total_mbps());
    assert_eq!(bbr.dropped_packets, 0);
    let newreno = share(&TcpFlow::new(tcp(CongestionKind::NewReno)).into(), 1, bottleneck(200, 0.0));
    assert!(newreno.dropped_packets > 0, "a window that only losses bound fills any queue");
}

#[test]
fn flows_share_a_link_with_each_other() {
    let four = share(&TcpFlow::new(tcp(CongestionKind::Bbr)).into(), 4, bottleneck(400, 0.0));
    assert!(four.total_mbps() > 17.5, "{} Mbit/s", four.total_mbps());
    assert!(four.fairness() > 0.9, "{:?}", four.goodputs_bps);
}

#[test]
fn random_loss_is_no_congestion_whatever_the_transport() {
    for congestion in [CongestionKind::Bbr, CongestionKind::NewReno] {
        let tcp = tcp(congestion);
        let transports: [(&str, AnyTransport); 3] = [
            ("tcp", TcpFlow::new(tcp.clone()).into()),
            ("rcp", RcpFlow::new(RcpConfig::from_tcp(&tcp)).into()),
            ("ptcp", PtcpFlow { config: PtcpConfig::new(tcp.clone(), 1) }.into()),
        ];
        for (name, transport) in transports {
            let goodput = share(&transport, 1, bottleneck(200, 0.01)).total_mbps();
            match congestion {
                CongestionKind::Bbr => assert!(goodput > 16.0, "{name}: {goodput} Mbit/s"),
                _ => assert!(goodput < 8.0, "{name}, which halves for each loss: {goodput} Mbit/s"),
            }
        }
    }
}
